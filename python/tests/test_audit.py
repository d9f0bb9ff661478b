"""Audits from Python. An intact mechanism is accused once in a million audits."""

import pytest

import pairdp


def test_an_intact_mechanism_is_not_accused() -> None:
    found = pairdp.audit(20, 1, epsilon=1.0, delta=1e-3, algorithm="moments", mechanism="gaussian", runs=4000)
    assert found["verdict"] == "not-refuted"
    assert found["runs"] == 4000 and found["confidence"] == 0.999
    # About 0.6 on average, with a standard error of about 0.11: beyond these once in a million tests.
    assert 0.05 < found["audited_lower_bound"] < 1.2
    assert {bound["method"] for bound in found["bounds"]} == {"threshold", "accuracy"}


def test_a_model_can_be_all_that_is_seen() -> None:
    found = pairdp.audit(10, 1, epsilon=1.0, delta=1e-3, algorithm="output-gd", runs=300, view="model")
    assert found["bounds"][1]["test"] == "a learned linear test"


def test_nonsense_is_refused() -> None:
    with pytest.raises(pairdp.PrivacyBudgetError):
        pairdp.audit(10, 1)
    for wrong, words in (
        ({"pair": "best"}, "unknown variant `best`"),
        ({"view": "all"}, "unknown variant `all`"),
        ({"confidence": 2.0}, "confidence"),
        ({"task": "sorting"}, "task must be one of"),
        ({"depth": 3}, "there is no setting 'depth'"),
    ):
        with pytest.raises((ValueError, TypeError), match=words):
            pairdp.audit(10, 1, epsilon=1.0, delta=1e-3, runs=8, algorithm="moments", **wrong)
