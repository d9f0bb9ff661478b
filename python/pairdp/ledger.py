"""A budget for all runs on a table together, on disk.

A ledger is one file that holds named data sets, each with what all runs on it may cost, and every run that was made.
It is the file of ``pairdp budget``: both may use it, and any number of processes at once. ``docs/ledger.md`` tells what
is added up and what is protected.

Examples
--------
>>> import numpy as np, tempfile
>>> from pathlib import Path
>>> from pairdp import PrivateRanker
>>> from pairdp.ledger import Ledger
>>> path = Path(tempfile.mkdtemp()) / "clinic.ledger"
>>> ledger = Ledger.create(path)
>>> X = np.random.default_rng(0).uniform(-1, 1, size=(2000, 3))
>>> ranker = PrivateRanker(epsilon=0.8, delta=1e-6, bounds=(-1, 1))
>>> ledger.add("stays", epsilon=1.0, delta=1e-6, records=2000, schema=ranker.table_schema(3))
>>> ledger.fit(ranker, "stays", X, X[:, 0] > 0).verify()
True
>>> ledger.show()["stays"]["spent"]
0.8
>>> ledger.fit(ranker, "stays", X, X[:, 0] > 0)  # doctest: +ELLIPSIS
Traceback (most recent call last):
...
pairdp.exceptions.PrivacyBudgetError: the run needs ... but `stays` has already spent ...
"""

from __future__ import annotations

import json
import os
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from . import _core
from ._guarantee import Guarantee
from ._persons import UNITS
from .evaluation import Evaluation, _evaluate
from .schema import Schema

__all__ = ["Ledger"]

Trained = TypeVar("Trained", bound=Guarantee)

# A schema, or what `table_schema` returns.
Described = str | os.PathLike[str] | dict[str, Any] | Schema


class Ledger:
    """A ledger by its file, which every call opens anew: it may be used after a fork and by several threads."""

    def __init__(self, path: str | os.PathLike[str], *, key_command: str | None = None) -> None:
        self._file = (os.path.abspath(path), key_command)

    @classmethod
    def create(cls, path: str | os.PathLike[str], *, key_command: str | None = None) -> Self:
        """Make a new, empty ledger.

        Parameters
        ----------
        path : path-like
            A file that is not there yet.
        key_command : str, optional
            A command that prints the key. By default a key is made beside the file, as ``FILE.key``.

        Returns
        -------
        Ledger
        """
        ledger = cls(path, key_command=key_command)
        _core.ledger_create(*ledger._file)
        return ledger

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, key_command: str | None = None) -> Self:
        """Open a ledger and check its history.

        Parameters
        ----------
        path : path-like
        key_command : str, optional

        Returns
        -------
        Ledger
        """
        ledger = cls(path, key_command=key_command)
        ledger.check()
        return ledger

    def add(
        self,
        dataset: str,
        *,
        epsilon: float,
        delta: float,
        records: int | None,
        unit: str = "record",
        schema: Described | None = None,
        public_labels: bool = False,
        promised: bool = False,
    ) -> None:
        """Enter a data set with what all runs on it may cost together.

        Parameters
        ----------
        dataset : str
            Its name.
        epsilon, delta : float
            The grant.
        records : int or None
            How many records, or persons, it has, which is public. ``None`` keeps their number secret: runs then need
            ``max_records=`` or ``max_persons=`` and protect adding or removing one.
        unit : {"record", "person"}, default="record"
            Whom the grant protects. One for persons pays for runs that protect persons, and for no others.
        schema : path-like, dict or Schema, optional
            What the table is read by: a schema, or ``estimator.table_schema(n_features)`` for arrays. Nothing can be
            spent before it is said here or by :meth:`set_schema`, and runs that read the table in another way are refused
            before they look at it: what a schema of somebody's choice refuses would answer questions about records.
        public_labels : bool, default=False
            The grant is for the features of records; their labels are known to everyone and not protected.
        promised : bool, default=False
            How many records there are is secret, and there are never more than ``records``: runs with
            ``max_records=records, promised=True`` take less noise, and any other promise is refused before the table is
            looked at.
        """
        if unit not in UNITS:
            raise ValueError(f"unit must be one of {', '.join(UNITS)}, not {unit!r}")
        if unit == "record" and schema is not None and _names_persons(schema):
            raise ValueError(
                'the schema says whose records they are, and unit="record" protects records only: use unit="person"'
            )
        form = None if schema is None else _form(schema)
        persons = unit == "person"
        _core.ledger_add(*self._file, dataset, epsilon, delta, records, persons, public_labels, promised, form)

    def set_schema(self, dataset: str, schema: Described) -> None:
        """Say by which schema a data set's table is read. Only its owner should change it; the history keeps every change.

        Parameters
        ----------
        dataset : str
        schema : path-like, dict or Schema
            As for :meth:`add`.
        """
        granted = self.show().get(dataset, {}).get("adjacency", "").endswith("-person")
        if granted != _names_persons(schema) and not _is_of_arrays(schema):
            raise ValueError(
                "the grant is for persons, and the schema does not say whose records they are"
                if granted
                else "the schema says whose records they are, and the grant is for records"
            )
        _core.ledger_set_schema(*self._file, dataset, _form(schema))

    def grant(self, dataset: str, *, epsilon: float, delta: float) -> None:
        """Set a data set's total anew, what was spent included.

        Never raise it because a result was not good enough: no accounting covers that.
        """
        _core.ledger_grant(*self._file, dataset, epsilon, delta)

    def show(self) -> dict[str, dict[str, Any]]:
        """Return where each data set stands: its grant, what is spent, what is left for one more run, and its runs."""
        balances: dict[str, dict[str, Any]] = json.loads(_core.ledger_balances(*self._file))
        return balances

    def history(self) -> list[dict[str, Any]]:
        """Return every entry, oldest first."""
        entries: list[dict[str, Any]] = json.loads(_core.ledger_history(*self._file))
        return entries

    def check(self, since: str | None = None) -> str:
        """Check every entry and return the head of the history.

        Parameters
        ----------
        since : str, optional
            A head that was returned earlier. If the history does not continue it, as after an old copy of the file was
            put back, ``ValueError`` says so.
        """
        return _core.ledger_check(*self._file, since)

    def fit(
        self, estimator: Trained, dataset: str, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None
    ) -> Trained:
        """Fit a private estimator and let a data set pay.

        The cost is spent before the core looks at a record, stays spent if the run is interrupted, and is given back
        only if the table is refused for its form. An estimator that reads tables in another way than the data set's schema
        says is refused before that. If it does not fit, ``PrivacyBudgetError`` says what would.

        Parameters
        ----------
        estimator : PrivateRanker, PrivateSurvivalRanker, PrivateMetric, PrivateClassifier or PrivateRegressor
        dataset : str
            Its name in the ledger.
        X : array-like of shape (n_samples, n_features)
            The whole data set, with as many records as the ledger says.
        y : array-like of shape (n_samples,)
        groups : array-like of shape (n_samples,), optional
            As for the estimator's ``fit``.

        Returns
        -------
        The estimator, fitted
        """
        if not isinstance(estimator, Guarantee):
            raise TypeError(f"a ledger pays for private estimators, not for {type(estimator).__name__}")
        form = _form(estimator.table_schema(_width(X)))
        _core.ledger_check_schema(*self._file, dataset, form)
        return estimator._fit(X, y, groups, estimator._trainer((*self._file, dataset, form)))

    def evaluate(
        self,
        estimator: Any,
        dataset: str,
        X: ArrayLike,
        y: ArrayLike,
        *,
        epsilon: float,
        delta: float = 0.0,
        curves: bool = False,
        groups: ArrayLike | None = None,
        public_size: bool = False,
    ) -> Evaluation:
        """Measure a fitted private estimator on a data set, with noise, and let the data set pay.

        Parameters
        ----------
        estimator : PrivateRanker, PrivateSurvivalRanker or PrivateClassifier, fitted
        dataset : str
            Its name in the ledger.
        X : array-like of shape (n_samples, n_features)
            The whole data set, with as many records as the ledger says.
        y : array-like of shape (n_samples,)
        epsilon, delta, curves, groups, public_size
            As for :func:`pairdp.evaluate`.

        Returns
        -------
        Evaluation
        """
        form = _form(estimator.table_schema(_width(X)))
        _core.ledger_check_schema(*self._file, dataset, form)
        booking = (*self._file, dataset, form)
        return _evaluate(estimator, X, y, (epsilon, delta), curves, groups, public_size, booking)


def _form(schema: Described) -> str:
    """Return what decides which tables are refused, as one text."""
    if isinstance(schema, dict) and "features" in schema:
        return json.dumps(schema, sort_keys=True)
    return Schema(schema).form


def _is_of_arrays(schema: Described) -> bool:
    """Whether it is what `table_schema` returns, which says nothing of persons."""
    return isinstance(schema, dict) and "features" in schema


def _names_persons(schema: Described) -> bool:
    return not _is_of_arrays(schema) and Schema(schema).person is not None


def _width(X: Any) -> int:
    """Return the number of columns without looking at a cell."""
    shape = X.shape if hasattr(X, "shape") else np.shape(X)
    if len(shape) != 2:
        raise ValueError("X must have rows and columns")
    return int(shape[1])
