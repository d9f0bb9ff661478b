"""Tables and labels as arrays, with refusals that quote no cell.

What NumPy and scikit-learn say about a cell that is no number shows the cell, or the whole row. It must not be repeated, and
not even be the context of what is raised instead: nothing is raised here while an exception of theirs is handled.

Refusals name the column, and the row, from 0, as the custodian needs it to mend the table; not where the number of records is
secret, because a row says how many there are at least.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.exceptions import DataConversionWarning

Result = TypeVar("Result")

NUMBERS, TEXTS = "biuf", "OUST"
# What tables have where nothing is.
NOTHING = frozenset({"NoneType", "NAType", "NaTType"})


def readable(X: Any) -> Any:
    """Return a table as NumPy reads it, or refuse it with the reason."""
    if issparse(X):
        raise TypeError(
            "X is sparse, which is not supported: features are mapped to [-1, 1] by the bounds, so that zeros do not "
            "stay zeros and nothing would be saved. Use X.toarray()"
        )
    if hasattr(X, "__arrow_c_stream__") and not hasattr(X, "__array__"):
        import pyarrow

        table = attempt(lambda: pyarrow.table(X))
        if table is None:
            raise ValueError("X is a stream that Arrow cannot read as a table")
        return table
    return X


def rows_of(X: Any, *, least: int, secret: bool = False) -> NDArray[np.float64]:
    """Return a table as numbers, in the order in which they lie: the core reads any, so that none is copied for it.

    Parameters
    ----------
    X : array-like
    least : int
        How many rows it must have.
    secret : bool
        Whether their number is.
    """
    if secret and not hasattr(X, "shape"):
        raise ValueError(
            "X must be an array or a table of a known width where the number of records is secret: a list of no rows "
            "has none"
        )
    if np.ma.is_masked(X):
        raise ValueError("X is masked in places; put public values in the place of what is masked")
    table = attempt(lambda: np.asarray(X))
    if table is None or table.ndim == 0:
        raise ValueError("X must be a table: rows of one length")
    if table.dtype.kind == "V":
        raise ValueError("X is a structured array; make a plain one, or a data frame, of its columns")
    if table.ndim != 2:
        raise ValueError(
            f"Expected 2D array, got {table.ndim}D array instead: X must have a row for each record and a column for each "
            "feature. Reshape your data"
        )
    n_rows, n_columns = table.shape
    if n_columns == 0:
        shape = "" if secret else str(n_rows)
        raise ValueError(f"Found array with 0 feature(s) (shape=({shape}, 0)) while a minimum of 1 is required.")
    check_rows(n_rows, least=least)
    names = column_names(X, n_columns)

    def refuse(column: int, row: int, what: str, kind: type[Exception] = ValueError) -> None:
        place = "" if secret else f", row {row}"
        raise kind(f"X: column {names[column]}{place}: {what}")

    numbers = _numbers(table, "X", refuse)
    finite = np.isfinite(numbers)
    if not finite.all():
        row, column = (int(places[0]) for places in np.nonzero(~finite))
        what = "NaN" if np.isnan(numbers[row, column]) else "infinity (inf)"
        refuse(column, row, f"{what} is not a number to learn from; put a public value in its place")
    return numbers


def check_rows(n_rows: int, *, least: int) -> None:
    """Refuse a table of too few rows."""
    if n_rows < least:
        raise ValueError(f"Found array with {n_rows} sample(s) while a minimum of {least} is required.")


def labels_shaped(y: Any, n_rows: int, *, secret: bool = False) -> NDArray[Any]:
    """Return labels as one-dimensional array, a label for each row, whatever they are."""
    if y is None:
        raise ValueError("fitting requires y to be passed, but the target y is None")
    if np.ma.is_masked(y):
        raise ValueError("y is masked in places: fill in the label, or leave records without one out of the table")
    labels = attempt(lambda: np.asarray(y))
    if labels is None:
        raise ValueError("y should be a 1d array")
    if labels.ndim == 2 and labels.shape[1] == 1:
        warnings.warn(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to (n_samples, ), "
            "for example using ravel().",
            DataConversionWarning,
            stacklevel=5,
        )
        labels = labels.ravel()
    if labels.ndim != 1:
        raise ValueError(f"y should be a 1d array, got one of {labels.ndim} dimensions")
    if len(labels) != n_rows:
        counts = "" if secret else f": [{n_rows}, {len(labels)}]"
        raise ValueError(f"Found input variables with inconsistent numbers of samples{counts}")
    return labels


def labels_of(y: Any, n_rows: int, *, secret: bool = False) -> NDArray[Any]:
    """Return labels or targets as one-dimensional array of what they are."""
    labels = labels_shaped(y, n_rows, secret=secret)
    kind = labels.dtype.kind
    if kind == "c":
        raise ValueError("Complex data not supported: y must hold real numbers or text")
    if kind not in NUMBERS + TEXTS:
        raise ValueError("Unknown label type: y must hold numbers, truth values or text")
    objects = labels.tolist() if kind == "O" else []
    for row, label in enumerate(objects):
        if not isinstance(label, str | bytes | bool | int | float | np.generic):
            raise ValueError(f"{_in_y(row, secret)}Unknown label type: labels must be numbers, truth values or text")
    nan = np.array([label != label for label in objects], dtype=bool)
    bad = ~np.isfinite(labels) if kind == "f" else nan
    if bad.any():
        raise ValueError(f"{_in_y(int(np.argmax(bad)), secret)}NaN or infinity (inf) is neither a label nor a target")
    return labels


def targets_of(y: NDArray[Any], *, secret: bool = False) -> NDArray[np.float64]:
    """Return targets as numbers."""

    def refuse(_: int, row: int, what: str, kind: type[Exception] = ValueError) -> None:
        raise kind(f"{_in_y(row, secret)}{what}")

    targets = _numbers(y.reshape(-1, 1), "y", refuse).ravel()
    bad = ~np.isfinite(targets)
    if bad.any():
        refuse(0, int(np.argmax(bad)), "NaN or infinity (inf) is not a target")
    return targets


def weights_of(weights: Any, n_rows: int) -> NDArray[np.float64] | None:
    """Return the weights of rows as numbers, if there are any."""
    return None if weights is None else targets_of(labels_of(weights, n_rows))


def class_numbers(y: NDArray[Any], classes: NDArray[Any], *, secret: bool = False) -> NDArray[np.intp]:
    """Return the place of every label in the public list."""
    places = {label: place for place, label in enumerate(classes.tolist())}
    numbers = np.array([places.get(label, -1) for label in y.tolist()], dtype=np.intp)
    unknown = numbers < 0
    if not unknown.any():
        return numbers
    if y.dtype.kind == "f" and np.any(y != np.trunc(y)):
        raise ValueError("Unknown label type: continuous. The labels must be those of the public list of classes")
    raise ValueError(
        f"{_in_y(int(np.argmax(unknown)), secret)}the label is not among classes; list every possible label in classes "
        "(it is not shown, because labels are private)"
    )


def pairs_of(pairs: Any, n_features: int) -> NDArray[np.float64]:
    """Return pairs of rows as numbers."""
    table = attempt(lambda: np.asarray(pairs))
    if table is None or table.ndim != 3 or table.shape[1:] != (2, n_features):
        raise ValueError(f"pairs must have the shape (n_pairs, 2, {n_features})")
    numbers = attempt(lambda: table.astype(np.float64)) if table.dtype.kind in NUMBERS + TEXTS else None
    if numbers is None or not np.all(np.isfinite(numbers)):
        raise ValueError("pairs must hold finite numbers only")
    return np.ascontiguousarray(numbers)


def column_names(X: Any, n_columns: int) -> Sequence[str]:
    """Return what to call the columns in a message."""
    # A pandas column may itself be called `column_names`.
    said: Any = getattr(X, "column_names" if type(X).__module__.startswith("pyarrow") else "columns", ())
    names = attempt(lambda: list(said))
    if names is not None and len(names) == n_columns and all(isinstance(name, str) for name in names):
        return [f"`{name}`" for name in names]
    return [str(column) for column in range(n_columns)]


def _numbers(table: NDArray[Any], name: str, refuse: Callable[..., None]) -> NDArray[np.float64]:
    kind = table.dtype.kind
    if kind in NUMBERS:
        return table.astype(np.float64, copy=False)
    if kind == "c":
        raise ValueError(f"Complex data not supported: {name} must hold real numbers")
    if kind not in TEXTS:
        raise ValueError(f"{name} must hold numbers, not times or other objects")
    numbers = attempt(lambda: table.astype(np.float64))
    if numbers is not None:
        return numbers
    for (row, column), cell in np.ndenumerate(table):
        if attempt(partial(float, cell)) is not None:
            continue
        if type(cell).__name__ in NOTHING:
            refuse(column, row, "a missing value (NaN) is not a number; put a public value in its place")
        if isinstance(cell, str | bytes):
            refuse(column, row, "not a number")
        refuse(column, row, "neither a number nor text: an argument must be a string or a number", TypeError)
    raise ValueError(f"{name} holds something that is not a number")


def _in_y(row: int, secret: bool) -> str:
    return "y: " if secret else f"y, row {row}: "


def attempt(work: Callable[[], Result]) -> Result | None:
    """Return what ``work`` returns, or nothing if it raises: what is raised may quote a cell."""
    try:
        return work()
    except Exception:
        return None
