"""What public facts alone say against a fit comes before it is paid for."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import pairdp
from pairdp import PrivacyPlanWarning, PrivateRanker

X = np.random.default_rng(0).uniform(size=(200, 5))
y = (X[:, 0] > 0.5).astype(int)


def test_noise_that_drowns_the_signal_is_told_before_anything_is_spent():
    ranker = PrivateRanker(epsilon=0.1, delta=1e-6, bounds=(0, 1))
    with pytest.warns(PrivacyPlanWarning, match=r"takes about \d+ records at this budget, or ε = "):
        ranker.fit(X, y)
    fresh = PrivateRanker(epsilon=0.1, delta=1e-6, bounds=(0, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrivacyPlanWarning)
        with pytest.raises(PrivacyPlanWarning):
            fresh.fit(X, y)
    with pytest.raises(NotFittedError):
        fresh.decision_function(X)
    assert pairdp.spent_on_copies(fresh) == (0.0, 0.0)


@pytest.mark.parametrize(("budget", "words"), [((12.0, 1e-6), "protects hardly anybody"), ((2.0, 0.01), "one in 200")])
def test_a_budget_that_promises_little_is_told(budget, words):
    epsilon, delta = budget
    with pytest.warns(PrivacyPlanWarning, match=words):
        PrivateRanker(epsilon=epsilon, delta=delta, bounds=(0, 1)).fit(X, y)
    assert any(words in text for text in pairdp.plan(200, 5, epsilon=epsilon, delta=delta)["warnings"])


def test_a_good_plan_is_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PrivateRanker(epsilon=2.0, delta=1e-6, bounds=(0, 1)).fit(X, y)


def test_persons_are_counted_and_not_their_records():
    groups = np.repeat(np.arange(20), 10)
    with pytest.warns(PrivacyPlanWarning, match="persons at this budget"):
        PrivateRanker(epsilon=0.5, delta=1e-6, bounds=(0, 1)).fit(X, y, groups=groups)


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 20.0])
def test_warnings_tell_no_secret_size(epsilon):
    def said(records, groups=None, **secret):
        X = np.zeros((records, 3))
        ranker = PrivateRanker(epsilon=epsilon, delta=0.01, bounds=(-1, 1), **secret)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", PrivacyPlanWarning)
            ranker.fit(X, np.arange(records) % 2, groups=groups)
        return [str(warning.message) for warning in caught if warning.category is PrivacyPlanWarning]

    assert said(3, max_records=500) == said(400, max_records=500)
    # How many persons there are is public, and how many records they have is not.
    assert said(40, np.arange(40)) == said(4000, np.arange(4000) % 40)
    assert said(40) != said(4000)
