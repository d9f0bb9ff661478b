"""Plots show the numbers they were given."""

import sys

import numpy as np
import pytest

from pairdp import accounting, plot

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    from matplotlib import pyplot

    pyplot.close("all")


def test_the_trade_off_is_the_accountant_s():
    ax = plot.trade_off(noise_multiplier=2.0, records=100, points=11)
    rates, misses = ax.lines[0].get_data()
    np.testing.assert_array_equal(misses, accounting.trade_off(rates, noise_multiplier=2.0, records=100))
    assert 0 < misses[5] < 0.5


def test_privacy_and_utility_with_a_band():
    scores = [[0.5, 0.6, 0.7], [0.7, 0.8, 0.9], [0.8, 0.9, 1.0]]
    ax = plot.privacy_utility([0.5, 1.0, 2.0], scores, without_privacy=0.95)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [0.6, 0.8, 0.9])
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["private", "80 % of 3 models", "without privacy"]
    corners = ax.collections[0].get_paths()[0].vertices
    assert corners[:, 1].min() == pytest.approx(0.52) and corners[:, 1].max() == pytest.approx(0.98)
    with pytest.raises(ValueError, match="one row of models for each"):
        plot.privacy_utility([1.0], [0.5, 0.6])


def test_several_roc_curves_have_a_band_and_one_has_none():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=400)
    perfect = plot.roc(np.where(y == 1, "ill", "well"), y.astype(float), positive_label="ill")
    assert perfect.lines[0].get_label() == "AUC 1.000"
    assert not perfect.collections
    several = plot.roc(y, [y + rng.normal(size=400) for _ in range(5)], ax=perfect)
    assert several is perfect and len(several.collections) == 1


def test_without_matplotlib_they_say_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        plot.trade_off(noise_multiplier=2.0, records=100)


def test_shapes_are_drawn_with_a_band_where_the_noise_is_known():
    from pairdp import PrivateMetric, PrivateRanker, datasets

    stays = datasets.simulate_cohort(3000, seed=1)
    ranker = PrivateRanker(epsilon=2.0, delta=1e-6, bounds=stays.bounds).fit(stays.X, stays.y)
    shapes = ranker.shapes()
    assert len(shapes) == stays.X.shape[1]
    reach = [max(shape["adds"]) - min(shape["adds"]) for shape in shapes]
    assert reach == sorted(reach, reverse=True)
    drawn = plot.shapes(ranker, columns=2)
    assert len(drawn) == 2
    np.testing.assert_array_equal(drawn[0].lines[0].get_ydata(), shapes[0]["adds"])
    assert len(drawn[0].collections) == 1
    (named,) = plot.shapes(ranker, columns=[shapes[3]["column"]])
    assert named.get_xlabel() == shapes[3]["column"]
    with pytest.raises(ValueError, match="no column 'height'"):
        plot.shapes(ranker, columns=["height"])
    metric = PrivateMetric(epsilon=1.0, delta=1e-6, bounds=stays.bounds, classes=[0, 1]).fit(
        stays.X[:200], stays.y[:200]
    )
    with pytest.raises(AttributeError, match="no scores"):
        metric.shapes()
