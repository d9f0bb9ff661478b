"""Noisy results of descents without noise, over disjoint parts if there are several: ``output_gd.md``."""

from __future__ import annotations

import math
from itertools import pairwise

from . import work
from .algorithms import HALVING, RESULTS, steps_in_runs
from .facts import COMPOSITION, LATTICE, Facts
from .paths import Step, scores_are_kept, sensitivity, travel
from .reading import fields
from .relations import Mismatch, Relations, covers, require

KIND = "output"
"""How certificates call such releases."""
ALGORITHMS = RESULTS
"""Whose they are."""

SHUFFLES = ("with-replacement", "fixed-permutation", "reshuffled")
RUN_EXCESS = 3e-2
"""How far a sensitivity may lie above what is derived, for paths along single pairs or records: sums over steps that
leave a record alone were bounded by integrals."""
CAPPED_EXCESS = 0.25
"""The same where distances reach the diameter of the domain: they were cut off once a run, here at every step."""


def relations(facts: Facts) -> Relations:
    """Return the relations of released results."""
    released = fields(facts.released, "kind order average kernel ratio phases")
    phases = [fields(phase, "records steps step_size sensitivity sigma") for phase in released["phases"]]
    algorithm, problem, n = facts.algorithm, facts.problem, facts.n

    def order() -> None:
        if algorithm == "output-gd":
            require(released["order"] is None, "steps over the whole table have no order")
        else:
            require(fields(released["order"], "shuffle seed")["shuffle"] in SHUFFLES, f"{released['order']}")

    def parts() -> None:
        expected = [n]
        if algorithm in HALVING:
            expected = [n >> k for k in range(1, 64) if n >> k >= 2]
        if algorithm == "phased-gd":
            expected = [*expected[:-1], n - sum(expected[:-1])]
        found = [phase["records"] for phase in phases]
        require(found == expected and n >= 2, f"parts of {found} records, expected {expected}")
        require(len(found) == 1 or math.isfinite(problem.radius), "nothing is proved for phases without a bound")
        for before, phase in pairwise(phases):
            require(phase["step_size"] * 4.0 == before["step_size"], "step sizes do not fall by 4")
        one_pass = {"phased-gd": 0, "localized-sgd": -1, "offline-pair": -1}
        for phase in phases:
            steps = phase["records"] + one_pass[algorithm] if algorithm in one_pass else phase["steps"]
            require(0 < phase["steps"] == steps and phase["step_size"] > 0.0, f"{phase['steps']} steps in a phase")

    def lattice() -> None:
        ratio = released["ratio"] / facts.reach
        facts.lattice(max(travel(facts, phase) * ratio / phase["sensitivity"] for phase in phases))

    def short_enough() -> None:
        work.check(algorithm, phases, facts.patience)

    def distances() -> None:
        parts()
        short_enough()
        in_runs = steps_in_runs(algorithm, problem.pointwise)
        for phase in phases:
            require(scores_are_kept(facts, phase), "no proof for scores that reach 2⁴⁰")
            step = Step(facts, phase)
            rules = (True, False) if step.undecided else (step.smooth,)
            failure = None
            for step.smooth in rules:
                expected = sensitivity(facts, step, phase)
                excess = (CAPPED_EXCESS if step.reached_cap else RUN_EXCESS) if in_runs else 1e-6
                try:
                    covers("Δ", phase["sensitivity"], expected, excess + facts.constant_excess)
                    break
                except Mismatch as error:
                    failure = failure or error
            else:
                raise Mismatch(str(failure))

    def noise() -> None:
        for phase in phases:
            covers("σ", phase["sigma"], facts.noise(phase["sensitivity"], released["ratio"]))

    return [
        (
            "kernel",
            "the kernel is the one for this objective, where steps go over the whole table",
            facts.check_kernel,
        ),
        ("order", "stated just where steps follow one", order),
        ("phases", "disjoint parts, as many and as long as this algorithm has", parts),
        ("work", "the path can be followed within the time that a verifier is given", short_enough),
        ("lattice", LATTICE, lattice),
        ("sensitivity", "Δ = the largest distance of neighbouring runs, followed for every record", distances),
        ("noise", "σ = cΔ/(m − c√p(1 + 2⁻⁷)2^−bits), c = √p for Laplace noise, else 1", noise),
        ("composition", COMPOSITION, lambda: facts.check_composition(1)),
    ]
