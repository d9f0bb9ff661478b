"""From a table to a model."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags

from . import _core
from ._cells import check_rows, labels_of, readable, rows_of
from ._columns import targets_by
from ._parameters import settings_of, settings_text
from ._persistence import Persistence, default_names
from ._persons import cap_of, check_unit, numbers_of
from ._prediction import Rows
from .evaluation import note_fitted
from .schema import Schema

# Rows, targets, encoding, label, settings and whose each row is to a model.
Trainer = Callable[[Rows, NDArray[np.float64], str, str, str, list[int] | None], _core.Model]


class Fitting(Persistence):
    """Checks a table by its form, describes it by public facts, and hands both to the core."""

    # What the label's columns are called in model files, as arrays have no names.
    _label_columns: ClassVar[Mapping[str, str]] = {"column": "y"}

    def fit(self, X: ArrayLike, y: ArrayLike, *, groups: ArrayLike | None = None, **unsupported: Any) -> Self:
        """Train. A private estimator spends its budget on every call.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        groups : array-like of shape (n_samples,), optional
            Whose each record is, as whole numbers or text: persons are then protected, with all their records. With a schema
            that names a column of persons, that column of ``X`` is taken.
        **unsupported
            ``sample_weight`` is refused with the reason; nothing else is known.

        Returns
        -------
        self
        """
        refuse_unsupported(unsupported)
        self._fit(X, y, groups, self._trainer())
        if self._certified:
            note_fitted(self, X)
        return self

    def _fit(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None, train: Trainer) -> Self:
        schema = self._read_schema()
        integer = False
        if schema is not None and schema.person is not None:
            if groups is not None:
                raise ValueError("groups and the schema's [person] say the same thing twice: leave groups out")
            groups, integer = schema.persons(X), schema.person["kind"] == "integer"
        persons = check_unit(
            getattr(self, "unit", None),
            groups,
            max_records=getattr(self, "max_records", None),
            max_persons=getattr(self, "max_persons", None),
        )
        # How many records there are is secret where a cap is given, and where persons are protected. A baseline protects nobody, and
        # still names no row of theirs.
        secret = self._secret_size() or persons
        least = 0 if secret and self._certified else 2
        settings = settings_text(self._task, settings_of(self) | self._person_settings(persons))
        if schema is not None:
            columns = schema.rows(X, secret=secret)
            check_rows(len(columns[0]), least=least)
            targets = schema.targets(y, len(columns[0]), secret=secret)
            self._restore(**self._parameters_from(schema.label))
            self._note_columns(schema.names)
            owners = numbers_of(groups, len(columns[0]), integer=integer) if persons else None
            self._accept(train(columns, targets, *schema.described(), settings, owners))
            return self
        table = readable(X)
        # Where the number of records is secret, no number of them is an error.
        rows = rows_of(table, least=least, secret=secret)
        labels = self._labels(y, len(rows), secret=secret)
        self._check_columns(table, rows, reset=True)
        targets = np.ascontiguousarray(self._targets(labels, secret=secret), dtype=np.float64)
        owners = numbers_of(groups, len(rows)) if persons else None
        self._accept(train(rows, targets, *self._described(rows), settings, owners))
        return self

    def _targets_by_model(self, y: Any, n_rows: int, *, secret: bool = False) -> NDArray[np.float64]:
        """Return labels as the fitted model takes them."""
        if self._columns is None or self._label_facts is None:
            targets = self._targets(self._labels(y, n_rows, secret=secret), secret=secret)
        else:
            targets = targets_by(self._label_facts, y, n_rows, secret=secret)
        return np.ascontiguousarray(targets, dtype=np.float64)

    def _read_schema(self) -> Schema | None:
        """Return the schema, if there is one, and refuse public facts that are said beside it."""
        if self.schema is None:
            return None
        for name in ("bounds", "classes", "positive_label", "target_bounds", "horizon"):
            default = self.__dataclass_fields__[name].default if name in self.__dataclass_fields__ else None
            if getattr(self, name, default) is not default:
                raise ValueError(f"{name} and schema say the same thing twice: leave {name} out")
        schema = Schema(self.schema)
        schema.check_task(self._task)
        return schema

    def _described(self, rows: NDArray[np.float64]) -> tuple[str, str]:
        """Return columns and label as model files have them: public, and with the names that a frame has."""
        ranges = self._ranges(rows)
        names = [str(name) for name in getattr(self, "feature_names_in_", ())]
        if len(set(names)) != len(ranges):
            names = default_names(len(ranges))
        columns = [{"name": name, "range": pair} for name, pair in zip(names, ranges, strict=True)]
        label = {use: _unused(name, names) for use, name in self._label_columns.items()}
        return json.dumps({"columns": columns}), json.dumps(label | self._label())

    def _secret_size(self) -> bool:
        """Whether the number of records, or persons, is."""
        return any(getattr(self, name, None) is not None for name in ("max_records", "max_persons"))

    def _person_settings(self, persons: bool) -> dict[str, Any]:
        """Return what the core is told of persons."""
        return {"unit": "person"} | cap_of(getattr(self, "max_persons", None)) if persons else {"unit": "record"}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _trainer(self) -> Trainer:
        """Check what is said publicly, and return what trains."""
        raise NotImplementedError

    def _ranges(self, rows: NDArray[np.float64]) -> list[list[float]]:
        """Return the public range of every column."""
        raise NotImplementedError

    def _labels(self, y: Any, n_rows: int, *, secret: bool = False) -> NDArray[Any]:
        """Return labels as an array with an entry for each row."""
        return labels_of(y, n_rows, secret=secret)

    def _targets(self, y: NDArray[Any], *, secret: bool = False) -> NDArray[np.float64]:
        """Return labels as the core takes them; `secret` names no row in a refusal."""
        raise NotImplementedError

    def _label(self) -> dict[str, Any]:
        """Return the public values of the label as model files have them."""
        raise NotImplementedError


def _unused(name: str, names: list[str]) -> str:
    """Return a name that no column has."""
    while name in names:
        name = f"_{name}"
    return name


def refuse_unsupported(arguments: Mapping[str, Any]) -> None:
    """Refuse what ``fit`` cannot take into account."""
    if arguments.get("sample_weight") is not None:
        raise ValueError(
            "sample_weight is not supported: the noise is scaled to what one record of weight 1 can change, and a "
            "heavier record would be protected less than the certificate says"
        )
    others = sorted(set(arguments) - {"sample_weight"})
    if others:
        raise TypeError(f"fit() has no parameter {others[0]!r}")
