"""What training would do, from public facts alone."""

from __future__ import annotations

import json
from typing import Any

from . import _core
from ._parameters import check_budget, check_task, settings_text
from ._persons import cap_of
from ._reasons import pandas_or_none

__all__ = ["plan", "plan_curve"]


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
    ask = _core.explain_plan if explain else _core.plan
    answer: dict[str, Any] | list[dict[str, Any]]
    answer = json.loads(ask(n_records, n_features, _settings(task, settings), *budget))
    return answer


def plan_curve(
    n_records: int,
    n_features: int,
    *,
    effect: float,
    epsilon: float | None = None,
    delta: float | None = None,
    task: str = "ranking",
    positive_share: float = 0.3,
    **settings: Any,
) -> Any:
    """Return what AUC to expect, for a quarter to four times as many records and as much epsilon: by training on simulated records.

    Each model is trained as yours would be, on records that are nobody's: independent normal columns that all carry the same part of
    what can be learned. Your table will differ. It takes some seconds, and costs no budget.

    Parameters
    ----------
    n_records, n_features : int
        The table in the middle; at most 100,000 records.
    effect : float
        The best AUC that any model could have: what you believe there is to be found.
    epsilon, delta : float
        The budget in the middle, which has no usable default.
    task : {"ranking", "classification"}, default="ranking"
        What would be learned.
    positive_share : float, default=0.3
        The share of positive records.
    **settings
        As the parameters of the estimators.

    Returns
    -------
    pandas.DataFrame, or list of dict where pandas is not installed
        ``records``, ``epsilon``, ``models`` (how many), and of their AUC on other records ``mean``, ``lowest`` and ``highest``.

    Examples
    --------
    >>> import pairdp
    >>> found = pairdp.plan_curve(400, 5, epsilon=1.0, delta=1e-6, effect=0.8, algorithm="moments")
    >>> len(found), float(found["mean"].max()) < 0.82
    (25, True)
    """
    budget = check_budget(epsilon, delta, "pairdp.plan_curve(5000, 20, epsilon=1.0, delta=1e-6, effect=0.8)")
    if task not in ("ranking", "classification"):
        raise ValueError(f"the curve is about AUC: task is 'ranking' or 'classification', not {task!r}")
    ask = (n_records, n_features, _settings(task, settings), *budget, effect, positive_share)
    rows = json.loads(_core.plan_curve(*ask))
    pandas = pandas_or_none()
    return rows if pandas is None else pandas.DataFrame(rows)


def _settings(task: str, settings: dict[str, Any]) -> str:
    check_task(task)
    cap = cap_of(settings.pop("max_persons", None))
    if settings.get("unit") != "person" and cap:
        raise ValueError('max_persons needs unit="person"')
    if settings.get("unit") == "person" and settings.get("max_records") is not None:
        raise ValueError('max_records is about records: with unit="person" use max_persons')
    return settings_text(task, settings | cap)
