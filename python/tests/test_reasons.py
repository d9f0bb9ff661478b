"""What a model says of its columns adds up to what it predicts."""

import sys

import numpy as np
import pandas
import pytest
from sklearn.exceptions import NotFittedError

from pairdp import PrivateClassifier, PrivateMetric, PrivateRanker, PrivateRegressor, baseline, datasets

BUDGET = {"epsilon": 2.0, "delta": 1e-6}


def stays(records=2000):
    found = datasets.simulate_cohort(records, seed=1)
    return found.X, found.y, found.bounds


def test_what_columns_add_sums_to_the_score():
    X, y, bounds = stays()
    for representation in ("ranks", "ranges"):
        ranker = PrivateRanker(**BUDGET, bounds=bounds, representation=representation).fit(X, y)
        adds = ranker.explain(X)
        assert adds.shape == np.shape(X)
        np.testing.assert_allclose(adds.sum(axis=1) + ranker.intercept_, ranker.decision_function(X), atol=1e-9)
    classifier = PrivateClassifier(**BUDGET, bounds=bounds, classes=(0, 1)).fit(X, y)
    told = classifier.explain(X).sum(axis=1) + classifier.intercept_
    np.testing.assert_allclose(told, classifier.decision_function(X), atol=1e-9)


def test_a_regressors_reasons_are_in_the_unit_of_the_target():
    rng = np.random.default_rng(0)
    X = rng.uniform(0, 10, size=(3000, 1))
    y = 100 + 5 * X[:, 0]
    settings = {"bounds": (0, 10), "target_bounds": (50, 200), "representation": "ranges"}
    regressor = PrivateRegressor(**BUDGET, **settings).fit(X, y)
    (slope,) = regressor.coefficients_.to_dict("records")
    assert slope["of"] == "unit" and 4 < slope["adds"] < 6
    start = regressor.predict(X[:1])[0] - regressor.explain(X[:1]).to_numpy().sum()
    np.testing.assert_allclose(regressor.explain(X).sum(axis=1) + start, regressor.predict(X), atol=1e-9)


def test_coefficients_name_columns_places_and_noise():
    X, y, bounds = stays()
    settings = {"algorithm": "noisy-gd", "representation": "ranges"}
    found = PrivateRanker(**BUDGET, bounds=bounds, **settings).fit(X, y).coefficients_
    assert list(found.columns) == ["column", "of", "at", "adds", "noise"]
    assert set(found["of"]) == {"unit"} and (found["noise"] > 0).all()
    ranker = PrivateRanker(**BUDGET, bounds=bounds, algorithm="moments", representation="ranks").fit(X, y)
    assert set(ranker.coefficients_["of"]) == {"lowest", "highest"}
    assert ranker.coefficients_["noise"].isna().all()
    assert any("not in the file" in note for note in ranker.coefficient_notes())
    plain = baseline.Ranker(bounds=bounds).fit(X, y)
    assert any("no noise" in note for note in plain.coefficient_notes())


def test_the_rows_of_an_explanation_are_those_of_the_frame():
    X, y, bounds = stays()
    names = [f"c{k}" for k in range(np.shape(X)[1])]
    frame = pandas.DataFrame(np.asarray(X), columns=names, index=np.arange(len(y)) + 7)
    ranker = PrivateRanker(**BUDGET, bounds=bounds).fit(frame, y)
    adds = ranker.explain(frame)
    assert list(adds.columns) == names and adds.index.equals(frame.index)


def test_without_pandas_there_are_lists(monkeypatch):
    X, y, bounds = stays(300)
    ranker = PrivateRanker(**BUDGET, bounds=bounds).fit(X, y)
    monkeypatch.setitem(sys.modules, "pandas", None)
    assert {"column", "of", "at", "adds", "noise"} == set(ranker.coefficients_[0])
    assert len(ranker.explain(np.asarray(X))) == 300


def test_metrics_and_unfitted_estimators_have_none():
    X, y, bounds = stays(200)
    metric = PrivateMetric(**BUDGET, bounds=bounds, classes=[0, 1]).fit(X, y)
    with pytest.raises(AttributeError, match="no scores"):
        _ = metric.coefficients_
    with pytest.raises(AttributeError, match="no scores"):
        metric.explain(X)
    with pytest.raises(NotFittedError):
        _ = PrivateRanker(**BUDGET, bounds=bounds).coefficients_
