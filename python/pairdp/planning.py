"""What training would do, from public facts alone."""

from __future__ import annotations

import json
from typing import Any

from . import _core
from ._parameters import check_budget, check_task, settings_text
from ._persons import cap_of

__all__ = ["plan"]


def plan(
    n_records: int,
    n_features: int,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    task: str = "ranking",
    explain: bool = False,
    **settings: Any,
) -> dict[str, Any] | list[dict[str, Any]]:
    """Return what training on a table of this size would do; nothing is trained and nothing is spent.

    Parameters
    ----------
    n_records, n_features : int
        The size of the table; with ``unit="person"`` the number of persons.
    epsilon, delta : float
        The budget, which has no usable default.
    task : {"ranking", "metric", "classification", "regression", "survival"}, default="ranking"
        What would be learned.
    explain : bool, default=False
        Compare all algorithms instead.
    **settings
        As the parameters of the estimators.

    Returns
    -------
    dict or list of dict
        The problem, the plan and the budget; or one entry for each algorithm.

    Examples
    --------
    >>> import pairdp
    >>> found = pairdp.plan(5000, 20, epsilon=1.0, delta=1e-6, algorithm="noisy-gd")
    >>> found["plan"]["algorithm"], found["epsilon"]
    ('noisy-gd', 1.0)
    >>> compared = pairdp.plan(5000, 20, epsilon=1.0, delta=1e-6, explain=True)
    >>> "moments" in [entry["algorithm"] for entry in compared]
    True
    """
    budget = check_budget(epsilon, delta, "pairdp.plan(5000, 20, epsilon=1.0, delta=1e-6)")
    check_task(task)
    cap = cap_of(settings.pop("max_persons", None))
    if settings.get("unit") != "person" and cap:
        raise ValueError('max_persons needs unit="person"')
    if settings.get("unit") == "person" and settings.get("max_records") is not None:
        raise ValueError('max_records is about records: with unit="person" use max_persons')
    ask = _core.explain_plan if explain else _core.plan
    answer: dict[str, Any] | list[dict[str, Any]]
    answer = json.loads(ask(n_records, n_features, settings_text(task, settings | cap), *budget))
    return answer
