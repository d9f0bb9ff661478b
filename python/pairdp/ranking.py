"""Rankers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._base import Bounds, Estimator, PrivateEstimator, label_text, label_values
from ._cells import labels_of


class Ranking(Estimator):
    """What rankers do, private or not."""

    _task = "ranking"
    positive_label: Any

    def decision_function(self, X: ArrayLike) -> NDArray[np.float64]:
        """Score rows; higher means more likely positive.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._scores(X)

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
        labels = labels_of(y, len(scores))
        area = _core.auc(scores, np.ascontiguousarray(self._targets(labels) > 0))
        if area is None:
            raise ValueError("AUC needs a record of each class")
        return area

    def _targets(self, y: NDArray[Any]) -> NDArray[np.float64]:
        text = y.dtype.kind in "UST" or any(isinstance(label, str) for label in (y if y.dtype.kind == "O" else ()))
        if text and not isinstance(self.positive_label, str):
            raise ValueError(
                f"y holds text but positive_label is {self.positive_label!r}: set positive_label to the text that "
                "should rank high"
            )
        return np.where(y == self.positive_label, 1.0, -1.0)

    def _label(self) -> dict[str, Any]:
        positive = label_text(self.positive_label)
        # A truth value has one other; of other labels, every other counts as negative.
        if positive in ("true", "false") and not isinstance(self.positive_label, str):
            return {"positive": positive, "negative": label_text(positive == "false")}
        return {"positive": positive, "others": "negative"}

    @classmethod
    def _parameters_from(cls, label: Mapping[str, Any]) -> dict[str, Any]:
        if "positive" not in label:
            return {}
        listed = [label["positive"], *([label["negative"]] if "negative" in label else [])]
        return {"positive_label": label_values(listed)[0]}


class PrivateRanker(Ranking, PrivateEstimator):
    """A linear ranker that maximises AUC over all pairs, under differential privacy.

    Anyone who sees the fitted model learns almost nothing about any one record: exchanging a record for any other
    changes the probability of every outcome by a factor of at most ``exp(epsilon)``, up to ``delta``.

    Parameters
    ----------
    epsilon, delta : float
        The privacy budget of one call of ``fit``. They have no usable default: how much privacy to give up is a
        decision.
    bounds : pair of floats or of arrays
        Public lower and upper bounds of the features, ``(low, high)``. Values beyond them are cut off. Take them
        from public knowledge; bounds computed from the data would leak it.
    positive_label : int, float or str, default=1
        The label that should rank high. Every other label counts as negative.
    algorithm : str, optional
        ``"noisy-gd"``, ``"noisy-sgd"``, ``"online-pair"``, ``"output-gd"``, ``"output-sgd"``, ``"phased-gd"``,
        ``"localized-sgd"``, ``"offline-pair"``, ``"matching-sgd"`` or ``"moments"``; by default (or ``"auto"``) chosen
        from public facts.
    loss : {"logistic", "capped-logistic", "hinge", "squared", "q-hinge"}, default="logistic"
        The loss of a pair of a positive and a negative record.
    q : float, default=1.5
        Exponent of the q-hinge loss, between 1 and 2.
    ridge : float, default=0.0
        Half this times the squared norm of the weights is added to the risk.
    feature_bound : float, optional
        Features are mapped to [-1, 1] by the bounds, and rows longer than this are scaled down to it. By default
        chosen from the number of features.
    radius : float, optional
        The weights stay within this norm; by default chosen from the loss.
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
        Rarer choices, named as on the command line with underscores: ``positive_rate`` (a public
        guess that helps ``"auto"``), ``risk``, ``max_records``, ``representation`` (``"ranks"`` where bounds are wide), ``domain``, ``form``, ``average``,
        ``expected_pairs``, ``shuffle``, ``order_seed``, ``calibration``, ``paper``.

    Attributes
    ----------
    coef_ : ndarray of shape (n_columns,)
        The weights of ``encode(X)``: features mapped to [-1, 1], rows no longer than the feature bound.
    intercept_ : float
        What is added to every score; 0 if the loss is of pairs.
    certificate_ : dict
        Every public fact that the guarantee rests on.
    plan_ : dict
        The algorithm with its steps, step size and noise.
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
        bounds: Bounds | None = None,
        positive_label: Any = 1,
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
        self.positive_label = positive_label
