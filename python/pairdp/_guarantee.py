"""What makes an estimator private: a budget, who pays, and a certificate."""

from __future__ import annotations

import json
import re
import warnings
from functools import partial
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from . import _copies, _core
from ._fitting import Fitting, Trainer
from ._labels import as_compared
from ._parameters import check_budget, ranges_of, settings_of, settings_text
from ._persons import check_unit
from ._prediction import Rows
from .exceptions import PrivacyPlanWarning
from .schema import Schema
from .scores._condition import condition_of, is_score

# The file of a ledger, the command that gives its key, the data set that pays, and the form that its table is read by.
Booking = tuple[str, str | None, str, str]

# Shares of a metric's pairs, where an engine does not say how many workers it has.
DEFAULT_SHARES = 8


class Guarantee(Fitting):
    """Trains within a budget and keeps a certificate."""

    _certified = True
    epsilon: float | None
    delta: float | None

    def fit_partitions(self, data: str | PathLike[str], schema: str | PathLike[str], engine: Any = "local:2") -> Self:
        """Train on a table that is kept in many files, by the processes or machines of an engine.

        The model is the one that :meth:`fit` would find on all files together, for any engine and any division of the table
        into files. Workers read the files themselves and keep their rows in memory; the noise is drawn here, once.

        Parameters
        ----------
        data : path-like
            A folder of tables (CSV, Parquet, LIBSVM), or a pattern such as ``"parts/*.parquet"``, which workers can read.
        schema : path-like
            What is publicly known about columns and label, as for the ``pairdp`` command. ``bounds`` are not used.
        engine : str, distributed.Client or pairdp.engines.Engine, default="local:2"
            ``"local:N"``, ``"ray:auto"``, ``"ray:host:port"``, ``"ray://host:port"`` or ``"dask://host:port"``: see
            :func:`pairdp.engines.connect`.

        Returns
        -------
        self
        """
        from .engines import connect

        if is_score(getattr(self, "scores", None)):
            raise ValueError("a score of your own needs the whole table in one place: use fit")

        budget = check_budget(self.epsilon, self.delta, f"{type(self).__name__}(epsilon=1.0, delta=1e-6)")
        _copies.warn_of_tuning(self, *budget)
        persons = Schema(schema).person
        caps = {name: getattr(self, name, None) for name in ("max_records", "max_persons")}
        of_persons = check_unit(getattr(self, "unit", None), persons, **caps)
        settings = settings_text(self._task, settings_of(self) | self._person_settings(of_persons))
        workers = re.search(r"(?:^local:|workers=)([0-9]+)$", engine) if isinstance(engine, str) else None
        count = int(workers[1]) if workers else DEFAULT_SHARES
        parts, encoding, label = _core.describe_parts(str(data), str(schema), settings, count)
        with connect(engine, parts) as asked:
            model = _core.fit_parts(asked.ask, encoding, label, settings, *budget)
        # How many records there are is known only now.
        _warn_of_plan(json.loads(model.text)["certificate"]["records"], encoding, settings, budget)
        _copies.note_spent(self, *budget)
        self._note_columns([column["name"] for column in json.loads(encoding)["columns"]])
        # What the schema's label stands for, as in a file that is loaded.
        self._restore(**self._parameters_from(json.loads(label)))
        self._accept(model)
        return self

    def table_schema(self, n_features: int) -> dict[str, Any] | Schema:
        """Return what decides which tables this estimator refuses, for :meth:`pairdp.ledger.Ledger.add`.

        Parameters
        ----------
        n_features : int
            Columns of ``X``.

        Returns
        -------
        dict or Schema
            The number of features and the public values of the label; the estimator's schema if it has one.
        """
        stated = self._read_schema()
        if stated is not None:
            return stated
        schema: dict[str, Any] = {"features": int(n_features)}
        for name in ("classes", "positive_label", "target_bounds", "horizon"):
            value = getattr(self, name, None)
            if value is not None:
                # One by one: in an array with text in it numbers would be text, and 1 and "1" refuse different tables.
                entries = value if isinstance(value, list | tuple) else np.ravel(np.asarray(value)).tolist()
                schema[name] = [as_compared(entry) for entry in entries]
        return schema

    def verify(self, *, accept_foreign: bool = False) -> bool:
        """Recompute the certificate by a second method and say whether it holds.

        Parameters
        ----------
        accept_foreign : bool, default False
            Count *yes, if the clip was as stated* as yes, where records were scored by a function of your own (:mod:`pairdp.scores`).

        Returns
        -------
        bool
        """
        check_is_fitted(self, "model_")
        if self._model.foreign() is not None and not accept_foreign:
            return False
        return all(failure is None for _, _, failure in self._model.verify())

    def _trainer(self, booking: Booking | None = None) -> Trainer:
        budget = check_budget(self.epsilon, self.delta, f"{type(self).__name__}(epsilon=1.0, delta=1e-6, bounds=...)")
        if self.schema is None:
            self._restore()
        # What a ledger pays for, it also counts.
        if booking is None:
            _copies.warn_of_tuning(self, *budget)
        return partial(self._spend, booking, budget)

    def _spend(
        self,
        booking: Booking | None,
        budget: tuple[float, float],
        rows: Rows,
        targets: NDArray[np.float64],
        encoding: str,
        label: str,
        settings: str,
        owners: list[int] | None,
    ) -> _core.Model:
        size = len(targets) if owners is None else len(set(owners))
        _warn_of_plan(size, encoding, settings, budget)
        score = getattr(self, "scores", None)
        foreign = (score, condition_of(score)) if is_score(score) else None
        model = _core.fit(rows, targets, encoding, label, settings, *budget, booking, owners, foreign)
        if booking is None:
            _copies.note_spent(self, *budget)
        return model

    def _ranges(self, rows: NDArray[np.float64]) -> list[list[float]]:
        return ranges_of(self.bounds, rows.shape[1])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags

    def __sklearn_clone__(self) -> Self:
        copy: Self = super().__sklearn_clone__()
        _copies.note_copy(self, copy)
        return copy

    def __getstate__(self) -> dict[str, Any]:
        # Searches send copies to other processes.
        state: dict[str, Any] = super().__getstate__() | {"_copy": _copies.number_of(self)}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        _copies.set_number(self, state.pop("_copy", 0))
        super().__setstate__(state)


def _warn_of_plan(size: int, encoding: str, settings: str, budget: tuple[float, float]) -> None:
    """Say what public facts alone speak against a fit; turned into an error, nothing is spent."""
    try:
        cautions = _core.cautions(size, encoding, settings, *budget)
    except ValueError:
        # What cannot be planned is refused by the fit itself, in its order.
        return
    for caution in cautions:
        warnings.warn(caution, PrivacyPlanWarning, stacklevel=5)
