"""Noisy gradients of one pass, each record against all before it: ``one_pass_and_matching.md``."""

from __future__ import annotations

import math

from scipy.special import polygamma

from .constants import packing_error
from .facts import COMPOSITION, LATTICE, Facts
from .reading import fields
from .relations import UNIT, Relations, covers, require

KIND = "online"
"""How certificates call such releases."""
ALGORITHMS = ("online-pair",)
"""Whose they are."""


def relations(facts: Facts) -> Relations:
    """Return the relations of one pass."""
    released = fields(facts.released, "kind steps order sensitivity gradient_error ratio sigma")
    steps, largest = released["steps"], facts.over_domain.gradient

    def releases() -> None:
        fits = steps == facts.n - 1 and facts.law == "gaussian" and not facts.problem.pointwise
        require(fits, f"{steps} steps over {facts.n} records")

    def sensitivity() -> None:
        covers("D", released["sensitivity"], facts.over_domain.pair, facts.constant_excess)

    def gradient_error() -> None:
        expected = (facts.n + 16.0) * UNIT * largest + packing_error(facts.problem, largest)
        covers("τ", released["gradient_error"], expected)

    def noise() -> None:
        factor, root = math.sqrt(inverse_squares(steps)), math.sqrt(steps)
        distance = factor * released["sensitivity"] + 2.0 * root * released["gradient_error"]
        covers("σ", released["sigma"], distance / (released["ratio"] - root * facts.lattice_rounding), 1e-9)

    return [
        ("releases", "n − 1 steps over pairs, with Gaussian noise", releases),
        # The bits were chosen before the noise that their rounding needs was known.
        ("lattice", LATTICE, lambda: facts.lattice(largest / released["sigma"], 1e-3)),
        ("sensitivity", "D over the whole domain", sensitivity),
        ("gradient error", "τ = (n + 16)·2⁻⁵²·G", gradient_error),
        ("noise", "σ = (√(1 + 1/4 + … + 1/(n−1)²)·D + √(n−1)·2τ)/(m − √(n−1)·√p(1 + 2⁻⁷)2^−bits)", noise),
        ("composition", COMPOSITION, lambda: facts.check_composition(1)),
    ]


def inverse_squares(steps: int) -> float:
    """Return 1 + 1/4 + … + 1/steps²: π²/6 less what follows, which is the trigamma function."""
    return math.pi**2 / 6.0 - float(polygamma(1, steps + 1.0))
