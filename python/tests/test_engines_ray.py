"""Sums over records on a Ray cluster of two nodes.

Ray binds the machine's own address whatever it is told, so these tests live in a network namespace that holds nothing
but loopback. Outside, one test runs this file again inside; there, the others run. The namespace has process ids of
its own, and takes the whole cluster with it when it ends.
"""

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
import warnings
from importlib.util import find_spec
from pathlib import Path

import pytest

from engine_trials import PARTS, Sums, Table, Trial, expected, faults, holder, loads, train, write_parts
from pairdp.engines import Kernel, WorkerFailed, connect

if find_spec("ray") is None:
    pytest.skip("Ray is not installed", allow_module_level=True)

HERE = Path(__file__).parent
INSIDE = os.environ.get("PAIRDP_TEST_NAMESPACE") == "1"
PORT = 6399
inside = pytest.mark.skipif(not INSIDE, reason="it runs inside the namespace, by the first test of this file")


def namespace():
    """Return how to run a command in a namespace of its own, or why that is not possible."""
    if shutil.which("unshare") is None:
        return None, "there is no `unshare` here"
    command = ["unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if os.getuid() != 0:
        command.insert(1, "--map-root-user")
    tried = subprocess.run([*command, "true"], capture_output=True, text=True)
    return (command, "") if tried.returncode == 0 else (None, f"namespaces are not permitted: {tried.stderr.strip()}")


@pytest.mark.skipif(INSIDE, reason="we are inside")
def test_all_of_this_inside_a_namespace_with_loopback_alone():
    command, why = namespace()
    if command is None:
        pytest.skip(why)
    # Sockets live here, and their paths must be short.
    with tempfile.TemporaryDirectory(prefix="pairdp-ray-") as folder:
        environment = {
            **os.environ,
            "PAIRDP_TEST_NAMESPACE": "1",
            "HOME": folder,
            "OMP_NUM_THREADS": "1",
            "PYTHONPATH": str(HERE),
            "RAY_AUTH_MODE": "token",
            "RAY_AUTH_TOKEN": secrets.token_hex(32),
            "RAY_TMPDIR": folder,
            "RAY_USAGE_STATS_ENABLED": "0",
            # The loss of a node is found sooner, for the sake of who waits for this test.
            "RAY_health_check_failure_threshold": "2",
            "RAY_health_check_initial_delay_ms": "1000",
            "RAY_health_check_period_ms": "500",
            "RAY_worker_niceness": "0",
        }
        pytest_again = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(HERE / Path(__file__).name)]
        run = subprocess.run(
            [*command, *pytest_again, f"--basetemp={folder}/tests"],
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )
    assert run.returncode == 0, run.stdout + run.stderr
    assert " passed, 1 skipped" in run.stdout, run.stdout


@pytest.fixture
def parts(tmp_path):
    return write_parts(tmp_path)


@pytest.fixture(scope="module")
def nodes():
    """Bring loopback up and start two nodes of two CPUs each; return the process of the second one."""
    with socket.socket() as any_socket:
        up = struct.pack("16sh", b"lo", 0x1 | 0x40)
        fcntl.ioctl(any_socket, 0x8914, up)
    start("--head", f"--port={PORT}", "--include-dashboard=false", "--node-ip-address=127.0.0.1")
    before = raylets()
    # An address of its own, so that we are driven from the first node.
    start(f"--address=127.0.0.1:{PORT}", "--node-ip-address=127.0.0.2")
    (second,) = raylets() - before
    return second


def start(*arguments):
    command = [sys.executable, "-m", "ray.scripts.scripts", "start", "--num-cpus=2"]
    command += ["--object-store-memory=100000000", "--disable-usage-stats", *arguments]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
    assert run.returncode == 0, run.stdout.decode()


def raylets():
    """Return the processes of all nodes."""
    found = set()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "comm").read_text() == "raylet\n":
                found.add(int(entry.name))
        except OSError:
            pass  # It ended while we looked.
    return found


@pytest.fixture
def address(nodes):
    return f"ray:127.0.0.1:{PORT}"


@inside
def test_ray_trains_the_same_model_and_warns_of_nothing(address, parts, tmp_path, monkeypatch):
    # Four workers are enough for a tree of two levels, then.
    monkeypatch.setattr("pairdp.engines._ray.FAN_IN", 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        engine = connect(address, parts, Trial(Sums(), tmp_path))
    with engine:
        assert train(engine.ask) == expected(parts)
    # One actor for each CPU, and nothing is loaded twice.
    assert len(loads(tmp_path)) == PARTS
    assert len({process for process, _ in loads(tmp_path)}) == 4


@inside
def test_refusals_and_errors_arrive_as_everywhere(address, parts):
    refused = json.dumps({"refuse": "part 8, line 7: too few columns"})
    with pytest.raises(ValueError, match=r"^part 8, line 7: too few columns$") as error:
        connect(f"{address}?workers=1", [*parts, refused], Sums())
    assert type(error.value) is ValueError
    with connect("ray:auto?workers=1", parts, Sums()) as engine:
        with pytest.raises(ValueError, match=r"^ages\.csv, line 3, column 2: not a number$"):
            engine.ask(b"refuse")
        with pytest.raises(WorkerFailed, match=r"^a worker failed 4 times in a row \(KeyError\)$"):
            engine.ask(b"leak")


@inside
def test_hundreds_of_failures_change_nothing(address, tmp_path):
    table = Table(tmp_path)
    with connect(f"{address}?workers=2", table.parts, Trial(Kernel(), tmp_path, errors=800, deaths=10)) as engine:
        assert table.rehearse(engine.ask) == table.rehearse(None)
    assert len(faults(tmp_path)) >= 200
    assert faults(tmp_path).count(".death") >= 1


@inside
def test_the_loss_of_a_worker_and_of_a_node_changes_nothing(address, nodes, parts, tmp_path):
    """Last, for it leaves one node."""

    lost = set()

    def kill(step):
        workers = {holder(tmp_path, part) for part in parts}
        if step == 5:
            # One of the node that stays, if it has one: where another is started is for Ray to say, and the node that goes must have
            # somebody to lose.
            os.kill(min(workers, key=lambda worker: parent(worker) == nodes), signal.SIGKILL)
        if step == 15:
            lost.update(worker for worker in workers if parent(worker) == nodes)
            for process in (nodes, *lost):
                os.kill(process, signal.SIGKILL)

    with connect(f"{address}?workers=2", parts, Trial(Sums(), tmp_path)) as engine:
        assert train(engine.ask, kill) == expected(parts)
    if not lost:
        pytest.skip("Ray had put nobody on the node that went")
    # One half for each worker that was lost.
    assert len(loads(tmp_path)) == PARTS + (1 + len(lost)) * PARTS // 2


def parent(process):
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
