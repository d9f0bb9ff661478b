"""Regressors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import Tags

from ._cells import labels_of, targets_of
from ._estimator import Linear, PrivateLinear
from ._parameters import estimator, required
from ._persons import weights_by


@estimator
class Regression(RegressorMixin, Linear):
    """What regressors do, private or not."""

    _task: ClassVar[str] = "regression"
    target_bounds: tuple[float, float] | None = required(
        kind="pair of floats", text="Public bounds of the target, ``(low, high)``. Targets beyond them are cut off."
    )

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the prediction for every row, in the units of the target.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores: NDArray[np.float64] = self._scores(X)
        low, high = self.target_range_
        return low / 2 + high / 2 + scores * (high / 2 - low / 2)

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> float:
        """Return R², the share of the target's variance that is explained; exact, so on private data it is not protected.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        groups : array-like of shape (n_samples,), optional
            Whose each record is, in place of weights: every person then counts as much as any other.

        Returns
        -------
        float
        """
        predicted = self.predict(X)
        targets = targets_of(labels_of(y, len(predicted)))
        return float(r2_score(targets, predicted, sample_weight=weights_by(groups, sample_weight, len(predicted))))

    def _targets(self, y: NDArray[Any], *, secret: bool = False) -> NDArray[np.float64]:
        low, high = self.target_range_
        y = np.clip(targets_of(y, secret=secret), low, high)
        return np.clip((y - (low / 2 + high / 2)) / (high / 2 - low / 2), -1.0, 1.0)

    def _label(self) -> dict[str, Any]:
        return {"range": list(self.target_range_)}

    @classmethod
    def _parameters_from(cls, label: Mapping[str, Any]) -> dict[str, Any]:
        return {"target_bounds": tuple(label["range"])} if "range" in label else {}

    def _restore(self, *, target_bounds: tuple[float, float] | None = None) -> None:
        target_bounds = self.target_bounds if target_bounds is None else target_bounds
        if target_bounds is None:
            raise ValueError(
                "no public target bounds: set target_bounds=(low, high), from public knowledge and never from the data"
            )
        try:
            low, high = map(float, target_bounds)
        except (TypeError, ValueError):
            low = high = np.nan
        if not (np.isfinite(low) and np.isfinite(high) and low < high):
            raise ValueError("target_bounds must be two finite numbers, the smaller first")
        self.target_range_ = (low, high)


@estimator
class PrivateRegressor(Regression, PrivateLinear):
    """A linear regressor, under differential privacy.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    target_range_ : tuple of floats
        The target's bounds.
    coef_ : ndarray of shape (n_columns,)
        The weights of ``encode(X)``: features mapped to [-1, 1], rows no longer than the feature bound.
    intercept_ : float
        What is added to every score.
    certificate_ : dict
        Every public fact that the guarantee rests on.
    plan_ : dict
        The algorithm with its steps, step size and noise.
    model_ : str
        The model file, as the ``pairdp`` command reads it.

    Examples
    --------
    >>> import numpy as np
    >>> from pairdp import PrivateRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(5000, 2))
    >>> y = 50 + 20 * X[:, 0] - 10 * X[:, 1] + rng.normal(size=5000)
    >>> regressor = PrivateRegressor(epsilon=2.0, delta=1e-6, bounds=(-1, 1), target_bounds=(0, 100)).fit(X, y)
    >>> regressor.verify()
    True
    >>> regressor.score(X, y) > 0.5
    True
    """

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # Of tables as small as those of scikit-learn's checks nothing can be learned in private.
        tags.regressor_tags.poor_score = True
        return tags
