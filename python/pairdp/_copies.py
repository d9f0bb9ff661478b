"""What the copies of an estimator spend: scikit-learn's searches fit one for each setting and fold."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

from . import _core
from .exceptions import PrivacyTuningWarning


class _Family:
    """The copies of one estimator, and what fits of them, and of copies of them, cost in this process."""

    def __init__(self, parent: _Family | None = None, arrived_as: int = 0) -> None:
        self.parent = parent
        # The number of a copy that came from another process, where the rest of its family stayed.
        self.arrived_as = arrived_as
        # The search that the latest copies were made for, how many it has made, and whether it was told what they cost.
        self.search: object | None = None
        self.copies = 0
        self.warned = False
        self.fits = 0
        self.epsilon = 0.0
        self.delta = 0.0

    def line(self) -> Iterator[_Family]:
        """From here to the first estimator: a search copies its estimator once and fits copies of that copy."""
        family: _Family | None = self
        while family is not None:
            yield family
            family = family.parent


# Beside the estimators and not in them, because they may hold nothing that is not a parameter or learned.
_families: WeakKeyDictionary[Any, _Family] = WeakKeyDictionary()
_membership: WeakKeyDictionary[Any, tuple[_Family, int]] = WeakKeyDictionary()


def spent_on_copies(estimator: Any) -> tuple[float, float]:
    """Return what fits of copies of an estimator cost together: epsilon and delta, added up.

    Searches and cross-validation fit copies of the estimator they are given, also those that are thrown away. Fits in other
    processes (``n_jobs``) and those that a ledger paid for are not in the sum.

    Parameters
    ----------
    estimator : PrivateRanker, PrivateMetric, PrivateClassifier or PrivateRegressor
        As it was given to the search.

    Returns
    -------
    epsilon, delta : float
    """
    family = _families.get(estimator) or _Family()
    return family.epsilon, family.delta


def note_copy(origin: Any, copy: Any) -> None:
    """Number a copy among those that one search makes of its origin."""
    family = _families.get(origin)
    if family is None:
        family = _families[origin] = _Family(_family_of(origin))
    search = _running_search()
    # Outside of a search, or in a thread that one has started, copies go on where the last ones ended.
    if search is not None and search is not family.search:
        family.search, family.copies, family.warned = search, 0, False
    family.copies += 1
    _membership[copy] = family, family.copies


def number_of(estimator: Any) -> int:
    """Return which copy of a search this is, from 1 on; 0 for an origin."""
    return _membership[estimator][1] if estimator in _membership else 0


def set_number(estimator: Any, number: int) -> None:
    """Number a copy that came from another process."""
    if number:
        _membership[estimator] = _Family(arrived_as=number), number


def note_spent(estimator: Any, epsilon: float, delta: float) -> None:
    """Count a fit of a copy."""
    family = _family_of(estimator)
    for ancestor in family.line() if family is not None else ():
        ancestor.fits += 1
        ancestor.epsilon += epsilon
        ancestor.delta += delta


def warn_of_tuning(estimator: Any, epsilon: float, delta: float) -> None:
    """Say what fitting copy after copy costs: once a search, before its second fit, or its first if others went before it."""
    family = _family_of(estimator)
    line = list(family.line()) if family is not None else []
    # The outermost: a search within a search is a part of what the records are asked. Of copies that other processes fit, each
    # process sees some: the second speaks for all.
    spent = next((ancestor for ancestor in reversed(line) if ancestor.fits > 0 or ancestor.arrived_as == 2), None)
    if spent is None or spent.warned:
        return
    for ancestor in line:
        ancestor.warned = True
    before = "the one" if spent.fits == 1 else f"the {spent.fits}"
    fits = f"this fit and {before} before it are together" if spent.fits else "this fit alone is"
    warnings.warn(
        f"copies of one {type(estimator).__name__} are fitted, as searches and cross-validation do. If they are fitted on the same "
        f"records, every fit costs its budget again: {fits} private at epsilon = "
        f"{_core.shown_up(spent.epsilon + epsilon)}, delta = {_core.shown_up(spent.delta + delta)}, and later fits "
        "add to that without another warning (pairdp.spent_on_copies tells the sum). Choosing by exact scores on private records is "
        "not private at all. Tune on public or simulated data, or give every setting its part of the budget and let "
        "pairdp.ledger count it",
        PrivacyTuningWarning,
        stacklevel=4,
    )


def _family_of(estimator: Any) -> _Family | None:
    return _membership[estimator][0] if estimator in _membership else None


# Under this name a search that is running has its token, and takes it along when it ends.
_TOKEN = "__pairdp_search__"


def _running_search() -> object | None:
    """Return what stands for the outermost call into scikit-learn that is running now, if there is one.

    scikit-learn does not say when a search begins: cross-validation makes copy after copy of one estimator, and the next
    cross-validation goes on in the same way. All that tells them apart is which call is on the stack.
    """
    frame = sys._getframe(1)
    search = None
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        # `clone` itself is there.
        if module.startswith("sklearn.") and module != "sklearn.base":
            search = frame
        frame = frame.f_back  # type: ignore[assignment]
    return None if search is None else search.f_locals.setdefault(_TOKEN, object())
