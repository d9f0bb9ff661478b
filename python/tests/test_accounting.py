"""pairdp.accounting: the same answers as the command, and NumPy's manners."""

import numpy as np
import pytest

from pairdp import accounting


def test_noise_and_budget_answer_each_other():
    noise = accounting.noise_multiplier(epsilon=1, delta=4e-8, records=5000, batch=2, steps=5000)
    assert 0.7090 <= noise <= 0.7112
    answer = accounting.account(noise_multiplier=noise, delta=4e-8, records=5000, batch=2, steps=5000)
    assert 0.99 < answer.epsilon <= 1
    assert 0.9 < answer.lower_bound <= answer.epsilon


def test_arrays_are_answered_entry_by_entry():
    found = accounting.epsilon(noise_multiplier=[1.0, 2.0, 4.0], delta=1e-6, records=100)
    assert found.shape == (3,)
    assert np.all(np.diff(found) < 0)


def test_the_trade_off_is_the_gaussian_one_without_sampling():
    from statistics import NormalDist

    normal = NormalDist()
    rates = [0.001, 0.01, 0.1, 0.5]
    found = accounting.trade_off(rates, noise_multiplier=2.0, records=100)
    exact = [normal.cdf(normal.inv_cdf(1 - rate) - 0.5) for rate in rates]
    assert np.all(found <= np.array(exact) + 1e-12)
    assert found == pytest.approx(exact, abs=2e-3)


def test_bad_questions_are_refused():
    for bad, words in (
        ({"noise_multiplier": -1}, "cannot be -1"),
        ({"delta": 2}, "δ must be at least 0 and below 1"),
        ({"batch": 101}, "a sample of 101 cannot be drawn from 100 records"),
    ):
        question = {"noise_multiplier": 1.0, "delta": 1e-6, "records": 100, "batch": None} | bad
        with pytest.raises(ValueError, match=words):
            accounting.account(**question)
