"""How stated numbers are compared with derived ones."""

from __future__ import annotations

from collections.abc import Callable

Relations = list[tuple[str, str, Callable[[], None]]]
"""Relations by name and formula, each with a function that raises a `Mismatch` where it does not hold."""

UNIT = 2.0**-52
"""Twice the largest relative error of one rounding."""
ROUNDING = 1e-12
"""How far a number may lie below what is derived: the roundings of the derivation."""
EXCESS = 1e-10
"""How far above: the roundings of the code that wrote it, which go upward."""
MAXIMUM_EXCESS = 2e-6
"""How far above, for constants that are numerical maxima: they carry a margin of a millionth."""


class Mismatch(Exception):
    """A relation that does not hold."""


def require(condition: object, message: str) -> None:
    """Raise a `Mismatch` unless the condition is true."""
    if not condition:
        raise Mismatch(message)


def covers(what: str, found: float, expected: float, excess: float = EXCESS) -> None:
    """Accept a positive number that is not below what was derived, and not far above it; NaN fails."""
    enough = expected > 0.0 and expected * (1.0 - ROUNDING) <= found <= expected * (1.0 + excess)
    require(enough, f"{what} is {found!r}, derived {float(expected)!r}")
