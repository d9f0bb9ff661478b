"""What a fitted estimator knows, and how it reads rows."""

from __future__ import annotations

import datetime
import json
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _core
from ._cells import check_rows, readable, rows_of
from ._columns import Cells, columns_of
from .scores._condition import is_score

FIRST_DAY = datetime.date(1970, 1, 1)

Rows = NDArray[np.float64] | list[Cells]

_NO_COEFFICIENTS = "a network has no coefficients: its hidden units take all columns together"
_NO_COLUMNS = "random features have no coefficients of columns: their directions take all columns together"
_NO_SCORES = "a metric has distances and no scores, so its columns add nothing to one"


class Prediction(BaseEstimator):
    """Holds a model, read once, and applies it."""

    _model: _core.Model
    # The columns as the model file has them, if they are found by name in a frame.
    _columns: list[dict[str, Any]] | None
    # The label's public values, as the model file has them.
    _label_facts: dict[str, Any] | None
    schema: Any

    @property
    def model_(self) -> str:
        """The model file's text, as the ``pairdp`` command reads it."""
        return self._model.text

    def encode(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return rows as the model sees them: what its scores are linear in.

        Categories have a column each. Features are cut off at the bounds and mapped to [-1, 1], and rows longer than the feature bound are scaled down to
        it. So a score is ``encode(X) @ coef_ + intercept_``, and not a linear function of ``X`` where a row is cut off or
        scaled down.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_columns)
        """
        rows = self._rows(X)
        return self._model.encode(rows)

    def _why_none(self) -> str:
        predictor = json.loads(self._model.text)["predictor"]
        if "random_features" in predictor:
            return _NO_COLUMNS
        return _NO_COEFFICIENTS if "score" in predictor else _NO_SCORES

    def shapes(self) -> list[dict[str, Any]]:
        """Return what each column adds to a score, largest first.

        A score is the sum of what its columns add, and ``intercept_`` where there is one; rows that are longer than the feature
        bound are scaled down to it, all their parts alike. It follows from the model file and costs no budget.

        Returns
        -------
        list of dict
            ``column``; ``cells``: places of a column of numbers in its own unit, of dates as dates, or categories; ``adds``: what each of them adds;
            ``noise``: the standard deviation of the noise in that, or None where it is not known; ``quantiles``: the numbers below
            which 5, 25, 50, 75 and 95 % of the records that have one lie, as released, or None; ``missing``: ``adds`` and ``noise``
            of an empty cell, or None where it has no place of its own.
        """
        check_is_fitted(self, "model_")
        text = self._model.shapes()
        if text is None:
            raise AttributeError(self._why_none())
        shapes = []
        for shape in json.loads(text):
            ((_, parts),) = shape.pop("parts").items()
            cells, adds = zip(*parts, strict=True)
            if shape.pop("date", False):
                cells = tuple(_dates(cells))
                shape["quantiles"] = shape["quantiles"] and _dates(shape["quantiles"])
            shapes.append({**shape, "cells": list(cells), "adds": list(adds)})

        def reach(shape: dict[str, Any]) -> float:
            adds = shape["adds"] + ([shape["missing"]["adds"]] if shape["missing"] else [])
            return float(max(adds) - min(adds))

        return sorted(shapes, key=reach, reverse=True)

    def _scores(self, X: ArrayLike) -> NDArray[np.float64]:
        rows = self._rows(X)
        foreign = self._model.foreign()
        if foreign is None:
            return self._model.scores(rows)
        score: Any = getattr(self, "scores", None)
        weights, _ = foreign
        if not is_score(score):
            raise ValueError("the model has weights and no function: say scores=..., the score it was trained with")
        if score.parameters != len(weights):
            raise ValueError(f"the score has {score.parameters} parameters, and the model {len(weights)}")
        return np.asarray(score.scores(weights, self._model.encode(rows)), dtype=np.float64)

    def _rows(self, X: ArrayLike) -> Rows:
        check_is_fitted(self, "model_")
        if self._columns is not None:
            columns = columns_of(X, self._columns)
            check_rows(len(columns[0]), least=1)
            return columns
        table = readable(X)
        rows = rows_of(table, least=1)
        self._check_columns(table, rows, reset=False)
        return rows

    def _check_columns(self, table: Any, rows: NDArray[np.float64], *, reset: bool) -> None:
        """Note the number and names of columns, or compare them with those of ``fit``: all that scikit-learn looks at."""
        validate_data(self, table if hasattr(table, "shape") else rows, reset=reset, skip_check_array=True)

    def _accept(self, model: _core.Model) -> None:
        """Take over a model that was trained or read."""
        document = json.loads(model.text)
        self._model = model
        predictor = document["predictor"]
        columns = predictor["encoding"]["columns"]
        plain = all(set(column) == {"name", "range"} for column in columns)
        self._columns = None if plain and self.schema is None else columns
        self._label_facts = predictor.get("label")
        if "score" in predictor:
            # A network has no coefficients.
            self.__dict__.pop("coef_", None)
            self.__dict__.pop("intercept_", None)
            self._accept_certificate(document)
            return
        self.coef_ = np.array(predictor["parameters"], dtype=np.float64)
        self.intercept_ = 0.0
        if "constant" in predictor:
            self.intercept_ = float(self.coef_[-1] * predictor["constant"])
            self.coef_ = self.coef_[:-1]
        if predictor["task"] == "classification":
            # Above 0 is the positive class, wherever probabilities put the edge.
            self.intercept_ -= model.cut()
        self._accept_certificate(document)

    def _accept_certificate(self, document: dict[str, Any]) -> None:
        if "certificate" in document:
            self.certificate_ = document["certificate"]
            self.plan_ = document["training"]


def _dates(days: Any) -> list[datetime.date]:
    return [FIRST_DAY + datetime.timedelta(int(np.floor(day))) for day in days]
