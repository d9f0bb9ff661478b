"""Searches fit copy after copy: they are told what that costs."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from pairdp import PrivacyTuningWarning, PrivateMetric, PrivateRanker, _copies, baseline, spent_on_copies

X = np.random.default_rng(3).uniform(-1, 1, size=(600, 2))
y = (X[:, 0] > 0.2).astype(int)


def ranker():
    return PrivateRanker(epsilon=0.5, delta=1e-6, bounds=(-1, 1))


def tuning_warnings(work):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work()
    return [str(one.message) for one in caught if one.category is PrivacyTuningWarning]


def test_issue_18_15_a_search_is_warned_once_of_what_its_fits_really_cost():
    origin = ranker()
    search = GridSearchCV(origin, {"epsilon": [3.0, 1.0, 0.1]}, cv=3)
    (said,) = tuning_warnings(lambda: search.fit(X, y))
    assert "this fit and the one before it are together private at epsilon = 6, delta = 2e-6," in said
    # Three folds of each setting, and the best one again on all records.
    epsilon, delta = spent_on_copies(origin)
    assert epsilon == pytest.approx(3 * (3.0 + 1.0 + 0.1) + search.best_params_["epsilon"])
    assert delta == pytest.approx(10e-6)
    # Another search is another search.
    assert len(tuning_warnings(lambda: search.fit(X, y))) == 1
    assert spent_on_copies(origin)[1] == pytest.approx(20e-6)


def test_issue_18_15_every_search_on_one_estimator_is_warned_of_all_that_was_spent():
    origin = ranker()
    for before in (1, 3, 6):
        (said,) = tuning_warnings(lambda: cross_val_score(origin, X, y, cv=3))
        fits = "the one" if before == 1 else f"the {before}"
        assert f"this fit and {fits} before it are together private at epsilon = {0.5 * (before + 1):g}," in said
    assert spent_on_copies(origin)[0] == pytest.approx(4.5)
    # Outside of a search there is nothing to start anew.
    assert tuning_warnings(lambda: [clone(origin).fit(X, y) for _ in range(3)]) == []


def test_issue_18_15_a_search_within_a_search_is_warned_once_of_the_sum_of_both():
    origin = ranker()
    clone(origin).fit(X, y)
    search = GridSearchCV(origin, {"epsilon": [1.0, 0.25]}, cv=2)
    (said,) = tuning_warnings(lambda: cross_val_score(search, X, y, cv=3))
    assert "this fit and the one before it are together private at epsilon = 1.5, delta = 2e-6," in said
    # The one before, and in each of three folds two folds of both settings and the better one again.
    fits = spent_on_copies(origin)[1] / 1e-6
    assert fits == pytest.approx(1 + 3 * (2 * 2 + 1))
    # The next search begins with what the first one spent.
    (said,) = tuning_warnings(lambda: cross_val_score(search, X, y, cv=3))
    assert "this fit and the 16 before it are together private at" in said


def test_a_refused_fit_costs_nothing_and_is_not_counted():
    origin = ranker()
    for _ in range(3):
        with pytest.raises(ValueError, match="1d"):
            clone(origin).fit(X, np.zeros((600, 2)))
    assert tuning_warnings(lambda: clone(origin).fit(X, y)) == []
    assert spent_on_copies(origin) == (0.5, 1e-6)
    assert spent_on_copies(ranker()) == (0.0, 0.0)


def test_the_warning_comes_before_the_second_fit_so_that_it_can_stop_it():
    origin = ranker()
    clone(origin).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyTuningWarning)
        with pytest.raises(PrivacyTuningWarning):
            clone(origin).fit(X, y)
    assert spent_on_copies(origin) == (0.5, 1e-6)


def test_cross_validation_is_warned_in_other_processes_too():
    with pytest.warns(PrivacyTuningWarning, match="pairdp.ledger"):
        cross_val_score(ranker(), X, y, cv=2)
    origin = ranker()
    copies = [pickle.loads(pickle.dumps(clone(origin))) for _ in range(4)]
    said = [tuning_warnings(lambda copy=copy: copy.fit(X, y)) for copy in copies]
    assert [len(one) for one in said] == [0, 1, 0, 0]
    assert "this fit alone is private at epsilon = 0.5, delta = 1e-6," in said[1][0]


def test_issue_18_15_every_search_numbers_its_copies_anew(monkeypatch):
    # The second copy of a search warns in whatever process it is fitted.
    numbers = []
    note_copy = _copies.note_copy

    def noted(origin, copy):
        note_copy(origin, copy)
        numbers.append(_copies.number_of(copy))

    monkeypatch.setattr(_copies, "note_copy", noted)
    origin = ranker()
    for _ in range(2):
        cross_val_score(origin, X, y, cv=3)
    assert numbers == [1, 2, 3, 1, 2, 3]


def test_a_search_over_a_pipeline_is_warned_once_too():
    metric = PrivateMetric(epsilon=0.5, delta=1e-6, bounds=(-1, 1), classes=[0, 1])
    search = GridSearchCV(make_pipeline(metric, KNeighborsClassifier()), {"privatemetric__ridge": [0.0, 0.1]}, cv=2)
    assert len(tuning_warnings(lambda: search.fit(X, y))) == 1
    assert spent_on_copies(metric)[0] == pytest.approx(2.5)


def test_one_copy_and_models_without_privacy_are_not_warned():
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyTuningWarning)
        clone(clone(ranker())).fit(X, y)
        GridSearchCV(baseline.Ranker(bounds=(-1, 1)), {"ridge": [0.0, 0.1]}, cv=2).fit(X, y)
