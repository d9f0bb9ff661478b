"""Training on many machines: sums over records, computed where the records are.

A table is split into parts. Workers hold them in memory, and at each step answer a question of the driver with the
state of their part: exact integer sums, which merge in any order to the same bytes. The driver alone adds noise and
counts what was spent. Which engine runs the workers, how many there are and how often they die changes nothing about
the model.

States are exact, so they are as private as the records. Workers, the engine and the network between them are inside
the boundary of trust; the driver's releases are what leaves it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qs

from ._base import Engine
from .hold import Kernel, KernelLike, WorkerFailed

__all__ = ["Engine", "Kernel", "WorkerFailed", "connect"]

ADDRESSES = "local:N, ray:auto, ray:host:port, ray://host:port or dask://host:port"


def connect(address: Any, parts: Sequence[str], kernel: KernelLike | None = None) -> Engine:
    """Let the workers of an engine load the parts of a table.

    No cluster is ever started: Ray and Dask must be running, with this package installed on their workers.

    Parameters
    ----------
    address : str, distributed.Client or Engine
        ``local:N`` for N processes on this machine; ``ray:auto`` or ``ray:host:port`` on a node of a Ray cluster,
        ``ray://host:port`` from elsewhere, through Ray's client; ``dask://host:port`` for a Dask scheduler. Ray and
        Dask use all their CPUs and workers unless ``?workers=N`` follows. An engine is returned as it is.
    parts : sequence of str
        What each part is, in the kernel's own public terms; workers read it themselves.
    kernel : optional
        What computes the sums. Without one, the compiled core.

    Returns
    -------
    Engine
        A context manager that answers questions.
    """
    if hasattr(address, "ask"):
        engine: Engine = address
        return engine
    if not parts:
        raise ValueError("there are no parts to compute on")
    kernel = kernel or Kernel()
    if not isinstance(address, str):
        from ._dask import DaskEngine

        return DaskEngine(address, parts, kernel)
    place, _, query = address.partition("?")
    if place.startswith("local:"):
        from .local import LocalEngine

        return LocalEngine(parts, kernel, _count(place.removeprefix("local:"), address))
    workers = _workers(query, address)
    if place.startswith("ray:"):
        from ._ray import RayEngine, cluster

        return RayEngine(cluster(place), parts, kernel, workers)
    if place.startswith("dask://"):
        from ._dask import DaskEngine

        return DaskEngine(place.removeprefix("dask://"), parts, kernel, workers)
    raise ValueError(f"an engine is one of {ADDRESSES}, not {address!r}")


def _workers(query: str, address: str) -> int | None:
    options = parse_qs(query, keep_blank_values=True)
    if set(options) - {"workers"}:
        raise ValueError(f"the only option of an engine is ?workers=N, not what {address!r} says")
    return _count(options["workers"][-1], address) if options else None


def _count(text: str, address: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise ValueError(f"an engine needs a number of workers of at least 1, which {address!r} does not say")
    return int(text)
