"""What was released before training: ``representation.md``, for times ``survival_scores.md``.

The map of rows is not in the file: it follows from the released weights wherever it is needed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .reading import fields, number
from .relations import EXCESS, UNIT, covers, require

if TYPE_CHECKING:
    from .facts import Facts

KNOTS = 57
"""Of a column of numbers: 33 at equal distances, six more towards −1, from either side towards 0, and towards 1."""
FINE_KNOTS = 153
"""The same with 129 at equal distances."""
READING = "ranks/2"
READING_FINE = "fine-ranks/1"
"""Where the knots are the fine ones."""
READING_TIMES = "times/1"
"""Where weights are of times alone, and rows stay as ranges put them."""
TIME_CELLS = 16
"""Eight parts of the time up to the horizon, each with and without an event."""
DISTANCES = "distances/1"
"""The same where a metric is the Euclidean distance of ranks, and nothing is released after them."""
MOST_COLUMNS, FUNCTIONS = 600, 5
"""A number becomes five functions of its rank where that makes no more columns than so many, otherwise its rank."""


def read(stage: dict[str, Any]) -> dict[str, Any]:
    """Return a stage of the certificate; only its form is checked."""
    stage = fields(stage, "kind numbers categories coordinates counts_records noise")
    stage["noise"] = fields(stage["noise"], "sensitivity error ratio lattice_bits sigma")
    require(stage["kind"] == "knots", f"no stage is called {stage['kind']}")
    return stage


def maps_rows(released: Any) -> bool:
    """Whether rows are mapped by what was released."""
    return isinstance(released, dict) and released.get("reading") != READING_TIMES


def counts(columns: list[dict[str, Any]]) -> tuple[int, int, int]:
    """Return how many columns hold numbers, how many categories, and the places beside knots: of categories and empty cells."""
    places = [len(c["categories"]) + bool(c.get("other", False)) for c in columns if "categories" in c]
    empty = [c for c in columns if "categories" not in c and c.get("missing") == "own"]
    return len(columns) - len(places), len(places), sum(places) + len(empty)


def mapped(columns: list[dict[str, Any]]) -> int:
    """Return how many columns the map makes."""
    numbers, _, places = counts(columns)
    return FUNCTIONS * numbers + places if FUNCTIONS * numbers + places <= MOST_COLUMNS else numbers + places


def alone(facts: Facts) -> bool:
    """Return whether where columns lie is all that was released."""
    reading = (facts.predictor.get("representation") or {}).get("reading")
    return bool(reading == DISTANCES and facts.problem.kind == "metric" and len(facts.stages) == 1)


def _share(facts: Facts, share: float, ratio: float) -> None:
    """Check the part of μ², or of ε where ratios add up, that the plan gives to the stage."""
    require(share == 1.0 if alone(facts) else 0.0 < share < 1.0, f"a share of {share}")
    steps, power = facts.released.get("steps", 1), 2 if facts.law == "gaussian" else 1
    own, after = ratio**power, steps * number(facts.released["ratio"]) ** power
    require(abs(share * (own + after) - own) <= EXCESS * own, f"a share of {share}, used {own / (own + after)}")


def check(facts: Facts) -> None:
    """Check the noise of the weights of knots, and that they are of the model's own columns."""
    released, planned = facts.predictor.get("representation"), facts.plan.get("representation")
    present = [bool(facts.stages), released is not None, planned is not None]
    require(len(set(present)) == 1, "a stage, its plan and what it released come together")
    # What stands for a time in moments follows from a released histogram, and from nothing else.
    times = facts.problem.in_time and facts.released["kind"] == "moments"
    require(released is not None or not times, "moments of times without a histogram")
    if released is None or planned is None:
        return
    require(maps_rows(released) or times, "weights of nothing")
    require(len(facts.stages) == 1, f"{len(facts.stages)} stages")
    stage, noise = facts.stages[0], facts.stages[0]["noise"]
    columns = facts.predictor["encoding"]["columns"] if maps_rows(released) else []
    numbers, categories, places = counts(columns)
    # A target whose place an intercept can say has knots as a column of numbers has.
    residual = facts.problem.loss == "residual"
    numbers += residual and facts.released["kind"] == "moments" and facts.predictor.get("constant", 0.0) != 0.0
    secret = facts.problem.cap is not None
    knots = FINE_KNOTS if released.get("reading") == READING_FINE else KNOTS
    p = knots * numbers + places + TIME_CELLS * times + 1 + secret
    # A record's time and event are in one cell of a grid, which moves as a column of numbers does.
    numbers += times
    own = {"numbers": numbers, "categories": categories, "coordinates": p}
    planned = fields(planned, "share numbers categories coordinates")
    for name, value in own.items():
        require(stage[name] == planned[name] == value, f"{name} is {stage[name]}, the encoding has {value}")
    proved = facts.released["kind"] in ("gradients", "moments") and facts.law in ("gaussian", "laplace")
    require(proved and stage["counts_records"] is secret, "no proof for such a stage")
    # A column's weights are at least 0 and add up to 1, or ½ for categories; the label counts once; a secret n weighs √S.
    _share(facts, number(planned["share"]), number(noise["ratio"]))
    squares, half = numbers + categories / 4.0, numbers + categories / 2.0
    if facts.law == "laplace":
        moved, norm, deviation = max(2.0 * half, half + math.sqrt(squares)) + 1.0, math.sqrt(p), math.sqrt(2.0)
    else:
        moved, norm, deviation = math.sqrt(2.0 * squares + 1.0), 1.0, 1.0
    covers("Δ", noise["sensitivity"], moved)
    covers("τ", noise["error"], facts.n * UNIT * math.sqrt(p + 1.0))
    distance, ratio, bits = noise["sensitivity"] + 2.0 * norm * noise["error"], noise["ratio"], noise["lattice_bits"]
    largest = facts.n * (max(1.0, math.sqrt(squares)) if secret else 1.0) * ratio / distance
    fitting = [
        max((b for b in range(16, 31) if largest * factor <= 2.0 ** (46 - b)), default=None)
        for factor in (1.0 - 1e-9, 1.0 + 1e-9)
    ]
    require(bits in fitting, f"{bits} bits for sums up to {largest} σ")
    rounding = norm * math.sqrt(p) * (1.0 + 2.0**-7) / 2.0**bits
    covers("σ", noise["sigma"], distance / (ratio - rounding))
    released = fields(released, "reading counted noise weights")
    known = released["reading"] in (READING, READING_FINE, READING_TIMES) or alone(facts)
    require(known and len(released["weights"]) == p, "weights that nobody knows how to read")
    for weight in released["weights"]:
        number(weight)
    stated, expected = number(released["noise"]), noise["sigma"] * deviation
    require(abs(stated - expected) <= EXCESS * expected, f"the noise of weights is {stated}, not {expected}")
    records = number(released["counted"])
    possible = 1.0 <= records <= facts.n if secret else records == facts.n
    require(possible, f"weights of {records} records")
