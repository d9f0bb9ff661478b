"""Rankers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._decisions import Decisions
from ._estimator import Estimator, Linear, PrivateScores
from ._labels import label_text, label_values
from ._parameters import estimator, parameter
from ._persons import person_weights, weighted_auc
from .evaluation import warn_of_score


@estimator
class Ranking(Linear, Decisions, Estimator):
    """What rankers do, private or not."""

    _task: ClassVar[str] = "ranking"
    positive_label: Any = parameter(
        default=1,
        kind="int, float, bool or str",
        text="The label that should rank high. Every other label counts as negative.",
    )
    risk: str | None = parameter(
        default=None,
        text="Minimise the loss of pairs, or of single records, which stands in for it where noise decides; by default of pairs, or "
        "chosen from public facts where the algorithm is.",
    )
    form: str = parameter(
        default="indicator",
        kind='{"indicator", "symmetric"}',
        text="A pair counts once, or twice at twice the margin, as some papers have it.",
    )

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

    def score(self, X: ArrayLike, y: ArrayLike, groups: ArrayLike | None = None) -> float:
        """Return the AUC on labelled data; exact, so on private data it is not protected.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        groups : array-like of shape (n_samples,), optional
            Whose each record is: every person then counts as much as any other.

        Returns
        -------
        float
        """
        warn_of_score(self, X)
        scores = self.decision_function(X)
        targets = self._targets_by_model(y, len(scores))
        positive = np.ascontiguousarray(targets > 0)
        if groups is None:
            area = _core.auc(scores, positive)
        else:
            area = weighted_auc(scores, positive, person_weights(groups, len(scores)))
        if area is None:
            raise ValueError("AUC needs a record of each class")
        return area

    def _targets(self, y: NDArray[Any], *, secret: bool = False) -> NDArray[np.float64]:
        text = y.dtype.kind in "UST" or any(isinstance(label, str) for label in (y if y.dtype.kind == "O" else ()))
        if text and not isinstance(self.positive_label_, str):
            raise ValueError(
                f"y holds text but positive_label is {self.positive_label_!r}: set positive_label to the text that "
                "should rank high"
            )
        return np.where(y == self.positive_label_, 1.0, -1.0)

    def _label(self) -> dict[str, Any]:
        positive = label_text(self.positive_label_)
        # A truth value has one other; of other labels, every other counts as negative.
        if positive in ("true", "false") and not isinstance(self.positive_label_, str):
            return {"positive": positive, "negative": label_text(positive == "false")}
        return {"positive": positive, "others": "negative"}

    @classmethod
    def _parameters_from(cls, label: Mapping[str, Any]) -> dict[str, Any]:
        if "positive" not in label:
            return {}
        listed = [label["positive"], *([label["negative"]] if "negative" in label else [])]
        return {"positive_label": label_values(listed)[0]}

    def _restore(self, *, positive_label: Any = None) -> None:
        self.positive_label_ = self.positive_label if positive_label is None else positive_label


@estimator
class PrivateRanker(Ranking, PrivateScores):
    """A linear ranker that maximises AUC over all pairs, under differential privacy.

    Anyone who sees the fitted model learns almost nothing about any one record: exchanging a record for any other
    changes the probability of every outcome by a factor of at most ``exp(epsilon)``, up to ``delta``. So does exchanging a
    person with all records for any other, where ``fit`` is told whose each record is.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    positive_label_ : int, float, bool or str
        The label that ranks high.
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
