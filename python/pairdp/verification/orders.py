"""The public order of records, from its seed.

Words come from ChaCha20 (RFC 8439, counter and nonce starting at 0) with fast key erasure. The key is the seed,
little-endian, and 24 zero bytes. A batch is 64 blocks, that is 512 words of 64 bits, little-endian; its first 4 words are
the key of the next batch, and the other 508 are handed out in order.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.uint32]


def words(seed: int) -> Iterator[int]:
    """Yield the words of a seed."""
    key: Rows = np.frombuffer(seed.to_bytes(8, "little") + bytes(24), dtype="<u4")
    while True:
        start: Rows = np.zeros((16, 64), dtype="<u4")
        start[:4] = np.frombuffer(b"expand 32-byte k", dtype="<u4")[:, None]
        start[4:12] = key[:, None]
        start[12] = np.arange(64)
        rows = [start[k : k + 4].copy() for k in (0, 4, 8, 12)]
        for _ in range(10):
            _mix(*rows)
            rows = [np.roll(row, -k, axis=0) for k, row in enumerate(rows)]
            _mix(*rows)
            rows = [np.roll(row, k, axis=0) for k, row in enumerate(rows)]
        batch = np.ascontiguousarray((np.concatenate(rows) + start).T).ravel()
        key = batch[:8]
        yield from batch[8:].view("<u8").tolist()


def _mix(a: Rows, b: Rows, c: Rows, d: Rows) -> None:
    """Four quarter rounds in all blocks at once."""
    for x, y, z, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
        np.add(x, y, out=x)
        np.bitwise_xor(z, x, out=z)
        z[:] = z << np.uint32(turn) | z >> np.uint32(32 - turn)


def below(source: Iterator[int], n: int) -> int:
    """Return a uniform index: the high half of word·n, drawn again if the low half is below 2⁶⁴ mod n."""
    while True:
        high, low = divmod(next(source) * n, 1 << 64)
        if low >= n or low >= (1 << 64) % n:
            return high


def permutation(source: Iterator[int], n: int) -> list[int]:
    """Return 0 … n − 1 shuffled, from the last place to the first (Fisher and Yates)."""
    order = list(range(n))
    for last in range(n - 1, 0, -1):
        other = below(source, last + 1)
        order[last], order[other] = order[other], order[last]
    return order


def indices(order: dict[str, Any], n: int, count: int) -> list[int]:
    """Return `count` indices below n by a law and a seed."""
    source = words(order["seed"])
    if order["shuffle"] == "with-replacement":
        return [below(source, n) for _ in range(count)]
    one_pass, found = permutation(source, n), list[int]()
    while len(found) < count:
        found += one_pass
        if order["shuffle"] == "reshuffled":
            one_pass = permutation(source, n)
    return found[:count]


def pairs(order: dict[str, Any], n: int, count: int) -> list[tuple[int, int]]:
    """Return `count` pairs of different indices; passes over permutations are matchings."""
    if order["shuffle"] == "with-replacement":
        source = words(order["seed"])
        drawn = [(below(source, n), below(source, n - 1)) for _ in range(count)]
        return [(first, other + (other >= first)) for first, other in drawn]
    half = n // 2
    flat = indices(order, n, -(-count // half) * n)
    passes = [flat[at : at + 2 * half] for at in range(0, len(flat), n)]
    return [(one[k], one[k + 1]) for one in passes for k in range(0, 2 * half, 2)][:count]
