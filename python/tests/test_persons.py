"""Persons with several records each: whom a certificate protects, and that nobody learns how many records there are."""

import copy
import json

import numpy as np
import pytest
from sklearn.model_selection import GroupKFold, cross_validate

import pairdp
from pairdp import verification
from person_trials import PERSONS, RECORDS, SMALL, X, every_estimator, fresh, groups, y

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
