"""Forks, threads and Ctrl-C."""

import _thread
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pairdp import PrivateMetric, PrivateRanker

X = np.random.default_rng(11).uniform(-1, 1, size=(2000, 3))
y = (X[:, 0] > 0).astype(int)


def fitted(_=None):
    return PrivateRanker(epsilon=1.0, delta=1e-6, bounds=(-1, 1)).fit(X, y)


def in_child(work):
    """Return what `work` writes in a forked child, which must not take long: a hung child would be killed."""
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(writable, work())
        finally:
            os._exit(0)
    os.close(writable)
    guard = threading.Timer(60, os.kill, (child, 9))
    guard.start()
    with os.fdopen(readable, "rb") as answer:
        text = answer.read()
    os.waitpid(child, 0)
    guard.cancel()
    return text


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_forked_children_train_and_never_share_noise():
    parent = fitted().coef_
    children = [np.frombuffer(in_child(lambda: fitted().coef_.tobytes())) for _ in range(2)]
    every = [parent, fitted().coef_, *children]
    assert all(len(coefficients) == len(parent) for coefficients in every)
    assert len({value for coefficients in every for value in coefficients.tolist()}) == 4 * len(parent)


def test_threads_train_at_once():
    with ThreadPoolExecutor(4) as pool:
        models = list(pool.map(fitted, range(8)))
    assert all(model.verify() for model in models)
    assert len({model.coef_[0] for model in models}) == 8


@pytest.mark.skipif(sys.platform == "win32", reason="signals work otherwise here")
def test_an_interrupt_ends_a_long_fit():
    many = np.random.default_rng(1).uniform(-1, 1, size=(4000, 60))
    endless = PrivateMetric(
        epsilon=1.0, delta=1e-6, bounds=(-1, 1), classes=[0, 1], algorithm="noisy-gd", steps=1_000_000
    )
    threads = threading.active_count()
    before = workers()
    timer = threading.Timer(1.0, _thread.interrupt_main)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        endless.fit(many, (many[:, 0] > 0).astype(int))
    timer.join()
    assert not hasattr(endless, "model_")
    assert threading.active_count() == threads
    # The work itself stops at its next release.
    for _ in range(600):
        if workers() <= before:
            return
        time.sleep(0.1)
    raise AssertionError("the work went on")


def workers():
    """Return how many threads the process has, where that can be told."""
    folder = "/proc/self/task"
    return len(os.listdir(folder)) if os.path.isdir(folder) else 0
