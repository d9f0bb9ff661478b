"""What noisy releases cost, and how much noise a budget needs.

All functions are about ``steps`` Gaussian releases under replace-one adjacency, each on a uniform sample of ``batch`` of
``records`` records (``None``: on all of them). A noise multiplier is the standard deviation of the noise over the
*replace-one sensitivity* of the query on one sample; libraries that clip each record to C and count add-or-remove divide
by C instead, which is twice ours for the same noise. Numbers and arrays broadcast as in NumPy.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core

__all__ = ["Answer", "account", "epsilon", "noise_multiplier", "trade_off"]


class Answer(NamedTuple):
    """What releases cost at a delta."""

    epsilon: float
    """A proved upper bound; infinite when nothing can be promised."""
    lower_bound: float
    """What some neighbouring tables attain."""
    method: str
    """How the upper bound was found."""


def account(*, noise_multiplier: float, delta: float, records: int, batch: int | None = None, steps: int = 1) -> Answer:
    """Return the cost of the releases, with the lower bound that shows how much is left.

    For many steps on samples the bound can be smaller than what `noise_multiplier` and certificates rest on, which is what a
    verifier can redo with little code.

    Examples
    --------
    >>> from pairdp import accounting
    >>> answer = accounting.account(noise_multiplier=2.0, delta=1e-6, records=1000)
    >>> answer.method, round(answer.epsilon, 3)
    ('gaussian', 2.254)
    """
    return Answer(*_core.epsilon(records, batch, steps, noise_multiplier, delta))


def epsilon(
    *,
    noise_multiplier: ArrayLike,
    delta: ArrayLike,
    records: ArrayLike,
    batch: int | None = None,
    steps: ArrayLike = 1,
) -> NDArray[np.float64]:
    """Return an upper bound on epsilon for every combination."""

    def one(multiplier: float, delta: float, records: int, steps: int) -> float:
        return _core.epsilon(int(records), batch, int(steps), float(multiplier), float(delta))[0]

    answers: NDArray[np.float64] = np.vectorize(one, otypes=[np.float64])(noise_multiplier, delta, records, steps)
    return answers[()]


def noise_multiplier(
    *,
    epsilon: ArrayLike,
    delta: ArrayLike,
    records: ArrayLike,
    batch: int | None = None,
    steps: ArrayLike = 1,
) -> NDArray[np.float64]:
    """Return the noise that satisfies the budget, for every combination.

    Examples
    --------
    >>> from pairdp import accounting
    >>> round(float(accounting.noise_multiplier(epsilon=1, delta=4e-8, records=5000, batch=2, steps=5000)), 3)
    0.711
    """

    def one(epsilon: float, delta: float, records: int, steps: int) -> float:
        return _core.noise_multiplier(int(records), batch, int(steps), float(epsilon), float(delta))

    answers: NDArray[np.float64] = np.vectorize(one, otypes=[np.float64])(epsilon, delta, records, steps)
    return answers[()]


def trade_off(
    false_positives: ArrayLike, *, noise_multiplier: float, records: int, batch: int | None = None, steps: int = 1
) -> NDArray[np.float64]:
    """Return, for each false-positive rate, a lower bound on the false-negative rate of any distinguisher."""
    rates = np.atleast_1d(np.asarray(false_positives, dtype=np.float64))
    return np.array(_core.trade_off(records, batch, steps, noise_multiplier, rates.tolist()))
