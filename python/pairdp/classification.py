"""Classifiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags

from ._cells import class_numbers, labels_of
from ._columns import targets_by
from ._decisions import Decisions
from ._estimator import Linear, PrivateScores
from ._labels import check_classes, label_text, label_values
from ._parameters import estimator, required
from ._persons import weights_by
from .evaluation import warn_of_score


@estimator
class Classification(ClassifierMixin, Linear, Decisions):
    """What classifiers do, private or not."""

    _task: ClassVar[str] = "classification"
    classes: tuple[Any, Any] | None = required(
        kind="pair", text="The two public labels, ``(negative, positive)``. They are never read from ``y``."
    )

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Score rows; above 0 means the positive class, which is where its probability is above a half if there are probabilities.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores: NDArray[np.float64] = self._scores(X) - self._model.cut()
        return scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of every row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores = self.decision_function(X)
        return self.classes_[(scores > 0).astype(np.intp)]

    def score(
        self,
        X: ArrayLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> float:
        """Return the share of rows whose class is right; exact, so on private data it is not protected.

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
        # What scikit-learn's own says about labels that do not fit shows them.
        warn_of_score(self, X)
        predicted = self.predict(X)
        if self._columns is None or self._label_facts is None:
            right = labels_of(y, len(predicted)) == predicted
        else:
            right = (targets_by(self._label_facts, y, len(predicted)) > 0) == (predicted == self.classes_[1])
        weights = weights_by(groups, sample_weight, len(predicted))
        return float(np.average(np.broadcast_to(right, predicted.shape), weights=weights))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _targets(self, y: NDArray[Any], *, secret: bool = False) -> NDArray[np.float64]:
        return np.where(class_numbers(y, self.classes_, secret=secret) == 1, 1.0, -1.0)

    def _label(self) -> dict[str, Any]:
        negative, positive = map(label_text, self.classes_)
        return {"positive": positive, "negative": negative}

    @classmethod
    def _parameters_from(cls, label: Mapping[str, Any]) -> dict[str, Any]:
        if "positive" not in label:
            return {}
        return {"classes": tuple(label_values([label["negative"], label["positive"]]))}

    def _restore(self, *, classes: tuple[Any, Any] | None = None) -> None:
        listed = check_classes(self.classes if classes is None else classes)
        if len(listed) != 2:
            raise ValueError("classes must be a pair (negative, positive): the classifier is binary")
        self.classes_ = listed


@estimator
class PrivateClassifier(Classification, PrivateScores):
    """A linear classifier for two classes, under differential privacy.

    The loss is of single records, not of pairs: the twin of :class:`pairdp.PrivateRanker` for when labels, not
    orders, are wanted.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, as given.
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
    >>> from pairdp import PrivateClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(2000, 3))
    >>> y = np.where(X[:, 0] + 0.2 * rng.normal(size=2000) > 0, "ill", "well")
    >>> classifier = PrivateClassifier(epsilon=1.0, delta=1e-6, bounds=(-1, 1), classes=("well", "ill")).fit(X, y)
    >>> classifier.verify()
    True
    >>> classifier.score(X, y) > 0.8
    True
    """

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # Of tables as small as those of scikit-learn's checks nothing can be learned in private.
        tags.classifier_tags.poor_score = True
        return tags
