"""Writes the reference tables of the accountant, independently of its Rust code.

profile.csv      one-step profiles, closed forms in 50-digit arithmetic
composed.csv     eps of compositions and what neighbours attain at least, by contour integration in numpy
calibration.csv  noise for a budget, by root finding on the same
hidden_state.csv last-iterate ratios, by brute force over the horizon, 50 digits

Run: python3 testdata/make_accounting.py [TABLE ...]   (needs mpmath, numpy and scipy; about seven minutes of one core)
Every row is computed, none is copied; check_accounting.py holds the values against other computations.
Conventions: all normals have variance 1; `shift` is sensitivity over noise, see each table's header.
"""

import csv
import math
import random
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
from mpmath import erfc, exp, expm1, log, log1p, mp, mpf, sqrt
from scipy.optimize import brentq
from scipy.special import log_ndtr, ndtr

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
#
# delta(eps) = 1/(2 pi i) * integral over Re s = c of M(s)^T e^(-s eps) / (s (s+1)) ds,   M(s) = E_P[e^(sL)].
#
# Where a few large losses decide, M^T hardly decays along a line, and no c suits both the few and the many. So M is
# taken apart by size of loss: M_0 = M, and M_k+1 is M_k without the losses above a size that falls threefold each
# time, with a smooth edge. Then M^T is the sum of M_k^T - M_k+1^T, each with a line through its own saddle point, on
# which it decays as fast as the transform of the losses taken out. This ends when T steps of M_k cannot reach eps, or
# when its losses are so small that M_k^T decays like the transform of a Gaussian.


class Settings(NamedTuple):
    """What the values must not depend on: check_accounting.py varies it."""

    order: int = 20  # Gauss-Legendre nodes on a panel
    cut: float = 1e-13  # mass dropped by all steps together, relative to delta
    sharpness: float = 8.0  # of the edges between losses
    ratio: float = 3.0  # of the sizes of losses from level to level
    fineness: float = 12.0  # points on a line while t doubles, roughly, to begin with


class Case(NamedTuple):
    """A pair composed with itself; `weights` are those of N(0), N(d), N(2d), ..."""

    kind: str
    weights: tuple
    d: float
    steps: int


def second(a):
    """exp(a) - 1 - a, elementwise, without cancellation."""
    small = np.abs(a) < 0.3
    z = np.where(small, a, 0.0)
    series = np.ones_like(z)
    for k in range(18, 2, -1):
        series = 1 + z / k * series
    return np.where(small, z * z / 2 * series, np.expm1(np.where(small, 0.0, a)) - a)


def log1p_complex(z):
    """numpy's own loses the digits of a small real part."""
    with np.errstate(divide="ignore"):
        modulus = 0.5 * np.log1p(2 * z.real + z.real**2 + z.imag**2)
    return np.maximum(modulus, -1e4) + 1j * np.arctan2(z.imag, 1 + z.real)


def log_mixture(case, x, sign):
    """log of sum w_k N(sign k d) over N(0), exact also near its zero."""
    shift = np.arange(len(case.weights))[:, None] * case.d
    weight = np.asarray(case.weights)[:, None]
    e = sign * shift * x - shift**2 / 2
    top = e.max(0)
    near = np.log1p((weight * np.expm1(np.minimum(e, 30))).sum(0))
    return np.where(top < 30, near, top + np.log((weight * np.exp(e - top)).sum(0)))


BRANCHES = {"remove": 1, "add": 1, "symmetric": 2, "opposed": 2}


def branches(case, x):
    """(loss, log of P's density over that of N(0)) of the outcomes that x stands for, large losses first."""
    up = log_mixture(case, x, 1)
    if case.kind == "remove":
        return [(up, up)]
    if case.kind == "add":
        return [(-up, 0 * x)]
    if case.kind == "symmetric":
        return [(up, up), (-up, 0 * x)]
    down = log_mixture(case, x, -1)
    return [(up - down, up), (down - up, down)]


def panels(case, low, high, frequency, order):
    """Gauss-Legendre nodes and weights, fine enough for exp(itL) up to t = frequency."""
    nodes, rule = np.polynomial.legendre.leggauss(order)
    grid = np.linspace(low, high, 4000)
    slope = np.abs(np.gradient(branches(case, grid)[0][0], grid))
    widest = 0.3 / max(1.0, case.d * (len(case.weights) - 1))
    per_unit = np.maximum(1 / widest, frequency * slope / (0.7 * order))
    count = np.concatenate([[0], np.cumsum((per_unit[1:] + per_unit[:-1]) / 2 * np.diff(grid))])
    if count[-1] > 20_000:
        raise ArithmeticError(f"{case}: {count[-1]:.0f} panels")
    edges = np.interp(np.linspace(0, count[-1], math.ceil(count[-1]) + 1), count, grid)
    half = np.diff(edges)[:, None] / 2
    return (edges[:-1, None] + half * (1 + nodes)).ravel(), (half * rule).ravel()


class Losses:
    """Losses and log P-masses of one step on quadrature nodes: the large losses up to x = high, the others up to far."""

    def __init__(self, case, low, high, far, settings, frequency=0.0):
        loss, log_mass = [], []
        for branch in range(BRANCHES[case.kind]):
            x, w = panels(case, low, far if branch else high, frequency, settings.order)
            value, density = branches(case, x)[branch]
            loss.append(value)
            log_mass.append(np.log(w) - x * x / 2 - 0.5 * math.log(2 * math.pi) + density)
        self.loss, self.log_mass = np.concatenate(loss), np.concatenate(log_mass)
        self.mass, self.drift = np.exp(self.log_mass), second(-self.loss)
        self.positive = np.maximum(self.loss, 1e-100)
        self.sharpness = settings.sharpness

    def small(self, size):
        """log of the share of each node that counts as a loss below `size`: falls smoothly from 1 to 0 around it."""
        return log_ndtr(self.edge(size))

    def large(self, size):
        """The other share itself."""
        return ndtr(-self.edge(size))

    def edge(self, size):
        """A function of L/size that falls from infinity at 0, through 0 at 1, and in the end linearly."""
        return self.sharpness / 2 * (size / self.positive - self.positive / size)

    def between(self, inner, size):
        """log of the difference of two shares."""
        outer = self.small(size)
        with np.errstate(divide="ignore"):
            return outer + np.log(-np.expm1(np.minimum(self.small(inner) - outer, 0)))

    def tilted(self, s, log_share):
        """Masses times e^(sL)."""
        return np.exp(log_share + self.log_mass + s * self.loss)

    def log_moment(self, s, size):
        """log of M(s), real s > 0, with losses below `size`.

        E[expm1(sL)] is summed as E[expm1(sL) + s expm1(-L)], the same since P and Q both have mass 1: so the terms of
        first order in L cancel before they are summed.
        """
        a, share = s * self.loss, self.small(size)
        near = a < 300
        exact = np.exp(share) * second(np.where(near, a, 0)) - self.large(size) * (1 + a) + s * self.drift
        return math.log1p((self.mass * exact).sum() + self.tilted(s, np.where(near, -np.inf, share)).sum())


def lowest(function):
    """The c > 0 where a function has its only minimum, by golden section of log c; it may overflow on the right."""

    def at(x):
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                value = function(math.exp(x))
        except OverflowError:
            return math.inf
        return value if math.isfinite(value) else math.inf

    low, high, golden = -14.0, 21.0, (math.sqrt(5) - 1) / 2
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = at(left), at(right)
    while high - low > 1e-3:
        if at_left <= at_right:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = at(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = at(right)
    return math.exp(left)


class Level:
    """(M_k^T - M_k+1^T) / (s (s+1)) on a line, good for every eps near the one it was made for.

    M_k has the losses below `size`, M_k+1 those below `inner`; None stands for M_k+1 = 0.
    """

    def __init__(self, curve, size, inner, eps, accuracy):
        self.curve, self.steps, self.size, self.inner = curve, curve.case.steps, size, inner
        self.c = c = lowest(lambda s: self.log_height(s) - s * eps - math.log(s * (1 + s)))
        losses = curve.losses
        weight = losses.tilted(c, losses.small(size))
        mean = (weight * losses.loss).sum() / weight.sum()
        variance = (weight * (losses.loss - mean) ** 2).sum() / weight.sum()
        self.log_scale = self.log_height(c) - math.log(c * (1 + c))
        self.scale = 8 / math.sqrt(self.steps * variance + c**-2 + (c + 1) ** -2)
        self.settle(eps, accuracy)

    def log_height(self, s):
        """log(M_k^T - M_k+1^T) at real s."""
        losses = self.curve.losses
        if self.inner is None:
            return self.steps * losses.log_moment(s, self.size)
        bulk = losses.log_moment(s, self.inner)
        taken = losses.tilted(s, losses.between(self.inner, self.size)).sum()
        gain = self.steps * math.log1p(taken * math.exp(-bulk))
        return self.steps * bulk + (math.log(math.expm1(gain)) if gain < 30 else gain)

    def settle(self, eps, accuracy):
        h, total = 1 / self.curve.settings.fineness, math.inf
        while True:
            before, total = total, self.walk(eps, h, accuracy)
            if abs(total - before) <= accuracy * (abs(total) + 1e-3 * np.abs(self.f).sum()):
                return
            h /= 2

    def walk(self, eps, h, accuracy):
        """The integrand times dt at t = a sinh(kh), k = 0, 1, ..., until nothing is left of it. Returns its sum."""
        self.t, self.f = np.array([]), np.array([])
        while len(self.t) < 1 << 13:
            u = h * np.arange(len(self.t), len(self.t) + 16)
            t = self.scale * np.sinh(u)
            f = self.integrand(t) * self.scale * np.cosh(u) * h
            if len(self.t) == 0:
                f[0] /= 2
            self.t, self.f = np.concatenate([self.t, t]), np.concatenate([self.f, f])
            if 16 * np.abs(f).max() < 1e-4 * accuracy * np.abs(self.f).sum():
                return (self.f * np.exp(-1j * self.t * eps)).real.sum()
        raise ArithmeticError(f"{self.curve.case} at {eps}: the integral does not settle")

    def integrand(self, t):
        """Relative to its value at t = 0."""
        losses, c = self.curve.nodes(self.size, t[-1]), self.c
        log_m = self.curve.losses.log_moment(c, self.size)
        mass = losses.tilted(c, losses.small(self.size) - log_m)
        taken = losses.tilted(c, losses.between(self.inner, self.size) - log_m) if self.inner else mass
        keep = (mass * self.steps > 1e-20) | (taken > 1e-19 * taken.sum())
        turn = np.exp(0.5j * t[:, None] * losses.loss[keep])
        # e^(2ia) - 1 = 2i sin(a) e^(ia): no digits are lost where M hardly changes.
        change = (2j * turn.imag * turn) @ mass[keep]
        power = np.exp(self.steps * log1p_complex(change))
        if self.inner is not None:
            part = (turn * turn) @ taken[keep]
            rest = 1 + change - part
            bulk = np.exp(self.steps * log1p_complex(change - part))
            # Where the two are close, as M_k+1^T ((M_k / M_k+1)^T - 1), which keeps its digits.
            gain = self.steps * log1p_complex(part / np.where(rest == 0, 1, rest))
            close = np.abs(gain) < 0.5
            power = np.where(close, bulk * np.expm1(np.where(close, gain, 0)), power - bulk)
            power *= math.exp(self.steps * log_m - self.log_height(c))
        return power / ((1 + 1j * t / c) * (1 + 1j * t / (c + 1)))

    def delta(self, eps):
        """This level's part of delta and of its derivative, relative to the curve's aim."""
        terms = self.f * np.exp(-1j * self.t * eps)
        height = math.exp(min(self.log_scale - self.c * eps - self.curve.log_delta, 600)) / math.pi
        value = height * terms.real.sum()
        return value, height * (self.t * terms.imag).sum() - self.c * value


class Curve:
    """delta(eps) of a composition near one point (eps, delta), all levels together."""

    def __init__(self, case, log_delta, settings):
        self.case, self.log_delta, self.settings, self.kept = case, log_delta, settings, {}
        deviations = math.sqrt(-2 * (log_delta + math.log(settings.cut / case.steps)))
        self.low = {"symmetric": case.d / 2, "opposed": 0.0}.get(case.kind, -deviations)
        self.far = deviations + case.d * (len(case.weights) - 1)
        self.high = self.far + deviations
        self.size = self.largest()

    def build(self, eps, accuracy=1e-11):
        """All levels, for values of eps near this one."""
        self.levels, size = [], self.size
        while size and not self.negligible(size, eps):
            inner = None if self.fine(size, eps) else size / self.settings.ratio
            self.levels.append(Level(self, size, inner, eps, accuracy))
            size = inner
        return self

    def largest(self):
        """The size beyond which losses are dropped; nodes end where none is left of them."""
        self.losses = Losses(self.case, self.low, self.high, self.far, self.settings)
        if self.case.kind == "add":
            return 100 * self.losses.loss.max()
        mass = math.exp(self.log_delta) * self.settings.cut / self.case.steps

        def excess(size):
            return math.log((self.losses.mass * self.losses.large(size)).sum() / mass)

        size = brentq(excess, 1e-6 * self.losses.loss.max(), self.losses.loss.max())
        self.high = self.outermost(size)
        self.losses = self.nodes(size, 0)
        return size

    def outermost(self, size):
        """The x beyond which nothing is left of the losses below `size`."""

        def loss(x):
            return branches(self.case, np.array([x]))[0][0][0]

        return brentq(lambda x: loss(x) - 40 / self.settings.sharpness * size, self.low, 200)

    def nodes(self, size, frequency):
        """Nodes for the losses below `size` and frequencies up to a power of two, remembered."""
        key = size, math.ceil(math.log2(max(frequency, 1e-3)))
        if key not in self.kept:
            # N(0), which is P of `add`, ends where it begins; its losses have no upper end to look for.
            high = -self.low if self.case.kind == "add" else self.outermost(size)
            self.kept[key] = Losses(self.case, self.low, high, self.far, self.settings, 2.0 ** key[1])
        return self.kept[key]

    def chernoff(self, size, eps):
        def bound(c):
            return self.case.steps * self.losses.log_moment(c, size) - c * eps - math.log1p(c)

        c = lowest(bound)
        return c, bound(c)

    def negligible(self, size, eps):
        """Whether T steps of the losses below `size` contribute less than 1e-15 delta."""
        return self.chernoff(size, eps)[1] < self.log_delta - 34.5

    def fine(self, size, eps):
        """Whether losses below `size` are small on the scale of the saddle point."""
        return self.case.kind == "add" or self.chernoff(size, eps)[0] * size < 0.5

    def log_ratio(self, eps):
        """log of delta(eps) over the delta aimed at, and its derivative."""
        value, slope = np.sum([level.delta(eps) for level in self.levels], axis=0)
        return math.log(value), slope / value


def first_epsilon(case, log_delta, settings):
    """A value to begin with: Chernoff's bound, after a generous cut."""
    curve = Curve(case, log_delta, settings._replace(cut=1e-2))
    low, high = 1e-9, 1e6
    while high > 1.01 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if curve.chernoff(curve.size, middle)[1] < log_delta else (middle, high)
    return high


def epsilon(case, delta, settings=Settings()):
    """The root of delta(eps) = delta: Newton on each curve, until the next curve agrees."""
    log_delta = math.log(delta)
    eps, accuracy = first_epsilon(case, log_delta, settings), 1e-4
    curve = Curve(case, log_delta, settings)
    for _ in range(40):
        near = eps
        curve.build(eps, accuracy)
        for _ in range(40):
            value, slope = curve.log_ratio(eps)
            eps = min(max(eps - value / slope, near / 1.5), near * 1.5)
            if abs(value / slope) < 1e-14 * eps:
                break
        if accuracy < 1e-10 and abs(eps - near) < 1e-8 * eps:
            return float(eps)
        if abs(eps - near) < 1e-2 * eps:
            accuracy = 1e-11
    raise ArithmeticError(f"{case} at {delta}: no root")


def multiplier(case, eps, delta, settings=Settings()):
    """The noise, 1/d, at which delta(eps) = delta."""

    def gap(log_noise):
        return Curve(case._replace(d=math.exp(-log_noise)), math.log(delta), settings).build(eps).log_ratio(eps)[0]

    # From the central limit's noise, or about 1/2.
    mean = sum(k * w for k, w in enumerate(case.weights))
    low = high = math.log(max(mean * math.sqrt(2 * case.steps * math.log(1 / delta)) / eps, 0.6))
    while gap(low) < 0:
        low -= 0.2
    while gap(high) > 0:
        high += 0.2
    return math.exp(brentq(gap, low, high, xtol=1e-14, rtol=1e-14))


def binomial(n, p):
    """Weights of 0, 1, 2, ... hits down to 1e-30."""
    n, p = mpf(n), mpf(p)
    weights, w = [], (1 - p) ** n
    while len(weights) < 10 or w > 1e-30:
        k = len(weights)
        weights.append(float(w))
        w *= (n - k) / (k + 1) * p / (1 - p)
    return tuple(weights)


def gaussian_epsilon(delta, mu):
    low, high = mpf(0), mpf(1000)
    for _ in range(150):
        middle = (low + high) / 2
        low, high = (middle, high) if gaussian_delta(middle, mpf(mu)) > delta else (low, middle)
    return float(high)


# (records, batch or expected pairs, steps, shift, delta).
# Tables of numbers, several to a line.
# fmt: off
FIXED = [
    (1000, 10, 1000, 1.0, 1e-5), (100, 2, 100, 1.0, 1e-5), (100, 2, 100, 2 / 0.6, 1e-5), (100, 2, 10000, 0.2, 1e-5),
    (300, 2, 300, 2.0, 1e-5), (300, 2, 300, 1.0, 1e-6), (300, 2, 90000, 1.0, 1e-5), (300, 2, 90000, 0.2, 1e-5),
    (300, 2, 90000, 0.1, 1e-6), (300, 1, 90000, 0.2, 1e-12), (300, 1, 90000, 0.02, 1e-5), (300, 1, 89999, 2 / 9.597, 1e-5),
    (1000, 2, 1000, 2.0, 1e-6), (1000, 2, 1000, 2 / 0.6, 1e-6), (1000, 2, 1000, 1.0, 1e-12), (1000, 2, 10**6, 0.1, 1e-6),
    (1000, 1, 10**6, 0.1, 1e-6), (10000, 2, 10000, 2.5, 1e-8), (10000, 2, 10**8, 0.05, 1e-8), (10000, 100, 2000, 2 / 1.5, 1e-6),
    (60000, 256, 14062, 2 / 2.2, 1e-5), (100000, 2, 100000, 2.0, 1e-7), (10**6, 2, 10**6, 2 / 0.6, 1e-6),
    (10**6, 2, 10**6, 1.0, 1e-6), (10**6, 2, 10**6, 1.0, 1e-12), (10**6, 2, 10**6, 0.02, 1e-12), (10**6, 2, 10**6, 2.0, 1e-8),
    (50, 25, 10, 0.5, 1e-5),
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
    (10**6, 2, 10**6, 1.0, 1e-12), (10**6, 2, 10**6, 1 / 0.6, 1e-6), (10000, 2, 10**8, 0.025, 1e-8),
    (100, 100, 100, 1 / 30, 1e-5), (50, 25, 10, 0.25, 1e-5),
]
PAIRS = [
    (300, 1, 300, 1.0, 1e-5), (1000, 1, 1000, 1 / 0.6, 1e-6), (1000, 1, 1000, 1.0, 1e-6), (1000, 50, 1000, 0.2, 1e-6),
    (1000, 500, 1000, 0.05, 1e-6), (10000, 100, 10000, 0.5, 1e-8),
]
# fmt: on


def case_of(kind, n, m, steps, d):
    if kind == "pairs":
        return Case("opposed", binomial(n - 1, 2 * m / (n * (n - 1))), d, steps)
    return Case(kind, (1 - m / n, m / n), d, steps)


def one_way_epsilon(n, m, steps, d, delta, settings):
    """The larger of the two directions."""
    remove, add = epsilon(case_of("remove", n, m, steps, d), delta, settings), case_of("add", n, m, steps, d)
    curve = Curve(add, math.log(delta), settings)
    if curve.chernoff(curve.size, remove)[1] < math.log(delta):
        return remove
    return max(remove, epsilon(add, delta, settings))


def one_epsilon(kind, n, m, steps, d, delta, settings=Settings()):
    """(upper, lower): the pair's own value, and what some neighbours attain."""
    if n == m and kind != "pairs":
        value = gaussian_epsilon(delta, d * math.sqrt(steps) * (2 if kind == "opposed" else 1))
        return value, value
    if kind in ("pairs", "opposed"):
        value = epsilon(case_of(kind, n, m, steps, d), delta, settings)
        return value, value
    if steps == 1:
        value = float(log1p(mpf(m) / n * expm1(mpf(gaussian_epsilon(mpf(delta) * n / m, d)))))
        return value, value
    lower = one_way_epsilon(n, m, steps, d, delta, settings)
    return lower if kind == "remove" else epsilon(case_of(kind, n, m, steps, d), delta, settings), lower


def composed_cases():
    for kind, cases in [("pairs", PAIRS), ("opposed", OPPOSED), ("remove", POISSON), ("symmetric", FIXED)]:
        for case in sorted(cases):
            yield kind, *case


def compositions():
    rows = []
    for kind, n, m, steps, d, delta in composed_cases():
        upper, lower = one_epsilon(kind, n, m, steps, d, delta)
        rows.append([kind, n, m, steps, repr(d), repr(delta), repr(upper), repr(lower)])
        print(*rows[-1], flush=True)
    write("composed.csv", ["pair", "records", "batch", "steps", "shift", "delta", "epsilon", "lower"], rows)


# fmt: off
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
# fmt: on


def calibrations():
    rows = []
    for kind, n, m, steps, eps, delta in CALIBRATION:
        noise = multiplier(case_of(kind, n, m, steps, 1.0), eps, delta)
        rows.append([kind, n, m, steps, eps, repr(delta), repr(noise)])
        print(*rows[-1], flush=True)
    write("calibration.csv", ["pair", "records", "batch", "steps", "epsilon", "delta", "multiplier"], rows)


def hidden_states():
    cases = [
        (100, "1", "0.002", None, "0.05"),
        (1000, "1", "0.002", 2, "0.05"),
        (4000, "1", "0.002", 2, "0.05"),
        (10000, "1", "0.002", 2, "0.05"),
        (10**6, "1", "0.002", 2, "0.05"),
        (1000, "0.995", "0.002", None, "0.05"),
        (10**5, "0.995", "0.002", None, "0.05"),
        (10**5, "0.9999", "0.002", 2, "0.05"),
        (50, "0.9", "0.01", 1, "0.1"),
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
