"""What the tests of all engines share: a small exact kernel, faults to inject, and training runs.

Workers import this module too, so scikit-learn, which takes long, is imported where it is needed.
"""

import hashlib
import json
import os
import signal
from pathlib import Path

import numpy as np

from pairdp import _core
from pairdp.engines import Kernel, connect

FEATURES = 5
PARTS = 8
STEPS = 30
SCALE = 2.0**20


class Sums:
    """Gradients of the logistic loss, each record's rounded to integers before they are added up."""

    def load(self, part):
        told = json.loads(part)
        if "refuse" in told:
            raise ValueError(told["refuse"])
        return np.load(told["file"])

    def partial(self, part, question):
        if question == b"refuse":
            raise ValueError("ages.csv, line 3, column 2: not a number")
        if question == b"leak":
            raise KeyError("the record of Ada Lovelace, born 1815")
        slopes = 1 / (1 + np.exp(-part[:, :-1] @ np.frombuffer(question))) - part[:, -1]
        return np.rint(slopes[:, None] * part[:, :-1] * SCALE).astype(np.int64).sum(axis=0).tobytes()

    def merge(self, a, b):
        return (np.frombuffer(a, np.int64) + np.frombuffer(b, np.int64)).tobytes()


class Trial:
    """A kernel that notes in a folder who loads what, and fails as it is told.

    Each failure happens once for a part and a question, and leaves a file. `deaths` in a thousand partials kill their
    worker, half of them when the sum is already computed; `errors` in a thousand raise something, some twice in a row.
    """

    def __init__(self, kernel, folder, errors=0, deaths=0):
        self.kernel, self.folder, self.errors, self.deaths = kernel, str(folder), errors, deaths

    def load(self, part):
        # One write, so that lines of several processes do not mix.
        with open(Path(self.folder, "loads.log"), "ab", buffering=0) as log:
            log.write(f"{os.getpid()} {name_of(part)}\n".encode())
        return name_of(part), self.kernel.load(part)

    def partial(self, part, question):
        name = hashlib.sha256(part[0].encode() + question).hexdigest()
        number = int(name, 16) % 1000
        if number < self.deaths:
            if number % 2:
                self.kernel.partial(part[1], question)
            if self.first(f"{name}.death"):
                os.kill(os.getpid(), signal.SIGKILL)
        elif number < self.deaths + self.errors and (
            self.first(f"{name}.error") or (number % 40 == 0 and self.first(f"{name}.again"))
        ):
            raise (OSError, KeyError, MemoryError)[number % 3]("1815")
        return self.kernel.partial(part[1], question)

    def merge(self, a, b):
        return self.kernel.merge(a, b)

    def first(self, name):
        try:
            os.close(os.open(os.path.join(self.folder, name), os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True


def name_of(part):
    """Return what a part is called in every run, wherever its files are: faults are to strike the same ones."""
    told = json.loads(part)
    return str(told["index"] if "index" in told else Path(told.get("file", "none")).stem)


def faults(folder):
    """Return what kinds of faults were injected, one entry for each."""
    return [file.suffix for file in folder.iterdir() if file.suffix in (".death", ".error", ".again")]


def loads(folder):
    """Return which process loaded which part, in order."""
    return [tuple(line.split()) for line in (folder / "loads.log").read_text().splitlines()]


def holder(folder, part):
    """Return the process that loaded a part last."""
    return int([process for process, name in loads(folder) if name == name_of(part)][-1])


def write_parts(folder):
    """Write a table for `Sums` as so many files, and return what their parts are called."""
    rng = np.random.default_rng(7)
    parts = []
    for i in range(PARTS):
        rows = rng.uniform(-1, 1, size=(200 + i, FEATURES + 1))
        rows[:, -1] = rows[:, 0] > rows[:, 1]
        np.save(folder / f"{i}.npy", rows)
        parts.append(json.dumps({"file": str(folder / f"{i}.npy")}))
    return parts


def train(ask, before_step=lambda step: None, steps=STEPS):
    """Descend with noise that repeats, which only a test may have; return everything that was made."""
    noise = np.random.default_rng(11)
    weights = np.zeros(FEATURES)
    states, releases = [], 0
    for step in range(steps):
        before_step(step)
        states.append(ask(weights.tobytes()))
        sums = np.frombuffer(states[-1], np.int64) + np.rint(noise.normal(scale=4 * SCALE, size=FEATURES)).astype(int)
        releases += 1
        weights = weights - sums / SCALE / 500
    return states, weights.tobytes(), releases


def expected(parts, steps=STEPS):
    """Return what training makes in one process, without any engine."""
    kernel = Sums()
    loaded = [kernel.load(part) for part in parts]

    def ask(question):
        total = bytes(8 * FEATURES)
        for part in loaded:
            total = kernel.merge(kernel.partial(part, question), total)
        return total

    return train(ask, steps=steps)


class Table:
    """A table in several files for the core, and training on it."""

    STEPS = 20
    SCHEMA = """
[label]
column = "y"
positive = 1
negative = 0
[[column]]
name = "a"
range = [-1, 1]
[[column]]
name = "b"
range = [0, 10]
"""

    def __init__(self, folder):
        from pairdp._parameters import settings_text

        rng = np.random.default_rng(5)
        self.data, self.schema = folder / "table", folder / "schema.toml"
        self.data.mkdir()
        self.schema.write_text(self.SCHEMA)
        for i in range(PARTS):
            a, b = rng.uniform(-1, 1, size=50 + i), rng.uniform(0, 10, size=50 + i)
            rows = [f"{a[j]},{b[j]},{int(5 * a[j] + b[j] > 5)}\n" for j in range(50 + i)]
            (self.data / f"{i}.csv").write_text("a,b,y\n" + "".join(rows))
        self.settings = settings_text("ranking", {"algorithm": "noisy-gd", "steps": self.STEPS})
        described = _core.describe_parts(str(self.data), str(self.schema), self.settings, 2)
        self.parts, self.encoding, self.label = described

    def rehearse(self, ask):
        """Return the parameters that training finds with noise that repeats; without `ask`, in this process."""
        facts = (str(self.data), self.encoding, self.label, self.settings, 1.0, 1e-6, 3)
        return np.array(_core.rehearse_parts(ask, *facts)).tobytes()

    def fit(self, address, kernel=None):
        """Return a certified ranker, and the number of questions that it took."""
        from pairdp import PrivateRanker

        engine = Counting(connect(address, self.parts, kernel or Kernel()))
        ranker = PrivateRanker(epsilon=1.0, delta=1e-6, algorithm="noisy-gd", steps=self.STEPS)
        return ranker.fit_partitions(self.data, self.schema, engine), engine.asked

    def refused(self, folder):
        """Return the parts of a table with one more file, which has letters where a number should be."""
        (self.data / "9.csv").write_text("a,b,y\n0.5,1815 or so,1\n")
        return _core.describe_parts(str(self.data), str(self.schema), self.settings, 2)[0]


class Counting:
    """An engine that counts."""

    def __init__(self, engine):
        self.engine, self.asked = engine, 0

    def ask(self, question):
        self.asked += 1
        return self.engine.ask(question)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.engine.close()


def public_facts(certificate):
    """Return all of a certificate but how far each noisy step went, and what follows from that."""
    released = dict(certificate["released"])
    releases = released.pop("releases")
    provenance = {name: value for name, value in certificate["provenance"].items() if name != "weights"}
    released |= {"count": len(releases), "first": releases[0]}
    return {**certificate, "released": released, "provenance": provenance}
