"""The ledger from Python: paid before the records are looked at, refused when it does not fit."""

import multiprocessing

import numpy as np
import pytest
from sklearn.base import clone

from pairdp import PrivacyBudgetError, PrivateClassifier, PrivateMetric, PrivateRanker, PrivateRegressor, baseline
from pairdp.ledger import Ledger

X = np.random.default_rng(5).uniform(-1, 1, size=(800, 2))
y = (X[:, 0] > 0).astype(int)


def ranker(epsilon, **changes):
    return PrivateRanker(**{"epsilon": epsilon, "delta": 1e-6, "bounds": (-1, 1)} | changes)


@pytest.fixture
def ledger(tmp_path):
    made = Ledger.create(tmp_path / "clinic.ledger")
    made.add("stays", epsilon=1.0, delta=1e-6, records=800, schema=ranker(1.0).table_schema(2))
    return made


def test_runs_are_paid_and_named(ledger):
    fitted = ledger.fit(ranker(0.5), "stays", X, y)
    assert fitted.verify()
    stays = ledger.show()["stays"]
    assert (stays["spent"], stays["committed"], stays["open"]) == (0.5, 1, 0)
    assert (stays["epsilon"], stays["delta"], stays["records"]) == (1.0, 1e-6, 800)
    created, reserved, committed = ledger.history()
    assert [entry["action"]["kind"] for entry in (created, reserved, committed)] == ["created", "reserved", "committed"]
    assert reserved["action"]["run"] == committed["action"]["run"] in fitted.model_


def test_what_does_not_fit_is_refused(ledger):
    ledger.fit(ranker(0.8), "stays", X, y)
    with pytest.raises(PrivacyBudgetError, match=r"has already spent ε = 0\.8"):
        ledger.fit(ranker(0.8), "stays", X, y)
    assert ledger.show()["stays"]["spent"] == 0.8
    ledger.grant("stays", epsilon=3.0, delta=1e-6)
    ledger.fit(ranker(0.8), "stays", X, y)
    assert 0.8 < ledger.show()["stays"]["spent"] < 1.6


def test_nothing_is_spent_on_a_refused_table(ledger):
    with pytest.raises(ValueError, match="the table has 700 records, the ledger says 800"):
        ledger.fit(ranker(0.5), "stays", X[:700], y[:700])
    with pytest.raises(ValueError, match="no data set `visits`"):
        ledger.fit(ranker(0.5), "visits", X, y)
    with pytest.raises(TypeError, match="private estimators"):
        ledger.fit(baseline.Ranker(), "stays", X, y)
    assert ledger.show()["stays"]["spent"] == 0
    with pytest.raises(ValueError, match="smaller first"):
        ledger.fit(ranker(0.5, bounds=(1, -1)), "stays", X, y)
    stays = ledger.show()["stays"]
    assert (stays["spent"], stays["cancelled"]) == (0, 1)


def test_secret_numbers_of_records(ledger):
    estimator = PrivateRegressor(epsilon=0.5, delta=1e-6, bounds=(-1, 1), target_bounds=(0, 1), max_records=1000)
    ledger.add("secret", epsilon=1.0, delta=1e-6, records=None, schema=estimator.table_schema(2))
    with pytest.raises(ValueError, match="max_records"):
        ledger.fit(clone(estimator).set_params(max_records=None), "secret", X, y)
    assert ledger.fit(estimator, "secret", X, y).certificate_["claim"]["adjacency"] == "add-remove-one"
    assert ledger.show()["secret"]["committed"] == 1


def test_issue_18_04_a_number_and_its_text_are_different_labels(ledger):
    def schema(label):
        return PrivateRanker(positive_label=label).table_schema(2)

    # What is found in the same places is the same label.
    assert schema(1) == schema(1.0) == schema(True) == schema(np.int64(1))
    assert schema(1) != schema("1") and schema(True) != schema("true")
    classes = [PrivateClassifier(classes=pair).table_schema(2) for pair in ((0, 1), ("0", "1"), (0, "1"))]
    assert classes[0] != classes[1] != classes[2] != classes[0]
    ledger.add("coded", epsilon=1.0, delta=1e-6, records=800, schema=schema(1))
    with pytest.raises(ValueError, match="another schema"):
        ledger.fit(ranker(0.1).set_params(positive_label="1"), "coded", X, y)
    ledger.fit(ranker(0.1).set_params(positive_label=1.0), "coded", X, y)


def test_issue_18_04_a_table_is_read_by_its_own_schema_only(ledger):
    """Refusals under labels or classes of one's own choice would answer questions about records."""
    looked_at = X.copy()
    looked_at[0, 0] = np.nan
    for curious in (
        ranker(0.1, positive_label=7),
        PrivateMetric(epsilon=0.1, delta=1e-6, bounds=(-1, 1), classes=[0, 1]),
    ):
        with pytest.raises(ValueError, match="another schema"):
            ledger.fit(curious, "stays", looked_at, y)
    with pytest.raises(ValueError, match="another schema"):
        ledger.fit(ranker(0.1), "stays", looked_at[:, :1], y)
    ledger.add("early", epsilon=1.0, delta=1e-6, records=800)
    with pytest.raises(ValueError, match="does not say by which schema"):
        ledger.fit(ranker(0.1), "early", X, y)
    ledger.set_schema("early", ranker(0.1).table_schema(2))
    assert ledger.fit(ranker(0.1), "early", X, y).verify()
    assert [entry["action"]["kind"] for entry in ledger.history() if entry["dataset"] == "early"] == [
        "created",
        "schema-set",
        "reserved",
        "committed",
    ]


def test_issue_18_03_features_alone_are_not_booked_as_whole_records(ledger):
    metric = PrivateMetric(
        epsilon=0.5, delta=1e-6, bounds=(-1, 1), classes=[0, 1], public_labels=True, algorithm="noisy-gd", steps=2
    )
    schema = metric.table_schema(2)
    ledger.add("whole", epsilon=1.0, delta=1e-6, records=800, schema=schema)
    with pytest.raises(
        ValueError, match="the grant of `whole` is for replace-one, and the run is private for replace-features"
    ):
        ledger.fit(metric, "whole", X, y)
    ledger.add("features", epsilon=1.0, delta=1e-6, records=800, schema=schema, public_labels=True)
    fitted = ledger.fit(metric, "features", X, y)
    assert fitted.certificate_["claim"]["adjacency"] == "replace-features"
    # A guarantee for whole records is one for their features.
    ledger.fit(clone(metric).set_params(public_labels=False, epsilon=0.1), "features", X, y)
    with pytest.raises(ValueError, match="public labels would tell"):
        ledger.add("neither", epsilon=1.0, delta=1e-6, records=None, schema=schema, public_labels=True)


def test_a_changed_history_is_noticed(ledger, tmp_path):
    path = tmp_path / "clinic.ledger"
    before = path.read_bytes()
    head = ledger.check()
    ledger.fit(ranker(0.5), "stays", X, y)
    assert Ledger.open(path).check(head) != head
    spent = ledger.check()
    path.write_bytes(before)
    with pytest.raises(ValueError, match="old copy"):
        ledger.check(spent)
    (tmp_path / "clinic.ledger.key").write_text("0" * 64)
    with pytest.raises(ValueError, match="key is not the one"):
        Ledger.open(path)
    with pytest.raises(ValueError, match="there is no ledger"):
        Ledger.open(tmp_path / "other.ledger")
    with pytest.raises(ValueError, match="exists already"):
        Ledger.create(path)


def spend(path):
    try:
        Ledger(path).fit(ranker(0.7), "stays", X, y)
        return True
    except PrivacyBudgetError:
        return False


def test_processes_share_a_ledger(ledger, tmp_path):
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        paid = pool.map(spend, [tmp_path / "clinic.ledger"] * 3)
    assert sum(paid) == 1
    assert ledger.show()["stays"]["committed"] == 1
