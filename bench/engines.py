"""What engines add to the sums that they compute: `cargo xtask bench engines [--json] [--rows N]`.

Workers hold a table in 8 parts. A question that touches no record costs what the engine costs; a gradient of the
logistic loss costs what training does. Both are asked of local processes, of Dask on loopback, and of Ray in a network
namespace of its own, with 2 workers; the former also with 1 to 8 workers, to see what each worker adds.
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
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
FEATURES, PARTS, CPUS = 100, 8, 8
STATE = 8 * 30 * (FEATURES + 1)
NOTHING = b"nothing"
PORT = 6399


class Gradients:
    """Sums of gradients in integers. A part is made, not read, for disks are not what is measured."""

    def load(self, part: str) -> Any:
        seed, rows = json.loads(part)
        rng = np.random.default_rng(seed)
        return rng.standard_normal((rows, FEATURES)), rng.random(rows) < 0.5

    def partial(self, part: Any, question: bytes) -> bytes:
        state = np.zeros(STATE // 8, np.int64)
        if question != NOTHING:
            features, labels = part
            for rows in np.array_split(np.arange(len(labels)), max(1, len(labels) // 4096)):
                some = features[rows[0] : rows[-1] + 1]
                slopes = 1 / (1 + np.exp(-some @ np.frombuffer(question))) - labels[rows[0] : rows[-1] + 1]
                state[:FEATURES] += np.rint(slopes @ some * 2.0**20).astype(np.int64)
        return state.tobytes()

    def merge(self, a: bytes, b: bytes) -> bytes:
        return (np.frombuffer(a, np.int64) + np.frombuffer(b, np.int64)).tobytes()


def milliseconds(work: Any, rounds: int) -> dict[str, float]:
    """Return the median of so many rounds, and how long nine of ten take at most."""
    work()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(1e3 * (time.perf_counter() - start))
    return {"median_ms": round(float(np.median(times)), 2), "p90_ms": round(float(np.quantile(times, 0.9)), 2)}


def measure(name: str, address: str, rows: int, rounds: int) -> Iterator[dict[str, Any]]:
    """Yield what an engine costs: with the whole table on 2 workers, then with hardly any rows on 1 to 8."""
    from pairdp.engines import connect

    question = np.full(FEATURES, 0.01).tobytes()
    parts = [json.dumps([seed, rows // PARTS]) for seed in range(PARTS)]
    start = time.perf_counter()
    with connect(address.format(2), parts, Gradients()) as engine:
        loaded = time.perf_counter() - start
        yield {"engine": name, "workers": 2, "rows": rows, "what": "connect and load", "median_ms": round(1e3 * loaded)}
        found = milliseconds(lambda: engine.ask(NOTHING), rounds)
        yield {"engine": name, "workers": 2, "rows": rows, "what": "overhead", **found}
        found = milliseconds(lambda: engine.ask(question), max(5, rounds // 20))
        yield {"engine": name, "workers": 2, "rows": rows, "what": "gradient", **found}
    few = [json.dumps([seed, 1]) for seed in range(PARTS)]
    for workers in (1, 2, 4, 8):
        with connect(address.format(workers), few, Gradients()) as engine:
            found = milliseconds(lambda: engine.ask(NOTHING), rounds)
            yield {"engine": name, "workers": workers, "rows": PARTS, "what": "overhead", **found}


def alone(rows: int, rounds: int) -> Iterator[dict[str, Any]]:
    """Yield what the sums cost in this process, without any engine."""
    kernel = Gradients()
    part = kernel.load(json.dumps([0, rows // PARTS]))
    question = np.full(FEATURES, 0.01).tobytes()
    found = milliseconds(lambda: kernel.partial(part, question), max(5, rounds // 20))
    yield {"engine": "none", "workers": 0, "rows": rows // PARTS, "what": "gradient", **found}
    state = kernel.partial(part, NOTHING)
    found = milliseconds(lambda: [kernel.merge(state, state) for _ in range(100)], rounds)
    yield {"engine": "none", "workers": 0, "rows": 0, "what": "100 merges", **found}


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
        yield address.replace("tcp://", "dask://") + "?workers={}"


def ray() -> str:
    """Start a node; only ever in a namespace of its own, which ends it."""
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", b"lo", 0x1 | 0x40))  # Loopback up.
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", f"--port={PORT}", f"--num-cpus={CPUS}"]
    command += ["--include-dashboard=false", "--disable-usage-stats", "--object-store-memory=100000000"]
    subprocess.run([*command, "--node-ip-address=127.0.0.1"], check=True, stdout=subprocess.DEVNULL)
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
        program = [sys.executable, str(HERE / "engines.py"), "--inside", "--json", *arguments]
        run = subprocess.run([*command, *program], env={**os.environ, **settings}, stdout=subprocess.PIPE, text=True)
    if run.returncode:
        print("ray: failed", file=sys.stderr)
    yield from (json.loads(line) for line in run.stdout.splitlines() if line.startswith("{"))


def results(rows: int, rounds: int) -> Iterator[dict[str, Any]]:
    """Yield all measurements."""
    yield from alone(rows, rounds)
    yield from measure("local", "local:{}", rows, rounds)
    yield from in_namespace(["--rows", str(rows), "--rounds", str(rounds)])
    with dask() as address:
        yield from measure("dask", address, rows, rounds)


def simulation_options(found: list[dict[str, Any]]) -> str:
    """Return the options of `simulate_cluster.py` that say what was measured."""

    def median(engine: str, what: str) -> dict[str, Any]:
        return next(one for one in found if (one["engine"], one["what"]) == (engine, what))

    gradient, merges = median("none", "gradient"), median("none", "100 merges")
    options = [
        f"--row-ns {1e6 * gradient['median_ms'] / gradient['rows']:.0f}",
        f"--merge-us {10 * merges['median_ms']:.1f}",
    ]
    for engine in ("ray", "dask"):
        points = [(o["workers"], o["median_ms"]) for o in found if o["engine"] == engine and o["rows"] == PARTS]
        if points:
            each, once = np.polyfit(*zip(*points, strict=True), 1)
            options.append(f"--{engine}-ms {max(once, 0):.1f} {max(each, 0):.2f}")
    return " ".join(options)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    told = parser.parse_args()
    # Workers import this module, and compute on one thread each.
    os.environ.update(PYTHONPATH=str(HERE), OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", RAY_USAGE_STATS_ENABLED="0")
    found = []
    if not (told.json or told.inside):
        packages = ", ".join(f"{name} {version(name)}" for name in ("ray", "distributed", "numpy"))
        print(f"{os.cpu_count()} processors, {packages}; load {os.getloadavg()[0]:.1f} before")
        print(f"{'engine':8} {'workers':>7} {'rows':>9}  {'what':18} {'median ms':>9} {'p90 ms':>9}")
    for one in measure("ray", ray(), told.rows, told.rounds) if told.inside else results(told.rows, told.rounds):
        found.append(one)
        if told.json:
            print(json.dumps(one), flush=True)
        else:
            p90 = one.get("p90_ms", "")
            line = f"{one['engine']:8} {one['workers']:>7} {one['rows']:>9}  {one['what']:18} {one['median_ms']:>9} {p90:>9}"
            print(line, flush=True)
    if not told.json:
        print(f"\nload {os.getloadavg()[0]:.1f} after; python3 bench/simulate_cluster.py {simulation_options(found)}")


if __name__ == "__main__":
    # Imported by its name, so that workers find the kernel where the driver did.
    import engines

    engines.main()
