"""From scores to decisions: probabilities, and whom to flag."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ._fitting import Fitting

Method = TypeVar("Method", bound=Callable[..., Any])


def _has_probabilities(estimator: Any) -> bool:
    """Whether there are probabilities, or will be once the estimator is fitted."""
    if hasattr(estimator, "_model"):
        there = '"probabilities"' in estimator._model.text
    else:
        there = getattr(estimator, "probabilities", None) is True
    if not there:
        raise AttributeError(_WITHOUT)
    return True


_WITHOUT = (
    "the model has scores and no probabilities, which flagging needs too: set probabilities=True before it is fitted, or take the labels of a public table "
    "by calibrate(X, y)"
)


# scikit-learn has no types. A method is there only if the model has probabilities or, before it is fitted, will have them.
_where_there_are_any: Callable[[Method], Method] = available_if(_has_probabilities)


class Decisions(Fitting):
    """What follows from counts of labels by cells of the score, which a model has if ``probabilities`` were released."""

    @_where_there_are_any
    def predict_proba(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of either class for every row.

        It follows from counts that were released with noise, or from those of a public table (:meth:`calibrate`).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Of the negative class, then of the positive one.
        """
        rows = self._rows(X)
        positive = self._model.probabilities(rows)
        if positive is None:
            raise AttributeError(_WITHOUT)
        return np.column_stack([1.0 - positive, positive])

    @_where_there_are_any
    def flag(
        self,
        X: ArrayLike,
        *,
        flag_share: float | None = None,
        sensitivity: float | None = None,
        cost_ratio: float | None = None,
    ) -> NDArray[np.bool_]:
        """Return which rows to flag, by one public number and released counts alone.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        flag_share : float, optional
            The share of all records to flag: those with the highest scores.
        sensitivity : float, optional
            Flag as few records as possible that still include this share of the positive ones.
        cost_ratio : float, optional
            Those that it pays to flag, if missing a positive record costs so many times what flagging a negative one does.

        Returns
        -------
        ndarray of shape (n_samples,), bool
        """
        score, _ = self._model.flagged_from(flag_share, sensitivity, cost_ratio)
        flagged: NDArray[np.bool_] = self._scores(X) >= score
        return flagged

    @_where_there_are_any
    def threshold(
        self,
        *,
        flag_share: float | None = None,
        sensitivity: float | None = None,
        cost_ratio: float | None = None,
    ) -> float:
        """Return the probability from which on :meth:`flag` flags.

        Parameters
        ----------
        flag_share, sensitivity, cost_ratio : float, optional
            As for :meth:`flag`.

        Returns
        -------
        float
        """
        check_is_fitted(self, "model_")
        return self._model.flagged_from(flag_share, sensitivity, cost_ratio)[1]

    def calibrate(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Take probabilities from the labels of a public table. It costs no budget, and protects nobody in that table.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Public: nobody in it needs protection.
        y : array-like of shape (n_samples,)

        Returns
        -------
        self
        """
        rows = self._rows(X)
        n_rows = len(rows) if isinstance(rows, np.ndarray) else len(rows[0])
        self._accept(self._model.calibrated(rows, self._targets_by_model(y, n_rows)))
        return self
