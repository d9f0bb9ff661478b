"""What all races share: results as lines of JSON, CPU time, and the splits that `cargo xtask bench splits` wrote."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


def emit(**fields: Any) -> None:
    print(json.dumps(fields), flush=True)


def versions(*packages: str) -> None:
    """Say which versions race."""
    emit(job="versions", versions={package: version(package) for package in packages})


def option(name: str, default: str) -> str:
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


QUICK = "--quick" in sys.argv


class Timed(NamedTuple):
    result: Any
    seconds: float


def timed(work: Callable[[], Any], repeats: int = 1) -> Timed:
    """Return the result and the least CPU seconds of some runs: a busy machine does not slow these down much."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        result = work()
        best = min(best, time.process_time() - start)
    return Timed(result, best)


def race(job: str, case: str, contender: str, work: Callable[[], Any], repeats: int = 1) -> None:
    """Time work that returns one number, and report a failure as such."""
    try:
        value, seconds = timed(work, repeats)
        emit(job=job, case=case, contender=contender, value=float(value), seconds=seconds)
    except Exception as error:  # Whatever a peer raises is its result.
        emit(job=job, case=case, contender=contender, failed=f"{type(error).__name__}: {error}"[:120])


class Split(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


class Set(NamedTuple):
    name: str
    ranges: str | None
    train: int
    delta: float
    positive_rate: float | None
    epsilons: list[float]
    files: list[Path]

    def splits(self) -> Iterator[Split]:
        for file in self.files:
            rows = np.load(file)
            X, y = np.ascontiguousarray(rows[:, :-1]), (rows[:, -1] > 0).astype(int)
            yield Split(X[: self.train], y[: self.train], X[self.train :], y[self.train :])


def sets(task: str) -> list[Set]:
    folder = Path(option("--splits", "."))
    index = json.loads((folder / "index.json").read_text())
    return [
        Set(
            entry["set"],
            entry.get("ranges"),
            entry["train"],
            entry["delta"],
            entry["positive_rate"],
            [1.0] if QUICK else entry["epsilons"],
            [folder / f"{entry['set']}-{split}.npy" for split in range(entry["splits"])],
        )
        for entry in index
        if task in entry["tasks"]
    ]


def cut(X: np.ndarray, bound: float) -> np.ndarray:
    """Scale rows that are longer than a public bound down to it, and all by it."""
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return X / np.maximum(lengths, bound)


def auc(scores: np.ndarray, y: np.ndarray) -> float:
    """Return the share of pairs in order, a tie counting half."""
    _, inverse, counts = np.unique(scores, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    positives = int(y.sum())
    return float((ranks[y == 1].sum() - positives * (positives + 1) / 2) / (positives * (len(y) - positives)))


def mean_and_error(values: list[float]) -> dict[str, float]:
    spread = np.std(values, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else float("nan")
    return {"mean": float(np.mean(values)), "error": float(spread)}
