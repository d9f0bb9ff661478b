"""What AUC to expect, by simulation."""

import pytest

import pairdp


def test_more_records_and_budget_are_no_worse_and_nothing_beats_the_effect():
    found = pairdp.plan_curve(2000, 5, epsilon=1.0, delta=1e-6, effect=0.8)
    assert list(found.columns) == ["records", "epsilon", "models", "mean", "lowest", "highest"]
    assert sorted(set(found["records"])) == [500, 1000, 2000, 4000, 8000]
    cell = found.set_index(["records", "epsilon"])["mean"]
    assert cell[8000, 4.0] > cell[500, 0.25]
    # On the same other records: beyond the best by no more than chance in the noise.
    assert cell.max() < 0.805
    assert cell[8000, 4.0] > 0.78
    assert ((found["lowest"] <= found["mean"]) & (found["mean"] <= found["highest"])).all()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"task": "metric"}, "the curve is about AUC"),
        ({"effect": 0.5}, "effect is above 0.5"),
        ({"effect": 1.0}, "effect is above 0.5"),
        ({"positive_share": 0.0}, "positive_share between 0 and 1"),
        ({"n_records": 9}, "are not simulated"),
        ({"n_records": 10**9}, "are not simulated"),
    ],
)
def test_what_cannot_be_simulated_is_refused(change, why):
    asked = {"n_records": 2000, "n_features": 5, "epsilon": 1.0, "delta": 1e-6, "effect": 0.8} | change
    with pytest.raises(ValueError, match=why):
        pairdp.plan_curve(asked.pop("n_records"), asked.pop("n_features"), **asked)
