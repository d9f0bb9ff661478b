"""Times and events as users have them: a structured array, a pair of arrays, or a frame; refusals quote no cell."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from operator import getitem
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._cells import attempt, labels_shaped, targets_of
from ._columns import cells_of

# What stands for an event that was seen, and for one that was not, where y has truth values.
OCCURRED, CENSORED = "1", "0"
KIND = np.dtype([("event", bool), ("time", np.float64)])
WANTED = (
    "y must say when each record was last seen and whether its event was seen then: a structured array with one field of truth "
    "values and one of numbers, or a pair (event, time)"
)


def times_of(y: Any, n_rows: int, *, secret: bool = False) -> NDArray[Any]:
    """Return events and times as one structured array, a record for each row."""
    event, time = (_column(part, n_rows, secret=secret) for part in _two(y))
    if event.dtype.kind != "b" or time.dtype.kind == "b":
        raise TypeError(f"{WANTED}; what says whether the event was seen must be True or False, and times must not")
    numbers = targets_of(time, secret=secret)
    if (numbers < 0).any():
        place = "" if secret else f", row {int(np.argmax(numbers < 0))}"
        raise ValueError(f"y{place}: a time is a number of at least 0")
    both = np.empty(n_rows, dtype=KIND)
    both["event"], both["time"] = event, numbers
    return both


def times_by(label: Mapping[str, Any], y: Any, n_rows: int, *, secret: bool = False) -> NDArray[np.float64]:
    """Return what the core takes for times and events, by what a schema or a model file says of them."""
    # A field of truth values says whether the event was seen, whatever a schema's words are.
    fields = getattr(getattr(y, "dtype", None), "names", None)
    frame = fields is None and not isinstance(y, tuple | list)
    found = [attempt(partial(getitem, y, label[which])) if frame else None for which in ("event", "time")]
    if hasattr(y, "columns") and any(part is None for part in found):
        missing = label["event" if found[0] is None else "time"]
        raise ValueError(f"y has no column `{missing}`, which the schema names for survival")
    if any(part is None for part in found):
        # Truth values need no words.
        words = dict(label) | {"occurred": OCCURRED, "censored": CENSORED}
        return targets_from(words, times_of(y, n_rows, secret=secret), secret=secret)

    def refuse(row: int, what: str) -> Exception:
        return ValueError(f"y: {what}" if secret else f"y, row {row}: {what}")

    event, time = (_column(part, n_rows, secret=secret) for part in found)
    if event.dtype.kind in "bO":
        said = [_as_said(bool(cell), label) if isinstance(cell, bool | np.bool_) else cell for cell in event.tolist()]
        event = np.array(said, dtype=object)
    events = cells_of(event, categories=True, refuse=refuse)
    return _core.read_times(json.dumps(label), cells_of(time, categories=False, refuse=refuse), events, secret)


def targets_from(label: Mapping[str, Any], both: NDArray[Any], *, secret: bool) -> NDArray[np.float64]:
    """Return what the core takes for a structured array of events and times."""
    time, event = np.ascontiguousarray(both["time"]), both["event"].astype(np.float64)
    return _core.read_times(json.dumps(label), time, event, secret)


def _as_said(seen: bool, label: Mapping[str, Any]) -> str:
    """Return a truth value as a schema has it: the word that reads so, 1 or 0, or else what says whether the event was seen."""
    occurred, censored = (str(label[which]) for which in ("occurred", "censored"))
    for truth in (str(bool(seen)).lower(), str(int(seen))):
        for word in (occurred, censored):
            if word.strip().lower() == truth:
                return word
    return occurred if seen else censored


def _two(y: Any) -> tuple[Any, Any]:
    """Return what holds events and what holds times."""
    if isinstance(y, tuple | list) and len(y) == 2 and all(np.ndim(part) == 1 for part in y):
        return y[0], y[1]
    fields = getattr(getattr(y, "dtype", None), "names", None)
    if fields is None:
        raise TypeError(WANTED)
    truths = [name for name in fields if y.dtype[name].kind == "b"]
    if len(fields) != 2 or len(truths) != 1:
        raise TypeError(f"{WANTED}; it has {len(truths)} fields of truth values among {len(fields)}")
    (other,) = (name for name in fields if name not in truths)
    return y[truths[0]], y[other]


def _column(part: Any, n_rows: int, *, secret: bool) -> NDArray[Any]:
    column = labels_shaped(part, n_rows, secret=secret)
    if column.dtype.kind == "O":
        truths = attempt(lambda: [entry for entry in column.tolist() if isinstance(entry, bool | np.bool_)])
        if truths is not None and len(truths) == len(column) > 0:
            return column.astype(bool)
    return column
