"""What a score is, and how it is computed so that a row's numbers depend on nothing but the row, its place and the parameters."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BLOCK = 256
"""Rows that are computed together, by their place in the table; the last block is filled up with rows of zeros."""

SLACK = 1.0 - 2.0**-20
"""Gradients are scaled down to a little less than the bound, so that no rounding carries one beyond it."""


@runtime_checkable
class Score(Protocol):
    """What pairdp asks of a score."""

    parameters: int
    """How many parameters there are, which is public."""

    def initial(self, seed: int) -> Array:
        """Return the parameters that training starts from, by a public seed: never from records."""

    def scores(self, w: Array, X: Array) -> Array:
        """Return one number for each row."""

    def weighted_clipped_gradient(self, w: Array, X: Array, charges: Array, bound: float) -> Array:
        """Return the sum over rows of the row's charge times the gradient of its score, scaled down to ``bound`` where it is longer."""


class BlockScore:
    """Computes scores and sums in blocks of a fixed number of rows.

    Derive from it, set ``parameters``, and say what a block of :data:`BLOCK` rows gives: :meth:`block_scores` and
    :meth:`block_gradients`. A row's numbers must not depend on other rows: no batch normalisation, no statistic over rows. Blocks are always of
    one size, because libraries round the same row differently in batches of different sizes.
    """

    parameters: int

    def initial(self, seed: int) -> Array:
        """Return the parameters that training starts from, by a public seed: never from records."""
        raise NotImplementedError

    def block_scores(self, w: Array, X: Array) -> Any:
        """Return a number for each of :data:`BLOCK` rows."""
        raise NotImplementedError

    def block_gradients(self, w: Array, X: Array) -> Any:
        """Return the gradient of each row's number in ``w``: :data:`BLOCK` rows, a column for each parameter."""
        raise NotImplementedError

    def scores(self, w: Array, X: Array) -> Array:
        """Return one number for each row."""
        found = np.empty(len(X))
        for start, rows, count in blocks(X):
            found[start : start + count] = np.asarray(self.block_scores(w, rows), dtype=np.float64)[:count]
        return found

    def weighted_clipped_gradient(self, w: Array, X: Array, charges: Array, bound: float) -> Array:
        """Return the sum over rows of the row's charge times the gradient of its score, scaled down to ``bound`` where it is longer."""
        total, rest = np.zeros(self.parameters), np.zeros(self.parameters)
        for start, rows, count in blocks(X):
            of_block = np.zeros(BLOCK)
            of_block[:count] = charges[start : start + count]
            added = clipped_sum(of_block, self.block_gradients(w, rows), bound)
            # What each addition rounds away is kept (Knuth's sum of two), so that the error does not grow with the number of blocks.
            with np.errstate(all="ignore"):
                grown = total + added
                part = grown - total
                rest += (total - (grown - part)) + (added - part)
            total = grown
        return np.asarray(total + rest)


def clipped_sum(charges: Array, gradients: Any, bound: float) -> Array:
    """Return the sum of a block's gradients, each scaled down to ``bound`` where it is longer and times its charge.

    Gradients are widened to float64 before anything is done with them, so that sums of float32 code are as exact as others. A gradient with
    an entry that is not finite counts as 0, and so does one whose squares are beyond what float64 holds.

    Parameters
    ----------
    charges : ndarray of shape (n_rows,)
    gradients : array-like of shape (n_rows, n_parameters)
    bound : float

    Returns
    -------
    ndarray of shape (n_parameters,)
    """
    wide = np.array(gradients, dtype=np.float64, ndmin=2)
    with np.errstate(all="ignore"):
        lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))
        longest = bound * SLACK
        factors = np.where(lengths > longest, longest / lengths, 1.0)
    lost = ~np.isfinite(lengths)
    wide[lost], factors[lost] = 0.0, 0.0
    return np.asarray((charges * factors) @ wide)


def blocks(X: Array) -> Iterator[tuple[int, Array, int]]:
    """Yield where each block begins, its rows followed by zeros, and how many of them there are."""
    for start in range(0, len(X), BLOCK):
        rows = X[start : start + BLOCK]
        count = len(rows)
        if count < BLOCK:
            rows = np.concatenate([rows, np.zeros((BLOCK - count, X.shape[1]))])
        yield start, rows, count


def imported(name: str) -> Any:
    """Return an optional package, or say how to install it."""
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError:
        raise ImportError(f"{name} is not installed: pip install {name}") from None
