"""Losses of a margin: all that a proof needs to know of each."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit


@dataclass(frozen=True)
class Margin:
    """A loss φ of a margin; q is its exponent, if it has one."""

    steepest: Callable[[Any, float], Any]
    """The largest −φ′ over margins down to −reach."""
    variation: Callable[[float, float], float]
    """How far φ′ can vary over margins within ±reach."""
    curvature: float | None = None
    """The largest φ″, if there is one."""
    entries: str = ""
    """The numbers that a certificate names with it."""
    lipschitz: bool = True
    """Whether φ′ is bounded over all margins."""
    tree: bool = False
    """Whether its slopes are added up by a tree over all scores."""


MARGINS = {
    "hinge": Margin(lambda reach, _: np.ones_like(reach), lambda *_: 1.0),
    "logistic": Margin(lambda reach, _: expit(reach), lambda reach, _: math.tanh(reach / 2.0), 0.25),
    "capped-logistic": Margin(
        lambda reach, _: np.full_like(reach, 0.5), lambda reach, _: math.tanh(reach / 2.0) / 2.0, 0.25, tree=True
    ),
    "squared": Margin(lambda reach, _: 2.0 * (1.0 + reach), lambda reach, _: 4.0 * reach, 2.0, lipschitz=False),
    "q-hinge": Margin(
        lambda reach, q: q * (1.0 + reach) ** (q - 1.0),
        lambda reach, q: q * (1.0 + reach) ** (q - 1.0) - q * max(1.0 - reach, 0.0) ** (q - 1.0),
        entries="q",
        lipschitz=False,
        tree=True,
    ),
}
