"""What the Python layer adds to the core: import, time and memory.

    python python/benchmarks/fit_overhead.py [records] [features]

The core is timed by calling it with what the estimator would hand over. It makes one copy of ``X``, with features
mapped to [-1, 1]; the Python layer should add none to a C-ordered float64 array.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable
from statistics import median

import numpy as np

from pairdp import PrivateRanker, _core
from pairdp._parameters import settings_of, settings_text

ROUNDS = 5


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def import_seconds() -> tuple[float, float]:
    """Return how long the parts of scikit-learn that every estimator needs take to import, and pairdp after them."""
    program = (
        "import time; start = time.perf_counter(); import sklearn.base, sklearn.utils.multiclass; "
        "between = time.perf_counter(); import pairdp; print(between - start, time.perf_counter() - between)"
    )
    runs = [subprocess.run([sys.executable, "-c", program], check=True, capture_output=True) for _ in range(ROUNDS)]
    theirs, ours = zip(*(map(float, run.stdout.split()) for run in runs), strict=True)
    return median(theirs), median(ours)


def peak_megabytes() -> float:
    # Kilobytes on Linux, bytes on macOS.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e3 if sys.platform == "linux" else 1e6)


def main(records: int, features: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(records, features))
    y = (X[:, 0] + rng.normal(size=records) > 1).astype(np.int64)
    ranker = PrivateRanker(epsilon=1.0, delta=1e-8, bounds=(-1, 1))
    before = peak_megabytes()

    targets = np.where(y == 1, 1.0, -1.0)
    columns = json.dumps({"columns": [{"name": f"x{i}", "range": [-1, 1]} for i in range(features)]})
    settings = settings_text("ranking", settings_of(ranker))

    def core() -> None:
        _core.fit(X, targets, columns, None, settings, 1.0, 1e-8)

    core()
    with_core = peak_megabytes()
    ranker.fit(X, y)
    with_python = peak_megabytes()
    times = [(seconds(core), seconds(lambda: ranker.fit(X, y))) for _ in range(ROUNDS)]
    alone, whole = (median(column) for column in zip(*times, strict=True))

    tracemalloc.start()
    ranker.fit(X, y)
    _, allocated = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    print(f"table           {records} x {features}, {X.nbytes / 1e6:.0f} MB, by {ranker.plan_['algorithm']}")
    theirs, ours = import_seconds()
    print(f"import          {theirs:.2f} s for scikit-learn, {ours:.2f} s more for pairdp")
    print(f"core alone      {alone:.3f} s")
    print(f"estimator.fit   {whole:.3f} s, ratio {whole / alone:.3f} (medians of {ROUNDS})")
    print(f"peak memory     {before:.0f} MB before, {with_core:.0f} MB with the core, {with_python:.0f} MB with fit")
    print(f"Python's part   {allocated / 1e6:.1f} MB at most, {allocated / X.nbytes:.2f} of X")


if __name__ == "__main__":
    main(*(int(argument) for argument in (*sys.argv[1:], *("1000000", "50")[len(sys.argv) - 1 :])))
