"""Sums over records on local processes: the same bytes whatever happens to workers."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

import pairdp
from engine_trials import (
    PARTS,
    Sums,
    Table,
    Trial,
    expected,
    faults,
    holder,
    loads,
    public_facts,
    train,
    write_parts,
)
from pairdp.engines import Kernel, WorkerFailed, connect
from pairdp.engines.frames import receive, send
from pairdp.engines.hold import Hold, merged, shares


@pytest.fixture
def parts(tmp_path):
    return write_parts(tmp_path)


@pytest.mark.parametrize("workers", [1, 3, 20])
def test_any_number_of_processes_trains_the_same_model(parts, tmp_path, workers):
    with connect(f"local:{workers}", parts, Trial(Sums(), tmp_path)) as engine:
        assert len(engine.processes) == min(workers, PARTS)
        assert train(engine.ask) == expected(parts)
    assert len(loads(tmp_path)) == PARTS


def test_a_killed_process_is_started_again_and_asked_again(parts, tmp_path):
    def kill(step):
        if step in (3, 9):
            os.kill(holder(tmp_path, parts[0]), signal.SIGKILL)

    with connect("local:2", parts, Trial(Sums(), tmp_path)) as engine:
        first = engine.processes[0]
        assert train(engine.ask, kill) == expected(parts)
        assert engine.processes[0] != first
    # Each time it loads its own half of the parts again, and no other.
    assert len(loads(tmp_path)) == PARTS + 2 * PARTS // 2


def test_hundreds_of_failures_change_nothing(tmp_path):
    table = Table(tmp_path)
    with connect("local:2", table.parts, Trial(Kernel(), tmp_path, errors=700, deaths=15)) as engine:
        assert table.rehearse(engine.ask) == table.rehearse(None)
    assert len(faults(tmp_path)) >= 200
    assert faults(tmp_path).count(".death") >= 3
    assert faults(tmp_path).count(".again") >= 2


def test_failures_ask_for_nothing_more_and_change_no_certificate(tmp_path):
    """Releases, noise and every other public fact are those of an undisturbed run; the noise itself is fresh."""
    table = Table(tmp_path)
    calm, asked = table.fit("local:2")
    stormy, asked_again = table.fit("local:2", Trial(Kernel(), tmp_path, errors=400, deaths=10))
    # About 130 of 328; fewer than 50 happen less than once in 10^15 runs.
    assert len(faults(tmp_path)) >= 50
    assert asked == asked_again
    assert public_facts(calm.certificate_) == public_facts(stormy.certificate_)
    assert calm.verify()
    assert stormy.verify()
    assert calm.coef_.tolist() != stormy.coef_.tolist()


@pytest.mark.parametrize("workers", [1, 3])
def test_the_core_finds_what_it_finds_in_one_place(tmp_path, workers):
    table = Table(tmp_path)
    with connect(f"local:{workers}", table.parts) as engine:
        assert table.rehearse(engine.ask) == table.rehearse(None)


def test_the_core_refuses_files_by_place_and_never_by_value(tmp_path, capfd):
    with pytest.raises(ValueError, match=r"9\.csv: column `b`: not a number") as error:
        connect("local:2", Table(tmp_path).refused(tmp_path))
    assert type(error.value) is ValueError
    assert "1815" not in str(error.value) + "".join(capfd.readouterr())


def test_a_refusal_arrives_as_it_was_and_the_first_part_speaks(parts):
    refused = [json.dumps({"refuse": f"part {i}, line 7: too few columns"}) for i in range(2)]
    with pytest.raises(ValueError, match=r"^part 0, line 7: too few columns$") as error:
        connect("local:3", [*parts[:3], *refused], Sums())
    assert type(error.value) is ValueError
    with connect("local:2", parts, Sums()) as engine:
        with pytest.raises(ValueError, match=r"^ages\.csv, line 3, column 2: not a number$"):
            engine.ask(b"refuse")
        assert train(engine.ask) == expected(parts)


def test_other_errors_say_nothing_about_records(parts, capfd):
    with connect("local:2", parts, Sums()) as engine, pytest.raises(WorkerFailed) as error:
        engine.ask(b"leak")
    assert str(error.value) == "a worker failed 4 times in a row (KeyError)"
    assert error.value.__cause__ is None
    assert "1815" not in "".join(capfd.readouterr())


def test_a_worker_that_always_dies_is_given_up(parts, monkeypatch):
    monkeypatch.setattr("pairdp.engines.local.LOSSES", 2)
    with pytest.raises(WorkerFailed, match="died 2 times over one question"):
        connect("local:1", parts[:1], Deadly())


class Deadly(Sums):
    def load(self, part):
        os._exit(1)


def test_what_travels_is_the_recipe_and_never_a_record(parts):
    import pickle

    hold = Hold(Sums(), parts[:1])
    before = pickle.dumps(hold)
    assert hold.ready() == (b"S", pairdp.__version__.encode())
    assert pickle.dumps(hold) == before
    question = bytes(40)
    assert pickle.loads(before).reply(question) == hold.reply(question)


def test_workers_of_another_version_are_refused(parts, monkeypatch):
    monkeypatch.setattr("pairdp.engines.hold.__version__", "0.0.1")
    with pytest.raises(ValueError, match=r"a worker has pairdp .* and the driver 0\.0\.1"):
        connect("local:2", parts, Sums())


def test_workers_leave_with_the_program_that_started_them(parts):
    program = f"""
import os, signal
from engine_trials import Sums
from pairdp.engines import connect
engine = connect("local:2", {parts!r}, Sums())
print(*engine.processes, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    # The program comes from a pipe: there is no main module that a worker could import again.
    run = subprocess.run(
        [sys.executable, "-"], input=program, capture_output=True, text=True, cwd=Path(__file__).parent, timeout=60
    )
    workers = [int(word) for word in run.stdout.split()]
    assert len(workers) == 2, run.stderr
    # Their pipes were closed when `run` returned, for it waits for the end of the output that they share.
    for worker in workers:
        assert gone(worker)


def gone(process):
    for _ in range(100):
        try:
            # A zombie is gone, too; who collects it is not our business.
            if Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
            os.kill(process, 0)
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.1)
    return False


def test_a_closed_engine_says_so(parts):
    engine = connect("local:2", parts, Sums())
    engine.close()
    engine.close()
    with pytest.raises(ValueError, match="the engine is closed"):
        engine.ask(bytes(40))
    assert connect(engine, ()) is engine


def test_closing_in_another_thread_ends_a_question_and_starts_nothing_again(parts):
    engine = connect("local:2", parts, Slow())
    workers = engine._workers
    timer = threading.Timer(0.5, engine.close)
    timer.start()
    with pytest.raises(WorkerFailed, match="the engine was closed"):
        engine.ask(bytes(40))
    timer.join()
    assert all(worker.process.poll() is not None for worker in workers)


class Slow(Sums):
    def partial(self, part, question):
        time.sleep(60)


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("local:0", "at least 1"),
        ("local:two", "at least 1"),
        ("ray:auto?workers=", "at least 1"),
        ("ray:auto?cpus=3", r"\?workers=N"),
        ("spark://here:1", "dask://host:port"),
    ],
)
def test_addresses_are_checked(address, said):
    with pytest.raises(ValueError, match=said):
        connect(address, ["{}"], Sums())


def test_no_parts_are_refused():
    with pytest.raises(ValueError, match="no parts"):
        connect("local:2", [], Sums())


def test_ray_without_a_token_is_refused_before_ray_is_imported(monkeypatch):
    monkeypatch.delenv("RAY_AUTH_MODE", raising=False)
    with pytest.raises(PermissionError, match="RAY_AUTH_MODE=token"):
        connect("ray:auto", ["{}"], Sums())


class FakeRay:
    """As much of Ray as the engine uses, in this process, with workers that say what they are told to."""

    def __init__(self, surroundings):
        self.surroundings = surroundings
        self.initialised = []
        self.running = 0

    def is_initialized(self):
        return bool(self.initialised)

    def init(self, **settings):
        self.initialised.append(settings)

    def shutdown(self):
        self.initialised.clear()

    def cluster_resources(self):
        return {"CPU": 3.0}

    def remote(self, **settings):
        return lambda work: SimpleNamespace(remote=lambda *arguments: self.made(work, arguments, settings))

    def made(self, work, arguments, settings):
        assert settings["max_restarts"] == settings["max_task_retries"] == -1
        self.running += 1
        hold = work(*arguments)
        methods = {"surroundings": lambda: self.surroundings, "ready": hold.ready, "reply": hold.reply}
        return SimpleNamespace(**{name: SimpleNamespace(remote=method) for name, method in methods.items()})

    def get(self, found):
        return found

    def kill(self, worker):
        self.running -= 1


@pytest.fixture
def fake_ray(monkeypatch):
    def with_surroundings(*surroundings):
        ray = FakeRay(surroundings)
        monkeypatch.setitem(sys.modules, "ray", ray)
        monkeypatch.setenv("RAY_AUTH_MODE", "token")
        return ray

    return with_surroundings


def test_a_ray_cluster_that_asks_for_no_token_never_loads_a_record(fake_ray, parts, tmp_path):
    ray = fake_ray(False, 0)
    with pytest.raises(PermissionError, match="this cluster does not ask for one"):
        connect("ray:auto", parts, Trial(Sums(), tmp_path))
    assert not (tmp_path / "loads.log").exists()
    assert (ray.running, ray.initialised) == (0, [])


def test_ray_workers_of_low_priority_are_warned_of(fake_ray, parts):
    ray = fake_ray(True, 15)
    with pytest.warns(UserWarning, match="RAY_worker_niceness=0") as found:
        engine = connect("ray:10.0.0.1:6379", parts, Sums())
    assert found[0].filename == __file__
    assert ray.initialised[0]["address"] == "10.0.0.1:6379"
    assert ray.running == 3
    with engine:
        assert train(engine.ask) == expected(parts)
    assert (ray.running, ray.initialised) == (0, [])


def test_a_connection_to_ray_that_was_there_before_stays(fake_ray, parts):
    ray = fake_ray(True, 0)
    ray.init(address="mine")
    connect("ray://10.0.0.1:10001?workers=2", parts, Sums()).close()
    assert ray.initialised == [{"address": "mine"}]


@pytest.mark.parametrize(("address", "extra"), [("ray:auto", "ray"), ("dask://127.0.0.1:1", "dask")])
def test_engines_that_are_not_installed_are_named(address, extra):
    program = f"""
import os, sys
os.environ["RAY_AUTH_MODE"] = "token"
sys.modules["ray"] = sys.modules["distributed"] = None
import pairdp.engines
try:
    pairdp.engines.connect({address!r}, ["x"])
except ImportError as error:
    print(error)
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout.endswith(f"pip install pairdp[{extra}]\n"), run.stderr


def test_shares_are_even_and_complete():
    for items in range(1, 20):
        for workers in range(1, 25):
            split = shares(range(items), workers)
            assert [item for share in split for item in share] == list(range(items))
            sizes = [len(share) for share in split]
            assert min(sizes) >= 1
            assert max(sizes) - min(sizes) <= 1


def test_merging_stops_at_what_is_no_state():
    kernel = Sums()
    state = (1).to_bytes(8, "little")
    assert merged(kernel, [(b"S", state)] * 3) == (b"S", (3).to_bytes(8, "little"))
    assert merged(kernel, [(b"S", state), (b"E", b"no"), (b"E", b"never")]) == (b"E", b"no")
    # A state that does not fit the other is refused by the kernel.
    assert merged(kernel, [(b"S", state), (b"S", b"123")])[0] == b"E"


class Bridge:
    """`python -m pairdp.engines`, with our kernel in place of the core's, and something that prints."""

    PROGRAM = """
import sys
from engine_trials import Sums
from pairdp.engines.__main__ import main
from pairdp.engines.frames import own_stdout
answers = own_stdout()
print("engines print what they like")
main(sys.argv[1], sys.stdin.buffer, answers, Sums())
"""

    def __init__(self, address, *program):
        command = [sys.executable, *(program or ("-c", self.PROGRAM)), address]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=Path(__file__).parent
        )

    def __call__(self, tag, body):
        send(self.process.stdin, tag, body)
        return receive(self.process.stdout)

    def end(self):
        return self.process.communicate(timeout=60), self.process.returncode


def test_the_bridge_answers_in_frames_and_nothing_else(parts):
    bridge = Bridge("local:2")
    assert bridge(b"Q", bytes(40)) == (b"E", b"parts come first and once, then questions")
    assert bridge(b"P", json.dumps(parts).encode()) == (b"R", b"")

    def ask(question):
        tag, state = bridge(b"Q", question)
        assert tag == b"S"
        return state

    assert train(ask) == expected(parts)
    assert bridge(b"Q", b"refuse") == (b"E", b"ages.csv, line 3, column 2: not a number")
    (rest, printed), code = bridge.end()
    assert (rest, code) == (b"", 0)
    assert b"engines print what they like" in printed


def test_the_bridge_serves_the_core(tmp_path):
    table = Table(tmp_path)
    bridge = Bridge("local:2", "-m", "pairdp.engines")
    assert bridge(b"P", json.dumps(table.parts).encode()) == (b"R", b"")
    assert table.rehearse(lambda question: bridge(b"Q", question)[1]) == table.rehearse(None)
    assert bridge.end() == ((b"", b""), 0)


def test_the_bridge_passes_refusals_on():
    bridge = Bridge("local:1")
    assert bridge(b"P", json.dumps([json.dumps({"refuse": "stays.csv: no header"})]).encode()) == (
        b"E",
        b"stays.csv: no header",
    )
    assert bridge.end()[1] == 0


def test_the_frames_are_as_documented():
    """Bytes by hand, as a program in another language writes them."""
    command = [sys.executable, "-m", "pairdp.engines", "nowhere"]
    body = b'["x"]'
    run = subprocess.run(command, input=b"P" + bytes([len(body), *[0] * 7]) + body, capture_output=True, timeout=60)
    assert run.stdout[:1] == b"E"
    assert int.from_bytes(run.stdout[1:9], "little") == len(run.stdout) - 9
    assert b"local:N" in run.stdout[9:]
    assert (run.returncode, run.stderr) == (0, b"")
