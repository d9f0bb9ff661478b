"""Persons with several records each: whom a certificate protects, and that nobody learns how many records there are."""

import copy
import json
import re
import traceback

import numpy as np
import pandas
import polars
import pyarrow
import pytest
import sklearn
from sklearn.model_selection import GroupKFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import pairdp
from pairdp import PrivateClassifier, PrivateMetric, PrivateRanker, PrivateRegressor, Schema, baseline, verification
from pairdp._persons import numbers_of, person_weights, weighted_auc
from pairdp.ledger import Ledger

PERSONS = 60
# As many records as no number in a certificate is by chance.
RECORDS = 4327
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


# Whom it protects.


@every_estimator
def test_persons_are_not_protected_without_groups(name):
    with pytest.raises(ValueError, match=r"needs groups.*set_fit_request\(groups=True\)"):
        fresh(name, unit="person").fit(X, y)
    assert fresh(name).fit(X, y).certificate_["claim"]["adjacency"] == "replace-one"


def test_a_search_that_does_not_route_groups_cannot_fit_persons():
    with pytest.raises(ValueError, match="needs groups"):
        cross_validate(fresh(unit="person"), X, y, groups=groups, cv=GroupKFold(3), error_score="raise")
    # Without `unit` the folds are by persons, and the guarantee is for records: that is what `unit` is for.
    folds = cross_validate(fresh(), X, y, groups=groups, cv=GroupKFold(3), return_estimator=True)
    assert {fold.certificate_["claim"]["adjacency"] for fold in folds["estimator"]} == {"replace-one"}


@every_estimator
def test_records_with_groups_are_refused(name):
    with pytest.raises(ValueError, match='unit="record" protects single records'):
        fresh(name, unit="record").fit(X, y, groups=groups)


def test_caps_are_on_what_is_protected():
    with pytest.raises(ValueError, match="max_persons needs groups"):
        fresh(max_persons=100).fit(X, y)
    with pytest.raises(ValueError, match="use max_persons"):
        fresh(max_records=5000).fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="unit must be one of record, person or None"):
        fresh(unit="household").fit(X, y, groups=groups)


@pytest.mark.parametrize("cap", [10.5, True, -1, "many"])
def test_a_cap_that_is_no_number_is_called_by_its_name(cap):
    for work in (
        lambda: fresh(max_persons=cap).fit(X, y, groups=groups),
        lambda: pairdp.plan(60, 2, epsilon=1.0, delta=1e-6, unit="person", max_persons=cap),
    ):
        with pytest.raises(ValueError, match="max_persons must be a whole number"):
            work()


def test_plans_are_for_persons_too():
    def planned(**settings):
        return pairdp.plan(60, 2, epsilon=1.0, delta=1e-6, **settings)["problem"]

    assert planned(unit="person")["per_person"] == "weights"
    assert planned(unit="person", per_person="one")["per_person"] == "one"
    assert planned(unit="person", max_persons=80)["neighbours"] == {"add-remove-one": {"most": 80}}
    assert "per_person" not in planned()
    with pytest.raises(ValueError, match='max_persons needs unit="person"'):
        planned(max_persons=80)
    with pytest.raises(ValueError, match="use max_persons"):
        planned(unit="person", max_records=80)


def test_how_records_enter_needs_to_know_whose_they_are():
    with pytest.raises(ValueError, match="whose records"):
        fresh(per_person="one").fit(X, y)


@every_estimator
def test_certificates_are_for_persons_and_both_verifiers_accept(name):
    fitted = fresh(name).fit(X, y, groups=groups)
    assert fitted.certificate_["claim"] == {"epsilon": 1.0, "delta": 1e-6, "adjacency": "replace-one-person"}
    assert fitted.certificate_["records"] == PERSONS
    assert fitted.certificate_["problem"]["per_person"] == ("one" if name == "metric" else "weights")
    assert fitted.verify()
    assert verification.verify(fitted.model_).holds


@pytest.mark.parametrize("algorithm", ["noisy-gd", "moments"])
def test_a_secret_number_of_persons_has_no_least(algorithm):
    capped = fresh("classifier", max_persons=80, algorithm=algorithm)
    for rows in (RECORDS, 1, 0):
        fitted = capped.fit(X[:rows], y[:rows], groups=groups[:rows])
        assert fitted.certificate_["claim"]["adjacency"] == "add-remove-one-person"
        assert fitted.certificate_["records"] == 80
        assert fitted.verify() and verification.verify(fitted.model_).holds


ALGORITHMS = {
    "noisy-gd": "weights",
    "moments": "weights",
    "noisy-sgd": "one",
    "online-pair": "one",
    "output-gd": "weights",
    "output-sgd": "one",
    "phased-gd": "one",
    "localized-sgd": "one",
    "offline-pair": "one",
    "matching-sgd": "one",
}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm_protects_persons(algorithm):
    fitted = fresh(algorithm=algorithm).fit(X, y, groups=groups)
    assert fitted.certificate_["claim"]["adjacency"] == "replace-one-person"
    assert fitted.certificate_["problem"]["per_person"] == ALGORITHMS[algorithm]
    assert fitted.verify() and verification.verify(fitted.model_).holds
    one = fresh(algorithm=algorithm, per_person="one").fit(X, y, groups=groups)
    assert one.certificate_["problem"]["per_person"] == "one"
    assert one.verify() and verification.verify(one.model_).holds
    for document in map(json.loads, (fitted.model_, one.model_)):
        assert not holds(changed(document, ("problem", "per_person"), None))
        assert not holds(changed(document, ("claim", "adjacency"), "replace-one"))
        # One person more may leave the phases as they are; then the claim is as true of 61.
        for persons in (PERSONS - 1, 2 * PERSONS):
            assert not holds(changed(document, ("records",), persons))


def test_all_algorithms_were_tried():
    assert set(ALGORITHMS) == {
        entry["algorithm"] for entry in pairdp.plan(60, 2, epsilon=1.0, delta=1e-6, explain=True)
    }


@pytest.mark.parametrize("algorithm", [name for name, how in ALGORITHMS.items() if how == "one"])
def test_weights_without_a_proof_are_refused(algorithm):
    with pytest.raises(ValueError, match=f"no proof for {algorithm} with all records of a person"):
        fresh(algorithm=algorithm, per_person="weights").fit(X, y, groups=groups)


@pytest.mark.parametrize("loss", ["q-hinge", "capped-logistic"])
def test_losses_of_pairs_without_exact_sums_take_one_record_each(loss):
    pairs = {"algorithm": "noisy-gd", "loss": loss, "risk": "pairs", "steps": 2}
    assert fresh(**pairs).fit(X, y, groups=groups).certificate_["problem"]["per_person"] == "one"
    with pytest.raises(ValueError, match="no proof for this loss"):
        fresh(**pairs, per_person="weights").fit(X, y, groups=groups)


def test_labels_of_persons_are_not_public():
    with pytest.raises(ValueError, match="labels cannot be public where persons are protected"):
        fresh("metric", public_labels=True).fit(X, y, groups=groups)


def test_one_record_each_needs_no_more_noise_than_a_record():
    """With one record a person the noise is that of as many records."""
    rows, labels = X[:PERSONS], y[:PERSONS]
    fixed = {"algorithm": "noisy-gd", "steps": 3, "mechanism": "gaussian"}
    by_person = fresh(**fixed).fit(rows, labels, groups=np.arange(PERSONS)).certificate_["released"]
    by_record = fresh(**fixed).fit(rows, labels).certificate_["released"]
    assert by_person["releases"][0]["sensitivity"] == by_record["releases"][0]["sensitivity"]
    assert by_person["releases"][0]["sigma"] == pytest.approx(by_record["releases"][0]["sigma"], rel=1e-9)


# Certificates that say more than was done.


def changed(document, path, value):
    """Return a copy with one entry changed, or taken out."""
    document = copy.deepcopy(document)
    *folders, last = path
    entry = document["certificate"]
    for folder in folders:
        entry = entry[folder]
    if value is None:
        del entry[last]
    else:
        assert entry[last] != value
        entry[last] = value
    return document


def holds(document):
    """Return what the verifier in Python says; what it cannot read does not hold."""
    try:
        return verification.verify(json.loads(json.dumps(document))).holds
    except (ValueError, KeyError):
        return False


@pytest.fixture(scope="module")
def documents():
    rankers = {
        "charges/3": fresh(algorithm="noisy-gd", loss="logistic", steps=3),
        "rows/3": fresh("classifier", algorithm="noisy-gd", steps=3, representation="ranks"),
    }
    return {kernel: json.loads(ranker.fit(*SMALL[:2], groups=SMALL[2]).model_) for kernel, ranker in rankers.items()}


@pytest.mark.parametrize("kernel", ["charges/3", "rows/3"])
def test_a_certificate_that_was_changed_does_not_hold(documents, kernel):
    document = documents[kernel]
    assert document["certificate"]["released"]["kernel"] == kernel and holds(document)
    sensitivity = document["certificate"]["released"]["releases"][0]["sensitivity"]
    for path, value in [
        (("problem", "per_person"), None),
        (("problem", "per_person"), "one"),
        (("problem", "per_person"), "all"),
        (("records",), PERSONS + 1),
        (("records",), 150),
        (("released", "kernel"), kernel.replace("3", "2")),
        (("claim", "adjacency"), "replace-one"),
        (("claim", "adjacency"), "add-remove-one-person"),
        (("released", "releases", 0, "sensitivity"), sensitivity * (PERSONS - 1) / PERSONS),
    ]:
        assert not holds(changed(document, path, value)), f"{path}: {value}"
    # Consistently for records: of the kernels of records, and of as many of them as there are persons.
    records = changed(document, ("problem", "per_person"), None)
    assert not holds(changed(records, ("claim", "adjacency"), "replace-one"))


def test_a_whole_run_of_less_noise_does_not_hold(documents):
    document = copy.deepcopy(documents["charges/3"])
    for release in document["certificate"]["released"]["releases"]:
        release["sensitivity"] *= (PERSONS - 1) / PERSONS
        release["sigma"] *= (PERSONS - 1) / PERSONS
    assert not holds(document)


# Ids.

SEVENTY = np.arange(70) // 2
IDS = {
    "whole numbers": SEVENTY,
    "small whole numbers": SEVENTY.astype(np.uint8),
    "a list": SEVENTY.tolist(),
    "a list of NumPy's numbers": list(SEVENTY),
    "text": SEVENTY.astype(str),
    "objects": SEVENTY.astype(object),
    "bytes": SEVENTY.astype("S4"),
    "text with space around it": [f" {number}" if row % 2 else f"{number} " for row, number in enumerate(SEVENTY)],
    "numbers and their text": [number if row % 2 else str(number) for row, number in enumerate(SEVENTY)],
    "a pandas column": pandas.Series(SEVENTY, index=range(100, 170)),
    "pandas' whole numbers": pandas.Series(SEVENTY, dtype="Int64"),
    "pandas' text": pandas.Series(SEVENTY.astype(str), dtype="string"),
    "categories": pandas.Categorical(SEVENTY.astype(str)),
    "a column of categories": pandas.Series(SEVENTY).astype("category"),
    "a Polars column": polars.Series(SEVENTY),
    "Polars' text": polars.Series(SEVENTY.astype(str).tolist()),
    "an Arrow column": pyarrow.array(SEVENTY),
    "Arrow's text": pyarrow.array(SEVENTY.astype(str).tolist()),
}


@pytest.mark.parametrize("ids", IDS)
def test_whole_numbers_text_and_categories_name_persons(ids):
    numbers = np.array(numbers_of(IDS[ids], 70))
    assert np.array_equal(numbers[:, None] == numbers, SEVENTY[:, None] == SEVENTY)
    fitted = fresh(algorithm="moments").fit(X[:70], y[:70], groups=IDS[ids])
    assert fitted.certificate_["records"] == 35


def test_ids_are_one_if_they_read_the_same():
    assert numbers_of(["7", "007", " 7", "seven"], 4) == [0, 1, 0, 2]
    assert numbers_of(["7", "007", "+7", 7, "-0", "0"], 6, integer=True) == [0, 0, 0, 0, 1, 1]
    for odd in ("7.0", "seven", "1_000", "٧"):
        assert "not a whole number" in said(lambda odd=odd: numbers_of(["7", odd], 2, integer=True))


MARK = "P00000SECRET"
TEXT = np.full(70, MARK, dtype=object)


def with_id(entry, ids=TEXT):
    ids = np.array(ids, dtype=object)
    ids[41] = entry
    return ids


BAD_IDS = {
    "None": with_id(None),
    "None in a list": with_id(None).tolist(),
    "NaN": with_id(np.nan),
    "NaN in a list": with_id(float("nan")).tolist(),
    "NaN among numbers": with_id(np.nan, SEVENTY).astype(float),
    "NA": pandas.Series(with_id(None), dtype="string"),
    "NA among numbers": pandas.Series(with_id(None, SEVENTY), dtype="Int64"),
    "no category": pandas.Categorical(with_id(None)),
    "null in Polars": polars.Series(with_id(None).tolist()),
    "null in Arrow": pyarrow.array(with_id(None).tolist()),
    "nothing": with_id(""),
    "space": with_id("  "),
    "numbers with a point": SEVENTY / 1,
    "one number with a point": with_id(7.0),
    "truths": SEVENTY > 10,
    "a truth": with_id(True),
    "times": np.full(70, "2031-05-07", dtype="M8[D]"),
    "a list of a list": with_id([MARK]),
    "complex numbers": SEVENTY * 1j,
    "two columns": np.full((70, 2), MARK),
    "one word": MARK,
    "too few": SEVENTY[:69],
    "too many": np.arange(71),
}


@pytest.mark.parametrize("bad", BAD_IDS)
@every_estimator
def test_what_may_or_may_not_be_the_same_person_is_refused(name, bad):
    text = said(lambda: fresh(name).fit(X[:70], y[:70], groups=BAD_IDS[bad]))
    assert "groups" in text
    assert MARK not in text and "2031" not in text
    # Neither the row nor how many there are.
    assert not re.search(r"\d\d|row \d|4", text.replace("7.0", "")), text


# What nobody learns.


@every_estimator
def test_refusals_of_a_table_of_persons_name_no_row_and_no_number_of_records(name):
    bad_rows, bad_labels = X.copy(), y.astype(object)
    bad_rows[RECORDS - 1, 1] = np.nan
    bad_labels[RECORDS - 1] = "neither"
    bad_targets = y.astype(float)
    bad_targets[RECORDS - 1] = np.nan
    for rows, labels, owners in [
        (bad_rows, y, groups),
        (bad_rows.astype(object), y, groups),
        (X, bad_labels, groups),
        (X, bad_targets, groups),
        (X, y + 5.25, groups),
        (X, y[:-1], groups),
        (X[:-1], y, groups),
        (X, y, groups[:-1]),
        (X[:, :0], y, groups),
    ]:
        try:
            fresh(name).fit(rows, labels, groups=owners)
        except (ValueError, TypeError) as error:
            text = "\n".join(line for line in traceback.format_exception_only(error))
            assert not re.search(r"43\d\d|\brow \d", text), text
        else:
            # Whatever is not the positive label is negative, and targets are cut off.
            assert name in ("ranker", "regressor")


def values(entry):
    """Return every number, and the length of every list, in what may hold others."""
    if isinstance(entry, dict):
        return [value for one in entry.values() for value in values(one)]
    if isinstance(entry, list | tuple):
        return [len(entry), *(value for one in entry for value in values(one))]
    if isinstance(entry, np.ndarray):
        return [*entry.shape, *entry.ravel().tolist()]
    return [entry]


@every_estimator
def test_nothing_of_a_fitted_model_tells_how_many_records_there_are(name):
    fitted = fresh(name).fit(X, y, groups=groups)
    attributes = {key: value for key, value in vars(fitted).items() if key != "_model"}
    known = values(attributes) + values(json.loads(fitted.model_))
    assert RECORDS not in known and str(RECORDS) not in map(str, known)


def test_two_tables_with_equally_many_persons_have_the_same_certificate():
    fixed = {"algorithm": "moments", "representation": "ranges"}
    few, many = (fresh(**fixed).fit(*table[:2], groups=table[2]).certificate_ for table in (SMALL, (X, y, groups)))
    assert few == many


def test_too_few_persons_are_refused_by_their_number_alone():
    text = said(lambda: fresh().fit(X, y, groups=np.zeros(RECORDS, dtype=int)))
    assert "at least 2" in text and "not 1" in text and not re.search(r"43\d\d", text)


# Learning and measuring by persons.


def naive_auc(scores, positive, owners):
    """Two independent draws of a person, and of one of their records: over all pairs of records, one at a time."""
    each = {owner: np.sum(owners == owner) for owner in set(owners.tolist())}
    right = total = 0.0
    for score, up, owner in zip(scores, positive, owners.tolist(), strict=True):
        for other, also_up, another in zip(scores, positive, owners.tolist(), strict=True):
            if up and not also_up:
                weight = 1 / (each[owner] * each[another])
                total += weight
                right += weight * (1.0 if score > other else 0.5 if score == other else 0.0)
    return right / total


def test_score_by_groups_counts_every_person_alike():
    rows, labels, owners = SMALL
    fitted = fresh().fit(rows, labels)
    scores = fitted.decision_function(rows)
    by_person = fitted.score(rows, labels, groups=owners)
    assert by_person == pytest.approx(naive_auc(scores, labels == 1, owners), rel=1e-12)
    assert by_person != pytest.approx(fitted.score(rows, labels), rel=1e-6)
    # With one record each there is no difference.
    assert fitted.score(rows, labels, groups=np.arange(150)) == pytest.approx(fitted.score(rows, labels), rel=1e-12)


def test_ties_count_half_for_persons_too():
    rng = np.random.default_rng(3)
    scores, positive, owners = rng.integers(0, 3, 40) - 1.0, rng.random(40) < 0.4, rng.integers(0, 9, 40)
    scores[scores == 0] *= rng.choice([1.0, -1.0], np.sum(scores == 0))
    found = weighted_auc(scores, positive, person_weights(owners, 40))
    assert found == pytest.approx(naive_auc(scores, positive, owners), rel=1e-12)
    assert weighted_auc(scores, np.ones(40, dtype=bool), person_weights(owners, 40)) is None


def test_who_has_many_records_does_not_count_more():
    """One person with 4,000 records of the opposite order among 400 with one each."""
    rng = np.random.default_rng(8)
    rows = rng.uniform(-1, 1, size=(400, 2))
    labels = (rows[:, 0] > 0).astype(int)
    contrary = rng.uniform(-1, 1, size=(4000, 2))
    table, found = np.vstack([rows, contrary]), np.concatenate([labels, (contrary[:, 0] < 0).astype(int)])
    owners = np.concatenate([np.arange(400), np.full(4000, 400)])
    for estimator in (fresh(epsilon=20.0), baseline.Ranker(bounds=(-1, 1))):
        assert estimator.fit(table, found, groups=owners).score(rows, labels) > 0.9
        assert estimator.fit(table, found).score(rows, labels) < 0.1


@pytest.mark.parametrize("name", ["Ranker", "Classifier", "Regressor"])
def test_baselines_weigh_persons_alike(name):
    """A record repeated within a person changes nothing."""
    rows, labels, owners = SMALL
    again = np.repeat(np.arange(150), 3)
    fits = [
        getattr(baseline, name)(bounds=(-1, 1), representation="ranges").fit(*table, groups=who)
        for table, who in (((rows, labels), owners), ((rows[again], labels[again]), owners[again]))
    ]
    np.testing.assert_allclose(fits[0].coef_, fits[1].coef_, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("rows", [0, 1])
def test_baselines_of_too_few_records_say_so(rows):
    with pytest.raises(ValueError, match="a minimum of 2 is required"):
        baseline.Ranker().fit(X[:rows], y[:rows], groups=groups[:rows])


def test_folds_of_persons_with_metadata_routing():
    rows, labels, owners = cohort(persons=300, records=600)
    ranker = PrivateRanker(epsilon=2.0, delta=1e-6, bounds=(-1, 1), unit="person")
    with sklearn.config_context(enable_metadata_routing=True):
        routed = ranker.set_fit_request(groups=True).set_score_request(groups=True)
        found = cross_validate(
            routed,
            rows,
            labels,
            params={"groups": owners},
            cv=GroupKFold(3),
            return_estimator=True,
            error_score="raise",
        )
    # Every person is in two of three training parts, with all records.
    assert sum(fold.certificate_["records"] for fold in found["estimator"]) == 600
    for fold in found["estimator"]:
        assert fold.certificate_["claim"]["adjacency"] == "replace-one-person"
    assert np.all(found["test_score"] > 0.6)


def test_groups_reach_an_estimator_in_a_pipeline():
    rows, labels, owners = cohort(persons=300, records=600)
    with sklearn.config_context(enable_metadata_routing=True):
        ranker = fresh(unit="person", epsilon=2.0).set_fit_request(groups=True).set_score_request(groups=False)
        pipeline = make_pipeline(FunctionTransformer(np.tanh), ranker)
        pipeline.fit(rows, labels, groups=owners)
        assert pipeline[-1].certificate_["claim"]["adjacency"] == "replace-one-person"
    with pytest.raises(ValueError, match="needs groups"):
        make_pipeline(FunctionTransformer(np.tanh), fresh(unit="person")).fit(rows, labels)


def test_searches_over_persons_warn_of_what_they_cost():
    rows, labels, owners = cohort(persons=300, records=600)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = fresh().set_fit_request(groups=True).set_score_request(groups=True)
        with pytest.warns(pairdp.PrivacyTuningWarning, match="every fit costs its budget again"):
            cross_val_score(routed, rows, labels, params={"groups": owners}, cv=GroupKFold(2))


# Schemas.

STAYS = {
    "label": {"column": "ill", "positive": 1, "negative": 0},
    "person": {"column": "patient", "kind": "integer"},
    "column": [{"name": "a", "range": [-1, 1]}, {"name": "b", "range": [-1, 1]}],
}


def frame(owners=groups):
    return pandas.DataFrame({"patient": owners, "a": X[: len(owners), 0], "b": X[: len(owners), 1]})


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_a_schema_with_persons_is_groups(kind):
    table = {"pandas": frame, "polars": lambda: polars.from_pandas(frame()), "arrow": lambda: pyarrow.table(frame())}
    fixed = {"epsilon": 1.0, "delta": 1e-6, "algorithm": "moments", "representation": "ranges"}
    by_schema = PrivateRanker(**fixed, schema=STAYS).fit(table[kind](), y)
    by_groups = fresh(**fixed).fit(X, y, groups=groups)
    assert by_schema.certificate_ == by_groups.certificate_
    assert by_schema.certificate_["records"] == PERSONS and by_schema.verify()
    assert by_schema.coef_.shape == (2,)
    # Whoever is to be scored needs no id.
    assert np.all(np.isfinite(by_schema.decision_function(frame()[["a", "b"]])))


def test_baselines_by_schema_and_by_groups_are_the_same():
    by_schema = baseline.Ranker(schema=STAYS).fit(frame(), y)
    by_groups = baseline.Ranker(bounds=(-1, 1)).fit(X, y, groups=groups)
    np.testing.assert_array_equal(by_schema.coef_, by_groups.coef_)


def test_a_schema_says_whose_records_they_are_once():
    ranker = PrivateRanker(epsilon=1.0, delta=1e-6, schema=STAYS)
    with pytest.raises(ValueError, match="say the same thing twice"):
        ranker.fit(frame(), y, groups=groups)
    with pytest.raises(ValueError, match="X has no column `patient`"):
        ranker.fit(frame()[["a", "b"]], y)
    with pytest.raises(ValueError, match="protects single records"):
        PrivateRanker(epsilon=1.0, delta=1e-6, schema=STAYS, unit="record").fit(frame(), y)
    assert ranker.set_params(unit="person").fit(frame(), y).verify()


def test_a_column_of_persons_is_nothing_else():
    for changes in (
        {"column": [{"name": "patient", "range": [0, 1]}]},
        {"label": {"column": "patient", "positive": 1, "negative": 0}},
        {"ignore": ["patient"]},
    ):
        with pytest.raises(ValueError, match="`patient`"):
            Schema(STAYS | changes)
    with pytest.raises(ValueError, match="`text` or `integer`"):
        Schema(STAYS | {"person": {"column": "patient", "kind": "float"}})
    assert Schema({key: value for key, value in STAYS.items() if key != "person"}).person is None
    assert Schema(STAYS | {"person": {"column": "patient"}}).person == {"column": "patient", "kind": "text"}


def test_ids_of_a_frame_are_compared_as_the_schema_says():
    written = [f"{number:06}" if row % 2 else str(number) for row, number in enumerate(groups)]
    for kind, persons in (("integer", PERSONS), ("text", len(set(written)))):
        schema = STAYS | {"person": {"column": "patient", "kind": kind}}
        fitted = PrivateRanker(epsilon=1.0, delta=1e-6, schema=schema, algorithm="moments").fit(frame(written), y)
        assert fitted.certificate_["records"] == persons
    text = said(lambda: PrivateRanker(epsilon=1.0, delta=1e-6, schema=STAYS).fit(frame([*written[:-1], MARK]), y))
    assert "not a whole number" in text and MARK not in text


# The ledger.


@pytest.fixture
def ledger(tmp_path):
    made = Ledger.create(tmp_path / "clinic.ledger")
    schema = fresh().table_schema(2)
    made.add("patients", epsilon=1.0, delta=1e-6, records=PERSONS, unit="person", schema=schema)
    made.add("stays", epsilon=1.0, delta=1e-6, records=RECORDS, schema=schema)
    return made


def test_a_grant_for_persons_pays_for_persons_alone(ledger):
    assert ledger.fit(fresh(epsilon=0.5), "patients", X, y, groups=groups).verify()
    assert ledger.show()["patients"]["spent"] == 0.5
    with pytest.raises(ValueError, match="replace-one-person adjacency, the run is private under replace-one\n"):
        ledger.fit(fresh(epsilon=0.1), "patients", X, y)
    with pytest.raises(ValueError, match="replace-one adjacency, the run is private under replace-one-person"):
        ledger.fit(fresh(epsilon=0.1), "stays", X, y, groups=groups)
    assert ledger.show()["patients"]["spent"] == 0.5
    assert ledger.show()["stays"]["spent"] == 0
    assert ledger.fit(fresh(epsilon=0.1), "stays", X, y).verify()
    with pytest.raises(ValueError, match="unit must be one of record, person"):
        ledger.add("others", epsilon=1.0, delta=1e-6, records=2, unit="household")


def test_a_schema_with_persons_needs_a_grant_for_persons(ledger):
    with pytest.raises(ValueError, match='use unit="person"'):
        ledger.add("frames", epsilon=1.0, delta=1e-6, records=PERSONS, schema=STAYS)
    ledger.add("frames", epsilon=1.0, delta=1e-6, records=PERSONS, unit="person", schema=STAYS)
    ranker = PrivateRanker(epsilon=0.5, delta=1e-6, schema=STAYS)
    with pytest.raises(ValueError, match="an entry is empty"):
        ledger.fit(ranker, "frames", frame().assign(patient=None), y)
    assert ledger.show()["frames"]["spent"] == 0
    assert ledger.fit(ranker, "frames", frame(), y).verify()
    assert ledger.show()["frames"]["spent"] == 0.5


def test_another_number_of_persons_costs_nothing_and_tells_no_number_of_records(ledger):
    table = cohort(persons=PERSONS - 1)
    text = said(lambda: ledger.fit(fresh(epsilon=0.5), "patients", *table[:2], groups=table[2]))
    assert "59 persons" in text and "60" in text and not re.search(r"43\d\d", text)
    assert ledger.show()["patients"]["spent"] == 0
    assert not re.search(r"43\d\d", json.dumps(ledger.show()["patients"]))


def test_a_ledger_keeps_the_number_of_persons_secret_if_asked(ledger):
    schema = fresh("classifier").table_schema(2)
    ledger.add("secret", epsilon=1.0, delta=1e-6, records=None, unit="person", schema=schema)
    with pytest.raises(ValueError, match="does not say how many"):
        ledger.fit(fresh("classifier", epsilon=0.5), "secret", X, y, groups=groups)
    fitted = ledger.fit(fresh("classifier", epsilon=0.5, max_persons=100), "secret", X, y, groups=groups)
    assert fitted.certificate_["claim"]["adjacency"] == "add-remove-one-person"
    entries = [entry for entry in ledger.history() if entry["dataset"] == "secret"]
    assert len(entries) == 3 and str(RECORDS) not in json.dumps(entries)
