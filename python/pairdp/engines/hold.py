"""What lives in a worker, whatever the engine: parts of a table, and answers to questions about them.

Workers are restarted and questions asked again at any time, so an answer may be computed more than once. That is
harmless for one reason: ``partial`` draws nothing at random, and noise is added once, by the driver. A noisy partial
that is computed twice would be a second release.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib import import_module
from threading import Lock
from typing import Any, Protocol, TypeVar

from .._core import __version__

Item = TypeVar("Item")

# A tag and a body. States are merged; the body of a refusal is its message, that of a failure says what kind it was.
Reply = tuple[bytes, bytes]
STATE, REFUSED, FAILED = b"S", b"E", b"F"

# How long to wait before each attempt, in seconds: a file that cannot be read right now may be readable soon.
PAUSES = (0.0, 0.0, 0.2, 2.0)
# How often in a row a worker may be lost over one question before the engine gives up.
LOSSES = 8
# Up to this many workers the driver merges all states itself; above, workers merge so many at a time.
FAN_IN = 16


class KernelLike(Protocol):
    """Computes sums over records. A kernel is pickled to reach its workers; parts never leave theirs."""

    def load(self, part: str) -> Any:
        """Read a part of the table, named by a public text, into memory."""

    def partial(self, part: Any, question: bytes) -> bytes:
        """Return the state of one part: exact, deterministic, and without any randomness."""

    def merge(self, a: bytes, b: bytes) -> bytes:
        """Return the state of two parts together: exact, in any order."""


def listed(body: bytes) -> list[str]:
    """Return the parts that a message lists, or refuse it without quoting it."""
    try:
        parts = json.loads(body)
    except ValueError:
        parts = None
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise ValueError("not a list of parts")
    return parts


class Kernel:
    """The kernel of the compiled core."""

    def load(self, part: str) -> Any:
        return _core().load_part(part)

    def partial(self, part: Any, question: bytes) -> bytes:
        state: bytes = part.partial(question)
        return state

    def merge(self, a: bytes, b: bytes) -> bytes:
        state: bytes = _core().merge_states(a, b)
        return state


def _core() -> Any:
    return import_module("pairdp._core")


class WorkerFailed(RuntimeError):
    """A worker could not answer, again and again, for a reason that is not the form of the table."""


class Hold:
    """The parts of one worker.

    It loads them when it is first asked, and travels as the recipe for doing so: an engine that moves it, or writes it
    to disk, never moves or writes a record.
    """

    def __init__(self, kernel: KernelLike, parts: Sequence[str], threads: int = 1) -> None:
        self._recipe = (kernel, tuple(parts), threads)
        self._loaded: list[Any] = []
        self._one_at_a_time = Lock()

    def __reduce__(self) -> tuple[type[Hold], tuple[KernelLike, tuple[str, ...], int]]:
        return Hold, self._recipe

    def ready(self) -> Reply:
        """Load what is not loaded yet; the body of this reply is the version of the package here."""
        return attempt(self._load)

    def reply(self, question: bytes) -> Reply:
        """Return the merged state of all parts."""
        ready = self.ready()
        if ready[0] != STATE:
            return ready
        kernel = self._recipe[0]
        return merged(kernel, (attempt(partial(kernel.partial, part, question)) for part in self._loaded))

    def _load(self) -> bytes:
        kernel, parts, threads = self._recipe
        # The core would use all processors in every worker. It looks here once, when it first computes.
        os.environ.setdefault("RAYON_NUM_THREADS", str(threads))
        with self._one_at_a_time:
            for part in parts[len(self._loaded) :]:
                self._loaded.append(kernel.load(part))
        return __version__.encode()


def attempt(work: Callable[[], bytes]) -> Reply:
    """Do a worker's work, and turn what goes wrong into a reply.

    A plain ``ValueError`` refuses the form of the table, and its message may be shown. What other errors say could
    quote a record: they are tried again, and then leave the worker by the name of their type alone.
    """
    kind = ""
    for pause in PAUSES:
        time.sleep(pause)
        try:
            return STATE, work()
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:  # A panic of the core is not an `Exception`.
            if type(error) is ValueError:
                return REFUSED, str(error).encode()
            kind = type(error).__name__
            if isinstance(error, OSError) and error.errno:
                kind += f", {os.strerror(error.errno)}"
    return FAILED, kind.encode()


def merged(kernel: KernelLike, replies: Iterable[Reply]) -> Reply:
    """Merge states. The first reply that is none stands for all: in the order of parts, so it is the same everywhere."""
    total: Reply | None = None
    for reply in replies:
        if reply[0] != STATE:
            return reply
        total = reply if total is None else attempt(partial(kernel.merge, total[1], reply[1]))
        if total[0] != STATE:
            return total
    return total or (STATE, b"")


def state_of(reply: Reply) -> bytes:
    """Return the state of a reply, or raise what it says instead."""
    tag, body = reply
    if tag == REFUSED:
        raise ValueError(body.decode())
    if tag == FAILED:
        raise WorkerFailed(f"a worker failed {len(PAUSES)} times in a row ({body.decode()})")
    return body


def check_ready(reply: Reply) -> None:
    """Raise what went wrong, if anything: sums of another version may be other sums than the noise was made for."""
    theirs = state_of(reply).decode()
    if theirs != __version__:
        raise ValueError(f"a worker has pairdp {theirs} and the driver {__version__}: install one version everywhere")


def shares(items: Sequence[Item], workers: int) -> list[Sequence[Item]]:
    """Split items among at most so many workers, evenly and in order; none gets nothing."""
    workers = min(workers, len(items))
    return [items[i * len(items) // workers : (i + 1) * len(items) // workers] for i in range(workers)]
