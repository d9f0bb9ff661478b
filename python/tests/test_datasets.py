"""Data sets come with public facts that hold."""

from types import SimpleNamespace

import numpy as np
import pytest
import sklearn.datasets
from sklearn.metrics import roc_auc_score

from pairdp import PrivateMetric, PrivateRegressor, datasets

LOADERS = {
    "cohort": lambda: datasets.simulate_cohort(2000, seed=4),
    "breast cancer": datasets.load_breast_cancer,
    "diabetes": datasets.load_diabetes,
}


@pytest.mark.parametrize("name", LOADERS)
def test_the_public_facts_hold(name):
    data = LOADERS[name]()
    low, high = data.bounds
    assert data.X.dtype == np.float64
    assert data.X.shape == (len(data.y), len(data.feature_names)) == (len(data.y), len(low))
    assert np.all(low < high)
    # Clinical ranges cut a few values of the cohort off, as in life; the published tables fit.
    inside = np.mean((low <= data.X) & (high >= data.X), axis=0)
    assert np.all(inside >= (0.9 if name == "cohort" else 1.0))
    if data.classes is None:
        assert data.target_bounds[0] <= data.y.min() and data.y.max() <= data.target_bounds[1]
    else:
        assert set(np.unique(data.y)) == set(data.classes)


def test_the_true_risk_ranks_the_cohort():
    data = datasets.simulate_cohort(5000, seed=1)
    assert 0.8 < roc_auc_score(data.y, data.risks) < 0.9
    np.testing.assert_array_equal(data.X, datasets.simulate_cohort(5000, seed=1).X)
    assert not np.array_equal(data.X, datasets.simulate_cohort(5000, seed=2).X)
    sexes = [data.feature_names.index(f"sex={sex}") for sex in ("female", "male")]
    np.testing.assert_array_equal(data.X[:, sexes].sum(axis=1), 1)


def test_estimators_take_the_bounds_of_data_sets():
    data = datasets.load_diabetes()
    regressor = PrivateRegressor(epsilon=5.0, delta=1e-6, bounds=data.bounds, target_bounds=data.target_bounds)
    assert regressor.fit(data.X, data.y).verify()
    data = datasets.load_breast_cancer()
    metric = PrivateMetric(epsilon=5.0, delta=1e-6, bounds=data.bounds, classes=data.classes)
    assert metric.fit(data.X, data.y).verify()


def test_openml_needs_stated_bounds(monkeypatch):
    bunch = SimpleNamespace(data=[[1, 2], [3, 4]], target=np.array(["a", "b"]), feature_names=["p", "q"])
    asked = {}
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", lambda name, **how: asked.update(how, name=name) or bunch)
    data = datasets.fetch_openml("tiny", bounds=(0, [5, 6]), version=3, classes=["a", "b"])
    assert (asked["name"], asked["version"]) == ("tiny", 3)
    np.testing.assert_array_equal(data.bounds, [[0, 0], [5, 6]])
    assert data.X.dtype == np.float64
    with pytest.raises(TypeError, match="bounds"):
        datasets.fetch_openml("tiny")
