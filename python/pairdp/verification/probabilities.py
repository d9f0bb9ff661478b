"""What was released after training: ``calibration.md``.

Probabilities are not in the file: they follow from the counts wherever they are needed. Counts of a public table are outside of
the claim, and say so.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .reading import fields, number
from .relations import EXCESS, UNIT, covers, require
from .stages import check_share

if TYPE_CHECKING:
    from .facts import Facts

READING = "log-odds/1"
CELLS = 16
"""Of the stretch of scores, each with a count of either label."""


def check(facts: Facts) -> None:
    """Check the noise of the counts, and that they are what the model keeps."""
    counted, planned = facts.predictor.get("probabilities"), facts.plan.get("probabilities")
    after = [stage for stage in facts.stages if stage["kind"] == "probabilities"]
    require(len(after) == (planned is not None), "counts of scores and their plan come together")
    if planned is not None:
        planned = fields(planned, "share cells")
        require(facts.stages[-1] is after[0] and after[0]["cells"] == planned["cells"] == CELLS, "other cells")
        check_share(facts, number(planned["share"]), number(after[0]["noise"]["ratio"]))
        _noise(facts, after[0]["noise"])
        require(counted is not None, "counts of scores that the model does not have")
    if counted is not None:
        _reading(facts, fields(counted, "reading of low high noise counted counts"), after)


def _noise(facts: Facts, noise: dict[str, Any]) -> None:
    """Check the noise of the counts: a record is in one cell with its label, so at most two counts move by 1."""
    kind, two_classes = facts.released["kind"], facts.problem.kind != "metric" and facts.problem.loss != "residual"
    proved = two_classes and not facts.problem.in_time and kind in ("gradients", "moments")
    promised = facts.problem.promised
    proved = proved and facts.problem.linear
    proved = proved and facts.law in ("gaussian", "laplace") and (facts.problem.cap is None or promised)
    require(proved, "no proof for counts of scores")
    p = 2 * CELLS
    if facts.law == "laplace":
        moved, norm = (1.0 if promised else 2.0), math.sqrt(p)
    else:
        moved, norm = (1.0 if promised else math.sqrt(2.0)), 1.0
    covers("Δ", noise["sensitivity"], moved)
    covers("τ", noise["error"], facts.n * UNIT * math.sqrt(p))
    distance, ratio, bits = noise["sensitivity"] + 2.0 * norm * noise["error"], noise["ratio"], noise["lattice_bits"]
    largest = facts.n * ratio / distance
    fitting = [
        max((b for b in range(16, 31) if largest * factor <= 2.0 ** (46 - b)), default=None)
        for factor in (1.0 - 1e-9, 1.0 + 1e-9)
    ]
    require(bits in fitting, f"{bits} bits for counts up to {largest} σ")
    rounding = norm * math.sqrt(p) * (1.0 + 2.0**-7) / 2.0**bits
    covers("σ", noise["sigma"], distance / (ratio - rounding))


def _reading(facts: Facts, counted: dict[str, Any], after: list[dict[str, Any]]) -> None:
    """Check what the model says of its own counts."""
    require(counted["reading"] == READING and len(counted["counts"]) == 2 * CELLS, "counts that nobody can read")
    require(number(counted["low"]) < number(counted["high"]), "counts of no cells")
    for count in counted["counts"]:
        number(count)
    records, noise = number(counted["counted"]), number(counted["noise"])
    if counted["of"] == "public":
        require(noise == 0.0 and records >= 1.0, "counts of a public table need no noise")
        return
    require(counted["of"] == "private" and len(after) == 1, "counts of private records that were not certified")
    expected = after[0]["noise"]["sigma"] * (math.sqrt(2.0) if facts.law == "laplace" else 1.0)
    require(abs(noise - expected) <= EXCESS * expected, f"the noise of counts is {noise}, not {expected}")
    possible = 1.0 <= records <= facts.n if facts.problem.cap is not None else records == facts.n
    require(possible, f"counts of {records} records")
