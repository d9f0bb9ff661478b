"""Clusters for storms: ``clusters.py FOLDER [--ray]`` starts what is installed, says where, and ends it with its input.

One line of JSON says where each cluster is, or why there is none: ``{"ray": {"address": ...}, "dask": {"why": ...}}``.
Ray listens on the machine's own address whatever it is told, so ``--ray`` is for a network namespace that holds nothing
but loopback, which is brought up here; the namespace takes Ray with it when it ends. Dask is bound to loopback.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

RAY_PORT = 6399


def loopback_up():
    """Bring up the loopback of a fresh namespace, which starts with it down."""
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, 0x8914, struct.pack("16sh", b"lo", 0x1 | 0x40))


def start_ray():
    """Start one node of two CPUs, so that there are two workers."""
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", f"--port={RAY_PORT}"]
    command += ["--num-cpus=2", "--include-dashboard=false", "--node-ip-address=127.0.0.1"]
    command += ["--object-store-memory=100000000", "--disable-usage-stats"]
    run = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=180)
    if run.returncode != 0:
        return {"why": f"it did not start: {run.stdout.strip()[-200:]} {run.stderr.strip()[-200:]}"}
    return {"address": f"ray:127.0.0.1:{RAY_PORT}"}


def start_dask(folder, started):
    """Start a scheduler and two workers, each with a nanny that starts it again, in process groups of their own."""
    found = folder / "scheduler.json"

    def start(program, *arguments):
        command = [sys.executable, "-m", "distributed.cli." + program, "--host", "127.0.0.1"]
        command += ["--dashboard-address", "127.0.0.1:0", *arguments]
        with open(folder / f"{len(started)}.log", "wb") as log:
            streams = {"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log}
            started.append(subprocess.Popen(command, cwd=folder, start_new_session=True, **streams))

    start("dask_scheduler", "--port", "0", "--scheduler-file", str(found))
    for name in ("one", "two"):
        start("dask_worker", "--scheduler-file", str(found), "--name", name, "--nthreads", "1")
    for _ in range(600):
        with contextlib.suppress(OSError, ValueError):
            address = json.loads(found.read_text())["address"]
            return {"address": address.replace("tcp://", "dask://") + "?workers=2"}
        time.sleep(0.1)
    return {"why": "its scheduler did not start"}


def wait_for_dask(address):
    """Wait until both workers are there."""
    from distributed import Client

    place = address.removeprefix("dask://").partition("?")[0]
    with Client(f"tcp://{place}", set_as_default=False) as client:
        client.wait_for_workers(2, timeout=120)


def main(folder, ray):
    """Start clusters, say where they are, and wait for the end of input."""
    started = []
    found = {name: {"why": "it is not installed"} for name in ("ray", "dask")}
    try:
        if ray:
            loopback_up()
        if find_spec("ray") is not None:
            found["ray"] = start_ray() if ray else {"why": "it needs a network namespace, which is not permitted here"}
        if find_spec("distributed") is not None:
            found["dask"] = start_dask(folder, started)
            if "address" in found["dask"]:
                wait_for_dask(found["dask"]["address"])
        print(json.dumps(found), flush=True)
        sys.stdin.read()
    finally:
        for process in started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


if __name__ == "__main__":
    main(Path(sys.argv[1]), "--ray" in sys.argv[2:])
