"""The ledger from Python: paid before the records are looked at, refused when it does not fit."""

import doctest
import multiprocessing

import numpy as np
import pytest

import pairdp
from pairdp import PrivacyBudgetError, PrivateRanker, PrivateRegressor, baseline
from pairdp.ledger import Ledger

X = np.random.default_rng(5).uniform(-1, 1, size=(800, 2))
y = (X[:, 0] > 0).astype(int)


def ranker(epsilon, **changes):
    return PrivateRanker(**{"epsilon": epsilon, "delta": 1e-6, "bounds": (-1, 1)} | changes)


@pytest.fixture
def ledger(tmp_path):
    made = Ledger.create(tmp_path / "clinic.ledger")
    made.add("stays", epsilon=1.0, delta=1e-6, records=800)
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
    with pytest.raises(PrivacyBudgetError, match=r"has spent ε = 0\.8"):
        ledger.fit(ranker(0.8), "stays", X, y)
    assert ledger.show()["stays"]["spent"] == 0.8
    ledger.grant("stays", epsilon=3.0, delta=1e-6)
    ledger.fit(ranker(0.8), "stays", X, y)
    assert 0.8 < ledger.show()["stays"]["spent"] < 1.6


def test_nothing_is_spent_on_a_refused_table(ledger):
    with pytest.raises(ValueError, match="X has 700 records, the ledger says 800"):
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
    ledger.add("secret", epsilon=1.0, delta=1e-6, records=None)
    with pytest.raises(ValueError, match="max_records"):
        ledger.fit(ranker(0.5), "secret", X, y)
    estimator = PrivateRegressor(
        epsilon=0.5, delta=1e-6, bounds=(-1, 1), target_bounds=(0, 1), options={"max_records": 1000}
    )
    assert ledger.fit(estimator, "secret", X, y).certificate_["claim"]["adjacency"] == "add-remove-one"
    assert ledger.show()["secret"]["committed"] == 1


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


def test_documentation_examples():
    results = doctest.testmod(pairdp.ledger)
    assert results.attempted > 0
    assert results.failed == 0
