"""How far one record can move the result of a descent, followed step by step.

Two runs on neighbouring tables take the same steps from the same start. What bounds their distance after a step, given
the distance before, is proved in ``path_lemmas.md``; which steps touch a record, in ``realised_path.md`` and
``one_pass_and_matching.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .algorithms import WHOLE_TABLE
from .constants import active_share, packing_error, sum_error
from .facts import Facts
from .orders import indices, pairs
from .relations import UNIT, require

Vector = NDArray[np.float64]


def travel(facts: Facts, phase: dict[str, Any]) -> float:
    """Return how far a descent gets from its start: as far as its steps carry it, or across the domain."""
    problem = facts.problem
    pull = problem.ridge * problem.radius if math.isfinite(problem.radius) else 0.0
    return float(min(problem.diameter, phase["steps"] * phase["step_size"] * (facts.over_domain.gradient + pull)))


def scores_are_kept(facts: Facts, phase: dict[str, Any]) -> bool:
    """Return whether no score of a ranker is cut off, at 2⁴⁰, where steps go over all pairs; slopes are not monotone beyond."""
    problem = facts.problem
    if problem.kind != "ranking" or facts.algorithm not in WHOLE_TABLE:
        return True
    farthest = problem.radius if math.isfinite(problem.radius) else travel(facts, phase)
    return (2.0 if problem.symmetric else 1.0) * problem.kappa * farthest < 2.0**40


class Step:
    """How the distance of coupled runs grows in a step of a phase."""

    def __init__(self, facts: Facts, phase: dict[str, Any]) -> None:
        problem, d, steps = facts.problem, facts.features, phase["steps"]
        bounds, far = facts.over_domain, travel(facts, phase)
        self.rate, self.ridge = float(phase["step_size"]), problem.ridge
        self.pair, self.both_orders, self.same_term = bounds.pair, bounds.both_orders, bounds.same_term
        self.cap, self.reached_cap = problem.diameter, False
        whole = facts.algorithm in WHOLE_TABLE

        # Rounding: of margins, hence of slopes; of sums; of updates and projections; of the mean of the kept iterates.
        radius = problem.radius if math.isfinite(problem.radius) else far
        if problem.kind == "metric":
            weights, length = d * d, problem.kappa**2
            margin_error = 8.0 * (2.0 * d + 16.0) * UNIT * problem.kappa**2 * radius
        else:
            weights, length = d, problem.kappa
            margin_error = 4.0 * (d + 8.0) * UNIT * problem.kappa * radius
        if whole:
            gradient_error = sum_error(problem, radius, phase["records"], d)
        else:
            terms = steps if facts.algorithm in ("output-sgd", "offline-pair") else 0
            gradient_error = (terms + 16.0) * UNIT * bounds.gradient
        gradient_error += (bounds.smoothness or 0.0) / length * margin_error
        longest = radius + self.rate * (bounds.gradient + self.ridge * radius)
        self.error = 2.0 * (self.rate * gradient_error + (4.0 * weights + 64.0) * UNIT * longest)
        self.result_error = 2.0 * (4.0 * weights + steps + 80.0) * UNIT * radius + 2.0 * packing_error(problem, far)
        # A slope taken on the wrong side of a jump costs monotonicity rather than distance.
        self.slack = 2.0 * self.rate * 2.0 * margin_error * bounds.gradient / length

        # η(L + λ) decides which rule holds; the mean over all pairs is smoother than a pair. At 2 rounding decides.
        self.total = math.inf
        if bounds.smoothness is not None:
            share = active_share(problem, phase["records"]) if whole else 1.0
            self.total = bounds.smoothness * share + self.ridge
        self.smooth = self.rate * self.total <= 2.0
        self.undecided = abs(self.rate * self.total - 2.0) < 1e-12
        self.spread = self.same_term * self.rate
        kept = 1.0 - self.rate * self.ridge
        if bounds.hoelder is not None and kept > 0.0:
            a, constant = bounds.hoelder
            power = 1.0 / (1.0 - a)
            spread = (constant * self.rate * 2.0**-a) ** power * kept ** (-a * power)
            self.spread = min(self.spread, math.sqrt((1.0 - a) / (1.0 + a)) * spread)

    def after(self, distance: Any, same: Any, apart: Any, untouched: Any) -> Any:
        """Return the distance after a step whose touched terms move by `same` at one parameter, by `apart` at two.

        `untouched` is the share of the other terms.
        """
        slow = 1.0 - self.rate * self.ridge
        if self.smooth:
            contraction = max(abs(slow), abs(1.0 - self.rate * self.total)) if self.ridge > 0.0 else 1.0
            grown = contraction * distance + self.rate * same
        else:
            require(slow >= 0.0, "the step overshoots the ridge")
            square = (slow * distance) ** 2 + self.slack
            split = np.sqrt(square + (self.spread * untouched) ** 2) + self.rate * apart
            together = np.sqrt(square + self.spread**2) + self.rate * same
            grown = np.where(distance > 0.0, np.minimum(split, together), self.rate * same)
        grown = np.minimum(grown + self.error, self.cap)
        # Runs that agree stay equal, to the last bit, until a step touches the record.
        return np.where((distance > 0.0) | (np.asarray(untouched) < 1.0), grown, 0.0)

    def share(self, distance: Any, share: Any) -> Any:
        """Return the distance after a step with the record in a share of the terms."""
        return self.after(distance, self.pair * share, (self.pair + self.same_term) * share, 1.0 - share)

    def follow(self, records: int, steps: int, kept: int, one: Callable[[int, Vector], Vector]) -> float:
        """Return the largest mean of the last `kept` distances, over all records, rounding included."""
        distance, total = np.zeros(records), np.zeros(records)
        for t in range(1, steps + 1):
            distance = one(t, distance)
            if t > steps - kept:
                total += distance
        self.reached_cap = bool(distance.max() >= self.cap)
        return float(total.max()) / kept + float(self.result_error)


def sensitivity(facts: Facts, step: Step, phase: dict[str, Any]) -> float:
    """Return how far one record can move the computed result of a phase."""
    n, steps, order, average = phase["records"], phase["steps"], facts.released["order"], facts.released["average"]
    kept = {"last": 1, "second-half": steps - steps // 2, "all": steps}[average]
    algorithm, pointwise = facts.algorithm, facts.problem.pointwise
    require(not facts.problem.semidefinite, "nothing is proved within the semidefinite cone")
    require(not pointwise or algorithm in (*WHOLE_TABLE, "output-sgd"), f"{algorithm} learns from pairs")
    alike = algorithm in (*WHOLE_TABLE, "offline-pair")
    if algorithm == "offline-pair":
        require(average == "last", "nothing is proved for averages of one pass")
        new = step.share(np.zeros(1), 1.0)
        # The worst of the records seen, which are in one of t terms, and of the new one, which is in all.
        return step.follow(1, steps, 1, lambda t, distance: np.maximum(step.share(distance, 1.0 / t), new))
    if alike and pointwise:
        return step.follow(1, steps, kept, lambda t, distance: step.share(distance, 1.0 / n))
    if alike:
        same, apart = step.both_orders / n, (step.both_orders + 2.0 * step.same_term) / n
        return step.follow(1, steps, kept, lambda t, distance: step.after(distance, same, apart, 1.0 - 2.0 / n))
    if algorithm == "output-sgd" and not pointwise:
        return step.follow(n, steps, kept, _against_history(step, indices(order, n, steps + 1), n))
    if algorithm == "output-sgd":
        touched = [(index, index) for index in indices(order, n, steps)]
    else:
        touched = pairs(order, n, steps) if algorithm == "matching-sgd" else [(t, t + 1) for t in range(steps)]

    def along_pairs(t: int, distance: Vector) -> Vector:
        pair = list(touched[t - 1])
        moved = step.share(distance[pair], 1.0)
        after: Vector = step.share(distance, 0.0)
        after[pair] = moved
        return after

    return step.follow(n, steps, kept, along_pairs)


def _against_history(step: Step, drawn: list[int], n: int) -> Callable[[int, Vector], Vector]:
    """Each newly drawn record against all drawn before."""
    count = np.zeros(n)
    count[drawn[0]] = 1.0

    def one(t: int, distance: Vector) -> Vector:
        new = drawn[t]
        # The new record is in every term, but paired with itself it has no gradient.
        share = 1.0 - count[new] / t
        moved = step.after(distance[new], step.pair * share, (step.pair + step.same_term) * share, 0.0)
        after: Vector = step.share(distance, count / t)
        after[new] = moved
        count[new] += 1.0
        return after

    return one
