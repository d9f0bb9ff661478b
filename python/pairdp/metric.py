"""Metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isqrt
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._cells import class_numbers, pairs_of
from ._estimator import PrivateEstimator
from ._labels import check_classes, label_text, label_values
from ._parameters import estimator, parameter, required


@estimator
class Metric(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """What metrics do, private or not."""

    _task: ClassVar[str] = "metric"
    classes: Sequence[Any] | None = required(
        kind="sequence", text="The public list of all possible labels. It is never read from ``y``."
    )

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
        mapped: NDArray[np.float64] = self._model.embed(rows)
        return mapped

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
        mapped = self._model.embed(cells.reshape(-1, self.n_features_in_)).reshape(len(cells), 2, -1)
        distances: NDArray[np.float64] = np.linalg.norm(mapped[:, 0] - mapped[:, 1], axis=1)
        return distances

    @property
    def _n_features_out(self) -> int:
        return len(self.matrix_)

    def _accept(self, model: _core.Model) -> None:
        super()._accept(model)
        side = isqrt(self.coef_.size)
        self.matrix_ = self.coef_.reshape(side, side)
        del self.coef_, self.intercept_

    def _targets(self, y: NDArray[Any], *, secret: bool = False) -> NDArray[np.float64]:
        return class_numbers(y, self.classes_, secret=secret).astype(np.float64)

    def _label(self) -> dict[str, Any]:
        return {"classes": [label_text(label) for label in self.classes_]}

    @classmethod
    def _parameters_from(cls, label: Mapping[str, Any]) -> dict[str, Any]:
        if "positive" in label:
            return {"classes": tuple(label_values([label["negative"], label["positive"]]))}
        return {"classes": tuple(label_values(label["classes"]))} if "classes" in label else {}

    def _restore(self, *, classes: Sequence[Any] | None = None) -> None:
        self.classes_ = check_classes(self.classes if classes is None else classes)


@estimator
class PrivateMetric(Metric, PrivateEstimator):
    """A Mahalanobis metric under which records of one class are near, under differential privacy.

    Learned from every pair of records. A transformer: put it before a nearest-neighbour method, for example.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, as given.
    matrix_ : ndarray of shape (n_columns, n_columns)
        The metric, of the columns of ``encode(X)``. Directions that the noise made negative count as 0 in distances.
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

    representation: str | None = parameter(
        default=None,
        text="How columns become numbers: by the bounds, which is the default, or by ranks. A metric by ranks, with no loss, steps or domain "
        "given, is their Euclidean distance: all of the budget goes into where columns lie, and labels play no part.",
    )
    representation_share: float | None = parameter(
        default=None,
        text="The share of the budget for where columns lie; by default 1 if nothing else is released, else 0.3.",
    )

    public_labels: bool = parameter(
        default=False,
        text="Labels are known to everyone: the guarantee is for exchanging the features of a record only, is called "
        '``replace-features``, and needs less noise except by ``"noisy-sgd"``.',
    )
