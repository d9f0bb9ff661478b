"""Whether the holder of a public key signed a file: ed25519 as RFC 8032 has it, in whole numbers of Python.

Everything here is public, so it does not matter how long a step takes. Checked strictly: what is not written in the one canonical way, and
keys under which anything is signed, are refused.
"""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

from .reading import fields
from .relations import require

RELATION = "the holder of the key signed the file"
FORMAT = "pairdp-signature/1"
PUBLIC = "pairdp-public-key/1"

P = 2**255 - 19
"""The field of the curve -x² + y² = 1 + d·x²·y²."""
L = 2**252 + 27742317777372353535851937790883648493
"""The order of its base point."""
D = -121665 * pow(121666, -1, P) % P
ROOT = pow(2, (P - 1) // 4, P)
"""A square root of -1."""

Point = tuple[int, int, int, int]
"""x·z, y·z, z and x·y·z."""


def check(file: bytes, key: str | Path, signature: str | Path) -> None:
    """Check the signature of a file's bytes; both are names of files.

    Raises
    ------
    Mismatch
        If the file is not signed with this key.
    """
    public = _digits(
        re.fullmatch(PUBLIC + " ([0-9a-f]{64})\r?\n?", Path(key).read_text(encoding="utf-8")), "public key"
    )
    stated = fields(json.loads(Path(signature).read_text(encoding="utf-8")), "format key signature")
    require(stated["format"] == FORMAT, f"{stated['format']} is not {FORMAT}")
    require(stated["key"] == public.hex(), "the signature is another key's")
    signed = _digits(re.fullmatch("([0-9a-f]{128})", str(stated["signature"])), "signature")
    require(verify(public, FORMAT.encode() + b"\n" + file, signed), "the signature is not of this file")


def verify(public: bytes, message: bytes, signature: bytes) -> bool:
    """Return whether a signature of 64 bytes is one of a message, by a public key of 32 bytes."""
    a, r = _point(public), _point(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or s >= L or _is_zero(_times(8, a)) or _is_zero(_times(8, r)):
        return False
    h = int.from_bytes(hashlib.sha512(signature[:32] + public + message).digest(), "little") % L
    return _same(_times(s, BASE), _sum(r, _times(h, a)))


def _digits(found: re.Match[str] | None, what: str) -> bytes:
    require(found is not None, f"this is no {what}")
    return bytes.fromhex(found.group(1)) if found else b""


def _point(encoded: bytes) -> Point | None:
    """Return the point that 32 bytes stand for: y, and in the highest bit whether x is odd."""
    number = int.from_bytes(encoded, "little")
    y, odd = number % 2**255, number >> 255
    if len(encoded) != 32 or y >= P:
        return None
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x if (x * x - square) % P == 0 else x * ROOT % P
    if (x * x - square) % P != 0 or (x == 0 and odd):
        return None
    x = x if x % 2 == odd else P - x
    return (x, y, 1, x * y % P)


def _sum(p: Point, q: Point) -> Point:
    a, b = (p[1] - p[0]) * (q[1] - q[0]) % P, (p[1] + p[0]) * (q[1] + q[0]) % P
    c, d = 2 * p[3] * q[3] * D % P, 2 * p[2] * q[2] % P
    e, f, g, h = b - a, d - c, d + c, b + a
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def _times(number: int, p: Point) -> Point:
    result: Point = (0, 1, 1, 0)
    while number:
        if number % 2:
            result = _sum(result, p)
        p, number = _sum(p, p), number // 2
    return result


def _same(p: Point, q: Point) -> bool:
    return (p[0] * q[2] - q[0] * p[2]) % P == 0 and (p[1] * q[2] - q[1] * p[2]) % P == 0


def _is_zero(p: Point) -> bool:
    return _same(p, (0, 1, 1, 0))


def _base() -> Point:
    # The point with y = 4/5 whose x is even.
    point = _point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))
    if point is None:
        raise AssertionError("the base point is on the curve")
    return point


BASE = _base()
