"""What a certificate says of code that it rests on."""

from __future__ import annotations

import inspect
import json
import platform
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ._blocks import BlockScore, Score

RESTS_ON = (
    "the score of a row, and its gradient as scaled down to the stated bound, depend on that row, its place and the parameters "
    "alone, and sums of gradients are within the stated error"
)
"""What must have been so: the words of certificates."""


def is_score(value: Any) -> bool:
    """Whether a setting is a score, and not the name of one."""
    return not isinstance(value, str | type) and isinstance(value, Score)


def condition_of(score: Any) -> str:
    """Return the condition of a certificate as JSON: which code it is about."""
    adapter, function = type(score), getattr(score, "function", type(score))
    packages = {"numpy": version("numpy"), "pairdp": version("pairdp"), "python": platform.python_version()}
    for name in getattr(score, "packages", ()):
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            packages[name] = "unknown"
    sources = [adapter, BlockScore] if isinstance(score, BlockScore) else [adapter]
    described = {
        "class": "conditional",
        "rests_on": RESTS_ON,
        "adapter": {"name": _name(adapter), "sha256": _hash(*map(inspect.getmodule, sources))},
        "function": {"name": _name(function), "sha256": _hash(function)},
        "packages": packages,
    }
    return json.dumps(described)


def _name(thing: Any) -> str:
    module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", type(thing).__qualname__)
    whole = f"{module}.{name}" if module else name
    # As many letters as fit into the bytes that readers allow.
    return whole.encode()[:1000].decode(errors="ignore")


def _hash(*things: Any) -> str | None:
    """Return the SHA-256 of sources, one after the other; none where one has no text."""
    try:
        text = "".join(inspect.getsource(thing) for thing in things)
    except (OSError, TypeError):
        return None
    return sha256(text.encode()).hexdigest()
