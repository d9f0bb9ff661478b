"""Measures of private tables, with noise that keeps every record, or person, private."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass, field
from numbers import Real
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._persons import numbers_of
from ._reasons import pandas_or_none
from .exceptions import PrivacyScoreWarning

__all__ = ["Estimate", "Evaluation", "evaluate"]

Booking = tuple[str, str | None, str, str]


@dataclass(frozen=True)
class Estimate:
    """A number, and the interval that holds the table's own value 95 times in 100."""

    value: float
    low: float
    high: float

    def __repr__(self) -> str:
        return f"{self.value:.4f} ({self.low:.4f} to {self.high:.4f})"


@dataclass(frozen=True)
class Evaluation:
    """What a private evaluation released, and what follows from it."""

    epsilon: float
    delta: float
    auc: Estimate | None = None
    accuracy: Estimate | None = None
    positives: Estimate | None = None
    concordance: Estimate | None = None
    comparable: Estimate | None = None
    thresholds: Any = None
    """A row for every threshold: ``score``, ``probability`` where the model has any, and ``flagged``, ``sensitivity``, ``false_positives`` and
    ``precision``, each with ``_low`` and ``_high``: a frame, or a list of dicts where pandas is not installed. ``sensitivity`` over
    ``false_positives`` is the ROC curve, ``precision`` over ``sensitivity`` the precision-recall curve."""
    calibration: Any = None
    """A row for every cell of the score: ``low``, ``high``, ``probability``, and ``positives`` and ``records`` with ``_low`` and ``_high``."""
    histogram: dict[str, Any] | None = field(default=None, repr=False)
    """The noisy counts that both follow from."""


def evaluate(
    model: Any,
    X: ArrayLike,
    y: ArrayLike,
    *,
    epsilon: float,
    delta: float = 0.0,
    curves: bool = False,
    groups: ArrayLike | None = None,
    public_size: bool = False,
) -> Evaluation:
    """Measure a fitted model on private records, with noise.

    The measures are private for replacing any one record, or any one person where it is said whose records they are, and come with
    intervals that hold the table's own values 95 times in 100. Every call spends its budget anew; :meth:`pairdp.ledger.Ledger.evaluate`
    lets a data set pay.

    Parameters
    ----------
    model : a ranker, classifier or survival ranker, fitted
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    epsilon : float
        Privacy budget of this call.
    delta : float, default 0
        0 for Laplace noise, more for Gaussian.
    curves : bool, default False
        Release a noisy histogram of scores as well, with 70 % of the budget: ROC, precision-recall and calibration curves and a table
        of thresholds follow from it. For rankers and classifiers.
    groups : array-like of shape (n_samples,), optional
        Whose each record is: persons are then protected. With a schema that names a column of persons, that column of ``X`` is taken.
    public_size : bool, default False
        How many records this table has is public, although the model keeps the number of its own secret.

    Returns
    -------
    Evaluation

    Examples
    --------
    >>> import numpy as np
    >>> from pairdp import PrivateRanker, evaluate
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(4000, 3))
    >>> y = (X[:, 0] + 0.3 * rng.normal(size=4000) > 0).astype(int)
    >>> ranker = PrivateRanker(epsilon=1.0, delta=1e-6, bounds=(-1, 1)).fit(X[:2000], y[:2000])
    >>> found = evaluate(ranker, X[2000:], y[2000:], epsilon=0.5)
    >>> found.auc.low < found.auc.value < found.auc.high
    True
    """
    return _evaluate(model, X, y, (epsilon, delta), curves, groups, public_size, None)


def _evaluate(
    model: Any,
    X: Any,
    y: Any,
    budget: tuple[float, float],
    curves: bool,
    groups: Any,
    public_size: bool,
    booking: Booking | None,
) -> Evaluation:
    if not hasattr(model, "_read_schema"):
        raise TypeError(f"model must be an estimator of pairdp, not a {type(model).__name__}")
    for name, value in zip(("epsilon", "delta"), budget, strict=True):
        if not isinstance(value, Real):
            raise TypeError(f"{name} must be a number, not a {type(value).__name__}")
    problem = getattr(model, "certificate_", {}).get("problem", {})
    if problem.get("neighbours", "replace-one") != "replace-one" and not public_size:
        raise ValueError(
            "the number of records behind the model is secret, and noisy measures would tell the size of this table: set "
            "public_size=True if the size of this table is public"
        )
    schema = model._read_schema()
    integer = False
    if schema is not None and schema.person is not None:
        if groups is not None:
            raise ValueError("groups and the schema's [person] say the same thing twice: leave groups out")
        groups, integer = schema.persons(X), schema.person["kind"] == "integer"
    if problem.get("per_person") is not None and groups is None:
        raise ValueError("the model protects persons: pass groups, which say whose record each row is")
    rows = model._rows(X)
    n_rows = len(rows) if isinstance(rows, np.ndarray) else len(rows[0])
    secret = groups is not None
    targets = model._targets_by_model(y, n_rows, secret=secret)
    owners = None if groups is None else numbers_of(groups, n_rows, integer=integer)
    released = json.loads(_core.evaluate(model._model, rows, targets, *budget, curves, booking, owners))
    found: dict[str, Any] = {name: Estimate(**estimate) for name, estimate in released["measured"].items()}
    if released["curves"] is not None:
        found |= {name: _table(released["curves"][name]) for name in ("thresholds", "calibration")}
        found["histogram"] = released["curves"]["histogram"]
    epsilon, delta = budget
    return Evaluation(**found | {"epsilon": epsilon, "delta": delta})


def _table(rows: list[dict[str, Any]]) -> Any:
    """Return rows with a column for every number, and two more for its interval."""
    flat: list[dict[str, Any]] = []
    for row in rows:
        cells: dict[str, Any] = {}
        for name, value in row.items():
            if isinstance(value, dict):
                cells |= {name: value["value"], f"{name}_low": value["low"], f"{name}_high": value["high"]}
            else:
                cells[name] = value
        flat.append(cells)
    pandas = pandas_or_none()
    return flat if pandas is None else pandas.DataFrame(flat)


# The table that an estimator was fitted on, as long as somebody else has it: beside the estimators, and never stored with them.
_fitted_on: WeakKeyDictionary[Any, ref[Any]] = WeakKeyDictionary()


def note_fitted(estimator: Any, X: Any) -> None:
    """Remember which object an estimator was fitted on, without keeping it."""
    _fitted_on.pop(estimator, None)
    try:
        _fitted_on[estimator] = ref(X)
    except TypeError:
        # Lists cannot be referred to.
        return


def warn_of_score(estimator: Any, X: Any) -> None:
    """Say that an exact measure of the very table that a private model was fitted on is not protected."""
    seen = _fitted_on.get(estimator)
    if seen is not None and seen() is X:
        warnings.warn(
            "this score is exact and was computed on the table that the model was fitted on: the model's guarantee does not cover it, "
            "and it flatters the model. To measure on private records, use pairdp.evaluate, which adds noise",
            PrivacyScoreWarning,
            stacklevel=3,
        )
