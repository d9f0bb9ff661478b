"""Processes on this machine."""

from __future__ import annotations

import json
import multiprocessing.spawn
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from threading import Lock

from ._base import Engine
from .frames import KERNEL, PARTS, QUESTION, READY, receive, send
from .hold import LOSSES, STATE, KernelLike, Reply, WorkerFailed, check_ready, merged, shares, state_of

# The child finds what we find, without importing the program's main module again as `multiprocessing` would.
PROGRAM = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from pairdp.engines.worker import run; run()"


class LocalEngine(Engine):
    """So many worker processes, which are started again when they die."""

    def __init__(self, parts: Sequence[str], kernel: KernelLike, workers: int) -> None:
        split = shares(parts, workers)
        self._kernel = kernel
        self._workers = [_Worker(kernel, share, len(split)) for share in split]
        try:
            for worker in self._workers:
                check_ready(worker.ready())
        except BaseException:
            self.close()
            raise

    @property
    def processes(self) -> list[int]:
        """The ids of the worker processes."""
        return [worker.process.pid for worker in self._workers]

    def ask(self, question: bytes) -> bytes:
        if not self._workers:
            raise ValueError("the engine is closed")
        try:
            for worker in self._workers:
                worker.put(question)
            replies = [worker.take(question) for worker in self._workers]
        except BaseException:
            # Answers that nobody waits for would be taken for those to the next question.
            self.close()
            raise
        return state_of(merged(self._kernel, replies))

    def close(self) -> None:
        for worker in self._workers:
            worker.stop()
        self._workers = []


class _Worker:
    def __init__(self, kernel: KernelLike, parts: Sequence[str], workers: int) -> None:
        self._kernel, self._parts = pickle.dumps(kernel), json.dumps(list(parts)).encode()
        threads = max(1, (os.cpu_count() or 1) // workers)
        self._environment = {"RAYON_NUM_THREADS": str(threads), **os.environ}
        # Training asks in a thread of its own, and Ctrl-C closes the engine in another.
        self._changing, self._closed = Lock(), False
        self._start()

    def _start(self) -> None:
        command = [os.fsdecode(multiprocessing.spawn.get_executable() or sys.executable), "-c", PROGRAM]
        self.process = subprocess.Popen(
            [*command, json.dumps(sys.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=self._environment
        )
        self._loading = True
        self._send(KERNEL, self._kernel)
        self._send(PARTS, self._parts)

    def ready(self) -> Reply:
        """Wait for the parts to be loaded."""
        return self._insist(None)

    def put(self, question: bytes) -> None:
        """Ask a question."""
        self._send(QUESTION, question)

    def take(self, question: bytes) -> Reply:
        """Wait for the answer, and ask again if the process is lost."""
        return self._insist(question)

    def _insist(self, question: bytes | None) -> Reply:
        for _ in range(LOSSES):
            try:
                if self._loading:
                    loaded = self._receive()
                    self._loading = False
                    if question is None:
                        return loaded
                return self._receive()
            except (EOFError, OSError, ValueError):  # The last is for a pipe that was closed here.
                self._restart()
                if question is not None:
                    self.put(question)
        raise WorkerFailed(f"a worker process died {LOSSES} times over one question; is there too little memory?")

    def _restart(self) -> None:
        with self._changing:
            if self._closed:
                raise WorkerFailed("the engine was closed")
            self._end()
            self._start()

    def stop(self) -> None:
        """End the process for good."""
        with self._changing:
            self._closed = True
            self._end()

    def _send(self, tag: bytes, body: bytes) -> None:
        assert self.process.stdin is not None
        # If it is dead or closed, that is noticed when its answer is read.
        with suppress(OSError, ValueError):
            send(self.process.stdin, tag, body)

    def _receive(self) -> Reply:
        assert self.process.stdout is not None
        tag, body = receive(self.process.stdout)
        return (STATE if tag == READY else tag), body

    def _end(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            # What was not written yet has no reader any more.
            with suppress(OSError):
                pipe.close()
