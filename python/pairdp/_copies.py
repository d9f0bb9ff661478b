"""How many copies of an estimator were made: scikit-learn's searches fit one copy for each setting and fold."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

from .exceptions import PrivacyTuningWarning

# Beside the estimators and not in them, because they may hold nothing that is not a parameter or learned.
_numbers: WeakKeyDictionary[Any, Iterator[int]] = WeakKeyDictionary()
_number: WeakKeyDictionary[Any, int] = WeakKeyDictionary()


def note_copy(origin: Any, copy: Any) -> None:
    """Number a copy among those of its origin."""
    _number[copy] = next(_numbers.setdefault(origin, itertools.count(1)))


def number_of(estimator: Any) -> int:
    """Return which copy of its origin this is, from 1 on; 0 for an origin."""
    return _number.get(estimator, 0)


def set_number(estimator: Any, number: int) -> None:
    """Number a copy that came from another process."""
    _number[estimator] = number


def warn_of_tuning(estimator: Any, epsilon: float, delta: float) -> None:
    """Say what fitting copy after copy costs, from the second on."""
    number = number_of(estimator)
    if number < 2:
        return
    warnings.warn(
        f"this is copy {number} of one {type(estimator).__name__}, as searches and cross-validation make them. If "
        f"the others were fitted on the same records, every fit costs its budget again: {number} fits at epsilon = "
        f"{epsilon:g}, delta = {delta:g} are together private at epsilon = {number * epsilon:g}, delta = "
        f"{number * delta:g}, and choosing by exact scores on private records is not private at all. Tune on public "
        "or simulated data, or give every setting its part of the budget and let pairdp.ledger count it",
        PrivacyTuningWarning,
        stacklevel=4,
    )
