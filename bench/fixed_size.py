"""What neighbours attain under samples of fixed size, and what the proved pair claims: `fixed_size.py`.

180 of 9000 records a step, 4501 steps, noise of 2.46 sensitivities, δ = 6·10⁻⁷, one record replaced. Losses of a step are put on a grid and
composed by a Fourier transform: values to some four digits, not bounds. See proofs/sym.md.
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
print(f"the pair that is proved {epsilon([(losses, masses / masses.sum(), STEPS)]):.3f}")
