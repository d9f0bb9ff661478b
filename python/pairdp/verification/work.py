"""How much work a verification may be."""

from __future__ import annotations

from typing import Any

from .algorithms import FOLLOW_RECORDS
from .relations import require

A_STEP = 3e-5
"""Seconds that a step takes, whatever the number of records."""
A_RECORD = 1e-8
"""Seconds that following a record for a step takes."""
MOST_RECORDS = 20_000_000
"""Following the distances of more takes gigabytes."""
MOST_DRAWN = 20_000_000
"""So many drawn indices are held in memory at most."""


def check(algorithm: str, phases: list[dict[str, Any]], patience: float) -> None:
    """Refuse descents whose distances take longer to follow than `patience` seconds, or too much memory."""
    each = algorithm in FOLLOW_RECORDS
    steps = sum(phase["steps"] * (phase["records"] if each else 1) for phase in phases)
    seconds = sum(phase["steps"] * A_STEP for phase in phases) + steps * A_RECORD
    fits = all(phase["records"] <= MOST_RECORDS and phase["steps"] <= MOST_DRAWN for phase in phases)
    enough = seconds <= patience and (fits or not each)
    require(enough, f"the path is too long to recompute: it would take about {steps:.1e} steps")
