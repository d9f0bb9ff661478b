"""What a model says of its columns, and of a row."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from ._prediction import Prediction


class Reasons(Prediction):
    """Tells what columns add, in their own unit; all of it follows from the model file and costs no budget."""

    @property
    def coefficients_(self) -> Any:
        """What each column adds to a score, in its own unit, those that move a score most first.

        A pandas data frame, or a list of dicts where pandas is not installed, with ``column``; ``of``: what adds, which is each
        ``"unit"`` of a number, the ``"lowest"`` or ``"highest"`` place of a curve, a ``"category"`` or an ``"empty"`` cell; ``at``: that
        place or category; ``adds``: how much, for regressors in the unit of the target; ``noise``: the standard error that the noise
        alone gives it, or NaN where that is not known. :meth:`coefficient_notes` says what is exact and what is not.
        """
        effects = self._effects()["effects"]
        rows = [effect | {"noise": np.nan if effect["noise"] is None else effect["noise"]} for effect in effects]
        pandas = pandas_or_none()
        return rows if pandas is None else pandas.DataFrame(rows, columns=["column", "of", "at", "adds", "noise"])

    def coefficient_notes(self) -> list[str]:
        """Return what ``coefficients_`` are and are not, in sentences: whether rows are scaled down, and what is known of the noise."""
        return list(self._effects()["notes"])

    def explain(self, X: ArrayLike) -> Any:
        """Return what each column adds to the score, or prediction, of each row: exact, also where rows are scaled down.

        With what all rows start at (``intercept_``, for regressors in the unit of the target) a row adds up to its score.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        pandas.DataFrame of shape (n_samples, n_columns) with the index of ``X``, or a list of dicts where pandas is not installed
        """
        rows = self._rows(X)
        adds: NDArray[np.float64] | None = self._model.explain(rows)
        if adds is None:
            raise AttributeError(self._why_none())
        names = [column["name"] for column in json.loads(self._model.text)["predictor"]["encoding"]["columns"]]
        pandas = pandas_or_none()
        if pandas is None:
            return [dict(zip(names, row, strict=True)) for row in adds.tolist()]
        index = X.index if isinstance(X, pandas.DataFrame) else None
        return pandas.DataFrame(adds, columns=names, index=index)

    def _effects(self) -> dict[str, Any]:
        check_is_fitted(self, "model_")
        text = self._model.effects()
        if text is None:
            raise AttributeError(self._why_none())
        effects: dict[str, Any] = json.loads(text)
        return effects


def pandas_or_none() -> Any:
    """Return pandas, if it is there."""
    try:
        return import_module("pandas")
    except ImportError:
        return None
