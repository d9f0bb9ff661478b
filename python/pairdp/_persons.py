"""Whose records they are: groups of rows, as scikit-learn's splitters have them.

Two ids are one person if they read the same. One person under two ids would be two persons, of whom each is protected and both
together are not, so what may or may not be the same is refused.
"""

from __future__ import annotations

import re
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._cells import NOTHING, attempt, weights_of

UNITS = ("record", "person")
WHOLE = re.compile(r"[+-]?[0-9]+")


def check_unit(unit: str | None, groups: Any, *, max_records: Any, max_persons: Any) -> bool:
    """Return whether persons are to be protected, or refuse what contradicts itself."""
    if unit is not None and unit not in UNITS:
        raise ValueError(f"unit must be one of {', '.join(UNITS)} or None, not {unit!r}")
    if unit == "person" and groups is None:
        raise ValueError(
            'unit="person" needs groups, which say whose record each row is. In a pipeline or search, route them with '
            "set_fit_request(groups=True)"
        )
    if unit == "record" and groups is not None:
        raise ValueError(
            'unit="record" protects single records, and groups say that persons have several: leave one out'
        )
    persons = groups is not None
    if persons and max_records is not None:
        raise ValueError("max_records is about records, and groups are given: use max_persons")
    if not persons and max_persons is not None:
        raise ValueError("max_persons needs groups, which say whose record each row is")
    return persons


def cap_of(max_persons: Any) -> dict[str, Any]:
    """Return a cap on persons as the core is told of it, to which it is one on whatever is protected."""
    if max_persons is None:
        return {}
    if isinstance(max_persons, bool) or not isinstance(max_persons, Integral) or max_persons < 0:
        raise ValueError(f"max_persons must be a whole number of at least 0, not {max_persons!r}")
    return {"max_records": int(max_persons)}


def numbers_of(groups: Any, n_rows: int, *, integer: bool = False) -> list[int]:
    """Return a number for the person of each row.

    Parameters
    ----------
    groups : array-like
        Whole numbers, text or categories.
    n_rows : int
    integer : bool
        Whether ids are compared as whole numbers: ``7`` and ``"007"`` are one person then.
    """
    if np.ma.is_masked(groups):
        raise ValueError("groups: an entry is empty, and every record is somebody's")
    # As objects where nothing says what they are: in a list with text in it NumPy makes text of a missing value.
    ids = attempt(lambda: np.asarray(groups, dtype=None if hasattr(groups, "dtype") else object))
    if ids is None or ids.ndim != 1 or len(ids) != n_rows:
        raise ValueError("groups must have one entry for each row of X")
    if len(ids) > 0 and ids.dtype.kind not in "iuOUST":
        raise ValueError(
            "groups must be whole numbers or text: with decimal points, 7 and 7.0 may or may not be the same person"
        )
    if ids.dtype.kind in "iu":
        return _as_numbers(ids)
    texts = [_text(entry, integer=integer) for entry in ids.tolist()]
    known: dict[str, int] = {}
    return [known.setdefault(text, len(known)) for text in texts]


def person_weights(groups: Any, n_rows: int) -> NDArray[np.float64]:
    """Return what each row counts if every person counts as one."""
    numbers = np.array(numbers_of(groups, n_rows), dtype=np.intp)
    return 1.0 / np.bincount(numbers)[numbers] if len(numbers) else np.zeros(0)


def weights_by(groups: Any, sample_weight: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Return what rows count, by whose they are or by weights of their own."""
    if groups is None:
        return weights_of(sample_weight, n_rows)
    if sample_weight is not None:
        raise ValueError("groups and sample_weight both say what a row counts: leave one out")
    return person_weights(groups, n_rows)


def weighted_auc(
    scores: NDArray[np.float64], positive: NDArray[np.bool_], weights: NDArray[np.float64]
) -> float | None:
    """Return the AUC of two independent draws of a person and one of their records; ties count half."""
    _, places = np.unique(scores + 0.0, return_inverse=True)
    up, down = (np.bincount(places, weights * chosen) for chosen in (positive, ~positive))
    pairs = up.sum() * down.sum()
    below = np.cumsum(down) - down
    return float((up * (below + down / 2)).sum() / pairs) if pairs > 0.0 else None


def _as_numbers(ids: NDArray[Any]) -> list[int]:
    _, numbers = np.unique(ids, return_inverse=True)
    listed: list[int] = numbers.tolist()
    return listed


def _text(entry: Any, *, integer: bool) -> str:
    if isinstance(entry, bytes):
        entry = entry.decode("utf-8", "surrogateescape")
    if isinstance(entry, str):
        text = entry.strip()
    elif isinstance(entry, int | np.integer) and not isinstance(entry, bool):
        return str(int(entry))
    elif type(entry).__name__ in NOTHING or (isinstance(entry, float | np.floating) and entry != entry):
        text = ""
    else:
        raise ValueError("groups must be whole numbers or text")
    if not text:
        raise ValueError("groups: an entry is empty, and every record is somebody's")
    if not integer:
        return text
    # What Python reads as a whole number is more: 1_000, and the digits of other scripts.
    if not WHOLE.fullmatch(text):
        raise ValueError("groups: an entry is not a whole number")
    return str(int(text))
