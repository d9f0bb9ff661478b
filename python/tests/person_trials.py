"""What tests about persons share: a cohort in which one person has most records, and estimators."""

import numpy as np
import pytest

from pairdp import PrivateClassifier, PrivateMetric, PrivateRanker, PrivateRegressor

PERSONS = 60
# As many records as no number in a certificate is by chance.
RECORDS = 4327
# An id that no message may repeat.
MARK = "P00000SECRET"
PUBLIC = {"epsilon": 1.0, "delta": 1e-6, "bounds": (-1, 1)}
ESTIMATORS = {
    "ranker": PrivateRanker(**PUBLIC),
    "metric": PrivateMetric(**PUBLIC, classes=[0, 1], steps=2),
    "classifier": PrivateClassifier(**PUBLIC, classes=(0, 1)),
    "regressor": PrivateRegressor(**PUBLIC, target_bounds=(0, 1)),
}
every_estimator = pytest.mark.parametrize("name", ESTIMATORS)


def cohort(persons=PERSONS, records=RECORDS, seed=5):
    """Return rows, labels and ids: one to three records a person, and all others of the last one."""
    rng = np.random.default_rng(seed)
    each = np.arange(persons) % 3 + 1
    each[-1] = records - each[:-1].sum()
    groups = rng.permutation(np.repeat(1000 + np.arange(persons), each))
    X = rng.uniform(-1, 1, size=(records, 2))
    y = (X[:, 0] + 0.3 * rng.normal(size=records) > 0).astype(int)
    return X, y, groups


X, y, groups = cohort()
SMALL = cohort(records=150)


def fresh(name="ranker", **changes):
    estimator = ESTIMATORS[name]
    return type(estimator)(**estimator.get_params() | changes)


def said(work):
    """Return what a refusal says, with what is behind it."""
    with pytest.raises(ValueError, match=r"groups|table|persons|records") as caught:
        work()
    assert caught.value.__cause__ is None and caught.value.__context__ is None, "another exception is behind it"
    return str(caught.value)
