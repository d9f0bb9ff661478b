"""Differentially private pairwise learning.

``PrivateRanker`` learns to rank, ``PrivateSurvivalRanker`` who fails first, and ``PrivateMetric`` learns distances, from pairs
of records; ``PrivateClassifier`` and ``PrivateRegressor`` learn from single records. All are under (epsilon, delta) differential
privacy for replacing any one record, and carry a certificate that anybody can check. ``plan`` says beforehand what
training would do, ``ledger`` keeps a budget for all runs together, ``accounting`` says what noisy releases cost,
``evaluate`` measures a model on private records with noise,
``audit`` says how much of a claimed epsilon an attacker finds, ``scores`` ranks by networks of your own, and ``baseline`` has the same models without privacy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ._core import __version__

if TYPE_CHECKING:
    from . import accounting, baseline, datasets, ledger, plot, scores
    from ._copies import spent_on_copies
    from .auditing import audit
    from .classification import PrivateClassifier
    from .evaluation import evaluate
    from .exceptions import PrivacyBudgetError, PrivacyPlanWarning, PrivacyScoreWarning, PrivacyTuningWarning
    from .metric import PrivateMetric
    from .planning import plan
    from .ranking import PrivateRanker
    from .regression import PrivateRegressor
    from .schema import Schema
    from .survival import PrivateSurvivalRanker

__all__ = [
    "PrivacyBudgetError",
    "PrivacyPlanWarning",
    "PrivacyScoreWarning",
    "PrivacyTuningWarning",
    "PrivateClassifier",
    "PrivateMetric",
    "PrivateRanker",
    "PrivateRegressor",
    "PrivateSurvivalRanker",
    "Schema",
    "__version__",
    "accounting",
    "audit",
    "baseline",
    "datasets",
    "evaluate",
    "ledger",
    "plan",
    "plan_curve",
    "plot",
    "scores",
    "signing",
    "spent_on_copies",
]

# scikit-learn takes long to import: what needs it is imported when it is first used.
_HOMES = {
    "PrivacyBudgetError": "exceptions",
    "PrivacyPlanWarning": "exceptions",
    "PrivacyScoreWarning": "exceptions",
    "PrivacyTuningWarning": "exceptions",
    "PrivateClassifier": "classification",
    "PrivateMetric": "metric",
    "PrivateRanker": "ranking",
    "PrivateRegressor": "regression",
    "PrivateSurvivalRanker": "survival",
    "Schema": "schema",
    "audit": "auditing",
    "evaluate": "evaluation",
    "plan": "planning",
    "plan_curve": "planning",
    "spent_on_copies": "_copies",
}
_MODULES = ("accounting", "baseline", "datasets", "ledger", "plot", "scores", "signing")


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    elif name in _MODULES:
        value = import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
