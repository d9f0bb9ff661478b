"""Attacks on mechanisms, to see how much of the claimed epsilon they find."""

from __future__ import annotations

import json
from typing import Any

from . import _core
from ._parameters import check_budget, check_task, settings_text

__all__ = ["audit"]


def audit(
    n_records: int = 50,
    n_features: int = 1,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    task: str = "ranking",
    runs: int = 5000,
    confidence: float = 0.999,
    pair: str = "worst",
    view: str = "releases",
    **settings: Any,
) -> dict[str, Any]:
    """Run a mechanism on two neighbouring tables, many times, and bound its epsilon from below.

    The tables are made up; no record of yours is needed, and none is read. A bound above ``claimed_epsilon`` would
    mean that a proof or the code is wrong; ``verdict`` says ``violated`` only if that has a chance of one in a million
    under a true claim.

    Parameters
    ----------
    n_records, n_features : int
        The size of the tables.
    epsilon, delta : float
        The claim, which has no usable default. The larger delta, the fewer runs show the whole of epsilon.
    task : {"ranking", "metric", "classification", "regression", "survival"}, default="ranking"
        What is learned.
    runs : int, default=5000
        How often to run the mechanism.
    confidence : float, default=0.999
        How sure the bound is to be.
    pair : {"worst", "typical"}, default="worst"
        Tables for which sensitivities are attained, or of no special shape.
    view : {"releases", "model"}, default="releases"
        What the attacker sees.
    **settings
        As the parameters of the estimators.

    Returns
    -------
    dict
        ``claimed_epsilon``, ``audited_lower_bound``, ``attainable``, ``confidence``, ``runs``, ``verdict`` and the
        single ``bounds``.

    Examples
    --------
    >>> import pairdp
    >>> found = pairdp.audit(10, 1, epsilon=1.0, delta=1e-3, algorithm="moments", runs=200)
    >>> found["claimed_epsilon"], found["runs"], found["verdict"]
    (1.0, 200, 'not-refuted')
    """
    budget = check_budget(epsilon, delta, "pairdp.audit(epsilon=1.0, delta=1e-3)")
    check_task(task)
    text = settings_text(task, settings)
    found: dict[str, Any] = json.loads(_core.audit(n_records, n_features, text, *budget, runs, confidence, pair, view))
    return found
