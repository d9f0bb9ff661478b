"""One noisy release of moments: ``moments.md``."""

from __future__ import annotations

import math

import numpy as np

from .facts import COMPOSITION, LATTICE, Facts
from .reading import fields
from .relations import UNIT, Relations, covers, require

KIND = "moments"
"""How certificates call such releases."""
ALGORITHMS = ("moments",)
"""Whose they are."""


def relations(facts: Facts) -> Relations:
    """Return the relations of released moments."""
    released = fields(facts.released, "kind weights sensitivity error ratio sigma")
    weights = fields(released["weights"], "mean second")
    mean, second, kappa = weights["mean"], weights["second"], facts.problem.kappa
    largest = kappa * math.sqrt(0.25 + 2.0 * mean**2 + second**2)
    roundings = 24.0 * (1.0 + math.sqrt(facts.p))
    distance = released["sensitivity"] + 2.0 * released["error"]

    def shares() -> None:
        require(0.0 < mean <= 0.5 and 0.0 <= second <= 1.0, f"a is {mean}, α is {second}")
        require(facts.problem.kind != "metric", "moments are not of pairs")

    def sensitivity() -> None:
        # The largest distance of the vectors of two unit records, as a function of the cosine of their angle.
        c = np.linspace(-1.0, 1.0, 200_001)
        matrices = 2.0 * second**2 * (1.0 - c * c)
        one_label = (0.5 + 2.0 * mean**2) * (1.0 - c) + matrices
        two_labels = 0.5 * (1.0 + c) + 2.0 * mean**2 * (1.0 - c) + 4.0 * mean**2 + matrices
        apart = kappa * math.sqrt(max(float(one_label.max()), float(two_labels.max())))
        # Where none is pushed out, a record moves the sum by its own vector.
        covers("Δ", released["sensitivity"], (largest if facts.problem.promised else apart) / facts.n, 1e-6)

    return [
        ("weights", "a in (0, ½], α in [0, 1], a loss of scores", shares),
        (
            "lattice",
            LATTICE,
            lambda: facts.lattice(largest * released["ratio"] / (facts.reach * distance)),
        ),
        ("sensitivity", "Δ = κ/n times the largest ‖u − u'‖, u = (½yx, a·x, a·y, α·xxᵀ), ‖x‖ = 1", sensitivity),
        (
            "error",
            "τ = 24(1 + √p)·2⁻⁵²·κ√(¼ + 2a² + α²)",
            lambda: covers("τ", released["error"], roundings * UNIT * largest),
        ),
        (
            "noise",
            "σ = c·(Δ + 2τ)/(m − rounding), c = √p for Laplace noise, else 1",
            lambda: covers("σ", released["sigma"], facts.noise(distance, released["ratio"])),
        ),
        ("composition", COMPOSITION, lambda: facts.check_composition(1)),
    ]
