"""Metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._base import Bounds, PrivateEstimator, check_classes, label_text, label_values
from ._cells import class_numbers, pairs_of


class Metric(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """What metrics do, private or not."""

    _task = "metric"

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Map rows to where Euclidean distance is the learned one.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_features)
        """
        rows = self._rows(X)
        return _core.embed_rows(self.model_, rows)

    def pair_distance(self, pairs: ArrayLike) -> NDArray[np.float64]:
        """Return the learned distance between the two rows of every pair.

        Parameters
        ----------
        pairs : array-like of shape (n_pairs, 2, n_features)

        Returns
        -------
        ndarray of shape (n_pairs,)
        """
        check_is_fitted(self, "model_")
        cells = pairs_of(pairs, self.n_features_in_)
        mapped = _core.embed_rows(self.model_, cells.reshape(-1, self.n_features_in_)).reshape(cells.shape)
        distances: NDArray[np.float64] = np.linalg.norm(mapped[:, 0] - mapped[:, 1], axis=1)
        return distances

    @property
    def _n_features_out(self) -> int:
        return int(self.n_features_in_)

    def _accept(self, text: str) -> None:
        super()._accept(text)
        self.matrix_ = self.coef_.reshape(self.n_features_in_, self.n_features_in_)
        del self.coef_, self.intercept_

    def _targets(self, y: NDArray[Any]) -> NDArray[np.float64]:
        return class_numbers(y, self.classes_, secret=self._secret_size()).astype(np.float64)

    def _label(self) -> dict[str, Any]:
        return {"classes": [label_text(label) for label in self.classes_]}

    @classmethod
    def _parameters_from(cls, label: Mapping[str, Any]) -> dict[str, Any]:
        if "positive" in label:
            return {"classes": tuple(label_values([label["negative"], label["positive"]]))}
        return {"classes": tuple(label_values(label["classes"]))} if "classes" in label else {}

    def _restore(self) -> None:
        self.classes_ = check_classes(self.classes)


class PrivateMetric(Metric, PrivateEstimator):
    """A Mahalanobis metric under which records of one class are near, under differential privacy.

    Learned from every pair of records. A transformer: put it before a nearest-neighbour method, for example.

    Parameters
    ----------
    epsilon, delta : float
        The privacy budget of one call of ``fit``. They have no usable default: how much privacy to give up is a
        decision.
    bounds : pair of floats or of arrays
        Public lower and upper bounds of the features, ``(low, high)``. Values beyond them are cut off. Take them
        from public knowledge; bounds computed from the data would leak it.
    classes : sequence
        The public list of all possible labels. It is never read from ``y``.
    algorithm : str, optional
        As for :class:`pairdp.PrivateRanker`; by default (or ``"auto"``) chosen from public facts.
    loss : {"logistic", "hinge"}, default="logistic"
        The loss of a pair of records.
    q : float, default=1.5
        Not used by these losses.
    ridge : float, default=0.0
        Half this times the squared norm of the parameters is added to the risk.
    feature_bound : float, optional
        Features are mapped to [-1, 1] by the bounds, and rows longer than this are scaled down to it. By default
        chosen from the number of features.
    radius : float, optional
        The parameters stay within this norm; by default chosen from the task and the loss.
    public_labels : bool, default=False
        Labels are known to everyone: the guarantee is for exchanging the features of a record only, is called
        ``replace-features``, and needs less noise except by ``"noisy-sgd"``.
    steps : int, optional
        Steps to take; by default chosen from public facts.
    step_size : float, optional
        By default chosen from public facts.
    mechanism : {"gaussian", "laplace", "euclidean"}, optional
        The noise; by default the quietest.
    options : mapping, optional
        Rarer choices: ``domain``, ``average``, ``expected_pairs``, ``shuffle``, ``order_seed``, ``calibration``,
        ``paper``.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, as given.
    matrix_ : ndarray of shape (n_features_in_, n_features_in_)
        The metric, of features mapped to [-1, 1]. Directions that the noise made negative count as 0 in distances.
    certificate_ : dict
        Every public fact that the guarantee rests on.
    plan_ : dict
        The algorithm with its steps, step size and noise.
    model_ : str
        The model file, as the ``pairdp`` command reads it.

    Examples
    --------
    >>> import numpy as np
    >>> from pairdp import PrivateMetric
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(3000, 2))
    >>> y = np.digitize(X[:, 0], [-0.3, 0.3])
    >>> metric = PrivateMetric(epsilon=2.0, delta=1e-6, bounds=(-1, 1), classes=[0, 1, 2]).fit(X, y)
    >>> metric.verify()
    True
    >>> across, along = metric.pair_distance([[[-0.5, 0], [0.5, 0]], [[0, -0.5], [0, 0.5]]])
    >>> bool(across > along)
    True
    """

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        bounds: Bounds | None = None,
        classes: Sequence[Any] | None = None,
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
        self.classes = classes
