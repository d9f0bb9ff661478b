"""Noisy gradients of secretly sampled pairs or records: ``noisy_sgd.md``."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import betainc, gammaln, logsumexp, ndtri

from .constants import constants, packing_error
from .facts import LATTICE, Facts
from .reading import fields
from .relations import UNIT, Relations, covers, require

KIND = "sampled-gradients"
"""How certificates call such releases."""
ALGORITHMS = ("noisy-sgd",)
"""Whose they are."""

Vector = NDArray[np.float64]

DISCRETISATION = 2e-2
"""How far δ may lie above what is derived: a discretised, pessimistic accountant chose the noise."""
INTEGRATION = 1e-5
"""How far below."""
SAMPLINGS = {
    "fixed-size": "kind batch records",
    "one-index": "kind records",
    "poisson-pairs": "kind records expected_pairs",
}


def relations(facts: Facts) -> Relations:
    """Return the relations of descent along secret samples."""
    released = fields(facts.released, "kind steps sampling sensitivity gradient_error noise_multiplier sigma")
    kind = released["sampling"]["kind"]
    sampling = fields(released["sampling"], SAMPLINGS[kind])
    independent = kind == "poisson-pairs"
    multiplier, bounds = released["noise_multiplier"], facts.over_domain

    def law() -> None:
        fits = sampling["records"] == facts.n and sampling.get("batch", 2) == 2 and facts.law == "gaussian"
        require(fits and facts.problem.pointwise == (kind == "one-index"), f"{sampling} does not fit")

    def lattice() -> None:
        facts.lattice(most_terms(sampling) * bounds.gradient / (released["sensitivity"] * multiplier))

    def sensitivity() -> None:
        # In a sample any record of the table may stand in for the one replaced, with a label of its own.
        any_label = constants(replace(facts.problem, public_labels=False), facts.problem.radius)
        expected = bounds.gradient if independent else any_label.pair
        covers("D", released["sensitivity"], expected, facts.constant_excess)

    def gradient_error() -> None:
        k = most_terms(sampling)
        packing = packing_error(facts.problem, k * bounds.gradient)
        covers("τ", released["gradient_error"], (8.0 + k) * k * UNIT * bounds.gradient + packing)

    def noise() -> None:
        distance = released["sensitivity"] + 2.0 * released["gradient_error"]
        covers("σ", released["sigma"], facts.noise(distance, 1.0 / multiplier))

    def composition() -> None:
        require(multiplier > 0.0 and released["steps"] > 0, "no noise, or no steps")
        n = sampling["records"]
        one_step: Callable[[float, float], Losses]
        if independent:
            share = sampling["expected_pairs"] / (n * (n - 1) / 2.0)

            def one_step(epsilon: float, cut: float) -> Losses:
                return opposed_mixtures(n, share, 1.0 / multiplier, epsilon, cut)
        else:
            chance = (1.0 if kind == "one-index" else 2.0) / n

            def one_step(epsilon: float, cut: float) -> Losses:
                return symmetric_pair(chance, 1.0 / multiplier, epsilon, cut)

        value, error = composed_delta(one_step, released["steps"], facts.epsilon, facts.delta)
        require(error <= 1e-3 * value, f"δ is {value} ± {error}, which is not good enough")
        low, high = value - error + facts.sampler_delta, value + error + facts.sampler_delta
        enough = low * (1.0 - INTEGRATION) <= facts.delta <= high * (1.0 + DISCRETISATION)
        require(enough, f"δ is {facts.delta}, derived {value + facts.sampler_delta}")

    return [
        ("sampling", "one uniform pair, one uniform record, or pairs kept independently; Gaussian noise", law),
        ("lattice", LATTICE, lattice),
        ("sensitivity", "D over the whole domain; G for pairs kept independently", sensitivity),
        ("gradient error", "τ = (8 + k)k·2⁻⁵²·G for at most k terms", gradient_error),
        ("noise", "σ = (D + 2τ)/(1/s − √p(1 + 2⁻⁷)2^−bits)", noise),
        ("composition", "δ_s + δ of T sampled releases at multiplier s, by Fourier inversion, = δ", composition),
    ]


def most_terms(sampling: dict[str, Any]) -> float:
    """Return 1, or one more than the number of kept pairs that has a chance of at most 2⁻¹¹² to be exceeded."""
    if sampling["kind"] != "poisson-pairs":
        return 1.0
    all_pairs, mean = sampling["records"] * (sampling["records"] - 1) / 2.0, sampling["expected_pairs"]
    require(0.0 < mean <= 4096.0 and mean < all_pairs, f"{mean} expected pairs of {all_pairs}")
    return _quantile(all_pairs, mean / all_pairs, 2.0**-112) + 1.0


def _quantile(n: float, chance: float, tail: float) -> int:
    """Return the least number that a binomial exceeds with a chance of at most `tail`."""
    k = np.arange(min(n, 16.0 * n * chance + 400.0))
    return int(np.count_nonzero(betainc(k + 1.0, n - k, chance) > tail))


@dataclass(frozen=True)
class Losses:
    """The privacy loss of one step under the first law of a dominating pair, as many weighted points."""

    loss: Vector
    log_mass: Vector
    cut: float
    """Mass that was left out because its loss is huge; it counts as lost."""
    atom: float = 0.0
    """Mass of the last point, if it is no part of an integral but a loss of exactly 0."""


def symmetric_pair(q: float, d: float, epsilon: float, cut: float) -> Losses:
    """Return the loss for samples of fixed size that hold a record with chance q, at distance d: ``sym.md``.

    With n the standard normal density and l(x) = log(1 − q + q·e^{dx − d²/2}), the loss is l(x) with density
    (1 − q)n(x) + q·n(x − d) = e^{l(x)}·n(x), and −l(x) with density n(x), both on x > d/2; otherwise it is 0.
    """
    low, high = d / 2.0, d - float(ndtri(cut))
    kink = low + math.log1p(math.expm1(epsilon) / q) / d if epsilon < 700.0 else high
    x, log_normal = _normal_points(low, high, 0.25 / max(1.0, d / 2.0), kink)
    exponent = d * x - d * d / 2.0
    loss = np.log1p(q * np.expm1(np.minimum(exponent, 30.0)))
    loss = np.where(exponent < 30.0, loss, np.logaddexp(np.log1p(-q), math.log(q) + exponent))
    atom = (1.0 - q) * math.erf(low / math.sqrt(2.0))
    log_mass = np.concatenate([log_normal + loss, log_normal, np.log([atom])])
    return Losses(np.concatenate([loss, -loss, [0.0]]), log_mass, cut, atom)


def opposed_mixtures(n: int, share: float, r: float, epsilon: float, cut: float) -> Losses:
    """Return the loss for pairs kept independently, a share of all, at G/σ = r: ``poisson_pairs.md``.

    It is that of ΣwₖN(kr, 1) against ΣwₖN(−kr, 1), where wₖ is the chance that k kept pairs hold a given record.
    """
    k = np.arange(_quantile(n - 1, share, cut) + 1.0)
    log_weight = gammaln(n) - gammaln(k + 1.0) - gammaln(n - k)
    log_weight += k * math.log(share) + (n - 1.0 - k) * math.log1p(-share)

    def over_normal(x: Vector) -> Vector:
        """Return log(ΣwₖN(kr, 1)/N(0, 1))."""
        return np.asarray(logsumexp(log_weight + np.outer(x, k * r) - (k * r) ** 2 / 2.0, axis=1))

    high = r * float(k[-1]) - float(ndtri(cut))
    grid = np.linspace(0.0, high, 2001)
    kink = float(np.interp(epsilon, over_normal(grid) - over_normal(-grid), grid))
    x, log_normal = _normal_points(0.0, high, 0.25, kink)
    first, second = over_normal(x), over_normal(-x)
    # What x < 0 adds is the mirror image.
    log_mass = np.concatenate([log_normal + first, log_normal + second])
    return Losses(np.concatenate([first - second, second - first]), log_mass, 2.0 * cut)


def _normal_points(low: float, high: float, width: float, kink: float) -> tuple[Vector, Vector]:
    """Return Gauss's points on panels, one of them ending where a single step loses ε, and their log weight times n(x)."""
    require((high - low) / width < 1e5, "there is too little noise to integrate over")
    edges = np.linspace(low, high, int((high - low) / width) + 2)
    if low < kink < high:
        edges = np.union1d(edges, [kink])
    node, weight = np.polynomial.legendre.leggauss(20)
    half = np.diff(edges)[:, None] / 2.0
    x = (edges[:-1, None] + half * (1.0 + node)).ravel()
    return x, np.log(half * weight).ravel() - x * x / 2.0 - math.log(2.0 * math.pi) / 2.0


def composed_delta(
    one_step: Callable[[float, float], Losses], steps: int, epsilon: float, scale: float
) -> tuple[float, float]:
    """Return delta of T adaptive steps that a pair dominates, and how uncertain it is.

    With M(s) = E e^{s·loss} under the pair's first law, δ(ε) = (1/2πi)∫ M(s)^T e^{−sε}/(s(s + 1)) ds along Re s = c, for
    any c > 0. Where M(c)^T e^{−cε}/(c(c + 1)) is least the integrand is real to second order, and the trapezoid rule
    converges fast.

    Parameters
    ----------
    one_step : function of ε and a mass
        The loss of one step, of which so much mass may be left out; ε is where it pays to have a point.
    steps : int
        T.
    epsilon : float
        Where to evaluate.
    scale : float
        About as large as the delta to be found: decides what is negligible.

    Returns
    -------
    delta, uncertainty : float
    """
    losses = one_step(epsilon, 1e-7 * scale / steps)
    loss, log_mass = losses.loss, losses.log_mass

    def height(log_c: float) -> float:
        c = math.exp(log_c)
        return steps * float(logsumexp(c * loss + log_mass)) - c * epsilon - math.log(c * (1.0 + c))

    log_c = float(minimize_scalar(height, bounds=(-8.0, 9.0), method="bounded", options={"xatol": 1e-3}).x)
    c = math.exp(log_c)
    factor = math.exp(height(log_c)) * c * (1.0 + c) / math.pi
    tilted = np.exp(c * loss + log_mass - logsumexp(c * loss + log_mass))
    spread = math.sqrt(steps * float(tilted @ (loss - tilted @ loss) ** 2))
    # If all steps are at the atom nothing is lost, and if all but one are, what one step loses: without these two terms
    # the rest of M(s)^T falls off faster.
    atom = float(tilted[-1]) if losses.atom > 0.0 else 0.0
    known = float(np.exp(log_mass) @ np.maximum(-np.expm1(epsilon - loss), 0.0))
    known *= steps * losses.atom ** (steps - 1)
    width = 2.0 * math.pi / max(math.log(1e8 / scale) / c, 14.0 * spread + 14.0 / c)
    block = 256
    for _ in range(12):
        turns = np.exp(1j * width * np.outer(np.arange(block), loss))
        fine, coarse, start, tail = 0.0, 0.0, 0, math.inf
        while tail > 1e-5 * (abs(fine) + known / factor) and start < 200_000:
            t = width * np.arange(start, start + block)
            s = c + 1j * t
            mean = turns @ (tilted * np.exp(1j * width * start * loss))
            rest = np.exp(steps * np.log(mean)) - atom**steps - steps * atom ** (steps - 1) * (mean - atom)
            terms = width * (rest * np.exp(-1j * epsilon * t) / (s * (s + 1.0))).real
            terms[0] *= 0.5 if start == 0 else 1.0
            fine, coarse = fine + float(terms.sum()), coarse + 2.0 * float(terms[::2].sum())
            tail = float(np.abs(rest).max() / t[-1])
            start += block
        # If twice the width gives the same, the rule has converged: its error falls exponentially.
        if abs(coarse - fine) <= 1e-5 * (abs(fine) + known / factor) + tail:
            break
        width /= 2.0
    return known + factor * fine, factor * (abs(coarse - fine) + tail) + steps * losses.cut
