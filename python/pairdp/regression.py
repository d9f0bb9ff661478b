"""Regressors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import Tags

from ._base import Bounds, PrivateEstimator
from ._cells import labels_of, targets_of, weights_of


class Regression(RegressorMixin):
    """What regressors do, private or not."""

    _task = "regression"

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

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return R², the share of the target's variance that is explained; exact, so on private data it is not protected.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        predicted = self.predict(X)
        targets = targets_of(labels_of(y, len(predicted)))
        return float(r2_score(targets, predicted, sample_weight=weights_of(sample_weight, len(predicted))))

    def _targets(self, y: NDArray[Any]) -> NDArray[np.float64]:
        low, high = self.target_range_
        y = np.clip(targets_of(y, secret=self._secret_size()), low, high)
        return np.clip((y - (low / 2 + high / 2)) / (high / 2 - low / 2), -1.0, 1.0)

    def _label(self) -> dict[str, Any]:
        return {"range": list(self.target_range_)}

    @classmethod
    def _parameters_from(cls, label: Mapping[str, Any]) -> dict[str, Any]:
        return {"target_bounds": tuple(label["range"])} if "range" in label else {}

    def _restore(self) -> None:
        if self.target_bounds is None:
            raise ValueError(
                "no public target bounds: set target_bounds=(low, high), from public knowledge and never from the data"
            )
        try:
            low, high = map(float, self.target_bounds)
        except (TypeError, ValueError):
            low = high = np.nan
        if not (np.isfinite(low) and np.isfinite(high) and low < high):
            raise ValueError("target_bounds must be two finite numbers, the smaller first")
        self.target_range_ = (low, high)


class PrivateRegressor(Regression, PrivateEstimator):
    """A linear regressor, under differential privacy.

    Parameters
    ----------
    epsilon, delta : float
        The privacy budget of one call of ``fit``. They have no usable default: how much privacy to give up is a
        decision.
    bounds : pair of floats or of arrays
        Public lower and upper bounds of the features, ``(low, high)``. Values beyond them are cut off. Take them
        from public knowledge; bounds computed from the data would leak it.
    target_bounds : pair of floats
        Public bounds of the target, ``(low, high)``. Targets beyond them are cut off.
    algorithm : str, optional
        As for :class:`pairdp.PrivateRanker`; by default (or ``"auto"``) chosen from public facts.
    loss : {"squared", "q-norm"}, default="squared"
        The loss of a record.
    q : float, default=1.5
        Exponent of the q-norm loss, between 1 and 2.
    ridge : float, default=0.0
        Half this times the squared norm of the parameters is added to the risk.
    feature_bound : float, optional
        Features are mapped to [-1, 1] by the bounds, and rows longer than this are scaled down to it. By default
        chosen from the number of features.
    radius : float, optional
        The parameters stay within this norm; by default chosen from the task and the loss.
    public_labels : bool, default=False
        Only metrics need less noise for labels that everyone knows. ``True`` is refused here: the guarantee covers labels at
        no cost.
    steps : int, optional
        Steps to take; by default chosen from public facts.
    step_size : float, optional
        By default chosen from public facts.
    mechanism : {"gaussian", "laplace", "euclidean"}, optional
        The noise; by default the quietest.
    options : mapping, optional
        Rarer choices: ``intercept``, ``max_records``, ``representation`` (``"ranks"`` where bounds are wide), ``domain``,
        ``average``, ``expected_pairs``, ``shuffle``, ``order_seed``, ``calibration``, ``paper``.

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

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        bounds: Bounds | None = None,
        target_bounds: tuple[float, float] | None = None,
        algorithm: str | None = None,
        loss: str | None = None,
        q: float = 1.5,
        ridge: float = 0.0,
        feature_bound: float | None = None,
        radius: float | None = None,
        public_labels: bool = False,
        steps: int | None = None,
        step_size: float | None = None,
        mechanism: str | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(
            epsilon=epsilon,
            delta=delta,
            bounds=bounds,
            algorithm=algorithm,
            loss=loss,
            q=q,
            ridge=ridge,
            feature_bound=feature_bound,
            radius=radius,
            public_labels=public_labels,
            steps=steps,
            step_size=step_size,
            mechanism=mechanism,
            options=options,
        )
        self.target_bounds = target_bounds

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # Of tables as small as those of scikit-learn's checks nothing can be learned in private.
        tags.regressor_tags.poor_score = True
        return tags
