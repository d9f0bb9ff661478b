"""Rankers."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from . import _core
from .exceptions import PrivacyBudgetError


class PrivateRanker(BaseEstimator):
    """A linear ranker that maximises AUC over all pairs, under differential privacy.

    Anyone who sees the fitted model learns almost nothing about any one record: exchanging a record for any other
    changes the probability of every outcome by a factor of at most ``exp(epsilon)``, up to ``delta``.

    Parameters
    ----------
    epsilon, delta : float
        The privacy budget of one call of ``fit``. They have no default: how much privacy to give up is a decision.
    bounds : pair of floats or of arrays
        Public lower and upper bounds of the features, ``(low, high)``. Values beyond them are cut off. Take them
        from public knowledge; bounds computed from the data would leak it.
    positive_label : int, float or str, default=1
        The label that should rank high. Every other label counts as negative.
    algorithm : {"noisy-gd", "output-gd", "noisy-sgd"}, default="noisy-gd"
        Descent over all pairs with noise in every gradient, or with noise on its result, or one secret uniform pair a
        step.
    loss : {"logistic", "hinge", "squared", "q-hinge"}, default="logistic"
        The loss of a pair of a positive and a negative record.
    q : float, default=1.5
        Exponent of the q-hinge loss, between 1 and 2.
    ridge : float, default=0.0
        Half this times the squared norm of the weights is added to the risk.
    feature_bound : float, default=1.0
        Features are mapped to [-1, 1] by the bounds, and rows longer than this are scaled down to it.
    radius : float, default=20.0
        The weights stay within this norm.
    steps : int, optional
        Steps to take; by default chosen from public facts.
    step_size : float, optional
        By default chosen from public facts.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features_in_,)
        The weights.
    certificate_ : dict
        Every public fact that the guarantee rests on.
    model_ : str
        The model file, as the ``pairdp`` command reads it.

    Examples
    --------
    >>> import numpy as np
    >>> from pairdp import PrivateRanker
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(2000, 3))
    >>> y = (X[:, 0] + 0.3 * rng.normal(size=2000) > 0).astype(int)
    >>> ranker = PrivateRanker(epsilon=1.0, delta=1e-6, bounds=(-1, 1)).fit(X, y)
    >>> ranker.verify()
    True
    >>> ranker.score(X, y) > 0.8
    True
    """

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        bounds: tuple[ArrayLike, ArrayLike] | None = None,
        positive_label: Any = 1,
        algorithm: str = "noisy-gd",
        loss: str = "logistic",
        q: float = 1.5,
        ridge: float = 0.0,
        feature_bound: float = 1.0,
        radius: float = 20.0,
        steps: int | None = None,
        step_size: float | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.bounds = bounds
        self.positive_label = positive_label
        self.algorithm = algorithm
        self.loss = loss
        self.q = q
        self.ridge = ridge
        self.feature_bound = feature_bound
        self.radius = radius
        self.steps = steps
        self.step_size = step_size

    def fit(self, X: ArrayLike, y: ArrayLike) -> PrivateRanker:
        """Train within the budget. Every call spends it again.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        PrivateRanker
        """
        if self.epsilon is None or self.delta is None:
            raise PrivacyBudgetError(
                "no privacy budget: set epsilon and delta, for example "
                "PrivateRanker(epsilon=1.0, delta=1e-6, bounds=...)"
            )
        X, y = validate_data(self, X, y, dtype=np.float64, order="C", ensure_min_samples=2)
        if y.dtype.kind in "OUS" and not isinstance(self.positive_label, str):
            raise ValueError(
                f"y holds text but positive_label is {self.positive_label!r}: set positive_label to the text that "
                "should rank high"
            )
        settings = {
            "task": "ranking",
            "algorithm": self.algorithm,
            "loss": self.loss,
            "q": float(self.q),
            "ridge": float(self.ridge),
            "feature_bound": float(self.feature_bound),
            "radius": float(self.radius),
            "steps": self.steps,
            "step_size": self.step_size,
        }
        self.model_ = _core.fit(
            X,
            np.where(y == self.positive_label, 1.0, -1.0),
            self._ranges(X.shape[1]),
            json.dumps(settings),
            float(self.epsilon),
            float(self.delta),
        )
        document = json.loads(self.model_)
        self.coef_ = np.array(document["predictor"]["parameters"])
        self.certificate_ = document["certificate"]
        return self

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Score rows; higher means more likely positive.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "model_")
        X = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return _core.score_rows(self.model_, X)

    def score(self, X: ArrayLike, y: ArrayLike) -> float:
        """Return the AUC on labelled data; exact, so on private data it is not protected.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        float
        """
        scores = self.decision_function(X)
        area = _core.auc(scores, np.ascontiguousarray(np.asarray(y) == self.positive_label))
        if area is None:
            raise ValueError("AUC needs a record of each class")
        return area

    def verify(self) -> bool:
        """Recompute the certificate by a second method and say whether it holds."""
        check_is_fitted(self, "model_")
        return all(failure is None for _, _, failure in _core.verify_model(self.model_))

    def _ranges(self, n_features: int) -> list[list[float]]:
        if self.bounds is None:
            raise ValueError(
                "no public bounds: set bounds=(low, high), from public knowledge and never from the data"
            )
        low, high = (np.broadcast_to(np.asarray(b, dtype=np.float64), n_features) for b in self.bounds)
        return np.column_stack([low, high]).tolist()
