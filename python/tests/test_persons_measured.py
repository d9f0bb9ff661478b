"""Learning and measuring by persons; their columns in schemas, and their grants in ledgers."""

import json
import re

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
from pairdp import PrivateRanker, Schema, baseline
from pairdp._persons import person_weights, weighted_auc
from pairdp.ledger import Ledger
from person_trials import MARK, PERSONS, RECORDS, SMALL, X, cohort, fresh, groups, said, y

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
    # But for the digest of what was released, which is another in every run.
    certificates = [estimator.certificate_ for estimator in (by_schema, by_groups)]
    assert all(certificate.pop("provenance")["weights"] for certificate in certificates)
    assert certificates[0] == certificates[1]
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
    with pytest.raises(ValueError, match="is for replace-one-person, and the run is private for replace-one\n"):
        ledger.fit(fresh(epsilon=0.1), "patients", X, y)
    with pytest.raises(ValueError, match="is for replace-one, and the run is private for replace-one-person"):
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
