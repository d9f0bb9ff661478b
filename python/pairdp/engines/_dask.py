"""Futures on a Dask cluster that is there already."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ._base import Engine
from .hold import FAN_IN, LOSSES, Hold, KernelLike, Reply, WorkerFailed, merged, shares, state_of


class DaskEngine(Engine):
    """One future for each worker, which holds its parts, and which questions follow.

    Dask computes a future again when the worker that held it dies, on another one if need be. Its actors would answer
    sooner, but die for good.
    """

    def __init__(self, client: Any, parts: Sequence[str], kernel: KernelLike, workers: int | None = None) -> None:
        """Attach to the scheduler at an address, or use a client."""
        try:
            import distributed
        except ImportError as error:
            raise ImportError("Dask is not installed: pip install pairdp[dask]") from error
        self._lost = distributed.scheduler.KilledWorker
        self._kernel = kernel
        self._holds: list[Any] = []
        self._attached = isinstance(client, str)
        self._client = distributed.Client(client, set_as_default=False) if self._attached else client
        try:
            self._start(parts, workers)
        except BaseException:
            self.close()
            raise

    def _start(self, parts: Sequence[str], workers: int | None) -> None:
        homes = list(self._client.scheduler_info(n_workers=-1)["workers"])
        if not homes:
            raise ValueError("the Dask cluster has no workers")
        self._shares = shares(parts, min(workers or len(homes), len(homes)))
        self._holds = [self._hold(share, [home]) for share, home in zip(self._shares, homes, strict=False)]
        for reply in self._insist(lambda: self._client.gather(self._client.map(Hold.ready, self._holds, pure=False))):
            state_of(reply)

    def _hold(self, share: Sequence[str], homes: list[str] | None = None) -> Any:
        # The home is where it should live, and any other worker will do if that one dies.
        return self._client.submit(
            Hold, self._kernel, share, workers=homes, allow_other_workers=homes is not None, pure=False
        )

    def ask(self, question: bytes) -> bytes:
        if not self._holds:
            raise ValueError("the engine is closed")
        replies = self._insist(lambda: self._replies(question))
        return state_of(merged(self._kernel, replies))

    def _replies(self, question: bytes) -> list[Reply]:
        client = self._client
        # Never "pure": a pure task is one that Dask may answer from what it knows, by the names of its inputs.
        replies = client.map(Hold.reply, self._holds, [question] * len(self._holds), pure=False)
        while len(replies) > FAN_IN:
            groups = [replies[i : i + FAN_IN] for i in range(0, len(replies), FAN_IN)]
            replies = client.map(merged, [self._kernel] * len(groups), groups, pure=False)
        found: list[Reply] = client.gather(replies)
        return found

    def _insist(self, work: Any) -> list[Reply]:
        """Work again with new futures where Dask gave up, as it does when workers die over one again and again."""
        for _ in range(LOSSES):
            try:
                replies: list[Reply] = work()
                return replies
            except self._lost:
                self._holds = [
                    self._hold(share) if hold.status == "error" else hold
                    for share, hold in zip(self._shares, self._holds, strict=True)
                ]
        raise WorkerFailed("Dask's workers died over one question again and again; is there too little memory?")

    def close(self) -> None:
        self._holds = []
        if self._attached:
            self._attached = False
            self._client.close()
