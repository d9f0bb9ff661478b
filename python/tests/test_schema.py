"""Schemas in Python: data frames with categories and missing values, read as the command reads files."""

import json
import pickle
from decimal import Decimal

import numpy as np
import pandas
import pytest
from sklearn.base import clone

from pairdp import PrivateClassifier, PrivateMetric, PrivateRanker, PrivateRegressor, Schema, _core, baseline
from pairdp.ledger import Ledger

BUDGET = {"epsilon": 2.0, "delta": 1e-6}
COLUMNS = [
    {"name": "age", "range": [20, 95], "missing": 60},
    {"name": "smoker", "categories": ["never", "former", "current"], "missing": "never"},
    {"name": "ward", "categories": [1, 2, 7], "other": True},
]
LABELS = {
    "ranker": {"column": "ill", "positive": "yes", "negative": "no"},
    "classifier": {"column": "ill", "positive": "yes", "negative": "no"},
    "metric": {"column": "ill", "classes": ["no", "yes"]},
    "regressor": {"column": "dose", "range": [0, 200]},
}
KINDS = {
    "ranker": PrivateRanker,
    "classifier": PrivateClassifier,
    "metric": PrivateMetric,
    "regressor": PrivateRegressor,
}
TOML = """
ignore = ["id"]

[label]
column = "ill"
positive = "yes"
negative = "no"

[[column]]
name = "age"
range = [20, 95]
missing = 60

[[column]]
name = "smoker"
categories = ["never", "former", "current"]
missing = "never"

[[column]]
name = "ward"
categories = [1, 2, 7]
other = true
"""


def stays(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    age = rng.uniform(15, 100, n)
    age[rng.random(n) < 0.1] = np.nan
    return pandas.DataFrame(
        {
            "id": np.arange(n),
            "ward": rng.choice([1, 2, 7, 12], n),
            "smoker": rng.choice(np.array(["never", "former", "current", None], dtype=object), n),
            "age": age,
        }
    )


def outcome(frame):
    return np.nan_to_num(frame["age"], nan=60) + 25 * (frame["smoker"] == "current") - 10 * (frame["ward"] == 7)


def labels(name, frame):
    return outcome(frame) if name == "regressor" else np.where(outcome(frame) > 60, "yes", "no")


def schema(name="ranker"):
    return {"ignore": ["id"], "label": LABELS[name], "column": COLUMNS}


def answers(fitted, table):
    method = next(m for m in ("decision_function", "predict", "transform") if hasattr(fitted, m))
    return getattr(fitted, method)(table)


each = pytest.mark.parametrize("name", KINDS)


@each
def test_categories_and_missing_values_are_learned_from(name):
    frame = stays()
    fitted = KINDS[name](**BUDGET, schema=schema(name)).fit(frame, labels(name, frame))
    assert fitted.verify()
    assert list(fitted.feature_names_in_) == ["age", "smoker", "ward"]
    assert fitted.n_features_in_ == 3
    if name != "metric":
        assert fitted.score(frame, labels(name, frame)) > 0.6
    # Neither other columns nor their order matters.
    np.testing.assert_array_equal(answers(fitted, frame[["smoker", "ward", "age"]]), answers(fitted, frame))
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(answers(again, frame), answers(fitted, frame))
    assert clone(fitted).get_params() == fitted.get_params()


def test_rows_are_encoded_by_the_schema():
    frame = pandas.DataFrame(
        {"age": [57.5, None, 1e9], "smoker": ["current", None, "pipe"], "ward": [7, 2, 12]}, index=[5, 6, 7]
    )
    many = stays()
    settings = {"algorithm": "noisy-gd", "feature_bound": 10.0, "intercept": False}
    fitted = PrivateClassifier(**BUDGET, schema=schema(), **settings).fit(many, labels("classifier", many))
    middle = (60 - 57.5) / 37.5
    expected = [[0, 0, 0, 1, 0, 0, 1, 0], [middle, 1, 0, 0, 0, 1, 0, 0], [1, 0, 0, 0, 0, 0, 0, 1]]
    np.testing.assert_allclose(fitted.encode(frame), expected, atol=1e-12)


def test_empty_cells_may_have_a_place_of_their_own(tmp_path):
    said = schema() | {"column": [COLUMNS[0] | {"missing": "own"}, *COLUMNS[1:]]}
    many = stays()
    y = np.where(many["age"].isna(), "yes", "no")
    settings = {"algorithm": "noisy-gd", "feature_bound": 10.0, "intercept": False, "representation": "ranges"}
    fitted = PrivateClassifier(**BUDGET, schema=said, **settings).fit(many, y)
    rest = [[0, 0, 1, 0, 0, 1, 0], [1, 0, 0, 0, 1, 0, 0]]
    expected = [[0, 0, *rest[0]], [0, 1, *rest[1]]]
    for age in ([57.5, None], [57.5, np.nan], ["57.5", None], np.array([57.5, None], dtype=object), ["57.5", " "]):
        frame = pandas.DataFrame({"age": age, "smoker": ["current", "never"], "ward": [7, 2]})
        np.testing.assert_allclose(fitted.encode(frame), expected, atol=1e-12)
    fitted.save(tmp_path / "m.json")
    np.testing.assert_array_equal(PrivateClassifier.load(tmp_path / "m.json").encode(many), fitted.encode(many))
    ranker = PrivateRanker(**BUDGET, schema=said).fit(many, y)
    # One in ten is missing, and all of those are ill.
    assert ranker.score(many, y) > 0.9
    (age, *others) = sorted(ranker.shapes(), key=lambda shape: shape["column"])
    assert age["missing"]["adds"] > max(age["adds"][10:190]) and all(shape["missing"] is None for shape in others)
    assert ranker.shapes()[0]["column"] == "age"


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_frames_of_other_libraries_are_read_alike(library):
    module = pytest.importorskip(library)
    frame = stays()
    fitted = PrivateRanker(**BUDGET, schema=schema()).fit(frame, labels("ranker", frame))
    columns = {name: [None if cell is None or cell != cell else cell for cell in frame[name]] for name in frame}
    other = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    np.testing.assert_array_equal(fitted.decision_function(other), fitted.decision_function(frame))
    values = labels("ranker", frame).tolist()
    targets = module.array(values) if library == "pyarrow" else module.Series(values)
    assert fitted.score(other, targets) == fitted.score(frame, values)
    assert PrivateRanker(**BUDGET, schema=schema()).fit(other, targets).verify()
    if library == "pyarrow":
        other = other.set_column(2, "smoker", other["smoker"].dictionary_encode())
        np.testing.assert_array_equal(fitted.decision_function(other), fitted.decision_function(frame))


def test_categorical_and_nullable_columns_of_pandas_are_read_alike():
    frame = stays()
    fitted = PrivateRanker(**BUDGET, schema=schema()).fit(frame, labels("ranker", frame))
    scores = fitted.decision_function(frame)
    for changed in (
        frame.astype({"smoker": "category", "ward": "category"}),
        frame.astype({"smoker": "string", "ward": "Int64", "age": "Float64"}),
        frame.astype({"ward": float}),
        frame.astype({"ward": str}),
        frame.astype(object),
    ):
        np.testing.assert_array_equal(fitted.decision_function(changed), scores)


def test_a_file_a_dict_and_a_schema_say_the_same(tmp_path):
    path = tmp_path / "stays.schema.toml"
    path.write_text(TOML)
    assert Schema(path) == Schema(str(path)) == Schema(schema()) == Schema(Schema(schema()))
    assert Schema(path).names == ["age", "smoker", "ward"]
    assert Schema(path).ignore == ["id"]
    assert Schema(path).private


def test_models_with_categories_travel_in_files(tmp_path):
    frame = stays()
    fitted = PrivateClassifier(**BUDGET, schema=schema()).fit(frame, labels("classifier", frame))
    fitted.save(tmp_path / "model.json")
    loaded = PrivateClassifier.load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.predict(frame), fitted.predict(frame))
    assert list(loaded.classes_) == ["no", "yes"]
    predictor = json.loads(fitted.model_)["predictor"]
    # As the command writes it, categories as text.
    assert predictor["encoding"]["columns"] == Schema(schema()).columns
    assert predictor["label"] == LABELS["classifier"]


def test_a_model_of_files_reads_frames(tmp_path):
    frame = stays(400)
    (tmp_path / "s.toml").write_text(TOML)
    (tmp_path / "parts").mkdir()
    whole = frame.assign(ill=labels("ranker", frame))
    for part in range(2):
        whole[part::2].to_csv(tmp_path / "parts" / f"{part}.csv", index=False)
    fitted = PrivateRanker(**BUDGET).fit_partitions(tmp_path / "parts", tmp_path / "s.toml")
    assert fitted.positive_label_ == "yes"
    assert fitted.score(frame, labels("ranker", frame)) > 0.5
    fitted.save(tmp_path / "model.json")
    loaded = PrivateRanker.load(tmp_path / "model.json")
    np.testing.assert_array_equal(loaded.decision_function(frame), fitted.decision_function(frame))


def test_baselines_read_schemas():
    frame = stays()
    twins = {
        "ranker": baseline.Ranker,
        "classifier": baseline.Classifier,
        "metric": baseline.Metric,
        "regressor": baseline.Regressor,
    }
    for name, kind in twins.items():
        steps = 20 if name == "metric" else None
        fitted = kind(schema=schema(name), steps=steps).fit(frame, labels(name, frame))
        assert np.isfinite(answers(fitted, frame).astype(float) if name != "classifier" else [0.0]).all()
        if name != "metric":
            assert fitted.score(frame, labels(name, frame)) > 0.8


def test_labels_are_read_as_in_files():
    said = Schema(schema() | {"label": {"column": "y", "positive": 1, "negative": 0}})
    for y in ([1, 0], ["1", "0"], [1.0, 0.0], np.array([1, 0], dtype=np.int8), [" 1", "0.0"]):
        np.testing.assert_array_equal(said.targets(y, 2), [1.0, -1.0])
    truths = Schema(schema() | {"label": {"column": "y", "positive": True, "negative": False}})
    np.testing.assert_array_equal(truths.targets([True, False], 2), [1.0, -1.0])
    doses = Schema(schema("regressor"))
    np.testing.assert_array_equal(doses.targets([100, 500], 2), [0.0, 1.0])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"smoker": [None, MARK := "P00000SECRET"], "age": ["old", MARK]}, "X: column `age`, row 0: not a number"),
        ({"age": [1.0, np.inf]}, "X: column `age`, row 1: not a finite number"),
        (
            {"ward": [1, None]},
            "X: column `ward`, row 1: empty, and the schema does not say what an empty cell counts as",
        ),
        ({"ward": [1, object()]}, "X: column `ward`, row 1: neither a number nor text"),
        ({"age": pandas.to_datetime(["2031-05-07", "2031-05-08"])}, "X: column `age`, row 0: neither numbers nor text"),
        (
            {"smoker": pandas.Series(["never", "\ud800"], dtype=object)},
            "X: column `smoker`, row 1: neither a number nor text",
        ),
    ],
)
def test_cells_that_do_not_fit_are_placed_and_not_quoted(changes, words):
    good = {"age": [30, 40], "smoker": ["never", "never"], "ward": [1, 2]}
    table = pandas.DataFrame(good | changes)
    for secret in (False, True):
        ranker = PrivateRanker(**BUDGET, schema=schema(), max_records=50 if secret else None)
        with pytest.raises(ValueError, match=r"^X: column") as refused:
            ranker.fit(table, ["yes", "no"])
        message = str(refused.value)
        assert message.startswith(words.replace(", row 0", "").replace(", row 1", "") if secret else words)
        assert MARK not in message and "2031" not in message and refused.value.__context__ is None


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda f: PrivateRanker(**BUDGET, schema=schema()).fit(f.drop(columns="age"), f["y"]),
            "X has no column `age`",
        ),
        (
            lambda f: PrivateRanker(**BUDGET, schema=schema()).fit(f, ["maybe"] * len(f)),
            "y, row 0: the label is none of",
        ),
        (lambda f: PrivateRanker(**BUDGET, schema=schema()).fit(f, [None] * len(f)), "y, row 0: the label is empty"),
        (lambda f: PrivateRanker(**BUDGET, schema=schema()).fit(f, f["y"][1:]), "inconsistent numbers of samples"),
        (lambda f: PrivateRanker(**BUDGET, schema=schema()).fit(f[:1], f["y"][:1]), "a minimum of 2 is required"),
        (lambda f: PrivateRanker(**BUDGET, schema=schema(), bounds=(0, 1)).fit(f, f["y"]), "leave bounds out"),
        (
            lambda f: PrivateRanker(**BUDGET, schema=schema(), positive_label=0).fit(f, f["y"]),
            "leave positive_label out",
        ),
        (lambda f: PrivateMetric(**BUDGET, schema=schema(), classes=[0, 1]).fit(f, f["y"]), "leave classes out"),
        (lambda f: PrivateRanker(**BUDGET, schema=schema("regressor")).fit(f, f["y"]), "ranking needs `positive` and"),
        (lambda f: PrivateRanker(**BUDGET, schema={"label": 3}).fit(f, f["y"]), "^schema: "),
        (
            lambda f: PrivateRanker(**BUDGET, schema=schema()).fit(np.zeros((5, 2)), [0] * 5),
            "X must have column names, or exactly",
        ),
    ],
)
def test_what_does_not_fit_the_schema_is_refused(call, words):
    frame = stays(50)
    frame["y"] = labels("ranker", frame)
    with pytest.raises(ValueError, match=words):
        call(frame)


def test_a_schema_is_a_path_a_dict_or_a_schema():
    with pytest.raises(TypeError, match=r"a file's path, a dict or a pairdp\.Schema"):
        Schema(3)


def test_a_ledger_knows_the_schema_of_the_command(tmp_path):
    path = tmp_path / "stays.schema.toml"
    path.write_text(TOML)
    frame = stays(300)
    ledger = Ledger.create(tmp_path / "l.ledger")
    ledger.add("stays", epsilon=4.0, delta=1e-6, records=300, schema=path)
    ranker = PrivateRanker(**BUDGET, schema=schema())
    assert ledger.fit(ranker, "stays", frame, labels("ranker", frame)).verify()
    assert ledger.show()["stays"]["spent"] == pytest.approx(2.0)
    other = schema() | {"column": COLUMNS[:2]}
    with pytest.raises(ValueError, match="is read by another schema"):
        ledger.fit(PrivateRanker(**BUDGET, schema=other), "stays", frame, labels("ranker", frame))


@each
def test_issue_18_06_any_number_of_records_fits_by_a_schema_where_it_is_secret(name):
    estimator = KINDS[name](**BUDGET, schema=schema(name), max_records=8)
    for n in range(4):
        frame = stays(n)
        fitted = clone(estimator).fit(frame, labels(name, frame))
        assert fitted.verify() and fitted.certificate_["records"] == 8


def test_cells_of_mixed_columns_are_named_as_in_files():
    column = np.array([7.0, 2, "1", np.float32(12), True, Decimal("7"), None, float("nan"), 0.5], dtype=object)
    said = {"label": LABELS["ranker"], "column": [{"name": "ward", "categories": [1, 2, 7]}]}
    (cells,) = Schema(said).rows(pandas.DataFrame({"ward": column}))
    assert cells == ["7", "2", "1", "12", "true", "7", None, None, "0.5"]


def test_lists_are_refused_by_a_schema_where_the_number_of_records_is_secret():
    """A list of no rows has no width, and would tell a table from its neighbour."""
    for rows in ([], [[30.0, "never", 1]], [[30.0, "never", 1]] * 3):
        with pytest.raises(ValueError, match="X must have column names, or exactly"):
            PrivateRanker(**BUDGET, schema=schema(), max_records=8).fit(rows, ["yes"] * len(rows))


def test_a_score_needs_no_schema_file(tmp_path):
    path = tmp_path / "stays.schema.toml"
    path.write_text(TOML)
    frame = stays()
    for kind in (PrivateRanker, PrivateClassifier):
        fitted = kind(**BUDGET, schema=path).fit(frame, labels("ranker", frame))
        score = fitted.score(frame, labels("ranker", frame))
        fitted.save(tmp_path / f"{kind.__name__}.json")
        assert kind.load(tmp_path / f"{kind.__name__}.json").score(frame, labels("ranker", frame)) == score
    path.unlink()
    assert fitted.score(frame, labels("ranker", frame)) == score


def test_whole_numbers_keep_their_digits_as_categories():
    code = 2**60 + 1
    said = {"label": LABELS["ranker"], "column": [{"name": "ward", "categories": [str(code), str(code - 1)]}]}
    columns = json.dumps({"columns": Schema(said).columns})
    cells = Schema(said).rows(pandas.DataFrame({"ward": [code, code - 1]}))
    assert cells == [[str(code), str(code - 1)]]
    assert columns.count(str(code)) == 1
    assert _core.check_label(json.dumps(said["label"]), "ranking") is None


def test_bounds_are_never_misread():
    X = np.random.default_rng(0).uniform(0, 1, size=(20, 3))
    y = [0, 1] * 10

    def ranges(bounds, n_features):
        fitted = PrivateRanker(**BUDGET, bounds=bounds).fit(X[:, :n_features], y)
        return [column["range"] for column in json.loads(fitted.model_)["predictor"]["encoding"]["columns"]]

    assert ranges((0, 1), 3) == [[0, 1]] * 3
    assert ranges(([0, 1, 2], [4, 5, 6]), 3) == ranges([(0, 4), (1, 5), (2, 6)], 3) == [[0, 4], [1, 5], [2, 6]]
    assert ranges([(0, 4)], 1) == ranges((0, 4), 1) == [[0, 4]]
    assert ranges((np.array([0, 1]), np.array([2, 3])), 2) == ranges((np.array([0, 1]), [2, 3]), 2) == [[0, 2], [1, 3]]
    # Of two features, two pairs may be the bounds of each, or lower and upper ones.
    assert ranges(([5, 0], [9, 1]), 2) == [[5, 9], [0, 1]]
    assert ranges(((0, 1), (1, 2)), 2) == [[0, 1], [1, 2]]
    for pairs in ([(0, 1), (2, 3)], ((0, 10), (50, 300)), [[0, 1], [2, 3]]):
        with pytest.raises(ValueError, match="bounds can be read in two ways"):
            ranges(pairs, 2)
    for pairs in ([(0, 1), (0, 1)], [(0, 100), (10, 20)]):
        with pytest.raises(ValueError, match="all lower bounds first"):
            ranges(pairs, 2)
    for wrong in ([(0, 1), (0, 1)], [0, 1, 2], "ab", [(0, 1, 2), (3, 4, 5), (6, 7, 8)], 7):
        with pytest.raises(ValueError, match="bounds must be a pair"):
            ranges(wrong, 3)
