"""The constants of every problem, in closed form.

Proofs: ``ranking_sensitivity.md``, ``comparable_pairs.md``, ``metric_constants.md``, ``pointwise_constants.md`` and ``networks.md``; those of
computed sums: ``kernels.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from .losses import MARGINS
from .reading import Problem
from .relations import UNIT


@dataclass(frozen=True)
class Constants:
    """Bounds that hold for every record, every pair and all parameters up to some norm."""

    gradient: float
    """G."""
    same_term: float
    """H."""
    pair: float
    """D."""
    both_orders: float
    """D_sym."""
    smoothness: float | None = None
    """L, if there is one."""
    hoelder: tuple[float, float] | None = None
    """a and L_a with ‖∇l(w) − ∇l(w′)‖ ≤ L_a‖w − w′‖^a, if that is known instead."""


def constants(problem: Problem, norm: float) -> Constants:
    """Return the constants over parameters of norm at most `norm`."""
    if problem.foreign is not None:
        # Scores are wherever they like, and cut off at 2⁴⁰; gradients are no longer than is stated (``foreign_scores.md``).
        _, bound = problem.foreign
        problem, norm = replace(problem, kappa=bound), 2.0**40 / bound
    known = _metric(problem, norm) if problem.kind == "metric" else _linear(problem, norm)
    return known if problem.linear else _free(problem, norm, known)


def _free(problem: Problem, norm: float, known: Constants) -> Constants:
    """A network's: a score within ±κr says nothing of its gradient, which is at most κ long (``networks.md``).

    Pairs of two classes need no more than that for linear scores either. A record's gradient may become its opposite, and a pair that
    turns round may pull twice in one direction, at two margins that add up to −2κr.
    """
    moved = known.both_orders
    if problem.pointwise:
        moved = 2.0 * known.gradient
    elif problem.in_time:
        moved = 4.0 * problem.kappa * float(_steepest(problem, problem.kappa * norm))
    return Constants(known.gradient, 2.0 * known.gradient, moved, moved)


def _metric(problem: Problem, norm: float) -> Constants:
    """A pair's gradient is b·vvᵀ: b ≥ 0 pulls records of one class together, b ≤ 0 pushes others apart."""
    length = 4.0 * problem.kappa**2
    # vᵀWv lies within ±top, or between 0 and top for semidefinite W.
    top = length * norm
    low = 0.0 if problem.semidefinite else -top
    pull = push = variation = 1.0
    smoothness = None
    if problem.loss == "logistic":
        pull, push = float(expit(top - 1.0)), float(expit(1.0 - low))
        variation = pull - float(expit(low - 1.0))
        smoothness = length**2 * (0.25 if top >= 1.0 else pull * (1.0 - pull))
    gradient = length * max(pull, push)
    # With private labels a replaced record can turn a pull into a push.
    pair = gradient if problem.public_labels else length * (pull + push)
    return Constants(gradient, length * variation, pair, 2.0 * pair, smoothness)


def _linear(problem: Problem, norm: float) -> Constants:
    """A gradient is φ'(w·v)·v with ‖v‖ ≤ length, so that |w·v| ≤ reach."""
    loss, q = problem.loss, problem.q
    length = problem.kappa * (1.0 if problem.pointwise else 4.0 if problem.symmetric else 2.0)
    reach = length * norm
    steepest = float(_steepest(problem, reach))
    smoothness: float | None = None
    hoelder: tuple[float, float] | None = None
    if loss in MARGINS:
        margin = MARGINS[loss]
        variation = margin.variation(reach, q)
        if margin.curvature is not None:
            smoothness = margin.curvature * length**2
        elif "q" in margin.entries:
            hoelder = (q - 1.0, q * length**q)
    else:
        variation = 2.0 * q * reach ** (q - 1.0)
        smoothness = 2.0 * length**2 if q == 2.0 else None
        hoelder = (q - 1.0, q * 2.0 ** (2.0 - q) * length**q) if q < 2.0 else None
    gradient = length * steepest
    if problem.pointwise:
        pair = both_orders = _replacement(problem, reach)
    elif problem.in_time:
        pair = both_orders = _turned(problem, problem.kappa * norm)
    else:
        # A pair moves by no more than G; in the symmetric form it counts in both orders.
        pair, both_orders = gradient, gradient * (2.0 if problem.symmetric else 1.0)
    return Constants(gradient, length * variation, pair, both_orders, smoothness, hoelder)


def _steepest(problem: Problem, reach: Any) -> Any:
    """Return sup |φ'| over margins down to −reach, or residuals up to Y + reach."""
    if problem.loss in MARGINS:
        return MARGINS[problem.loss].steepest(reach, problem.q)
    return problem.q * (problem.target + reach) ** (problem.q - 1.0)


def _replacement(problem: Problem, reach: float) -> float:
    """Return the largest 2κ·sinθ·|φ'|(reach·cosθ), of two records mirrored at w."""
    if math.isinf(reach):
        return 2.0 * problem.kappa * float(_steepest(problem, reach))
    return 2.0 * problem.kappa * _largest(lambda angle: np.sin(angle) * _steepest(problem, reach * np.cos(angle)))


def _turned(problem: Problem, reach: float) -> float:
    """Return how far a pair moves that is turned round, for scores within ±reach: 2κ times the steepness before and after.

    The two margins add up to no less than −2·reach, and every slope is constant, a straight line or concave up to where it ends,
    so that their sum is largest where they are equal. Of the logistic loss the two terms cannot be parallel where it is steep.
    """
    if problem.loss != "logistic" or math.isinf(reach):
        return 4.0 * problem.kappa * float(_steepest(problem, reach))
    return 2.0 * problem.kappa * _largest(lambda angle: expit(reach * np.sin(angle)) * (1.0 + np.cos(angle)))


def _largest(of: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> float:
    """Return the largest value over angles up to a right one: a grid, refined twice."""
    low, high, best = 0.0, math.pi / 2.0, 0.0
    for _ in range(3):
        angle: NDArray[np.float64] = np.linspace(low, high, 2001)
        value = of(angle)
        at = int(np.argmax(value))
        best = max(best, float(value[at]))
        low, high = float(angle[max(at - 1, 0)]), float(angle[min(at + 1, 2000)])
    return best


def moved(problem: Problem, norm: float) -> float:
    """Return n times the sensitivity of a gradient: D_sym, or what one record adds if records come and go and it is more."""
    if problem.cap is None:
        return constants(problem, norm).both_orders
    # Whoever is pushed out by the cap may have had another label.
    known = constants(replace(problem, public_labels=False), norm)
    orders = 2.0 if problem.kind == "metric" or problem.symmetric else 1.0
    if problem.promised:
        return orders * known.gradient
    return max(known.both_orders, orders * known.gradient)


def active_share(problem: Problem, n: int) -> float:
    """Return the largest share of ordered pairs that count: n₊n₋ ≤ n²/4 of n(n − 1), once or twice; of N² for weights of persons."""
    if problem.kind != "ranking":
        return 1.0
    if problem.in_time:
        # Of the two orders of a pair at most one is known.
        return 0.5
    pairs = n * n if problem.weighs else n * (n - 1.0)
    return n * n / ((2.0 if problem.symmetric else 4.0) * pairs)


def largest_risk_gradient(problem: Problem, norm: float, n: int) -> float:
    """Return the largest gradient of the mean over all pairs, or records."""
    return constants(problem, norm).gradient * active_share(problem, n)


def sum_error(problem: Problem, norm: float, n: int, features: int) -> float:
    """Return how far a computed gradient over all pairs can be from the exact one."""
    root = math.sqrt(features)
    # What follows charges into a sum: weighted rows, or blocks of rows times the gradients of a network.
    blocks = None if problem.linear else 272.0 + 32.0 * math.sqrt(score_parameters(problem, features))
    if problem.kind == "metric":
        roundings = 2.0 * n + 4.0 * features + 64.0
    elif problem.pointwise:
        roundings = 16.0 + (8.0 * root if blocks is None else blocks)
    else:
        tree = 512 + _quotient(n, 512) + _quotient(n, 32) if MARGINS[problem.loss].tree else 0
        # A record is on a side of at most 2⌈log₂ n⌉ + 2 cuts of time, each with two roundings.
        cuts = 2 * (2 * n.bit_length() + 2) if problem.in_time else 0
        roundings = 2.0 * (8192 + tree) + 16.0 + (16.0 * root if blocks is None else blocks) + cuts
    return roundings * UNIT * largest_risk_gradient(problem, norm, n)


def score_parameters(problem: Problem, features: int) -> int:
    """Return how many parameters a score has: of a network, of the linear term, of each unit, its offset, and what it takes of a row."""
    if problem.foreign is not None:
        return problem.foreign[0]
    return features if problem.hidden is None else features + problem.hidden * (features + 2)


def secret_size_error(problem: Problem, norm: float, n: int, features: int) -> float:
    """Return what sums over a secret number of records add: the share of a cap rounds, and distances change with places."""
    if problem.cap is None:
        return 0.0
    error = 4.0 * UNIT * largest_risk_gradient(problem, norm, n)
    if problem.kind == "metric":
        # A slope of the logistic loss moves by a quarter of what its distance does.
        distance = 8.0 * (2.0 * features + 16.0) * UNIT * problem.kappa**2 * norm
        error += 4.0 * problem.kappa**2 * (distance / 4.0 + 16.0 * UNIT)
    return error


def packing_error(problem: Problem, norm: float) -> float:
    """Return what packing a matrix of some norm adds: half of it is released, off the diagonal times √2."""
    return 4.0 * UNIT * norm if problem.kind == "metric" else 0.0


def _quotient(a: int, b: int) -> int:
    """Return a/b, rounded up."""
    return -(-a // b)
