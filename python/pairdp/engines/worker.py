"""A worker process of the local engine: it holds its parts and answers on standard output until its input ends."""

from __future__ import annotations

import pickle
import signal
import sys
from contextlib import suppress

from .frames import KERNEL, PARTS, QUESTION, READY, own_stdout, receive, send
from .hold import REFUSED, STATE, Hold, KernelLike, listed


def run() -> None:
    """Answer the process that started us."""
    answers = own_stdout()
    # Ctrl-C reaches the whole group of processes, and whoever started us decides what becomes of it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # No core of a process that holds records.
    with suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    kernel: KernelLike | None = None
    hold: Hold | None = None
    while True:
        try:
            tag, body = receive(sys.stdin.buffer)
        except EOFError:
            return
        if tag == KERNEL:
            kernel = pickle.loads(body)
        elif tag == PARTS and kernel is not None:
            try:
                hold = Hold(kernel, listed(body))
            except ValueError as error:
                send(answers, REFUSED, str(error).encode())
                continue
            tag, body = hold.ready()
            send(answers, READY if tag == STATE else tag, body)
        elif tag == QUESTION and hold is not None:
            send(answers, *hold.reply(body))
        else:
            # Whoever sent it waits for an answer.
            send(answers, REFUSED, b"not a message for a worker")
