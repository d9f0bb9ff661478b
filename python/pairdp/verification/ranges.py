"""Tighter ranges, found from noisy counts before training: ``ranges.md``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from .reading import number
from .relations import EXCESS, covers, require

if TYPE_CHECKING:
    from .facts import Facts

BINS = 52
"""Of a column: 26 of either sign."""


def check(facts: Facts) -> None:
    """Check the counts, and that what the model encodes by follows from bins of the public ranges."""
    ranges = facts.ranges
    counted = facts.plan["tighten"]["columns"] if "tighten" in facts.plan else None
    require(counted == (None if ranges is None else ranges["columns"]), f"{counted} columns in the plan")
    public = facts.certificate.get("public_ranges")
    require((public is None) == (ranges is None), "counts and the ranges they are of come together")
    if ranges is None or public is None:
        return
    encoded = [column["range"] for column in facts.predictor["encoding"]["columns"] if "range" in column]
    require(len(public) == len(encoded) == ranges["columns"], f"{counted} columns counted, {len(encoded)} encoded")
    for found, stated in zip(encoded, public, strict=True):
        _check_edges([number(value) for value in found], [number(value) for value in stated])
    columns, bins = int(number(ranges["columns"])), int(number(ranges["bins"]))
    bits, ratio = int(number(ranges["lattice_bits"])), number(ranges["ratio"])
    proved = facts.released["kind"] in ("gradients", "moments") and facts.law == "gaussian"
    require(proved and bins == BINS and columns > 0 and 16 <= bits <= 30, "no proof for such counts")
    require(facts.n * ratio / ranges["sensitivity"] <= 2.0 ** (46 - bits) * (1.0 + EXCESS), "a coarse lattice")
    # A replaced record leaves a bin of each column and enters another.
    covers("Δ", ranges["sensitivity"], math.sqrt(2.0 * columns))
    rounding = math.sqrt(columns * bins) * (1.0 + 2.0**-7) / 2.0**bits
    covers("σ", ranges["sigma"], ranges["sensitivity"] / (ratio - rounding))


def _check_edges(found: list[float], public: list[float]) -> None:
    """Bins of either sign end at m, m/2 … m·2⁻²⁵ and 0, m the larger absolute value of the public limits."""
    low, high = public
    edges = [0.0] + [max(abs(low), abs(high)) * 2.0**-k for k in range(26)]
    inside = low <= found[0] < found[1] <= high
    at_edges = all(value in public or abs(value) in edges for value in found)
    require(inside and at_edges, f"{found} does not follow from bins of {public}")
