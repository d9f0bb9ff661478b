"""Sums over records on a Dask cluster of two machines' worth of processes, all bound to loopback."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from engine_trials import PARTS, Sums, Table, Trial, expected, faults, holder, loads, train, write_parts
from pairdp.engines import Kernel, WorkerFailed, connect

distributed = pytest.importorskip("distributed", reason="Dask is not installed")
HERE = Path(__file__).parent


@pytest.fixture(autouse=True)
def trusted(monkeypatch):
    """Say that whoever reaches this machine's loopback may see the records, which are none."""
    monkeypatch.setenv("PAIRDP_DASK_PLAIN_TCP", "trusted")


@pytest.fixture
def parts(tmp_path):
    return write_parts(tmp_path)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A scheduler and two workers, each with a nanny that starts it again, in process groups of their own."""
    folder = tmp_path_factory.mktemp("dask")
    found = folder / "scheduler.json"
    environment = {**os.environ, "PYTHONPATH": str(HERE), "OMP_NUM_THREADS": "1"}
    started = []

    def start(*arguments):
        with open(folder / f"{len(started)}.log", "wb") as log:
            command = [sys.executable, "-m", "distributed.cli." + arguments[0], "--host", "127.0.0.1", *arguments[1:]]
            started.append(
                subprocess.Popen(command, env=environment, cwd=folder, stdout=log, stderr=log, start_new_session=True)
            )

    start("dask_scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", str(found))
    for name in ("one", "two"):
        start("dask_worker", "--scheduler-file", str(found), "--name", name, "--nthreads", "1", "--no-dashboard")
    try:
        for _ in range(300):
            if found.exists():
                break
            time.sleep(0.1)
        address = json.loads(found.read_text())["address"]
        yield address, started
    finally:
        for process in started:
            end(process)


def end(process):
    """Kill a process with all that it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@pytest.fixture
def address(cluster):
    """Where the scheduler is, once both workers are there: the test before may have killed one."""
    with distributed.Client(cluster[0], set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
    return cluster[0].replace("tcp://", "dask://")


def test_dask_trains_the_same_model(address, parts, tmp_path):
    with connect(address, parts, Trial(Sums(), tmp_path)) as engine:
        assert train(engine.ask) == expected(parts)
    # Two workers hold a half each, and nothing is loaded twice.
    assert len(loads(tmp_path)) == PARTS
    assert len({process for process, _ in loads(tmp_path)}) == 2


def test_a_client_serves_as_well_and_stays_open(address, parts):
    with distributed.Client(address.replace("dask://", "tcp://"), set_as_default=False) as client:
        with connect(client, parts, Sums()) as engine:
            assert train(engine.ask, steps=3) == expected(parts, steps=3)
        assert client.submit(int, "7", pure=False).result() == 7


def test_issue_22_12_a_cluster_without_tls_is_used_only_where_that_is_said_to_be_safe(address, parts, monkeypatch):
    for said in (None, "", "yes"):
        if said is None:
            monkeypatch.delenv("PAIRDP_DASK_PLAIN_TCP")
        else:
            monkeypatch.setenv("PAIRDP_DASK_PLAIN_TCP", said)
        with pytest.raises(PermissionError, match=r"runs the code of anyone .* names no certificate here$"):
            connect(address, parts, Sums())
        with distributed.Client(address.replace("dask://", "tcp://"), set_as_default=False) as client:
            with pytest.raises(PermissionError, match=r"this cluster does not ask for one$"):
                connect(client, parts, Sums())
            assert client.submit(int, "7", pure=False).result() == 7


def test_issue_22_12_a_cluster_with_tls_needs_no_word(parts, monkeypatch, tmp_path):
    pytest.importorskip("cryptography", reason="certificates for a test are made by cryptography")
    monkeypatch.delenv("PAIRDP_DASK_PLAIN_TCP")
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    security = distributed.Security.temporary()
    options = {"protocol": "tls://", "security": security, "local_directory": str(tmp_path)}
    options |= {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with (
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster, security=security, set_as_default=False) as client,
        connect(client, parts, Sums()) as engine,
    ):
        assert train(engine.ask, steps=3) == expected(parts, steps=3)


def test_above_the_fan_in_workers_merge(address, parts, monkeypatch):
    monkeypatch.setattr("pairdp.engines._dask.FAN_IN", 2)
    with connect(f"{address}?workers=5", parts, Sums()) as engine:
        assert train(engine.ask, steps=3) == expected(parts, steps=3)


def test_one_worker_is_enough(address, parts, tmp_path):
    with connect(f"{address}?workers=1", parts, Trial(Sums(), tmp_path)) as engine:
        assert train(engine.ask, steps=3) == expected(parts, steps=3)
    assert len({process for process, _ in loads(tmp_path)}) == 1


def test_refusals_and_errors_arrive_as_everywhere(address, parts):
    refused = json.dumps({"refuse": "part 8, line 7: too few columns"})
    with pytest.raises(ValueError, match=r"^part 8, line 7: too few columns$") as error:
        connect(address, [*parts, refused], Sums())
    assert type(error.value) is ValueError
    with connect(address, parts, Sums()) as engine:
        with pytest.raises(ValueError, match=r"^ages\.csv, line 3, column 2: not a number$"):
            engine.ask(b"refuse")
        with pytest.raises(WorkerFailed, match=r"^a worker failed 4 times in a row \(KeyError\)$"):
            engine.ask(b"leak")


def test_hundreds_of_failures_change_nothing(address, tmp_path):
    table = Table(tmp_path)
    with connect(address, table.parts, Trial(Kernel(), tmp_path, errors=800, deaths=10)) as engine:
        assert table.rehearse(engine.ask) == table.rehearse(None)
    assert len(faults(tmp_path)) >= 200
    assert faults(tmp_path).count(".death") >= 1


def test_holds_go_back_to_a_worker_that_came_back(address, parts, tmp_path, monkeypatch):
    monkeypatch.setattr("pairdp.engines._dask.SPREAD_EVERY", 5)
    with connect(address, parts, Trial(Sums(), tmp_path)) as engine:
        os.kill(holder(tmp_path, parts[0]), signal.SIGKILL)
        engine.ask(bytes(40))
        engine._client.wait_for_workers(2, timeout=60)
        train(engine.ask, steps=10)
        assert len({tuple(places) for places in engine._client.who_has(engine._holds).values()}) == 2


def test_the_loss_of_a_worker_and_of_a_machine_changes_nothing(address, cluster, parts, tmp_path):
    """Last, for it leaves one worker."""
    worker = cluster[1][-1]

    def kill(step):
        if step == 5:
            os.kill(holder(tmp_path, parts[0]), signal.SIGKILL)
        if step == 15:
            end(worker)

    with connect(address, parts, Trial(Sums(), tmp_path)) as engine:
        assert train(engine.ask, kill) == expected(parts)
    assert len(loads(tmp_path)) >= PARTS + PARTS // 2
    assert holder(tmp_path, parts[0]) == holder(tmp_path, parts[-1])
