"""A table in memory against two workers that hold half of it each: `cargo xtask bench engines --data FOLDER`.

The table is `flights3m.csv.gz` of the folder (3,000,000 rows, 6 features; the package vega-datasets has the records that
it is made from), or one of the same shape if it is not there. Both ways train with noise from a seed, so that parameters
can be compared to the last bit; memory is the highest that the operating system saw.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from pairdp import _core
from pairdp.engines import connect

ROWS, PARTS, SEED, EPSILON, DELTA = 3_000_000, 8, 1, 1.0, 1e-9
RANGES = {
    "dep_minute": (0, 1440),
    "weekday": (0, 6),
    "day_of_year": (1, 366),
    "distance": (0, 5000),
    "origin_log_flights": (0, 13),
    "dest_log_flights": (0, 13),
}
SETTINGS = json.dumps({"task": "ranking", "algorithm": "noisy-gd", "steps": 20})


def table(folder: Path) -> tuple[str, Any]:
    """Return the table and its name."""
    # Not in the processes whose memory is measured.
    import numpy as np
    import pyarrow
    from pyarrow import csv

    file = folder / "flights3m.csv.gz"
    if file.exists():
        return "flights3m", csv.read_csv(file)
    random = np.random.default_rng(0)
    columns = {name: random.uniform(*span, ROWS) for name, span in RANGES.items()}
    return "uniform", pyarrow.table(columns | {"label": 2 * random.integers(0, 2, ROWS) - 1})


def write(rows: Any, folder: Path) -> None:
    """Write the table whole and in parts, and its schema."""
    from pyarrow import parquet

    parquet.write_table(rows, folder / "whole.parquet")
    (folder / "parts").mkdir()
    size = -(-rows.num_rows // PARTS)
    for part in range(PARTS):
        parquet.write_table(rows.slice(part * size, size), folder / "parts" / f"{part}.parquet")
    lines = ["[label]", "column = 'label'", "positive = 1", "negative = -1"]
    for name, (low, high) in RANGES.items():
        lines += ["[[column]]", f"name = '{name}'", f"range = [{low}, {high}]"]
    (folder / "schema.toml").write_text("\n".join(lines) + "\n")


def peak(process: int | str = "self") -> float:
    """Return the most memory that a process ever had, in MB."""
    status = Path(f"/proc/{process}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmHWM")).split()[1]) / 1024


def run(folder: Path, engine: str) -> dict[str, Any]:
    """Train one way, in this process, and return parameters and peaks."""
    data, schema = str(folder / "parts"), str(folder / "schema.toml")
    parts, encoding, label = _core.describe_parts(data, schema, SETTINGS, 2)

    def train(ask: Any) -> list[float]:
        whole = str(folder / "whole.parquet")
        return _core.rehearse_parts(ask, whole, encoding, label, SETTINGS, EPSILON, DELTA, SEED)

    if engine == "memory":
        return {"parameters": train(None), "peak": peak()}
    asked: Any
    with connect(engine, parts) as asked:
        parameters = train(asked.ask)
        return {"parameters": parameters, "peak": max(peak(process) for process in asked.processes)}


def main(folder: Path) -> None:
    """Print the comparison, one JSON line."""
    name, rows = table(folder)
    with tempfile.TemporaryDirectory() as place:
        write(rows, Path(place))
        del rows
        found = {}
        for engine in ("memory", "local:2"):
            command = [sys.executable, __file__, "--run", place, engine]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            found[engine] = json.loads(done.stdout)
    same = found["memory"]["parameters"] == found["local:2"]["parameters"]
    share = found["local:2"]["peak"] / found["memory"]["peak"]
    line = {"bench": "engines/memory", "table": name, "same_bits": same, "worker_over_whole": round(share, 3)}
    print(json.dumps(line | {"whole_mb": round(found["memory"]["peak"]), "worker_mb": round(found["local:2"]["peak"])}))


if __name__ == "__main__":
    if sys.argv[1] == "--run":
        print(json.dumps(run(Path(sys.argv[2]), sys.argv[3])))
    else:
        main(Path(sys.argv[1]))
