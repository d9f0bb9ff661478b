"""Metrics: CPU time of a fit and accuracy of 3 nearest neighbours, `metric.py ours | metric-learn --splits DIR`."""

from __future__ import annotations

import sys
import warnings

from sklearn.neighbors import KNeighborsClassifier

from racing import Split, emit, mean_and_error, sets, timed, versions

warnings.simplefilter("ignore")


def ours() -> dict:
    from pairdp import PrivateMetric, baseline

    versions("pairdp", "scikit-learn")
    return {
        "Euclid": lambda delta: None,
        "pairdp, ε = 1": lambda delta: PrivateMetric(epsilon=1.0, delta=delta, bounds=(-1, 1), classes=[0, 1]),
        "pairdp, not private": lambda delta: baseline.Metric(bounds=(-1, 1), classes=[0, 1]),
    }


def metric_learn() -> dict:
    from metric_learn import LMNN, NCA, ITML_Supervised, MMC_Supervised

    versions("metric-learn", "scikit-learn")
    return {
        "NCA": lambda _: NCA(random_state=0),
        "LMNN": lambda _: LMNN(random_state=0),
        "ITML": lambda _: ITML_Supervised(random_state=0),
        "MMC": lambda _: MMC_Supervised(random_state=0),
    }


def accuracy(metric, split: Split) -> float:
    change = metric.transform if metric else lambda X: X
    neighbours = KNeighborsClassifier(3).fit(change(split.X), split.y)
    return neighbours.score(change(split.X_test), split.y_test)


contenders = {"ours": ours, "metric-learn": metric_learn}[sys.argv[1]]()
for data in sets("metric"):
    splits = list(data.splits())[:3]
    for contender, make in contenders.items():
        line = {"job": "metric", "set": data.name, "records": data.train, "contender": contender}
        found, seconds = [], []
        try:
            for split in splits:
                metric = make(data.delta)
                seconds.append(timed(lambda: metric and metric.fit(split.X, split.y)).seconds)
                found.append(accuracy(metric, split))
            emit(**line, **mean_and_error(found), seconds=min(seconds))
        except Exception as error:  # Whatever a peer raises is its result.
            emit(**line, failed=f"{type(error).__name__}: {error}"[:120])
