"""Searches fit copy after copy: they are told what that costs."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score

from pairdp import PrivacyTuningWarning, PrivateRanker, baseline

X = np.random.default_rng(3).uniform(-1, 1, size=(600, 2))
y = (X[:, 0] > 0.2).astype(int)


def ranker():
    return PrivateRanker(epsilon=0.5, delta=1e-6, bounds=(-1, 1))


def test_a_grid_search_is_warned_of_its_cost():
    search = GridSearchCV(ranker(), {"ridge": [0.0, 0.1]}, cv=2)
    with pytest.warns(PrivacyTuningWarning, match=r"copy 5 .* together private at epsilon = 2\.5, delta = 5e-06"):
        search.fit(X, y)
    assert search.best_estimator_.verify()


def test_cross_validation_is_warned_in_other_processes_too():
    with pytest.warns(PrivacyTuningWarning, match="pairdp.ledger"):
        cross_val_score(ranker(), X, y, cv=2)
    origin = ranker()
    first, second = (pickle.loads(pickle.dumps(clone(origin))) for _ in range(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first.fit(X, y)
    with pytest.warns(PrivacyTuningWarning, match="copy 2"):
        second.fit(X, y)


def test_one_copy_and_models_without_privacy_are_not_warned():
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyTuningWarning)
        clone(clone(ranker())).fit(X, y)
        GridSearchCV(baseline.Ranker(bounds=(-1, 1)), {"ridge": [0.0, 0.1]}, cv=2).fit(X, y)
