"""What engines add to the sums that they compute: `cargo xtask bench engines [--json] [--rows N]`.

Two workers hold a table of 100 features in 8 files. A question that touches no record costs what the engine costs; a
step of private training costs what users wait for. Both are asked of local processes, of Ray in a network namespace of
its own, and of Dask on loopback. The former is also asked of 1 to 8 workers, to see what each adds.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import json
import os
import secrets
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial, reduce
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
from pyarrow import parquet

from pairdp import _core
from pairdp._parameters import settings_text
from pairdp.engines import Kernel, connect

HERE = Path(__file__).resolve().parent
FEATURES, PARTS, CPUS = 100, 8, 8
STEPS = 10
STATE = bytes(8 * 30 * (FEATURES + 1))
NOTHING = b"nothing"
PORT, CLIENT_PORT = 6399, 10001


# The first has answers of one number for each feature, the second of one for each pair of features.
DESCENT = settings_text("classification", {"algorithm": "noisy-gd", "steps": STEPS})
MOMENTS = settings_text("classification", {"algorithm": "moments"})


class Core(Kernel):
    """The core's kernel, and a question that it answers without a look at the records."""

    def load(self, part: str) -> Any:
        return super().load(part) if part else None

    def partial(self, part: Any, question: bytes) -> bytes:
        return STATE if question == NOTHING else super().partial(part, question)

    def merge(self, a: bytes, b: bytes) -> bytes:
        return a if a == STATE else super().merge(a, b)


class Table:
    """Made-up rows in Parquet files."""

    def __init__(self, folder: Path, rows: int) -> None:
        self.rows, self.data, self.schema = rows, folder / "table", folder / "schema.toml"
        columns = [f"x{i}" for i in range(FEATURES)]
        ranges = "".join(f'[[column]]\nname = "{name}"\nrange = [-1, 1]\n' for name in columns)
        if not self.data.exists():
            self.data.mkdir()
            self.schema.write_text(f'[label]\ncolumn = "y"\npositive = 1\nnegative = 0\n{ranges}')
            for part in range(PARTS):
                values = np.random.default_rng(part).uniform(-1, 1, size=(FEATURES, rows // PARTS))
                labels = (values[0] > values[1]).astype(np.int64)
                named = dict(zip([*columns, "y"], [*values, labels], strict=True))
                parquet.write_table(pyarrow.table(named), self.data / f"{part}.parquet", compression="none")

        self.parts, self.encoding, self.label = self.describe(DESCENT)

    def describe(self, settings: str) -> tuple[list[str], str, str]:
        return _core.describe_parts(str(self.data), str(self.schema), settings, 2)

    def train(self, ask: Callable[[bytes], bytes], settings: str) -> None:
        """Train with noise from a seed: this model is not kept."""
        _core.rehearse_parts(ask, str(self.data), self.encoding, self.label, settings, 1.0, 1e-6, 0)

    def step(self, ask: Callable[[bytes], bytes]) -> dict[str, float]:
        """Return how long the questions of a step of training take, how many there are, and how large answers are."""
        times, sizes = [], []

        def timed(question: bytes) -> bytes:
            start = time.perf_counter()
            state = ask(question)
            times.append(1e3 * (time.perf_counter() - start))
            sizes.append(len(state))
            return state

        self.train(timed, DESCENT)
        # The first question counts the rows, and in the first step workers prepare theirs.
        each = (len(times) - 1) // STEPS
        steps = [sum(times[i : i + each]) for i in range(1 + each, len(times), each)]
        return {**summary(steps), "questions": each, "state_bytes": max(sizes)}


def summary(times: list[float]) -> dict[str, float]:
    """Return the median, and how long nine of ten take at most."""
    return {"median_ms": round(float(np.median(times)), 4), "p90_ms": round(float(np.quantile(times, 0.9)), 4)}


def milliseconds(work: Callable[[], object], rounds: int) -> dict[str, float]:
    """Return how long work takes."""
    work()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(1e3 * (time.perf_counter() - start))
    return summary(times)


def measure(name: str, address: str, table: Table, rounds: int) -> Iterator[dict[str, Any]]:
    """Yield what an engine costs: with the whole table on 2 workers, then with no rows on 1 to 8."""
    facts = {"engine": name, "workers": 2, "rows": table.rows}
    start = time.perf_counter()
    with connect(address.format(2), table.parts, Core()) as engine:
        yield {**facts, "what": "connect and load", "median_ms": round(1e3 * (time.perf_counter() - start))}
        yield {**facts, "what": "overhead", **milliseconds(lambda: engine.ask(NOTHING), rounds)}
        yield {**facts, "what": "step", **table.step(engine.ask)}
    for workers in (1, 2, 4, 8):
        yield overhead(name, address, workers, rounds)


def overhead(name: str, address: str, workers: int, rounds: int) -> dict[str, Any]:
    """Return what an engine costs with no rows."""
    with connect(address.format(workers), [""] * PARTS, Core()) as engine:
        found = milliseconds(lambda: engine.ask(NOTHING), rounds)
    return {"engine": name, "workers": workers, "rows": 0, "what": "overhead", **found}


def alone(table: Table, rounds: int) -> Iterator[dict[str, Any]]:
    """Yield what sums and merging cost in one process on one thread, without any engine."""
    kernel = Kernel()
    for what, settings in (("merging states", DESCENT), ("merging moments", MOMENTS)):
        parts = table.describe(settings)[0]
        loaded = [kernel.load(part) for part in (parts if settings == DESCENT else parts[:2])]
        states: list[bytes] = []

        def ask(question: bytes, loaded: list[Any] = loaded, states: list[bytes] = states) -> bytes:
            states[:] = [kernel.partial(part, question) for part in loaded]
            return reduce(kernel.merge, states)

        if settings == DESCENT:
            yield {"engine": "none", "workers": 1, "rows": table.rows, "what": "step", **table.step(ask)}
        else:
            table.train(ask, settings)
        found = milliseconds(partial(kernel.merge, states[0], states[1]), rounds)
        yield {"engine": "none", "workers": 1, "rows": 0, "what": what, "state_bytes": len(states[0]), **found}


@contextlib.contextmanager
def dask() -> Iterator[str]:
    """Run a scheduler and workers on loopback."""
    with tempfile.TemporaryDirectory(prefix="pairdp-dask-") as folder, contextlib.ExitStack() as stack:
        file = Path(folder, "scheduler.json")

        def start(*arguments: str) -> None:
            command = [sys.executable, "-m", f"distributed.cli.dask_{arguments[0]}", "--host", "127.0.0.1"]
            with open(Path(folder, "log"), "ab") as log:
                process = subprocess.Popen(
                    [*command, "--no-dashboard", *arguments[1:]], stdout=log, stderr=log, start_new_session=True
                )
            stack.callback(lambda: (os.killpg(process.pid, signal.SIGKILL), process.wait()))

        start("scheduler", "--port", "0", "--scheduler-file", str(file))
        for _ in range(CPUS):
            start("worker", "--scheduler-file", str(file), "--nthreads", "1", "--memory-limit", "0")
        from distributed import Client

        while not file.exists():
            time.sleep(0.1)
        address = json.loads(file.read_text())["address"]
        with Client(address) as client:
            client.wait_for_workers(CPUS, timeout=120)
        # Loopback of a machine that nobody else is on.
        os.environ["PAIRDP_DASK_PLAIN_TCP"] = "trusted"
        yield address.replace("tcp://", "dask://") + "?workers={}"


def ray() -> str:
    """Start a node; only ever in a namespace of its own, which ends it."""
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", b"lo", 0x1 | 0x40))  # Loopback up.
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", f"--port={PORT}", f"--num-cpus={CPUS}"]
    command += ["--include-dashboard=false", "--disable-usage-stats", "--object-store-memory=100000000"]
    command += ["--node-ip-address=127.0.0.1", f"--ray-client-server-port={CLIENT_PORT}"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return f"ray:127.0.0.1:{PORT}?workers={{}}"


def in_namespace(arguments: list[str]) -> Iterator[dict[str, Any]]:
    """Run this program again where there is loopback and nothing else, for Ray binds every address it can."""
    command = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if os.getuid() != 0:
        command.insert(1, "--map-root-user")
    if shutil.which("unshare") is None or subprocess.run([*command, "true"], capture_output=True).returncode:
        print("ray: left out, for network namespaces are not permitted here", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory(prefix="pairdp-ray-") as folder:
        settings = {
            "HOME": folder,
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_TMPDIR": folder,
            "RAY_worker_niceness": "0",
        }
        program = [sys.executable, str(HERE / "engines.py"), "--json", *arguments]
        run = subprocess.Popen([*command, *program], env={**os.environ, **settings}, stdout=subprocess.PIPE, text=True)
        assert run.stdout is not None
        yield from (json.loads(line) for line in run.stdout if line.startswith("{"))
        if run.wait():
            print("ray: failed", file=sys.stderr)


def results(table: Table, rounds: int) -> Iterator[dict[str, Any]]:
    """Yield all measurements."""
    yield from alone(table, rounds)
    yield from measure("local", "local:{}", table, rounds)
    yield from in_namespace([f"--inside={table.data.parent}", f"--rows={table.rows}", f"--rounds={rounds}"])
    with dask() as address:
        yield from measure("dask", address, table, rounds)


def results_of_ray(table: Table, rounds: int) -> Iterator[dict[str, Any]]:
    """Yield those that are made inside the namespace."""
    yield from measure("ray", ray(), table, rounds)
    yield overhead("ray://", f"ray://127.0.0.1:{CLIENT_PORT}?workers={{}}", 2, rounds)


def shown(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}" if value >= 100 else f"{value:.2g}"


def simulation_options(found: list[dict[str, Any]]) -> str:
    """Return the options of `simulate_cluster.py` that say what was measured."""

    def median(engine: str, what: str) -> dict[str, Any]:
        return next(one for one in found if (one["engine"], one["what"]) == (engine, what))

    step, small, large = (median("none", what) for what in ("step", "merging states", "merging moments"))
    each_kb = (large["median_ms"] - small["median_ms"]) / (large["state_bytes"] - small["state_bytes"]) * 1e3
    options = [
        f"--row-ns {1e6 * step['median_ms'] / step['rows']:.0f}",
        f"--merge-us {1e3 * (small['median_ms'] - each_kb * small['state_bytes'] / 1e3):.1f} {1e3 * each_kb:.2f}",
        f"--state-kb {step['state_bytes'] / 1e3:.1f}",
    ]
    for engine in ("ray", "dask"):
        points = [(o["workers"], o["median_ms"]) for o in found if o["engine"] == engine and not o["rows"]]
        if points:
            each, once = np.polyfit(*zip(*points, strict=True), 1)
            options.append(f"--{engine}-ms {max(once, 0):.1f} {max(each, 0):.2f}")
    return " ".join(options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    told = parser.parse_args()
    # Workers import this module, and compute on one thread each.
    os.environ.update(PYTHONPATH=str(HERE), RAYON_NUM_THREADS="1", RAY_USAGE_STATS_ENABLED="0")
    with tempfile.TemporaryDirectory(prefix="pairdp-engines-") as folder:
        table = Table(told.inside or Path(folder), told.rows)
        report((results_of_ray if told.inside else results)(table, told.rounds), told.json)


def report(results: Iterator[dict[str, Any]], as_json: bool) -> None:
    """Print results as they come."""
    found = []
    if not as_json:
        packages = ", ".join(f"{name} {version(name)}" for name in ("ray", "distributed"))
        print(f"{os.cpu_count()} processors, {packages}; load {os.getloadavg()[0]:.1f} before\n")
        print("| engine | workers | rows | what | median ms | 90 % within |\n|---|---|---|---|---|---|")
    for one in results:
        found.append(one)
        if as_json:
            print(json.dumps(one), flush=True)
        else:
            cells = [str(one[name]) for name in ("engine", "workers", "rows", "what")]
            cells += [shown(one.get(name)) for name in ("median_ms", "p90_ms")]
            print(f"| {' | '.join(cells)} |", flush=True)
    if not as_json:
        print(f"\nload {os.getloadavg()[0]:.1f} after; python3 bench/simulate_cluster.py {simulation_options(found)}")


if __name__ == "__main__":
    # Imported by its name, so that workers find the kernel where the driver did.
    import engines

    engines.main()
