"""Columns of a frame as the core reads cells: numbers, or texts; what is wrong with a cell is said without quoting it."""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._cells import NOTHING, TEXTS, attempt, labels_shaped, readable

# Numbers with NaN where nothing is, or texts with None.
Cells = NDArray[np.float64] | list[str | None]
Refuse = Callable[[int, str], Exception]


def columns_of(X: Any, described: Sequence[Mapping[str, Any]], *, secret: bool = False) -> list[Cells]:
    """Return the columns that a schema lists, by their names, or by their places where there are no names.

    Parameters
    ----------
    X : frame, table or array
    described : sequence of mappings
        The columns as model files have them.
    secret : bool
        Whether the number of rows is.
    """
    table = readable(X)
    names = _names(table)
    if names is None:
        # A list of no rows has no width.
        array = None if secret and not hasattr(table, "shape") else attempt(lambda: np.asarray(table))
        if array is None or array.ndim != 2 or array.shape[1] != len(described):
            raise ValueError(
                f"X must have column names, or exactly the columns of the schema in its order, which are {len(described)}"
            )
        found = [array[:, place] for place in range(len(described))]
    else:
        found = [_named(table, names, column["name"]) for column in described]

    def cells(column: Mapping[str, Any], values: Any) -> Cells:
        def refuse(row: int, what: str) -> Exception:
            place = "" if secret else f", row {row}"
            return ValueError(f"X: column `{column['name']}`{place}: {what}")

        if column.get("kind") == "date":
            return dates_of(values, refuse=refuse)
        return cells_of(values, categories="categories" in column, refuse=refuse)

    return [cells(column, values) for column, values in zip(described, found, strict=True)]


def cells_of(column: Any, *, categories: bool, refuse: Refuse) -> Cells:
    """Return a column's cells.

    Parameters
    ----------
    column : array-like of one dimension
    categories : bool
        Whether numbers and truth values are names of something: whole numbers then keep all their digits.
    refuse : callable
        Makes the exception for a row that holds neither.
    """
    values = attempt(lambda: np.asarray(column))
    kind = "" if values is None else values.dtype.kind
    if values is None or kind not in "fiub" + TEXTS:
        raise refuse(0, "neither numbers nor text; a column of dates needs kind = 'date' in the schema")
    if kind == "f" or (kind in "iub" and not categories):
        return np.ascontiguousarray(values, dtype=np.float64)
    texts: list[str | None] = []
    for row, cell in enumerate(values.tolist()):
        text = _text(cell, categories)
        if text is _NEITHER:
            raise refuse(row, "neither a number nor text")
        texts.append(text)
    return texts


def dates_of(column: Any, *, refuse: Refuse) -> Cells:
    """Return a column of dates: days since 1970-01-01 with NaN where nothing is, or texts of dates with None.

    A moment counts as its day: in UTC where it has a zone, and as it is written where it has none, as in files.
    """
    values = attempt(lambda: np.asarray(column))
    if values is None or values.dtype.kind not in "MO" + TEXTS:
        raise refuse(0, "not a date")
    if values.dtype.kind == "M":
        days = values.astype("datetime64[D]")
        numbers = days.astype(np.int64).astype(np.float64)
        numbers[np.isnat(days)] = np.nan
        return np.ascontiguousarray(numbers)
    texts: list[str | None] = []
    for row, cell in enumerate(values.tolist()):
        text = _date_text(cell)
        if text is _NEITHER:
            raise refuse(row, "not a date")
        texts.append(text)
    return texts


def _date_text(cell: Any) -> str | None:
    if isinstance(cell, datetime.date) and type(cell).__name__ not in NOTHING:
        return str(cell.isoformat())
    if isinstance(cell, bool | Real | Decimal) and cell == cell:
        return _NEITHER
    return _text(cell, True)


def targets_by(label: Mapping[str, Any], y: Any, n_rows: int, *, secret: bool = False) -> NDArray[np.float64]:
    """Return labels as the core takes them, by what a schema or a model file says of them."""

    def refuse(row: int, what: str) -> Exception:
        return ValueError(f"y: {what}" if secret else f"y, row {row}: {what}")

    labels = labels_shaped(y, n_rows, secret=secret)
    cells = cells_of(labels, categories="range" not in label, refuse=refuse)
    return _core.read_targets(json.dumps(label), cells, secret)


# What a cell has that is neither a number nor text: no text has a half of a surrogate pair.
_NEITHER = "\ud800"


def _text(cell: Any, categories: bool) -> str | None:
    if cell is None or type(cell).__name__ in NOTHING or (isinstance(cell, Real | Decimal) and cell != cell):
        return None
    if isinstance(cell, bool | np.bool_):
        return str(cell).lower() if categories else str(int(cell))
    if isinstance(cell, int | np.integer):
        return str(int(cell))
    if isinstance(cell, float | np.floating):
        return str(int(cell)) if float(cell).is_integer() else repr(float(cell))
    if isinstance(cell, Decimal):
        return str(cell)
    if isinstance(cell, str) and not any("\ud800" <= letter <= "\udfff" for letter in cell):
        return cell
    return _NEITHER


def _names(table: Any) -> list[str] | None:
    """Return the names of a frame's columns, or nothing for an array."""
    said = getattr(table, "column_names" if type(table).__module__.startswith("pyarrow") else "columns", None)
    names = None if said is None else list(said)
    return names if names is not None and all(isinstance(name, str) for name in names) else None


def _named(table: Any, names: list[str], name: str) -> Any:
    if names.count(name) != 1:
        what = "has no column" if name not in names else "has more than one column"
        raise ValueError(
            f"X {what} `{name}`; check the spelling: names must match exactly, upper and lower case included"
        )
    return table[name]
