"""Actors on a Ray cluster that is there already."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

from ._base import Engine
from .hold import FAN_IN, Hold, KernelLike, Reply, check_ready, merged, shares, state_of

NO_TOKEN = (
    "Ray runs the code of anyone who can reach its ports, so pairdp uses only clusters that ask for a token: start "
    "every node and this program with RAY_AUTH_MODE=token and the same token, in RAY_AUTH_TOKEN or in the file that "
    "`ray get-auth-token --generate` makes"
)


class RayEngine(Engine):
    """One actor for each worker. Ray restarts those that die, on another node if need be, and asks them again."""

    def __init__(self, address: str, parts: Sequence[str], kernel: KernelLike, workers: int | None = None) -> None:
        if not _token_mode():
            raise PermissionError(f"{NO_TOKEN}; RAY_AUTH_MODE is not `token` here")
        try:
            import ray
        except ImportError as error:
            raise ImportError("Ray is not installed: pip install pairdp[ray]") from error
        self._ray, self._kernel = ray, kernel
        self._workers: list[Any] = []
        # With an address, `init` attaches to a cluster or fails; it never starts one.
        self._attached = not ray.is_initialized()
        if self._attached:
            ray.init(address=address, log_to_driver=False, logging_level="ERROR")
        try:
            self._start(parts, workers, int(ray.cluster_resources().get("CPU", 0)))
        except BaseException:
            self.close()
            raise

    def _start(self, parts: Sequence[str], workers: int | None, cpus: int) -> None:
        if cpus < 1:
            raise ValueError("the Ray cluster has no CPUs")
        # Half a CPU each, so that half of the nodes can take over what the others held.
        options = {"num_cpus": 0.5, "max_restarts": -1, "max_task_retries": -1, "scheduling_strategy": "SPREAD"}
        actor = self._ray.remote(**options)(_Worker)
        self._merge = self._ray.remote(num_cpus=0, max_retries=-1)(_merge)
        split = shares(parts, workers or cpus)
        threads = max(1, cpus // len(split))
        self._workers = [actor.remote(self._kernel, share, threads) for share in split]
        surroundings = self._ray.get([worker.surroundings.remote() for worker in self._workers])
        if not all(token for token, _ in surroundings):
            raise PermissionError(f"{NO_TOKEN}; this cluster does not ask for one")
        if any(niceness > 0 for _, niceness in surroundings):
            warnings.warn(
                "Ray's workers run at low priority and may wait long on busy nodes: start the nodes with "
                "RAY_worker_niceness=0",
                stacklevel=4,
            )
        for reply in self._ray.get([worker.ready.remote() for worker in self._workers]):
            check_ready(reply)

    def ask(self, question: bytes) -> bytes:
        if not self._workers:
            raise ValueError("the engine is closed")
        # Questions are small: inside the call they arrive sooner than through the object store.
        replies = [worker.reply.remote(question) for worker in self._workers]
        while len(replies) > FAN_IN:
            replies = [
                self._merge.remote(self._kernel, *replies[i : i + FAN_IN]) for i in range(0, len(replies), FAN_IN)
            ]
        return state_of(merged(self._kernel, self._ray.get(replies)))

    def close(self) -> None:
        for worker in self._workers:
            self._ray.kill(worker)
        self._workers = []
        if self._attached:
            self._attached = False
            self._ray.shutdown()


class _Worker(Hold):
    def surroundings(self) -> tuple[bool, int]:
        """Return whether the cluster asks for a token, and how low the priority of this process is."""
        return _token_mode(), os.nice(0) if hasattr(os, "nice") else 0


def _token_mode() -> bool:
    # Nodes hand their environment on to the workers that they start.
    return os.environ.get("RAY_AUTH_MODE", "").lower() == "token"


def _merge(kernel: KernelLike, *replies: Reply) -> Reply:
    return merged(kernel, replies)


def cluster(address: str) -> str:
    """Return what Ray calls an address: ``ray://...`` is its client, ``ray:...`` a driver on a node of the cluster."""
    return address if address.startswith("ray://") else address.removeprefix("ray:")
