"""Who fails first: rankers by time to an event."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import Tags

from . import _core
from ._estimator import Estimator, Linear, PrivateLinear
from ._parameters import estimator, required
from ._persons import numbers_of
from ._times import CENSORED, OCCURRED, targets_from, times_by, times_of


@estimator
class Survival(Linear, Estimator):
    """What rankers by time do, private or not."""

    _task: ClassVar[str] = "survival"
    _label_columns: ClassVar[Mapping[str, str]] = {"time": "time", "event": "event"}
    horizon: float | None = required(
        kind="float",
        text="The public time beyond which nothing is told apart: later records count as censored there. Take it from the design of "
        "the study, never from the data.",
    )

    def predict(self, X: ArrayLike) -> NDArray[np.float64]:
        """Score rows; higher means an earlier event, as scikit-survival has it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._scores(X)

    def score(self, X: ArrayLike, y: Any, groups: ArrayLike | None = None) -> float:
        """Return Harrell's C on data whose times are known; exact, so on private data it is not protected.

        It is the share of pairs in the right order, of those pairs of which it is known who failed first; ties count half. Who fails
        beyond the horizon counts as censored there, as in training, so that C of longer times may differ from other libraries'.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : structured array, pair of arrays or frame
            As for ``fit``.
        groups : array-like of shape (n_samples,), optional
            Whose each record is: every person then counts as much as any other.

        Returns
        -------
        float
        """
        scores = self.predict(X)
        targets = self._targets_by_model(y, len(scores))
        of_persons = None if groups is None else np.array(numbers_of(groups, len(scores)), dtype=np.intp)
        records = None if of_persons is None else np.bincount(of_persons)[of_persons].tolist()
        index = _core.concordance(scores, targets, records)
        if index is None:
            raise ValueError("C needs a pair of records of which it is known who failed first")
        return index

    def _targets_by_model(self, y: Any, n_rows: int, *, secret: bool = False) -> NDArray[np.float64]:
        if self._columns is None or self._label_facts is None:
            return self._targets(self._labels(y, n_rows, secret=secret), secret=secret)
        return times_by(self._label_facts, y, n_rows)

    def _labels(self, y: Any, n_rows: int, *, secret: bool = False) -> NDArray[Any]:
        return times_of(y, n_rows, secret=secret)

    def _targets(self, y: NDArray[Any], *, secret: bool = False) -> NDArray[np.float64]:
        return targets_from(dict(self._label_columns) | self._label(), y, secret=secret)

    def _label(self) -> dict[str, Any]:
        return {"occurred": OCCURRED, "censored": CENSORED, "horizon": self.horizon_}

    @classmethod
    def _parameters_from(cls, label: Mapping[str, Any]) -> dict[str, Any]:
        return {"horizon": label["horizon"]} if "horizon" in label else {}

    def _restore(self, *, horizon: float | None = None) -> None:
        horizon = self.horizon if horizon is None else horizon
        if horizon is None:
            raise ValueError("no public horizon: set horizon, from the design of the study and never from the data")
        try:
            value = float(horizon)
        except (TypeError, ValueError):
            value = np.nan
        if isinstance(horizon, bool) or not (np.isfinite(value) and value > 0.0):
            raise ValueError("horizon must be a finite number above 0, in the units of the times")
        self.horizon_ = value

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        # y has two fields, which scikit-learn's checks do not know.
        tags.target_tags.one_d_labels = False
        return tags


@estimator
class PrivateSurvivalRanker(Survival, PrivateLinear):
    """A ranker of who fails first, under differential privacy.

    Records have a time and say whether an event was seen then; those without one are *censored*: all that is known is that
    they had none before. The score is learned from pairs of records of which it is known who failed first.

    ``y`` is a structured array with one field of truth values and one of numbers, as scikit-survival's
    ``Surv.from_arrays(event, time)`` makes it, or a pair ``(event, time)``. With a schema, a frame with its two columns.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    horizon_ : float
        The public horizon.
    coef_ : ndarray of shape (n_columns,)
        The weights of ``encode(X)``: features mapped to [-1, 1], rows no longer than the feature bound.
    intercept_ : float
        0: pairs do not see one.
    certificate_ : dict
        Every public fact that the guarantee rests on.
    plan_ : dict
        The algorithm with its steps, step size and noise.
    model_ : str
        The model file, as the ``pairdp`` command reads it.

    Examples
    --------
    >>> import numpy as np
    >>> from pairdp import PrivateSurvivalRanker
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(3000, 3))
    >>> fails, leaves = rng.exponential(np.exp(-2 * X[:, 0])), rng.uniform(0, 3, size=3000)
    >>> event, time = fails <= leaves, np.minimum(fails, leaves)
    >>> ranker = PrivateSurvivalRanker(epsilon=1.0, delta=1e-6, bounds=(-1, 1), horizon=3).fit(X, (event, time))
    >>> ranker.verify()
    True
    >>> ranker.score(X, (event, time)) > 0.7
    True
    >>> bins, share = ranker.survival_curve()
    >>> float(bins[-1]), len(share)
    (3.0, 9)
    """

    def survival_curve(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the share of records that had no event until each time, as the first release says it.

        It is the Kaplan and Meier (1958) estimate from the released counts of a public grid of times; noise and all, it costs
        nothing more.

        Returns
        -------
        tuple of two arrays
            The edges of the grid, from 0 to the horizon, and the share that survived each.
        """
        text = self._model.survival_curve()
        if text is None:
            raise AttributeError("this algorithm releases no survival curve; algorithm='moments' does")
        curve = np.array(json.loads(text), dtype=np.float64)
        return curve[:, 0], curve[:, 1]
