"""The same models **without privacy**, to see what privacy costs.

Descent over all pairs, or over all records, without noise. Parameters are those of the private twins, but ``bounds``,
``classes`` and ``target_bounds`` may be left out and are then read from the data.

Examples
--------
>>> import numpy as np
>>> from pairdp import PrivateRanker, baseline
>>> rng = np.random.default_rng(0)
>>> X = rng.uniform(-1, 1, size=(2000, 3))
>>> y = (X[:, 0] + 0.3 * rng.normal(size=2000) > 0).astype(int)
>>> open_model = baseline.Ranker(bounds=(-1, 1)).fit(X, y)
>>> private_model = PrivateRanker(epsilon=1.0, delta=1e-6, bounds=(-1, 1)).fit(X, y)
>>> open_model.score(X, y) - private_model.score(X, y) < 0.05
True
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from . import classification, metric, ranking, regression, survival
from ._cells import targets_of
from ._estimator import BaselineEstimator
from ._fitting import Trainer
from ._labels import check_classes
from ._parameters import estimator

__all__ = ["Classifier", "Metric", "Ranker", "Regressor", "SurvivalRanker"]


@estimator
class Ranker(ranking.Ranking, BaselineEstimator):
    """A linear ranker without privacy; the twin of :class:`pairdp.PrivateRanker`.

    Parameters
    ----------
    {parameters}
    """

    def _trainer(self) -> Trainer:
        self._restore()
        return super()._trainer()


@estimator
class Metric(metric.Metric, BaselineEstimator):
    """A metric without privacy; the twin of :class:`pairdp.PrivateMetric`.

    Parameters
    ----------
    {parameters}
    """

    def _targets(self, y: NDArray[Any], *, secret: bool = False) -> NDArray[np.float64]:
        if self.classes is None:
            self.classes_ = check_classes(np.unique(y).tolist())
        else:
            self._restore()
        return super()._targets(y, secret=secret)


@estimator
class Classifier(classification.Classification, BaselineEstimator):
    """A linear classifier without privacy; the twin of :class:`pairdp.PrivateClassifier`.

    Parameters
    ----------
    {parameters}
    """

    def _targets(self, y: NDArray[Any], *, secret: bool = False) -> NDArray[np.float64]:
        if self.classes is not None:
            self._restore()
            return super()._targets(y, secret=secret)
        check_classification_targets(y)
        self.classes_ = np.unique(y)
        if len(self.classes_) != 2:
            raise ValueError(
                f"Only binary classification is supported: y has {len(self.classes_)} class(es), not 2; the "
                "type of the target must be binary"
            )
        return super()._targets(y, secret=secret)


@estimator
class Regressor(regression.Regression, BaselineEstimator):
    """A linear regressor without privacy; the twin of :class:`pairdp.PrivateRegressor`.

    Parameters
    ----------
    {parameters}
    """

    def _targets(self, y: NDArray[Any], *, secret: bool = False) -> NDArray[np.float64]:
        if self.target_bounds is not None:
            self._restore()
        else:
            numbers = targets_of(y, secret=secret)
            low, high = float(numbers.min()), float(numbers.max())
            self.target_range_ = (low, high) if low < high else (low, low + max(1.0, abs(low)))
        return super()._targets(y, secret=secret)


@estimator
class SurvivalRanker(survival.Survival, BaselineEstimator):
    """A ranker of who fails first without privacy; the twin of :class:`pairdp.PrivateSurvivalRanker`.

    Parameters
    ----------
    {parameters}
    """

    def _targets(self, y: NDArray[Any], *, secret: bool = False) -> NDArray[np.float64]:
        if self.horizon is not None:
            self._restore()
        else:
            latest = float(y["time"].max(initial=0.0))
            self.horizon_ = latest if latest > 0.0 else 1.0
        return super()._targets(y, secret=secret)
