"""Differentially private pairwise learning.

``PrivateRanker`` learns to rank and ``PrivateMetric`` learns distances, from every pair of records;
``PrivateClassifier`` and ``PrivateRegressor`` learn from single records. All are under (epsilon, delta) differential
privacy for replacing any one record, and carry a certificate that anybody can check. ``plan`` says beforehand what
training would do, ``ledger`` keeps a budget for all runs together, ``accounting`` says what noisy releases cost,
``audit`` how much of a claimed epsilon an attacker finds, and ``baseline`` has the same models without privacy.
"""

from . import accounting, baseline, datasets, ledger, plot
from ._core import __version__
from .auditing import audit
from .classification import PrivateClassifier
from .exceptions import PrivacyBudgetError, PrivacyTuningWarning
from .metric import PrivateMetric
from .planning import plan
from .ranking import PrivateRanker
from .regression import PrivateRegressor

__all__ = [
    "PrivacyBudgetError",
    "PrivacyTuningWarning",
    "PrivateClassifier",
    "PrivateMetric",
    "PrivateRanker",
    "PrivateRegressor",
    "__version__",
    "accounting",
    "audit",
    "baseline",
    "datasets",
    "ledger",
    "plan",
    "plot",
]
