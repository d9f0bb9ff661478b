"""What is publicly known about a table: the schemas of the ``pairdp`` command, for data frames.

A schema says of every column its range or its categories, what an empty cell counts as, and which values the label has.
Nothing is read from the data. ``docs/data.md`` tells what may be said.

Examples
--------
>>> import numpy as np, pandas
>>> from pairdp import PrivateRanker, Schema
>>> schema = Schema({
...     "label": {"column": "readmitted", "positive": "yes", "negative": "no"},
...     "column": [
...         {"name": "age", "range": [20, 95], "missing": 60},
...         {"name": "smoker", "categories": ["never", "former", "current"], "missing": "never"},
...     ],
... })
>>> rng = np.random.default_rng(0)
>>> stays = pandas.DataFrame({"age": rng.uniform(20, 95, 3000), "smoker": rng.choice(["never", "current", None], 3000)})
>>> readmitted = np.where(stays["age"] + 20 * (stays["smoker"] == "current") > 65, "yes", "no")
>>> ranker = PrivateRanker(epsilon=1.0, delta=1e-6, schema=schema).fit(stays, readmitted)
>>> ranker.verify(), ranker.score(stays, readmitted) > 0.8
(True, True)
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core
from ._cells import attempt
from ._columns import Cells, columns_of, targets_by
from ._times import times_by

__all__ = ["Schema"]


class Schema:
    """A checked schema.

    Parameters
    ----------
    source : path-like, mapping or Schema
        A schema file, or a mapping of the same shape: ``label``, ``column`` (a list) and, if need be, ``ignore`` and
        ``private``.

    Attributes
    ----------
    columns : list of dict
        The columns to learn from, in the order of the model's.
    label : dict
        The label's column and its public values.
    person : dict or None
        The column that says whose a record is, and how its entries are compared.
    private : bool
        Whether the records are.
    ignore : list of str
        Columns that are known and not used.
    text : dict or None
        How text files with these columns are written, if not with commas and decimal points.
    form : str
        What decides which tables are refused; a ledger keeps its digest.
    """

    def __init__(self, source: str | PathLike[str] | Mapping[str, Any] | Schema) -> None:
        self._text: str
        if isinstance(source, Schema):
            self._text = source._text
        elif isinstance(source, Mapping):
            self._text = _core.read_schema(None, json.dumps(source, default=_plain))
        elif isinstance(source, str | PathLike):
            self._text = _core.read_schema(fspath(source), None)
        else:
            raise TypeError("a schema is a file's path, a dict or a pairdp.Schema")
        facts = json.loads(self._text)
        self.columns: list[dict[str, Any]] = facts["columns"]
        self.label: dict[str, Any] = facts["label"]
        self.person: dict[str, str] | None = facts["person"]
        self.private: bool = facts["private"]
        self.ignore: list[str] = facts["ignore"]
        self.text: dict[str, str] | None = facts["text"]
        self.form: str = facts["form"]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __repr__(self) -> str:
        label = self.label.get("column", self.label.get("time"))
        return f"Schema(label={label!r}, columns={self.names})"

    @property
    def names(self) -> list[str]:
        """The names of the columns to learn from."""
        return [column["name"] for column in self.columns]

    def check_task(self, task: str) -> None:
        """Refuse a label that a task cannot be learned from."""
        _core.check_label(json.dumps(self.label), task)

    def described(self) -> tuple[str, str]:
        """Return columns and label as model files have them."""
        encoding = {"columns": self.columns} | ({"text": self.text} if self.text else {})
        return json.dumps(encoding), json.dumps(self.label)

    def persons(self, X: Any) -> Any:
        """Return whose each row of a table is."""
        name = "" if self.person is None else self.person["column"]
        column = attempt(lambda: X[name])
        if column is None:
            raise ValueError(f"X has no column `{name}`, by which the schema tells whose records they are")
        return column

    def rows(self, X: Any, *, secret: bool = False) -> list[Cells]:
        """Return the columns of a table."""
        return columns_of(X, self.columns, secret=secret)

    def targets(self, y: Any, n_rows: int, *, secret: bool = False) -> NDArray[np.float64]:
        """Return labels as the core takes them."""
        read = times_by if "time" in self.label else targets_by
        return read(self.label, y, n_rows, secret=secret)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, tuple | range):
        return list(value)
    if isinstance(value, datetime.date):
        return value.isoformat()
    raise TypeError(f"a schema cannot hold a {type(value).__name__}")
