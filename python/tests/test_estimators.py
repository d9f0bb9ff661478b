"""All estimators: scikit-learn's own checks, and what they share beyond those."""

import json
import pickle

import numpy as np
import pandas
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import pairdp
from pairdp import (
    PrivacyBudgetError,
    PrivateClassifier,
    PrivateMetric,
    PrivateRanker,
    PrivateRegressor,
    baseline,
)
from pairdp._parameters import SETTINGS
from pairdp.ledger import Ledger

BUDGET = {"epsilon": 2.0, "delta": 1e-6}
PUBLIC = BUDGET | {"bounds": (-1, 1)}
PRIVATE = {
    "ranker": PrivateRanker(**PUBLIC),
    "metric": PrivateMetric(**PUBLIC, classes=[0, 1]),
    "classifier": PrivateClassifier(**PUBLIC, classes=(0, 1)),
    "regressor": PrivateRegressor(**PUBLIC, target_bounds=(-2, 2)),
}
TWINS = {
    "ranker": baseline.Ranker(),
    "metric": baseline.Metric(steps=20),
    "classifier": baseline.Classifier(),
    "regressor": baseline.Regressor(),
}
private = pytest.mark.parametrize("name", PRIVATE)

# The checks of scikit-learn that do not apply, by estimator, each with the reason.
NOISE = "fits twice and compares: noise never repeats"
CLASSES = "uses labels that are not in the public classes, which are never read from the data"
FEW = "wants the labels of ten records to be seen in the predictions, which privacy forbids"
EXPECTED_FAILURES = {
    "PrivateRanker": {"check_fit_idempotent": NOISE},
    "PrivateMetric": {"check_fit_idempotent": NOISE},
    "PrivateClassifier": {
        "check_fit_idempotent": NOISE,
        "check_classifier_data_not_an_array": CLASSES,
        "check_classifier_not_supporting_multiclass": CLASSES,
        "check_classifiers_classes": CLASSES,
        "check_classifiers_one_label": FEW,
        "check_estimators_dtypes": CLASSES,
        "check_fit2d_1feature": CLASSES,
        "check_supervised_y_2d": NOISE,
    },
    "PrivateRegressor": {
        "check_fit_idempotent": NOISE,
        "check_regressor_data_not_an_array": NOISE,
        "check_regressors_int": NOISE,
        "check_supervised_y_2d": NOISE,
    },
}

# Wide enough for the data that the checks make up.
CHECKED = [
    PrivateRanker(**BUDGET, bounds=(-50, 50)),
    PrivateMetric(**BUDGET, bounds=(-50, 50), classes=range(-20, 120)),
    PrivateClassifier(**BUDGET, bounds=(-50, 50), classes=(0, 1)),
    PrivateRegressor(**BUDGET, bounds=(-50, 50), target_bounds=(-100, 100)),
    baseline.Ranker(),
    baseline.Metric(steps=20),
    baseline.Classifier(),
    baseline.Regressor(),
]


def expected_failures(estimator):
    kind = type(estimator)
    private = kind.__name__.startswith("Private")
    return EXPECTED_FAILURES.get(kind.__name__ if private else f"baseline.{kind.__name__}", {})


@parametrize_with_checks(CHECKED, expected_failed_checks=expected_failures)
def test_scikit_learn_conventions_hold(estimator, check):
    try:
        check(estimator)
    except (AssertionError, ValueError) as failure:
        # Older versions of scikit-learn use other labels in more of their checks.
        causes = (str(failure), str(failure.__cause__), str(failure.__context__))
        if isinstance(estimator, PrivateClassifier) and any("not among classes" in cause for cause in causes):
            pytest.xfail(CLASSES)
        raise


@pytest.fixture(scope="module")
def cohort():
    rng = np.random.default_rng(7)
    X = rng.uniform(-1, 1, size=(3000, 3))
    return X, X @ [1.0, -0.5, 0.0] + 0.2 * rng.normal(size=3000)


def target(name, values):
    return values if name == "regressor" else (values > 0).astype(int)


def outcome(estimator, X):
    for method in ("decision_function", "predict", "transform"):
        if hasattr(estimator, method):
            return getattr(estimator, method)(X)
    raise AssertionError


@private
def test_fitted_models_carry_plan_certificate_and_file(name, cohort):
    X, values = cohort
    fitted = clone(PRIVATE[name]).fit(X, target(name, values))
    assert fitted.verify()
    assert fitted.certificate_["claim"] == {"epsilon": 2.0, "delta": 1e-6, "adjacency": "replace-one"}
    assert fitted.plan_ == json.loads(fitted.model_)["training"]


@private
def test_no_budget_no_fit(name, cohort):
    X, values = cohort
    for missing in BUDGET:
        with pytest.raises(PrivacyBudgetError, match=rf"\({missing} missing\): set epsilon and delta"):
            clone(PRIVATE[name]).set_params(**{missing: None}).fit(X, target(name, values))
    with pytest.raises(TypeError):
        type(PRIVATE[name])(1.0, 1e-6)


@private
def test_weights_are_refused_with_the_reason(name, cohort):
    X, values = cohort
    for estimator in (PRIVATE[name], TWINS[name]):
        with pytest.raises(ValueError, match="what one record of weight 1 can change"):
            clone(estimator).fit(X, target(name, values), sample_weight=np.ones(len(X)))
        with pytest.raises(TypeError, match="no parameter 'wieght'"):
            clone(estimator).fit(X, target(name, values), wieght=1)


@private
def test_bounds_are_scalars_or_arrays(name, cohort):
    X, values = cohort
    y = target(name, values)
    arrays = clone(PRIVATE[name]).set_params(bounds=([-1, -1, -2], np.array([1, 1, 2]))).fit(X, y)
    columns = json.loads(arrays.model_)["predictor"]["encoding"]["columns"]
    assert [column["range"] for column in columns] == [[-1, 1], [-1, 1], [-2, 2]]
    for bad in (3, (1, 2, 3), ([0, 0], [1, 1]), ("low", "high")):
        with pytest.raises(ValueError, match="bounds must be a pair"):
            clone(PRIVATE[name]).set_params(bounds=bad).fit(X, y)
    with pytest.raises(ValueError, match="no public bounds"):
        clone(PRIVATE[name]).set_params(bounds=None).fit(X, y)


@private
@pytest.mark.parametrize("family", [PRIVATE, TWINS], ids=["private", "twin"])
def test_files_and_pickles_keep_the_model(name, family, cohort, tmp_path):
    X, values = cohort
    fitted = clone(family[name]).fit(X, target(name, values))
    path = tmp_path / "model.json"
    fitted.save(path)
    loaded = type(fitted).load(path)
    assert loaded.model_ == fitted.model_
    copied = pickle.loads(pickle.dumps(fitted))
    method = "transform" if name == "metric" else "decision_function" if name == "ranker" else "predict"
    for other in (loaded, copied):
        np.testing.assert_array_equal(getattr(other, method)(X), getattr(fitted, method)(X))
    if family is PRIVATE:
        assert loaded.verify() and copied.verify()


def test_files_of_another_kind_are_refused(cohort, tmp_path):
    X, values = cohort
    path = tmp_path / "model.json"
    clone(PRIVATE["ranker"]).fit(X, values > 0).save(path)
    with pytest.raises(ValueError, match="the model is for ranking"):
        PrivateRegressor.load(path)
    with pytest.raises(ValueError, match="with privacy"):
        baseline.Ranker.load(path)
    path.write_text("{}")
    with pytest.raises(ValueError, match="not a pairdp model file"):
        PrivateRanker.load(path)
    with pytest.raises(NotFittedError):
        PrivateRanker().save(path)


def test_issue_18_13_a_model_is_replaced_by_force_only_and_nothing_else_at_all(cohort, tmp_path):
    X, values = cohort
    fitted = clone(PRIVATE["ranker"]).fit(X, values > 0)
    twin = clone(TWINS["ranker"]).fit(X, values > 0)
    path = tmp_path / "model.json"
    fitted.save(path)
    paid = "there is a model already, which cost budget; name another file, or pass force=True"
    for model in (fitted, twin):
        with pytest.raises(FileExistsError, match=paid):
            model.save(path)
    with pytest.raises(FileExistsError, match="there is a model already; name another file to write"):
        fitted.to_onnx(path)
    assert path.read_text() == fitted.model_
    path.chmod(0o640)
    clone(PRIVATE["ranker"]).fit(X, values > 0).save(path, force=True)
    assert path.read_text() != fitted.model_ and path.stat().st_mode & 0o777 == 0o640
    # A model of another version cost as much.
    path.write_text('{"format": "pairdp-model/1"}')
    with pytest.raises(FileExistsError, match="cost budget"):
        fitted.save(path)
    # What can be had again is replaced.
    for _ in range(2):
        twin.save(tmp_path / "twin.json")
        fitted.to_onnx(tmp_path / "m.onnx")

    Ledger.create(tmp_path / "c.ledger")
    schema = "[label]\ncolumn = 'y'\npositive = '1'\nnegative = '0'\n"
    for name, text, said in (
        ("t.csv", "a,y\n1,0\n", "it is not"),
        ("t.schema.toml", schema, "there is a schema already"),
        ("notes.json", "{}", "it is not"),
        ("c.ledger", None, "this is a ledger"),
        ("c.ledger.key", None, "this name belongs to a ledger"),
        ("c.ledger-journal", None, "this name belongs to a ledger"),
        ("c.ledger-wal", None, "this name belongs to a ledger"),
    ):
        place = tmp_path / name
        if text is not None:
            place.write_text(text)
        before = place.read_bytes() if place.exists() else None
        for write in (lambda: fitted.save(place, force=True), lambda: twin.save(place), lambda: fitted.to_onnx(place)):
            with pytest.raises(FileExistsError, match=said):
                write()
        assert (place.read_bytes() if place.exists() else None) == before
    assert not list(tmp_path.glob(".pairdp-draft-*"))


def test_labels_survive_a_file(cohort, tmp_path):
    X, values = cohort
    path = tmp_path / "model.json"
    for classes in (("no", "yes"), (0, 1), (-1.5, 2.0), (False, True)):
        fitted = PrivateClassifier(**PUBLIC, classes=classes).fit(X, np.array(classes)[(values > 0).astype(int)])
        fitted.save(path, force=True)
        loaded = PrivateClassifier.load(path)
        np.testing.assert_array_equal(loaded.classes_, classes)
        assert loaded.classes_.dtype == fitted.classes_.dtype
    words = np.array(("no", "yes"))[(values > 0).astype(int)]
    assert PrivateClassifier.load(path, classes=("no", "yes")).score(X, words) > 0.8


@private
def test_names_of_columns_reach_the_file(name, cohort, tmp_path):
    X, values = cohort
    frame = pandas.DataFrame(X, columns=["age", "dose", "weight"])
    fitted = clone(PRIVATE[name]).fit(frame, target(name, values))
    assert fitted.verify()
    fitted.save(tmp_path / "model.json")
    loaded = type(fitted).load(tmp_path / "model.json")
    assert list(loaded.feature_names_in_) == ["age", "dose", "weight"]
    np.testing.assert_array_equal(outcome(loaded, frame), outcome(fitted, frame))


def test_labels_that_files_cannot_tell_apart_are_refused_before_anything_is_spent(cohort, tmp_path):
    X, values = cohort
    alike = np.array(["1", "1.0"])
    classifier = PrivateClassifier(**PUBLIC, classes=tuple(alike))
    ledger = Ledger.create(tmp_path / "l.ledger")
    ledger.add("stays", **BUDGET, records=len(X), schema=classifier.table_schema(3))
    with pytest.raises(ValueError, match="the positive and the negative label are the same"):
        ledger.fit(classifier, "stays", X, alike[(values > 0).astype(int)])
    assert ledger.show()["stays"]["spent"] == 0
    assert not hasattr(classifier, "model_")


def test_a_column_may_have_the_name_of_the_label(cohort):
    X, values = cohort
    taken = pandas.DataFrame(X, columns=["y", "age", "dose"])
    fitted = PrivateRegressor(**PUBLIC, target_bounds=(-2, 2)).fit(taken, values)
    assert fitted.verify()
    assert json.loads(fitted.model_)["predictor"]["label"] == {"column": "_y", "range": [-2.0, 2.0]}


@pytest.mark.parametrize("kind", [PrivateClassifier, PrivateMetric])
def test_classes_are_public(kind, cohort):
    X, values = cohort
    y = np.where(values > 0, "sick", "well")
    with pytest.raises(ValueError, match="no public classes"):
        kind(**PUBLIC).fit(X, y)
    with pytest.raises(ValueError, match="each listed once"):
        kind(**PUBLIC, classes=("well", "well")).fit(X, y)
    y[17] = "secret diagnosis"[: y.dtype.itemsize // 4]
    with pytest.raises(ValueError, match="not among classes") as refusal:
        kind(**PUBLIC, classes=("well", "sick")).fit(X, y)
    assert y[17] not in str(refusal.value)


def test_the_classifier_says_classes(cohort):
    X, values = cohort
    y = np.where(values > 0, "sick", "well")
    fitted = PrivateClassifier(**PUBLIC, classes=("well", "sick")).fit(X, y)
    assert list(fitted.classes_) == ["well", "sick"]
    assert fitted.score(X, y) > 0.85
    np.testing.assert_array_equal(fitted.predict(X) == "sick", fitted.decision_function(X) > 0)
    with pytest.raises(ValueError, match="the classifier is binary"):
        PrivateClassifier(**PUBLIC, classes=("well", "sick", "unsure")).fit(X, y)


def test_classes_do_not_depend_on_the_labels_present(cohort):
    X, _ = cohort
    fitted = PrivateClassifier(**PUBLIC, classes=("well", "sick")).fit(X, np.full(len(X), "well"))
    assert list(fitted.classes_) == ["well", "sick"]
    assert fitted.verify()


def test_the_regressor_answers_in_units_of_the_target(cohort):
    X, values = cohort
    y = 100 + 40 * values
    fitted = PrivateRegressor(**PUBLIC, target_bounds=(20, 180)).fit(X, y)
    assert fitted.score(X, y) > 0.5
    assert 95 < fitted.predict(X).mean() < 105
    for bad in (None, 3, (1, 0), (0, 1, 2), (0, float("inf"))):
        with pytest.raises(ValueError, match=r"target bounds|target_bounds"):
            PrivateRegressor(**PUBLIC, target_bounds=bad).fit(X, y)


def test_wild_targets_are_cut_off(cohort):
    X, values = cohort
    wild = np.where(np.arange(len(X)) == 3, 1e300, values)
    assert np.all(np.abs(PrivateRegressor(**PUBLIC, target_bounds=(-2, 2)).fit(X, wild).predict(X)) < 100)


def test_the_metric_is_the_distance_of_its_map(cohort):
    X, values = cohort
    fitted = clone(PRIVATE["metric"]).fit(X, target("metric", values))
    assert fitted.matrix_.shape == (3, 3)
    mapped = fitted.transform(X[:20])
    distances = fitted.pair_distance(np.stack([X[:10], X[10:20]], axis=1))
    np.testing.assert_allclose(distances, np.linalg.norm(mapped[:10] - mapped[10:], axis=1))
    assert list(fitted.get_feature_names_out()) == ["privatemetric0", "privatemetric1", "privatemetric2"]
    with pytest.raises(ValueError, match=r"shape \(n_pairs, 2, 3\)"):
        fitted.pair_distance(X)


def test_a_metric_by_ranks_is_their_distance_and_undoes_uneven_ranges(cohort):
    X, values = cohort
    y = target("metric", values)
    metric = (
        clone(PRIVATE["metric"]).set_params(representation="ranks", bounds=[(-500, 500), (-1, 1), (-1, 1)]).fit(X, y)
    )
    assert metric.verify()
    # Five functions of the rank of each column.
    assert metric.matrix_.shape == (15, 15)
    np.testing.assert_array_equal(metric.matrix_, np.diag(np.diag(metric.matrix_)))
    mapped = metric.transform(X[:20])
    assert mapped.shape == (20, 15)
    distances = metric.pair_distance(np.stack([X[:10], X[10:20]], axis=1))
    np.testing.assert_allclose(distances, np.linalg.norm(mapped[:10] - mapped[10:], axis=1))
    # A column that fills a thousandth of its range counts as others do.
    spread = metric.transform(X).std(axis=0)
    assert spread[0] > 0.5 * spread[5], spread


def test_estimators_work_in_scikit_learn(cohort):
    X, values = cohort
    y = target("classifier", values)
    assert cross_val_score(clone(PRIVATE["classifier"]), X, y, cv=3).mean() > 0.8
    neighbours = make_pipeline(clone(PRIVATE["metric"]), KNeighborsClassifier(15))
    assert neighbours.fit(X, y).score(X, y) > 0.7


@private
def test_twins_share_what_is_not_privacy(name, cohort):
    X, values = cohort
    y = target(name, values)
    twin = clone(TWINS[name]).fit(X, y)
    again = clone(TWINS[name]).fit(X, y)
    assert twin.model_ == again.model_
    assert not hasattr(twin, "certificate_") and not hasattr(twin, "verify")
    assert set(twin.get_params()) <= set(PRIVATE[name].get_params())
    if name != "metric":
        assert twin.score(X, y) > 0.8


def test_pure_privacy_is_possible(cohort):
    X, values = cohort
    fitted = PrivateRanker(epsilon=2.0, delta=0.0, bounds=(-1, 1)).fit(X, values > 0)
    assert fitted.verify()
    assert fitted.certificate_["claim"]["delta"] == 0


def test_rare_choices_are_ordinary_parameters(cohort):
    X, values = cohort
    rare = {"order_seed": np.int64(5), "order": "fixed-permutation", "average": "last"}
    fitted = PrivateRanker(**PUBLIC, algorithm="output-sgd", ridge=0.1, **rare).fit(X, values > 0)
    assert fitted.verify()
    assert fitted.plan_["average"] == "last"
    assert fitted.plan_["order"] == {"shuffle": "fixed-permutation", "seed": 5}
    with pytest.raises(TypeError, match="unexpected keyword argument 'options'"):
        PrivateRanker(**PUBLIC, options={"order_seed": 1})


def test_plans_tell_what_training_would_do():
    found = pairdp.plan(5000, 20, **BUDGET, task="metric", steps=7)
    assert found["plan"]["steps"] == 7
    compared = pairdp.plan(5000, 20, **BUDGET, explain=True)
    assert [entry["algorithm"] for entry in compared] == SETTINGS["algorithm"]["holds"]
    with pytest.raises(PrivacyBudgetError, match="delta missing"):
        pairdp.plan(5000, 20, epsilon=1.0)
    with pytest.raises(TypeError, match="there is no setting 'stpes'"):
        pairdp.plan(5000, 20, **BUDGET, stpes=3)
    with pytest.raises(ValueError, match="task must be"):
        pairdp.plan(5000, 20, **BUDGET, task="divination")


@private
def test_issue_18_06_any_number_of_records_fits_where_it_is_secret(name, tmp_path):
    """Otherwise an error would tell a table from its neighbour."""
    rng = np.random.default_rng(1)
    estimator = clone(PRIVATE[name]).set_params(max_records=8)
    for n in range(12):
        X = rng.uniform(-1, 1, size=(n, 2))
        for y in (np.zeros(n), np.ones(n), (X[:, 0] > 0).astype(int), np.arange(n) % 2):
            for table, labels in ((X, y), (pandas.DataFrame(X, columns=["a", "b"]), pandas.Series(y)), (X, y.tolist())):
                fitted = clone(estimator).fit(table, labels)
                assert fitted.verify() and fitted.certificate_["records"] == 8
    ledger = Ledger.create(tmp_path / "l.ledger")
    ledger.add("stays", epsilon=20.0, delta=1e-4, records=None, schema=estimator.table_schema(2))
    for n in range(3):
        ledger.fit(clone(estimator), "stays", np.zeros((n, 2)), np.zeros(n))
    # A list of no rows has no width: lists are refused whatever their length.
    for rows in ([], [[0.0, 0.0]], [[0.0, 0.0]] * 3):
        with pytest.raises(ValueError, match="X must be an array or a table of a known width"):
            clone(estimator).fit(rows, [0] * len(rows))


@private
def test_what_the_labels_hold_is_no_error(name):
    X = np.random.default_rng(1).uniform(-1, 1, size=(40, 2))
    for y in (np.zeros(40), np.ones(40), np.zeros(40, dtype=bool), np.ones(40, dtype=object)):
        assert clone(PRIVATE[name]).fit(X, y).verify()


def test_issue_18_17_scores_are_linear_in_encoded_rows():
    X = np.random.default_rng(1).uniform(-3, 3, size=(400, 3))
    y = (X[:, 0] > 0).astype(int)
    for name in ("ranker", "classifier"):
        fitted = clone(PRIVATE[name]).set_params(bounds=(-2, 2), feature_bound=1.0).fit(X, y)
        rows = fitted.encode(X)
        np.testing.assert_allclose(fitted.decision_function(X), rows @ fitted.coef_ + fitted.intercept_, atol=1e-12)
        mapped = np.clip(X / 2, -1, 1)
        longer = np.linalg.norm(mapped, axis=1) > 1
        assert longer.any() and not longer.all()
        np.testing.assert_allclose(rows[~longer], mapped[~longer], atol=1e-12)
        np.testing.assert_allclose(np.linalg.norm(rows[longer], axis=1), 1, atol=1e-9)
    regressor = clone(PRIVATE["regressor"]).set_params(bounds=(-2, 2), target_bounds=(0, 10)).fit(X, X[:, 0])
    scores = regressor.encode(X) @ regressor.coef_ + regressor.intercept_
    np.testing.assert_allclose(regressor.predict(X), 5 + 5 * scores, atol=1e-9)
