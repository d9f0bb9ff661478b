"""Exported models answer as ours do, in a runtime that knows nothing of us."""

import json

import numpy as np
import pytest

from pairdp import PrivateClassifier, PrivateMetric, PrivateRanker, PrivateRegressor, _core, baseline

onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

BOUNDS = (np.array([0.0, -5.0, 100.0]), np.array([1.0, 5.0, 300.0]))
PUBLIC = {"epsilon": 5.0, "delta": 1e-6, "bounds": BOUNDS}


def rows(n, seed=0):
    """Return rows of which some lie outside the bounds."""
    rng = np.random.default_rng(seed)
    low, high = BOUNDS
    return rng.uniform(low - 0.3 * (high - low), high + 0.3 * (high - low), size=(n, 3))


def run(path, inputs):
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(None, inputs), strict=True)), session.get_modelmeta().custom_metadata_map


@pytest.mark.parametrize("feature_bound", [0.5, 3.0])
def test_scores_of_a_runtime_are_ours(tmp_path, feature_bound):
    X, new = rows(400), rows(1000, seed=1)
    y = X[:, 0] + X[:, 1] / 10 > 0.5
    for model in (
        PrivateRanker(**PUBLIC, feature_bound=feature_bound),
        baseline.Ranker(bounds=BOUNDS, feature_bound=feature_bound),
    ):
        model.fit(X, y).to_onnx(tmp_path / "m.onnx")
        outputs, metadata = run(tmp_path / "m.onnx", {"numbers": new})
        np.testing.assert_allclose(outputs["score"], model.decision_function(new), rtol=0, atol=1e-6)
        assert json.loads(metadata["numbers"]) == ["x0", "x1", "x2"]


def test_classes_of_a_runtime_are_ours(tmp_path):
    X, new = rows(400), rows(1000, seed=1)
    y = np.where(X[:, 1] > 0, "ill", "well")
    model = PrivateClassifier(**PUBLIC, classes=("well", "ill")).fit(X, y)
    model.to_onnx(tmp_path / "m.onnx")
    outputs, _ = run(tmp_path / "m.onnx", {"numbers": new})
    np.testing.assert_allclose(outputs["score"], model.decision_function(new), rtol=0, atol=1e-6)
    assert list(outputs["class"]) == list(model.predict(new))
    assert len(set(outputs["class"])) == 2


def test_predictions_are_in_the_target_s_units(tmp_path):
    X, new = rows(400), rows(1000, seed=1)
    model = PrivateRegressor(**PUBLIC, target_bounds=(0, 50)).fit(X, 25 + 3 * X[:, 1])
    model.to_onnx(tmp_path / "m.onnx")
    outputs, _ = run(tmp_path / "m.onnx", {"numbers": new})
    np.testing.assert_allclose(outputs["prediction"], model.predict(new), rtol=0, atol=1e-6)


def test_embeddings_have_the_metric_s_distances(tmp_path):
    X, new = rows(300), rows(200, seed=1)
    model = PrivateMetric(**PUBLIC, classes=[0, 1], steps=3).fit(X, (X[:, 1] > 0).astype(int))
    model.to_onnx(tmp_path / "m.onnx")
    outputs, _ = run(tmp_path / "m.onnx", {"numbers": new})
    np.testing.assert_allclose(outputs["embedding"], model.transform(new), rtol=0, atol=1e-6)


def test_texts_and_missing_values_are_encoded_in_the_file(tmp_path):
    """Against the rules of docs/data.md, written out again."""
    columns = [
        {"name": "sex", "categories": ["f", "m"], "missing": "m"},
        {"name": "age", "range": [0.0, 100.0], "missing": 30.0},
        {"name": "ward", "categories": ["a", "b", "c"], "other": True},
    ]
    weights = np.array([0.3, -0.7, 1.1, 0.2, -0.4, 0.9, 0.5])
    predictor = {
        "task": "ranking",
        "encoding": {"columns": columns},
        "label": None,
        "feature_bound": 1.3,
        "parameters": weights.tolist(),
    }
    text = json.dumps({"format": "pairdp-baseline/2", "predictor": predictor})
    (tmp_path / "m.onnx").write_bytes(_core.Model(text).to_onnx())

    rng = np.random.default_rng(3)
    ages = rng.choice([-5.0, 0.0, 17.5, 64.0, 100.0, 250.0, np.nan], size=300)
    sexes = rng.choice(["f", "m", "", "unheard of"], size=300)
    wards = rng.choice(["a", "b", "c", "z"], size=300)
    expected = []
    for age, sex, ward in zip(ages, sexes, wards, strict=True):
        sex = sex or "m"
        age = 30.0 if np.isnan(age) else min(max(age, 0.0), 100.0)
        row = [sex == "f", sex == "m", age / 50 - 1, ward == "a", ward == "b", ward == "c", ward == "z"]
        row = np.array(row, dtype=float)
        expected.append(weights @ (row * min(1.0, 1.3 / max(np.linalg.norm(row), 1e-300))))
    inputs = {"numbers": ages[:, None], "texts": np.column_stack([sexes, wards]).astype(object)}
    outputs, metadata = run(tmp_path / "m.onnx", inputs)
    np.testing.assert_allclose(outputs["score"], expected, rtol=0, atol=1e-6)
    assert (json.loads(metadata["numbers"]), json.loads(metadata["texts"])) == (["age"], ["sex", "ward"])


def test_a_metric_by_ranks_maps_rows_as_ours(tmp_path):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(500, 3)) * [1.0, 10.0, 0.1]
    y = (X[:, 0] > 0).astype(int)
    metric = PrivateMetric(epsilon=2.0, delta=1e-6, bounds=[(-100, 100)] * 3, classes=[0, 1], representation="ranks")
    metric.fit(X, y).to_onnx(tmp_path / "m.onnx")
    outputs, _ = run(tmp_path / "m.onnx", {"numbers": X})
    np.testing.assert_allclose(outputs["embedding"], metric.transform(X), rtol=0, atol=1e-6)


def test_a_monotone_column_keeps_its_curve(tmp_path):
    rng = np.random.default_rng(8)
    X = rng.uniform(size=(400, 2))
    y = (rng.random(400) < X[:, 0]).astype(int)
    columns = [
        {"name": f"x{k}", "range": [0, 5], "monotone": word} for k, word in enumerate(("increasing", "decreasing"))
    ]
    schema = {"label": {"column": "y", "positive": 1, "negative": 0}, "column": columns}
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["x0", "x1"])
    ranker = PrivateRanker(epsilon=1.0, delta=1e-6, schema=schema).fit(frame, y)
    assert ranker.verify()
    adds = {shape["column"]: np.diff(shape["adds"]) for shape in ranker.shapes()}
    assert (adds["x0"] >= -1e-9).all()
    assert (adds["x1"] <= 1e-9).all()
    ranker.to_onnx(tmp_path / "m.onnx")
    outputs, _ = run(tmp_path / "m.onnx", {"numbers": X})
    np.testing.assert_allclose(outputs["score"], ranker.decision_function(frame), rtol=0, atol=1e-6)


@pytest.mark.parametrize("representation", ["ranks", "ranges"])
@pytest.mark.parametrize("texts", [True, False])
def test_empty_cells_with_a_place_score_as_ours(tmp_path, representation, texts):
    pandas = pytest.importorskip("pandas")
    columns = [
        {"name": "level", "range": [0.0, 1000.0], "missing": "own"},
        {"name": "sex", "categories": ["f", "m"]},
        {"name": "age", "range": [0.0, 120.0], "missing": 50.0},
        {"name": "dose", "range": [-1.0, 1.0], "missing": "own"},
    ]
    rng = np.random.default_rng(5)
    frame = pandas.DataFrame(
        {
            "sex": rng.choice(["f", "m"], 900),
            "age": rng.choice([-5.0, 30.0, 64.5, 300.0, np.nan], 900),
            "level": np.where(rng.random(900) < 0.4, np.nan, rng.uniform(-10, 90, 900)),
            "dose": rng.choice([-1.0, 0.0, 0.3, np.nan], 900),
        }
    )
    columns = [column for column in columns if texts or "categories" not in column]
    label = {"column": "y", "positive": 1, "negative": 0}
    y = (frame["level"].isna() ^ (rng.random(900) < 0.2)).astype(int)
    model = PrivateRanker(
        epsilon=2.0, delta=1e-6, schema={"label": label, "column": columns}, representation=representation
    ).fit(frame, y)
    assert model.verify()
    model.to_onnx(tmp_path / "m.onnx")
    inputs = {"numbers": frame[["level", "age", "dose"]].to_numpy()}
    if texts:
        inputs["texts"] = frame[["sex"]].to_numpy().astype(object)
    outputs, _ = run(tmp_path / "m.onnx", inputs)
    np.testing.assert_allclose(outputs["score"], model.decision_function(frame), rtol=0, atol=1e-12)
