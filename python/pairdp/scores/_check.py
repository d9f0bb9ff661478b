"""Evidence that a score keeps to what certificates rest on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from ._blocks import BLOCK, Array, Score

ROWS = 24
"""Rows whose gradients are looked at one by one."""
FEW = 3
"""The same in a long table."""
NEAR = 1e-6
"""How far the same row may be from itself at another place, where a library may round it otherwise."""


@dataclass
class Evidence:
    """What :func:`check` found."""

    failures: list[str] = field(default_factory=list)
    """What does not hold, with the rows that show it."""
    looked_at: list[str] = field(default_factory=list)
    """What was looked at."""

    @property
    def holds(self) -> bool:
        """Whether nothing was found: no proof, and no reason for doubt."""
        return not self.failures


def check(score: Score, X_public: ArrayLike, *, bound: float = 1.0, seed: int = 1) -> Evidence:
    """Look for faults that would make a certificate's condition false.

    Questions come in the order of training, scores of a table and then sums of its gradients, again and again. (i) A row's score and clipped gradient are the same to the last bit whatever the other rows of its block are, and the same to 1e-6 alone. (ii) No
    clipped gradient is longer than the bound: on public rows, random ones, and rows of numbers that break things. (iii) Sums are linear in
    charges, and the sum of what each row gives.

    Parameters
    ----------
    score : Score
    X_public : array-like of shape (n_rows, n_columns)
        Rows that are public or made up, as the function sees them: what ``encode`` of a fitted estimator returns, or numbers in [-1, 1].
    bound : float, default 1
        The bound on gradients, ``gradient_bound`` of the estimator.
    seed : int, default 1
        Of where training starts, and of what is drawn here.

    Returns
    -------
    Evidence

    Examples
    --------
    >>> import numpy as np
    >>> from pairdp.scores import BlockScore, check
    >>> class Linear(BlockScore):
    ...     parameters = 3
    ...     def initial(self, seed):
    ...         return np.zeros(3)
    ...     def block_scores(self, w, X):
    ...         return X @ w
    ...     def block_gradients(self, w, X):
    ...         return X
    >>> check(Linear(), np.random.default_rng(1).uniform(-1, 1, (300, 3))).holds
    True
    """
    rows = np.ascontiguousarray(X_public, dtype=np.float64)
    if rows.ndim != 2 or len(rows) < 2:
        raise ValueError("X_public must be at least two rows of numbers")
    whole, rows = rows, rows[: 2 * BLOCK]
    random = np.random.default_rng(seed)
    evidence = Evidence()
    start = np.asarray(score.initial(seed), dtype=np.float64)
    for name, w in (
        ("at the start", start),
        ("away from it", start + random.normal(size=len(start))),
        ("far from it", 30.0 * random.normal(size=len(start))),
    ):
        # Hostile rows overflow on purpose.
        with np.errstate(all="ignore"):
            findings = list(_Inspection(score, w, rows, bound, random, name).findings())
            if len(whole) > len(rows):
                findings.append(("rows of the whole table", _Inspection(score, w, whole, bound, random, name).few()))
        for what, failure in findings:
            evidence.looked_at.append(f"{name}: {what}")
            if failure is not None:
                evidence.failures.append(f"{name}: {what}: {failure}")
    return evidence


@dataclass
class _Inspection:
    """What is looked at for one vector of parameters."""

    score: Score
    w: Array
    rows: Array
    bound: float
    random: np.random.Generator
    name: str

    def findings(self) -> Iterator[tuple[str, str | None]]:
        yield "scores of rows beside others", self._scores_alone()
        yield "gradients of rows beside others", self._gradients_alone()
        yield "lengths of clipped gradients", self._lengths()
        yield "sums in charges", self._linear()

    def _scores(self, rows: Array) -> Array:
        return np.asarray(self.score.scores(self.w, rows), dtype=np.float64)

    def _gradient(self, rows: Array, charges: Array, bound: float | None = None) -> Array:
        bound = self.bound if bound is None else bound
        return np.asarray(self.score.weighted_clipped_gradient(self.w, rows, charges, bound), dtype=np.float64)

    def few(self) -> str | None:
        """Look at a few rows of a table as it is, however long."""
        return self._scores_alone(FEW) or self._gradients_alone(FEW)

    def _others(self, at: int) -> Iterator[Array]:
        """Tables with this row at its place, and other rows around it."""
        zeros = np.zeros_like(self.rows)
        for others in (zeros, self.rows[self.random.permutation(len(self.rows))], 100.0 * self.rows):
            table = others.copy()
            table[at] = self.rows[at]
            yield table

    def _places(self, count: int) -> Iterator[int]:
        yield from self.random.permutation(len(self.rows))[:count].tolist()

    def _unit(self, at: int, of: int) -> Array:
        charges = np.zeros(of)
        charges[at] = 1.0
        return charges

    def _scores_alone(self, count: int = ROWS) -> str | None:
        here = self._scores(self.rows)
        if here.shape != (len(self.rows),):
            return f"{here.shape} numbers for {len(self.rows)} rows"
        for at in self._places(count):
            for table in self._others(at):
                there = self._scores(table)
                if not np.array_equal(here[at], there[at], equal_nan=True):
                    with_row = int(np.argmax((table != self.rows).any(axis=1)))
                    return f"the score of row {at} changes when rows around it do, such as row {with_row}"
            alone = self._scores(self.rows[at : at + 1])[0]
            if not _near(here[at], alone, abs(here[at]) + 1.0):
                return f"row {at} alone has another score"
        return None

    def _trained(self, rows: Array, charges: Array) -> Array:
        """Ask for a sum as training does: after the scores of the same rows, of which nothing may be remembered."""
        self._scores(rows)
        return self._gradient(rows, charges)

    def _gradients_alone(self, count: int = ROWS) -> str | None:
        n = len(self.rows)
        for at in self._places(count):
            here = self._trained(self.rows, self._unit(at, n))
            for table in self._others(at):
                there = self._trained(table, self._unit(at, n))
                if not np.array_equal(here, there, equal_nan=True):
                    with_row = int(np.argmax((table != self.rows).any(axis=1)))
                    return f"the gradient of row {at} changes when rows around it do, such as row {with_row}"
            alone = self._trained(self.rows[at : at + 1], np.ones(1))
            if not _near(here, alone, self.bound):
                return f"row {at} alone has another gradient"
            if not np.array_equal(here, self._trained(self.rows, self._unit(at, n)), equal_nan=True):
                return f"row {at} has another gradient when it is asked about again"
        return None

    def _lengths(self) -> str | None:
        d = self.rows.shape[1]
        hostile = np.array([1e300, -1e300, 1e-300, 5e-324, np.nan, np.inf, -np.inf, 1e154, 1e38, 0.0])
        # All entries, and one beside zeros.
        broken = np.tile(hostile, (2, 1)).reshape(-1, 1).repeat(d, axis=1)
        broken[len(hostile) :, 1:] = 0.0
        random = self.random.normal(size=(ROWS, d)) * 10.0 ** self.random.integers(-3, 4, (ROWS, 1))
        # A much smaller bound as well: what is not scaled down at all is longer than that.
        for kind, rows in (("public", self.rows[:ROWS]), ("random", random), ("hostile", broken)):
            for bound in (self.bound, self.bound * 1e-3):
                for at in range(len(rows)):
                    length = _length(self._gradient(rows, self._unit(at, len(rows)), bound))
                    if not length <= bound:
                        return f"{kind} row {at} has a gradient of length {length:.6g}, and the bound is {bound:.6g}"
        return None

    def _linear(self) -> str | None:
        rows = self.rows[:ROWS]
        n = len(rows)
        a, b = self.random.normal(size=(2, n)) * 1000.0
        close = 1e-9 * self.bound * float(np.abs(a).sum() + np.abs(b).sum())
        of_a, of_b = self._gradient(rows, a), self._gradient(rows, b)
        one_by_one = sum(a[at] * self._gradient(rows, self._unit(at, n)) for at in range(n))
        for what, found, expected in (
            ("of two vectors of charges together is not the sum of the two", self._gradient(rows, a + b), of_a + of_b),
            ("of charges with their signs turned is not the opposite", self._gradient(rows, -a), -of_a),
            ("of charges three times as large is not three times as long", self._gradient(rows, 3.0 * a), 3.0 * of_a),
            ("of all rows is not the sum of what each gives by itself", of_a, one_by_one),
        ):
            if not _length(found - expected) <= close:
                return f"the sum {what}"
        return None


def _length(vector: Array) -> float:
    """Return the length of a vector; not a number where an entry is none."""
    if not np.isfinite(vector).all():
        return math.nan
    largest = float(np.abs(vector).max(initial=0.0))
    return largest * math.sqrt(math.fsum((vector / largest) ** 2)) if largest > 0.0 else 0.0


def _near(one: ArrayLike, other: ArrayLike, scale: float) -> bool:
    return bool(np.allclose(one, other, rtol=0.0, atol=NEAR * scale, equal_nan=True))
