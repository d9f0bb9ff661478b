"""A bridge for programs that are not Python: ``python -m pairdp.engines ADDRESS``.

Messages (see ``frames.py``) come from standard input and are answered on standard output. First ``P``, a JSON list of
parts, answered by ``R`` when they are loaded; then any number of ``Q``, a question, answered by ``S``, the merged
state. ``E`` instead says why not. The end of input ends the bridge.
"""

from __future__ import annotations

import signal
import sys
from typing import IO

from . import Engine, connect
from .frames import PARTS, QUESTION, READY, own_stdout, receive, send
from .hold import REFUSED, STATE, KernelLike, listed


def main(address: str, questions: IO[bytes], answers: IO[bytes], kernel: KernelLike | None = None) -> None:
    """Answer until the input ends, or until the parts are refused."""
    engine: Engine | None = None
    try:
        while True:
            try:
                tag, body = receive(questions)
            except EOFError:
                return
            try:
                if tag == PARTS and engine is None:
                    engine = connect(address, listed(body), kernel)
                    answer = READY, b""
                elif tag == QUESTION and engine is not None:
                    answer = STATE, engine.ask(body)
                else:
                    raise ValueError("parts come first and once, then questions")
            except Exception as error:
                answer = REFUSED, (str(error) or type(error).__name__).encode()
            send(answers, *answer)
    finally:
        if engine is not None:
            engine.close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m pairdp.engines ADDRESS")
    # Whoever started us ends us by ending our input; Ctrl-C should not print a traceback beside their message.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    main(sys.argv[1], sys.stdin.buffer, own_stdout())
