"""Noisy gradients over all pairs: ``noisy_gd.md``."""

from __future__ import annotations

from . import stages
from .constants import largest_risk_gradient, moved, packing_error, secret_size_error, sum_error
from .facts import COMPOSITION, LATTICE, Facts
from .reading import fields
from .relations import EXCESS, Relations, covers, require

KIND = "gradients"
"""How certificates call such releases."""
ALGORITHMS = ("noisy-gd",)
"""Whose they are."""


def relations(facts: Facts) -> Relations:
    """Return the relations of descent over all pairs."""
    released = fields(facts.released, "kind steps kernel ratio releases")
    releases = [fields(release, "iterate_norm sensitivity kernel_error sigma") for release in released["releases"]]
    problem, n = facts.problem, facts.n

    def steps() -> None:
        # A descent without a step has a ratio of nothing.
        alone = stages.alone(facts)
        some = released["steps"] == 0 == released["ratio"] if alone else released["steps"] > 0
        require(some and released["steps"] == len(releases), f"{released['steps']} steps, {len(releases)} releases")

    def iterates() -> None:
        if stages.alone(facts):
            return
        norms = [release["iterate_norm"] for release in releases]
        # After a stage the start follows from what that released, and slopes are those at the norm that is stated.
        known = norms[0] == 0.0 or norms[0] >= problem.radius or bool(facts.stages)
        require(known, f"the start has norm {norms[0]}")
        require(min(norms) >= 0.0 and max(norms) <= problem.radius * (1.0 + EXCESS), "an iterate is outside")

    def lattice() -> None:
        share = largest_risk_gradient(problem, 0.0, n) * n / moved(problem, 0.0)
        facts.lattice(share * released["ratio"] / facts.reach)

    def sensitivity() -> None:
        for release in releases:
            expected = moved(problem, release["iterate_norm"]) / n
            covers("Δ", release["sensitivity"], expected, facts.constant_excess)

    def kernel_error() -> None:
        for release in releases:
            norm = release["iterate_norm"]
            largest = largest_risk_gradient(problem, norm, n)
            rest = packing_error(problem, largest) + secret_size_error(problem, norm, n, facts.features)
            covers("τ", release["kernel_error"], sum_error(problem, norm, n, facts.features) + rest)

    def noise() -> None:
        for release in releases:
            distance = release["sensitivity"] + 2.0 * release["kernel_error"]
            covers("σ", release["sigma"], facts.noise(distance, released["ratio"]))

    return [
        ("steps", "as many releases as steps", steps),
        ("kernel", "the kernel is the one for this objective", facts.check_kernel),
        ("iterates", "‖w₁‖ = 0 (or B, for constant noise; any after a stage) and ‖w_t‖ ≤ B", iterates),
        ("lattice", LATTICE, lattice),
        ("sensitivity", "Δ_t = D_sym/n, over parameters of norm ‖w_t‖", sensitivity),
        ("kernel error", "τ_t = roundings·2⁻⁵²·(largest gradient of the risk at w_t)", kernel_error),
        ("noise", "σ_t = c(Δ_t + 2τ_t)/(m − c√p(1 + 2⁻⁷)2^−bits), c = √p for Laplace noise, else 1", noise),
        ("composition", COMPOSITION, lambda: facts.check_composition(released["steps"])),
    ]
