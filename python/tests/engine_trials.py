"""What the tests of all engines share: a small exact kernel, faults to inject, and a training run.

Workers import this module too, so it needs NumPy only.
"""

import hashlib
import json
import os
import signal
import threading
from pathlib import Path

import numpy as np

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
        # One write, so that lines of several processes do not mix.
        with open(Path(told["file"]).with_name("loads.log"), "ab", buffering=0) as log:
            log.write(f"{os.getpid()} {Path(told['file']).name}\n".encode())
        return told["file"], np.load(told["file"])

    def partial(self, part, question):
        if question == b"refuse":
            raise ValueError("ages.csv, line 3, column 2: not a number")
        if question == b"leak":
            raise KeyError("the record of Ada Lovelace, born 1815")
        table = part[1]
        slopes = 1 / (1 + np.exp(-table[:, :-1] @ np.frombuffer(question))) - table[:, -1]
        return np.rint(slopes[:, None] * table[:, :-1] * SCALE).astype(np.int64).sum(axis=0).tobytes()

    def merge(self, a, b):
        return (np.frombuffer(a, np.int64) + np.frombuffer(b, np.int64)).tobytes()


class Faulty(Sums):
    """The same, with failures: each happens once for a part and a question, and leaves a file in a folder.

    `deaths` in a thousand partials kill their worker, half of them when the sum is already computed; as many as
    `errors` in a thousand raise something, a few of those twice in a row.
    """

    def __init__(self, folder, errors, deaths):
        self.folder, self.errors, self.deaths = str(folder), errors, deaths

    def partial(self, part, question):
        name = hashlib.sha256(Path(part[0]).name.encode() + question).hexdigest()
        number = int(name, 16) % 1000
        if number < self.deaths:
            state = super().partial(part, question) if number % 2 else None
            if self.first(f"{name}.death"):
                os.kill(os.getpid(), signal.SIGKILL)
            return state or super().partial(part, question)
        if number < self.deaths + self.errors and (
            self.first(f"{name}.error") or (number % 10 == 0 and self.first(f"{name}.again"))
        ):
            raise (OSError, KeyError, MemoryError)[number % 3]("1815")
        return super().partial(part, question)

    def first(self, name):
        try:
            os.close(os.open(os.path.join(self.folder, name), os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True


def write_parts(folder):
    """Write a table as so many files, and return what their parts are called."""
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
    certificate = {"releases": releases, "sigma": 4.0, "parts": PARTS}
    return states, weights.tobytes(), certificate


def expected(parts, steps=STEPS):
    """Return what training makes in one process, without any engine."""
    kernel = Sums()
    loaded = [(json.loads(part)["file"], np.load(json.loads(part)["file"])) for part in parts]

    def ask(question):
        total = bytes(8 * FEATURES)
        for part in loaded:
            total = kernel.merge(kernel.partial(part, question), total)
        return total

    return train(ask, steps=steps)


def loads(folder):
    """Return which process loaded which part, in order."""
    return [tuple(line.split()) for line in (folder / "loads.log").read_text().splitlines()]


def holder(folder, part):
    """Return the process that loaded a part last."""
    return int([process for process, name in loads(folder) if name == f"{part}.npy"][-1])


def soon(work):
    """Do something while the next question is being answered."""
    threading.Timer(0.002, work).start()
