"""What a proof needs to know of each algorithm."""

from __future__ import annotations

RESULTS = ("output-gd", "output-sgd", "phased-gd", "localized-sgd", "offline-pair", "matching-sgd")
"""Algorithms that release results of descents without noise."""
WHOLE_TABLE = ("noisy-gd", "output-gd", "phased-gd")
"""Algorithms whose steps go over all pairs."""
LEARN_FROM_TIMES = ("moments", "noisy-gd", "noisy-sgd", "output-gd", "phased-gd")
"""Algorithms that learn who fails first."""
HALVING = ("phased-gd", "localized-sgd")
"""Algorithms with phases."""
FOLLOW_RECORDS = ("output-sgd", "matching-sgd", "localized-sgd")
"""Algorithms whose records are followed one by one; otherwise one distance stands for all."""


def steps_in_runs(algorithm: str, pointwise: bool) -> bool:
    """Whether a step touches one or two records, so that noise was calibrated to runs of untouched steps."""
    return algorithm in ("matching-sgd", "localized-sgd") or (algorithm == "output-sgd" and pointwise)
