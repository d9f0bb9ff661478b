"""Writes the reference tables of the accountant, independently of its Rust code.

profile.csv      one-step profiles, closed forms in 50-digit arithmetic
composed.csv     eps of compositions, by contour integration in numpy
calibration.csv  noise for a budget, by root finding on the same
hidden_state.csv last-iterate ratios, by brute force over the horizon, 50 digits

Run: python3 testdata/make_accounting.py [TABLE ...]   (needs mpmath and numpy; a few minutes)
Conventions: all normals have variance 1; `shift` is sensitivity over noise, see each table's header.
"""

import csv
import math
import random
import sys
from pathlib import Path

import numpy as np
from mpmath import erfc, exp, expm1, log, log1p, mp, mpf, sqrt

mp.dps = 50
HERE = Path(__file__).parent


def write(name, header, rows):
    with open(HERE / name, "w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(header)
        table.writerows(rows)


# ---------------------------------------------------------------- one step, 50 digits
def cdf(x):
    return erfc(-x / sqrt(2)) / 2


def gaussian_delta(eps, mu):
    return cdf(mu / 2 - eps / mu) - exp(eps) * cdf(-mu / 2 - eps / mu)


def remove_delta(eps, q, d):
    """(1-q)N(0)+qN(d) against N(0), eps >= 0; also the symmetric pair."""
    return q * gaussian_delta(log1p(expm1(eps) / q), d)


def add_delta(eps, q, d):
    """N(0) against (1-q)N(0)+qN(d), eps >= 0."""
    odds = 1 + expm1(-eps) / q
    if odds <= 0:
        return mpf(0)
    x = log(odds) / d + d / 2
    return cdf(x) - exp(eps) * ((1 - q) * cdf(x) + q * cdf(x - d))


def opposed_delta(eps, weights, r):
    """sum w_k N(kr) against sum w_k N(-kr), eps >= 0."""

    def mixture(x, sign):
        return sum(w * exp(sign * k * r * x - (k * r) ** 2 / 2) for k, w in enumerate(weights))

    def gap(x):
        return log(mixture(x, 1) / mixture(x, -1)) - eps

    low, high = mpf(0), mpf(1)
    while gap(high) < 0:
        high *= 2
    for _ in range(175):
        middle = (low + high) / 2
        low, high = (middle, high) if gap(middle) < 0 else (low, middle)
    x = mpf(0) if eps == 0 else high
    upper = sum(w * cdf(k * r - x) for k, w in enumerate(weights))
    lower = sum(w * cdf(-k * r - x) for k, w in enumerate(weights))
    return upper - exp(eps) * lower


def profiles():
    points = [
        (q, d, eps)
        for q, d in [(0.01, 1.0), (2e-6, 1.0), (2 / 300, 0.2), (0.5, 2.0), (0.001, 4.0), (0.2, 0.05)]
        for eps in [0.0, 0.001, 0.05, 0.5, 2.0]
    ]
    source = random.Random(20260714)
    for _ in range(300):
        q, d = 10 ** source.uniform(-6.5, -0.01), 10 ** source.uniform(-2, 0.9)
        points.append((q, d, 10 ** source.uniform(-4, 1)))
    rows = []
    for q, d, eps in points:
        qm, dm, em = mpf(q), mpf(d), mpf(eps)
        remove, add = remove_delta(em, qm, dm), add_delta(em, qm, dm)
        opposed = opposed_delta(em, [1 - qm, qm], dm)
        rows.append([repr(q), repr(d), repr(eps)] + [mp.nstr(v, 25) for v in (remove, add, opposed)])
    write("profile.csv", ["rate", "shift", "epsilon", "symmetric", "add", "plus_minus"], rows)


# ---------------------------------------------------------------- compositions, numpy
def tail(x):
    return 0.5 * math.erfc(x / math.sqrt(2))


def second(a):
    """exp(a) - 1 - a, elementwise, without cancellation."""
    small = np.abs(a) < 0.3
    z = np.where(small, a, 0.0)
    series = np.ones_like(z)
    for k in range(18, 2, -1):
        series = 1 + z / k * series
    with np.errstate(over="ignore"):
        return np.where(small, z * z / 2 * series, np.expm1(np.where(small, 0.0, a)) - a)


class Losses:
    """Losses and log P-masses of a pair on Gauss-Legendre nodes, cut where the mass beyond is below `cut`."""

    def __init__(self, kind, q, d, cut, frequency=0.0, weights=None):
        self.kind, self.q, self.d = kind, q, d
        self.weights = weights if weights is not None else [1 - q, q]
        reach = d * (len(self.weights) - 1 if kind == "opposed" else 1)
        # The two-sided pairs are integrated over the whole line, the symmetric ones over their upper half.
        low = {"symmetric": d / 2, "opposed": 0.0}.get(kind, -39.0)
        high = 0.0
        for step in (4.0, 0.5, 0.05):
            while self.beyond(high) > cut:
                high += step
            high -= step
        high += 0.05
        if kind in ("remove", "add"):
            while tail(-low) < cut:
                low += 0.05
            low -= 0.05
        nodes, rule = np.polynomial.legendre.leggauss(20)
        xs, ws, at = [], [], low
        while at < high:
            width = min(0.5 / max(1.0, reach), high - at)
            slope = self.slope(at + width)
            width = min(width, 14.0 / max(frequency * slope, 1e-300))
            xs.append(at + width / 2 * (1 + nodes))
            ws.append(width / 2 * rule)
            at += width
        x, w = np.concatenate(xs), np.concatenate(ws)
        base = np.log(w) - x * x / 2 - 0.5 * math.log(2 * math.pi)
        if kind == "opposed":
            up, down = self.mixture(x, 1), self.mixture(x, -1)
            self.loss = np.concatenate([up - down, down - up])
            self.log_mass = np.concatenate([base + up, base + down])
        else:
            e = d * (x - d / 2)
            loss = np.where(e < 30, np.log1p(q * np.expm1(np.minimum(e, 30))), e + math.log(q) + np.log1p((1 - q) / q * np.exp(-np.maximum(e, 0))))
            if kind == "symmetric":
                self.loss = np.concatenate([loss, -loss])
                self.log_mass = np.concatenate([base + loss, base])
            elif kind == "remove":
                self.loss, self.log_mass = loss, base + loss
            else:
                self.loss, self.log_mass = -loss, base

    def mixture(self, x, sign):
        k = np.arange(len(self.weights))[:, None] * self.d
        e = sign * k * x[None, :] - k * k / 2
        w = np.asarray(self.weights)[:, None]
        plain = np.log1p((w * np.expm1(np.minimum(e, 30))).sum(0))
        top = e.max(0)
        return np.where(top < 30, plain, top + np.log((w * np.exp(e - top)).sum(0)))

    def slope(self, x):
        if self.kind == "opposed":
            h = 1e-4
            grid = np.array([x - h, x + h])
            loss = self.mixture(grid, 1) - self.mixture(grid, -1)
            return abs(loss[1] - loss[0]) / (2 * h)
        share = self.q * math.exp(min(self.d * (x - self.d / 2), 600))
        return self.d * share / (1 - self.q + share)

    def beyond(self, x):
        if self.kind == "opposed":
            return sum(w * (tail(x - k * self.d) + tail(x + k * self.d)) for k, w in enumerate(self.weights))
        return tail(x) + self.q * tail(x - self.d)

    def cumulants(self, s):
        """log M, its slope and curvature at a real point."""
        mass = np.exp(self.log_mass)
        small = np.abs(s * self.loss) < 500
        terms = np.where(small, mass * (second(np.where(small, s * self.loss, 0)) + s * second(-self.loss)), 0.0)
        tilted = np.exp(self.log_mass + s * self.loss)
        excess = (terms + np.where(small, 0.0, tilted)).sum()
        total = 1 + excess
        first = (self.loss * tilted).sum() / total
        return math.log1p(excess), first, max((self.loss**2 * tilted).sum() / total - first**2, 0.0)


def saddle(losses, count, eps):
    low, high = math.log(1e-6), math.log(1e9)
    for _ in range(90):
        middle = 0.5 * (low + high)
        s = math.exp(middle)
        with np.errstate(over="ignore", invalid="ignore"):
            k, slope, _ = losses.cumulants(s)
        rising = not math.isfinite(k) or count * slope - eps - 1 / s - 1 / (1 + s) > 0
        low, high = (low, middle) if rising else (middle, high)
    return math.exp(low)


def taper(x):
    v = np.clip(2 * x - 1, 1e-9, 1 - 1e-9)
    return np.where(x <= 0.5, 1.0, np.where(x >= 1, 0.0, 1 / (1 + np.exp(np.clip(1 / (1 - v) - 1 / v, -700, 700)))))


def log_delta(kind, q, d, count, eps, cut, weights=None, accuracy=2e-12):
    losses = Losses(kind, q, d, cut, weights=weights)
    c = saddle(losses, count, eps)
    k0, _, curvature = losses.cumulants(c)
    h = 1 / math.sqrt(count * curvature + c**-2 + (c + 1) ** -2) / 3
    n = 128
    previous = None
    while True:
        losses = Losses(kind, q, d, cut, n * h, weights)
        k0 = losses.cumulants(c)[0]
        mass = np.exp(losses.log_mass + c * losses.loss - k0)
        keep = mass * count > 1e-19
        mass, loss = mass[keep], losses.loss[keep]
        t = h * np.arange(1, n + 1)
        # M(c+it) - M(c) over M(c), one rotation per point: e^(2ia) - 1 = 2i sin(a) e^(ia).
        change = np.empty(n, complex)
        turn = np.exp(0.5j * h * loss)
        for k in range(n):
            phasor = np.exp(0.5j * t[k] * loss) if k % 512 == 0 else phasor * turn
            change[k] = 2j * np.dot(mass * phasor.imag, phasor)
        real = 0.5 * np.log1p(2 * change.real + change.real**2 + change.imag**2)
        value = count * (real + 1j * np.arctan2(change.imag, 1 + change.real))
        value = np.exp(value - 1j * t * eps) / ((1 + 1j * t / c) * (1 + 1j * t / (c + 1)))
        total = 0.5 + (value.real * taper(np.arange(1, n + 1) / n)).sum()
        if previous is not None and abs(total - previous) < accuracy * abs(total) + 1e-15 or n >= 1 << 17:
            break
        previous, n = total, 2 * n
    return count * k0 - c * eps - math.log(c * (1 + c)) + math.log(max(total, 1e-16) * h / math.pi)


def solve(gap, start, step):
    """The zero of a decreasing gap(x, accuracy): bracket and Illinois roughly, then secants at full accuracy."""
    low = high = start
    at_low = at_high = gap(start, 1e-3)
    while at_low <= 0:
        high, at_high, low = low, at_low, step(low, -1)
        at_low = gap(low, 1e-3)
    while at_high > 0:
        low, at_low, high = high, at_high, step(high, 1)
        at_high = gap(high, 1e-3)
    for _ in range(60):
        middle = high - at_high * (high - low) / (at_high - at_low)
        value = gap(middle, 1e-5)
        if abs(value) < 1e-2:
            break
        if value > 0:
            low, at_low, at_high = middle, value, at_high / 2
        else:
            high, at_high, at_low = middle, value, at_low / 2
    h = 1e-3 * abs(middle) + 1e-9
    slope = (gap(middle + h, 1e-6) - gap(middle, 1e-6)) / h
    value = gap(middle, 2e-12)
    for _ in range(4):
        following = middle - value / slope
        next_value = gap(following, 2e-12)
        if abs(next_value) < 2e-11:
            return following
        slope, middle, value = (next_value - value) / (following - middle), following, next_value
    return middle


def epsilon(kind, q, d, count, delta, weights=None, near=1.0):
    cut = 1e-11 * delta / count
    gap = lambda e, accuracy: log_delta(kind, q, d, count, e, cut, weights, accuracy) - math.log(delta)
    return solve(gap, near, lambda x, sign: x * 1.4**sign)


def binomial(n, p):
    weights, w, k = [], (1 - p) ** n, 0
    while k < 10 or w > 1e-24:
        weights.append(w)
        w *= (n - k) / (k + 1) * p / (1 - p)
        k += 1
    return weights


def gaussian_epsilon(delta, mu):
    low, high = mpf(0), mpf(1000)
    for _ in range(150):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(middle, mpf(mu)) > delta else (low, middle)
    return float(high)


# (records, batch or expected pairs, steps, shift, delta). Two rarer cases take numpy hours; the Rust tests hold their values.
FIXED = [
    (1000, 10, 1000, 1.0, 1e-5), (100, 2, 100, 1.0, 1e-5), (100, 2, 100, 2 / 0.6, 1e-5), (100, 2, 10000, 0.2, 1e-5),
    (300, 2, 300, 2.0, 1e-5), (300, 2, 300, 1.0, 1e-6), (300, 2, 90000, 1.0, 1e-5), (300, 2, 90000, 0.2, 1e-5),
    (300, 2, 90000, 0.1, 1e-6), (300, 1, 90000, 0.2, 1e-12), (300, 1, 90000, 0.02, 1e-5), (300, 1, 89999, 2 / 9.597, 1e-5),
    (1000, 2, 1000, 2.0, 1e-6), (1000, 2, 1000, 2 / 0.6, 1e-6), (1000, 2, 1000, 1.0, 1e-12), (1000, 2, 10**6, 0.1, 1e-6),
    (1000, 1, 10**6, 0.1, 1e-6), (10000, 2, 10000, 2.5, 1e-8), (10000, 2, 10**8, 0.05, 1e-8), (10000, 100, 2000, 2 / 1.5, 1e-6),
    (60000, 256, 14062, 2 / 2.2, 1e-5), (100000, 2, 100000, 2.0, 1e-7), (10**6, 2, 10**6, 2 / 0.6, 1e-6),
    (10**6, 2, 10**6, 1.0, 1e-6), (10**6, 2, 10**6, 1.0, 1e-12), (10**6, 2, 10**6, 0.02, 1e-12), (50, 25, 10, 0.5, 1e-5),
    (50, 50, 100, 2 / 30, 1e-5), (50, 50, 100, 2 / 30, 1e-12), (1000, 2, 1, 2.0, 1e-6), (1000, 500, 50, 2 / 6, 1e-6),
]
POISSON = [
    (1000, 10, 1000, 1.0, 1e-5), (60000, 256, 14062, 1 / 1.1, 1e-5), (10000, 100, 2000, 1 / 0.7, 1e-6), (300, 2, 90000, 0.2, 1e-5),
    (10**6, 2, 10**6, 1.0, 1e-6), (10**6, 2, 10**6, 1.0, 1e-12), (10**6, 2, 10**6, 1 / 0.3, 1e-6), (1000, 2, 1000, 2.0, 1e-6),
    (1000, 2, 10**6, 0.1, 1e-6), (100, 10, 500, 0.02, 1e-5), (100, 100, 64, 0.05, 1e-6), (1000, 100, 100, 1.25, 1e-6),
]
OPPOSED = [
    (1000, 10, 1000, 0.5, 1e-5), (60000, 256, 14062, 1 / 2.2, 1e-5), (300, 2, 300, 1.0, 1e-5), (300, 2, 90000, 0.1, 1e-5),
    (1000, 2, 1000, 1 / 0.6, 1e-6), (1000, 2, 1000, 1.0, 1e-6), (1000, 2, 1000, 0.5, 1e-12),
    (10**6, 2, 10**6, 1.0, 1e-12), (10000, 2, 10**8, 0.025, 1e-8), (100, 100, 100, 1 / 30, 1e-5), (50, 25, 10, 0.25, 1e-5),
]
PAIRS = [
    (300, 1, 300, 1.0, 1e-5), (1000, 1, 1000, 1 / 0.6, 1e-6), (1000, 1, 1000, 1.0, 1e-6), (1000, 50, 1000, 0.2, 1e-6),
    (1000, 500, 1000, 0.05, 1e-6), (10000, 100, 10000, 0.5, 1e-8),
]


def one_epsilon(kind, n, m, steps, d, delta):
    """(upper, lower)."""
    q = m / n
    if kind == "pairs":
        weights = binomial(n - 1, 2 * m / (n * (n - 1)))
        value = epsilon("opposed", 0.0, d, steps, delta, weights)
        return value, value
    if q == 1:
        value = gaussian_epsilon(delta, d * math.sqrt(steps) * (2 if kind == "opposed" else 1))
        return value, value
    if kind == "opposed":
        value = epsilon("opposed", q, d, steps, delta)
        return value, value
    if steps == 1:
        value = float(log1p(mpf(q) * expm1(mpf(gaussian_epsilon(delta / q, d)))))
        return value, value
    if kind == "symmetric" and n > 20000:
        # The one-sided pair takes numpy minutes here; 0 is a lower bound too.
        return epsilon("symmetric", q, d, steps, delta), 0.0
    lower = epsilon("remove", q, d, steps, delta)
    return (lower if kind == "remove" else epsilon("symmetric", q, d, steps, delta, near=lower)), lower


def compositions():
    rows = []
    for kind, cases in [("pairs", PAIRS), ("opposed", OPPOSED), ("remove", POISSON), ("symmetric", FIXED)]:
        # The rarest samples last: they take longest.
        for n, m, steps, d, delta in sorted(cases, key=lambda case: (case[0] >= 10**5 and case[3] > 1.5, case)):
            upper, lower = one_epsilon(kind, n, m, steps, d, delta)
            rows.append([kind, n, m, steps, repr(d), repr(delta), repr(upper), repr(lower)])
            print(rows[-1], flush=True)
    write("composed.csv", ["pair", "records", "batch", "steps", "shift", "delta", "epsilon", "lower"], rows)


CALIBRATION = [
    ("symmetric", 300, 2, 90000, 1, 1e-5), ("symmetric", 300, 1, 90000, 1, 1e-5), ("symmetric", 300, 1, 90000, 0.1, 1e-12),
    ("symmetric", 1000, 2, 10**6, 1, 1e-6), ("symmetric", 1000, 10, 1000, 2, 1e-5), ("symmetric", 60000, 256, 14062, 3, 1e-5),
    ("symmetric", 10000, 2, 10**8, 0.5, 1e-8), ("symmetric", 1000, 500, 50, 8, 1e-6), ("symmetric", 10**6, 2, 10**6, 0.01, 1e-8),
    ("symmetric", 300, 2, 300, 1, 1e-5), ("symmetric", 1000, 2, 1000, 1, 1e-6), ("symmetric", 5000, 2, 5000, 1, 4e-8),
    ("remove", 100, 1, 1000, 2, 1e-5), ("remove", 300, 2, 90000, 1, 1e-5), ("remove", 10, 1, 100, 8, 1e-6),
    ("remove", 1000, 1, 100000, 0.5, 1e-7), ("opposed", 100, 1, 1000, 2, 1e-5), ("opposed", 300, 2, 90000, 1, 1e-5),
    ("opposed", 1000, 2, 1000, 1, 1e-6), ("opposed", 1000, 2, 10**6, 1, 1e-6), ("opposed", 2, 1, 10, 4, 1e-5),
    ("pairs", 1000, 500, 1000, 1, 1e-6), ("pairs", 1000, 50, 1000, 4, 1e-6), ("pairs", 300, 150, 90000, 1, 1e-5),
    ("pairs", 300, 1, 300, 1, 1e-5), ("pairs", 1000, 1, 1000, 1, 1e-6),
]


def calibrations():
    rows = []
    for kind, n, m, steps, eps, delta in CALIBRATION:
        q, cut = m / n, 1e-11 * delta / steps
        weights = binomial(n - 1, 2 * m / (n * (n - 1))) if kind == "pairs" else None
        name = "opposed" if kind == "pairs" else kind
        mean = 2 * m / n if kind == "pairs" else q

        def gap(log_sigma, accuracy):
            return log_delta(name, q, math.exp(-log_sigma), steps, eps, cut, weights, accuracy) - math.log(delta)

        # Start from the central limit's noise, or about 1/2.
        start = math.log(max(mean * math.sqrt(2 * steps * math.log(1 / delta)) / eps, 0.6))
        middle = solve(gap, start, lambda x, sign: x + 0.2 * sign)
        rows.append([kind, n, m, steps, eps, repr(delta), repr(math.exp(middle))])
        print(rows[-1], flush=True)
    write("calibration.csv", ["pair", "records", "batch", "steps", "epsilon", "delta", "multiplier"], rows)


def hidden_states():
    cases = [
        (100, "1", "0.002", None, "0.05"), (1000, "1", "0.002", 2, "0.05"), (4000, "1", "0.002", 2, "0.05"),
        (10000, "1", "0.002", 2, "0.05"), (10**6, "1", "0.002", 2, "0.05"), (1000, "0.995", "0.002", None, "0.05"),
        (10**5, "0.995", "0.002", None, "0.05"), (10**5, "0.9999", "0.002", 2, "0.05"), (50, "0.9", "0.01", 1, "0.1"),
    ]
    rows = []
    for steps, c, shift, diameter, noise in cases:
        cm, s, nu = mpf(float(c)), mpf(float(shift)), mpf(float(noise))

        def square(n, d):
            total = s * (n if cm == 1 else (1 - cm**n) / (1 - cm)) + (cm**n * d)
            return total**2 / (n if cm == 1 else (1 - cm ** (2 * n)) / (1 - cm**2))

        best = square(steps, 0)
        if diameter is not None:
            best = min(best, min(square(n, diameter) for n in range(1, min(steps, 20000))))
        rows.append([steps, c, shift, "" if diameter is None else diameter, noise, mp.nstr(sqrt(best) / nu, 25)])
    write("hidden_state.csv", ["steps", "contraction", "shift", "diameter", "noise", "ratio"], rows)


if __name__ == "__main__":
    tables = {"profile": profiles, "hidden_state": hidden_states, "calibration": calibrations, "composed": compositions}
    for name in sys.argv[1:] or tables:
        tables[name]()
