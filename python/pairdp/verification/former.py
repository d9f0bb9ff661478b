"""Certificates of version 0.1 that no longer hold, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .relations import require

if TYPE_CHECKING:
    from .facts import Facts


def check(facts: Facts) -> None:
    """Refuse what version 0.1 certified and should not have."""
    if not facts.former:
        return
    problem, metric = facts.problem, facts.problem.kind == "metric"
    capped = problem.cap is not None
    require(
        not (metric and problem.public_labels and capped),
        "version 0.1 took too little noise for public labels with a cap: a new record can push out another label",
    )
    require(
        not (metric and problem.public_labels),
        "version 0.1 announced a guarantee for whole records where its noise covers features only, or less",
    )
    require(
        not (metric and capped),
        "version 0.1 did not count how a record more changes the rounding of other distances",
    )
    require(facts.ranges is None, "version 0.1 did not state the ranges whose bins were counted")
