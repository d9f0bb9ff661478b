"""Messages over pipes: a tag of one byte, a length in eight little-endian bytes, and as many bytes."""

from __future__ import annotations

import os
from typing import IO

# What a worker or a bridge is told: the kernel (workers only), the parts, a question. Answers are `READY` or a reply.
KERNEL, PARTS, QUESTION, READY = b"K", b"P", b"Q", b"R"


def send(stream: IO[bytes], tag: bytes, body: bytes = b"") -> None:
    """Write a message."""
    stream.write(tag + len(body).to_bytes(8, "little"))
    stream.write(body)
    stream.flush()


def receive(stream: IO[bytes]) -> tuple[bytes, bytes]:
    """Read a message; ``EOFError`` if the other side is gone."""
    head = _exactly(stream, 9)
    return head[:1], _exactly(stream, int.from_bytes(head[1:], "little"))


def _exactly(stream: IO[bytes], length: int) -> bytes:
    found = stream.read(length)
    if len(found) < length:
        raise EOFError("the other side of a pipe is gone")
    return found


def own_stdout() -> IO[bytes]:
    """Return standard output for messages alone; what anything else prints goes to standard error from now on."""
    messages = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return messages
