"""What neighbours attain under samples of fixed size, and what the proved pair claims: `fixed_size.py`.

180 of 9000 records a step, 4501 steps, noise of 2.46 sensitivities, δ = 6·10⁻⁷, one record replaced. Losses of a step are put on a grid and
composed by a Fourier transform: values to some four digits, not bounds. See proofs/sym.md and proofs/triangles.md.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

RATE, SHIFT, STEPS, DELTA = 180 / 9000, 1 / 2.46, 4501, 6e-7
STEP, CELLS = 1e-4, 1 << 18

# Losses of one step, what each weighs under the first hypothesis, and how many such steps.
Losses = tuple[np.ndarray, np.ndarray, int]


def epsilon(parts: Sequence[Losses]) -> float:
    """Return ε of a composition."""
    product = np.ones(CELLS // 2 + 1, complex)
    for loss, mass, times in parts:
        at = loss / STEP + CELLS // 2
        below = np.floor(at).astype(int)
        grid = np.zeros(CELLS)
        np.add.at(grid, below, mass * (below + 1 - at))
        np.add.at(grid, below + 1, mass * (at - below))
        product *= np.fft.rfft(np.roll(grid, -CELLS // 2)) ** times
    masses = np.fft.irfft(product, CELLS)
    losses = np.fft.fftfreq(CELLS, 1 / CELLS) * STEP
    low, high = 0.0, 12.0
    for _ in range(50):
        middle = (low + high) / 2
        beyond = losses > middle
        if (masses[beyond] * -np.expm1(middle - losses[beyond])).sum() > DELTA:
            low = middle
        else:
            high = middle
    return high


line, spacing = np.linspace(-9, 9, 20001, retstep=True)
normal = np.exp(-(line**2) / 2) / math.sqrt(2 * math.pi) * spacing
ratio = 1 - RATE + RATE * np.exp(SHIFT * line - SHIFT**2 / 2)
remove, add = (np.log(ratio), normal * ratio), (-np.log(ratio), normal)
print(f"remove at every step    {epsilon([(*remove, STEPS)]):.3f}")
print(f"add at every step       {epsilon([(*add, STEPS)]):.3f}")
print(f"half of each            {epsilon([(*remove, STEPS // 2), (*add, STEPS - STEPS // 2)]):.3f}")

# Both records, and the one in their place, equally far apart.
x, y = np.meshgrid(*[np.linspace(-8.5, 8.5, 700)] * 2)
plane = np.exp(-(x**2 + y**2) / 2) / (2 * math.pi) * (17 / 699) ** 2
first = 1 - RATE + RATE * np.exp(SHIFT * x - SHIFT**2 / 2)
second = 1 - RATE + RATE * np.exp(SHIFT * (x / 2 + y * math.sqrt(3) / 2) - SHIFT**2 / 2)
print(f"corners of a triangle   {epsilon([(np.log(first / second).ravel(), (plane * first).ravel(), STEPS)]):.3f}")

likely = line > SHIFT / 2
silent = (1 - RATE) * math.erf(SHIFT / math.sqrt(8))
losses = np.concatenate([np.log(ratio[likely]), -np.log(ratio[likely]), [0.0]])
masses = np.concatenate([(normal * ratio)[likely], normal[likely], [silent]])
symmetric = (losses, masses / masses.sum(), STEPS)
print(f"the pair that is proved {epsilon([symmetric]):.3f}")


# What proofs/triangles.md proves: symmetric steps first, then equilateral ones on slow majorants of the kinks that are left.
def order(power: float, side: float) -> float:
    """Return ρ at K = `power`, the triangle having sides d, d and `side`·d."""
    along = side**2 * SHIFT / 2
    height = math.sqrt(max(side**2 * SHIFT**2 - along**2, 0))
    reach = 10 + (power + 1) * SHIFT
    tall, wide = np.meshgrid(*[np.arange(-reach, reach, 0.25)] * 2)
    odds = RATE * np.exp(height * tall - height**2 / 2)
    p = 1 - RATE + odds * np.exp(along * wide - along**2 / 2)
    q = 1 - RATE + odds * np.exp((along - SHIFT) * wide - (along - SHIFT) ** 2 / 2)
    ratio = np.expm1((0.5 - power) * np.log(p) + (0.5 + power) * np.log(q))
    return float((ratio * np.exp(-(tall**2 + wide**2) / 2)).sum() * 0.25**2 / (2 * math.pi) / (power**2 - 0.25))


def twice(power: float) -> float:
    """Return how often an equilateral step counts twice where kinks vary by at most e^{`power`·x}."""
    equal, plain = order(power, 1), order(0, 1)
    gap = max(max(order(power, math.sqrt(k / 16)) for k in range(16)) - equal, 0)
    least = plain * math.exp(-math.sqrt(2 * (equal - plain) / plain))
    mass = 1 - plain / 4
    square = 2 * (1 + (power**2 - 0.25) * equal - mass) / power**2
    return gap / least / mass * math.exp(power * math.sqrt(square / mass))


def slow(kinks: np.ndarray, losses: np.ndarray, power: float, tilt: float) -> np.ndarray:
    """Return the slow majorant of tilted kinks."""
    logs = np.log(np.maximum(kinks, 1e-15 * kinks.max())) - (tilt + 0.5) * losses
    ramp = math.log1p(power * STEP_OF_KINKS) * np.arange(len(logs))
    above = np.maximum(
        np.maximum.accumulate(logs + ramp) - ramp, np.maximum.accumulate((logs - ramp)[::-1])[::-1] + ramp
    )
    above = np.exp(above)
    spread = (1 - math.cosh(STEP_OF_KINKS / 2) / 3) * above
    spread[1:] += above[:-1] / 6
    spread[:-1] += above[1:] / 6
    return spread * np.exp((tilt + 0.5) * losses)


def of_triangles(attained: float, symmetric: Losses, equilateral: Losses, first: int, margin: float) -> float:
    """Return ε by the theorem: `first` symmetric steps, the kinks left then varying a little faster than on the way."""
    half = CELLS // 16
    grid = STEP_OF_KINKS * np.arange(-half, half)

    def law(loss: np.ndarray, mass: np.ndarray) -> np.ndarray:
        at = loss / STEP_OF_KINKS + half
        below = np.floor(at).astype(int)
        upper = np.expm1(-(at - below) * STEP_OF_KINKS) / math.expm1(-STEP_OF_KINKS)
        cells = np.bincount(below, mass * (1 - upper), 2 * half) + np.bincount(below + 1, mass * upper, 2 * half)
        return np.fft.rfft(np.roll(cells * np.exp(tilt * grid), half))

    variance = float((equilateral[1] * equilateral[0] ** 2).sum())
    slope = attained / (STEPS * variance)
    tilt = slope - 0.5
    of_symmetric, of_equilateral = law(*symmetric[:2]), law(*equilateral[:2])
    kinks = np.maximum(np.roll(np.fft.irfft(of_symmetric**first), half), 0)
    done = first
    while done < STEPS:
        power = slope + margin / math.sqrt(done * variance)
        many = STEPS - done if STEPS - done < 1.3 * done else done
        step = of_equilateral * (1 + twice(power) * (of_equilateral - 1))
        majorant = np.roll(slow(kinks, grid, power, tilt), -half)
        kinks = np.maximum(np.roll(np.fft.irfft(np.fft.rfft(majorant) * step**many), half), 0)
        done += many
    kinks *= np.exp(-tilt * grid)
    low, high = 0.0, 12.0
    for _ in range(50):
        middle = (low + high) / 2
        beyond = grid > middle
        low, high = (middle, high) if -kinks[beyond] @ np.expm1(middle - grid[beyond]) > DELTA else (low, middle)
    return high


STEP_OF_KINKS = 5e-4
equilateral = (np.log(first / second).ravel(), (plane * first).ravel(), STEPS)
print(f"proved by triangles     {of_triangles(epsilon([equilateral]), symmetric, equilateral, 64, 1.2):.3f}")


# What tables attain that are chosen at every step by how likely the outputs so far are, among nine triangles: values on a coarser grid.
def chosen(triangles: Sequence[tuple[float, float]], grid: float = 1e-3, far: int = 4500, reach: int = 1500) -> float:
    """Return ε when each step takes the worst of triangles of sides √S·d, √T·d and d, by value iteration."""
    places = np.arange(-8.5, 8.5, 0.05)
    wide, tall = np.meshgrid(places, places)
    length = 1 << 14
    spectra = []
    for s, t in triangles:
        along, inner = math.sqrt(s), (s + t - 1) / 2
        across = inner / along if s else math.sqrt(t)
        first = 1 - RATE + RATE * np.exp(SHIFT * along * wide - SHIFT**2 * s / 2)
        other = SHIFT * (across * wide + math.sqrt(max(t - across**2, 0)) * tall)
        second = 1 - RATE + RATE * np.exp(other - SHIFT**2 * t / 2)
        mass = (np.exp(-(wide**2 + tall**2) / 2) * first).ravel()
        at = (np.log(first / second) / grid).ravel()
        below = np.floor(at).astype(int)
        upper = np.expm1((below - at) * grid) / math.expm1(-grid)
        cells = np.bincount(below + reach, mass * (1 - upper), 2 * reach + 1)
        cells += np.bincount(below + reach + 1, mass * upper, 2 * reach + 1)
        spectra.append(np.fft.rfft(cells[::-1] / cells.sum(), length))
    ratios = grid * np.arange(-far, far + 1)
    beyond = -np.expm1(-ratios[-1] - grid * np.arange(1, reach + 1))
    values = np.maximum(-np.expm1(-ratios), 0)
    for _ in range(STEPS):
        spectrum = np.fft.rfft(np.concatenate([np.zeros(reach), values, beyond]), length)
        steps = [np.fft.irfft(spectrum * one, length)[2 * reach :][: 2 * far + 1] for one in spectra]
        values = np.clip(np.max(steps, axis=0), 0, 1)
    return -float(np.interp(math.log(DELTA), np.log(np.maximum(values, 1e-18)), ratios))


some = [(1.0, 1.0), *[pair for s in (0.0, 0.05, 0.3, 0.7) for pair in ((s, 1.0), (1.0, s))]]
print(f"corners of a triangle   {chosen(some[:1]):.3f} on a coarser grid")
print(f"the worst of nine       {chosen(some):.3f} on that grid")
