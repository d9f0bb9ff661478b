"""Classifiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags

from ._base import Bounds, PrivateEstimator, check_classes, label_text, label_values
from ._cells import class_numbers, labels_of, weights_of


class Classification(ClassifierMixin):
    """What classifiers do, private or not."""

    _task = "classification"

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Score rows; above 0 means the positive class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        scores: NDArray[np.float64] = self._scores(X)
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

    def score(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of rows whose class is right; exact, so on private data it is not protected.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
        """
        # What scikit-learn's own says about labels that do not fit shows them.
        predicted = self.predict(X)
        right = labels_of(y, len(predicted)) == predicted
        weights = weights_of(sample_weight, len(predicted))
        return float(np.average(np.broadcast_to(right, predicted.shape), weights=weights))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _targets(self, y: NDArray[Any]) -> NDArray[np.float64]:
        return np.where(class_numbers(y, self.classes_, secret=self._secret_size()) == 1, 1.0, -1.0)

    def _label(self) -> dict[str, Any]:
        negative, positive = map(label_text, self.classes_)
        return {"positive": positive, "negative": negative}

    @classmethod
    def _parameters_from(cls, label: Mapping[str, Any]) -> dict[str, Any]:
        if "positive" not in label:
            return {}
        return {"classes": tuple(label_values([label["negative"], label["positive"]]))}

    def _restore(self) -> None:
        classes = check_classes(self.classes)
        if len(classes) != 2:
            raise ValueError("classes must be a pair (negative, positive): the classifier is binary")
        self.classes_ = classes


class PrivateClassifier(Classification, PrivateEstimator):
    """A linear classifier for two classes, under differential privacy.

    The loss is of single records, not of pairs: the twin of :class:`pairdp.PrivateRanker` for when labels, not
    orders, are wanted.

    Parameters
    ----------
    epsilon, delta : float
        The privacy budget of one call of ``fit``. They have no usable default: how much privacy to give up is a
        decision.
    bounds : pair of floats or of arrays
        Public lower and upper bounds of the features, ``(low, high)``. Values beyond them are cut off. Take them
        from public knowledge; bounds computed from the data would leak it.
    classes : pair
        The two public labels, ``(negative, positive)``. They are never read from ``y``.
    algorithm : str, optional
        As for :class:`pairdp.PrivateRanker`; by default (or ``"auto"``) chosen from public facts.
    loss : {"logistic", "capped-logistic", "hinge", "squared", "q-hinge"}, default="logistic"
        The loss of a record.
    q : float, default=1.5
        Exponent of the q-hinge loss, between 1 and 2.
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
        Rarer choices: ``positive_rate``, ``intercept``, ``max_records``, ``representation`` (``"ranks"`` where bounds are wide), ``domain``,
        ``average``, ``expected_pairs``, ``shuffle``, ``order_seed``, ``calibration``, ``paper``.

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

    def __init__(
        self,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        bounds: Bounds | None = None,
        classes: tuple[Any, Any] | None = None,
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

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # Of tables as small as those of scikit-learn's checks nothing can be learned in private.
        tags.classifier_tags.poor_score = True
        return tags
