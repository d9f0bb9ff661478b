"""Futures on a Dask cluster that is there already."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any

from ._base import Engine
from .hold import FAN_IN, LOSSES, Hold, KernelLike, Reply, WorkerFailed, check_ready, merged, shares, state_of

# What says that every host which can reach the cluster is trusted.
PLAIN = "PAIRDP_DASK_PLAIN_TCP"
NO_TLS = (
    "Dask runs the code of anyone who can reach its ports, so pairdp uses only clusters that ask for a certificate: set "
    "up TLS on scheduler, workers and here, in Dask's configuration under distributed.comm.tls, or with a Client that "
    "has a distributed.Security. Where every host and user that can reach the cluster may see the records, say so with "
    f"{PLAIN}=trusted"
)

# How many questions to wait before looking whether holds should move.
SPREAD_EVERY = 64
# How long a question may take before looking whether there are workers to answer it, in seconds.
PATIENCE = 2


class DaskEngine(Engine):
    """One future for each worker, which holds its parts, and which questions follow.

    Dask computes a future again when the worker that held it dies, on another one if need be. Its actors would answer
    sooner, but die for good.
    """

    def __init__(self, client: Any, parts: Sequence[str], kernel: KernelLike, workers: int | None = None) -> None:
        """Attach to the scheduler at an address, ``host:port``, or use a client."""
        try:
            import distributed
        except ImportError as error:
            raise ImportError("Dask is not installed: pip install pairdp[dask]") from error
        self._distributed, self._kernel = distributed, kernel
        self._lost = (distributed.scheduler.KilledWorker, distributed.TimeoutError)
        self._holds: list[Any] = []
        self._asked = 0
        self._attached = isinstance(client, str)
        self._client = self._attach(client) if self._attached else client
        try:
            self._check_encryption()
            self._start(parts, workers)
        except BaseException:
            self.close()
            raise

    def _attach(self, place: str) -> Any:
        """Connect by TLS, unless plain TCP was allowed."""
        if _plain():
            return self._distributed.Client(f"tcp://{place}", set_as_default=False)
        security = self._distributed.Security()
        if not security.tls_client_cert:
            raise PermissionError(f"{NO_TLS}; Dask's configuration names no certificate here")
        return self._distributed.Client(f"tls://{place}", security=security, set_as_default=False)

    def _check_encryption(self) -> None:
        """Refuse a cluster of which any part can be reached without a certificate."""
        info = self._client.scheduler_info(n_workers=-1)
        addresses = [info["address"], *info["workers"]]
        if not _plain() and not all(address.startswith(("tls://", "inproc://")) for address in addresses):
            raise PermissionError(f"{NO_TLS}; this cluster does not ask for one")

    def _start(self, parts: Sequence[str], workers: int | None) -> None:
        self._known = self._workers()
        if not self._known:
            raise ValueError("the Dask cluster has no workers")
        self._shares = shares(parts, workers or len(self._known))
        self._holds = [self._hold(share, home) for share, home in zip(self._shares, cycle(self._known), strict=False)]
        for reply in self._insist(lambda: self._each(Hold.ready)):
            check_ready(reply)

    def _workers(self) -> list[str]:
        workers = self._client.scheduler_info(n_workers=-1)["workers"]
        self._threads = min((worker["nthreads"] for worker in workers.values()), default=1)
        return list(workers)

    def _hold(self, share: Sequence[str], home: str) -> Any:
        # If its home dies, any other worker will do.
        return self._client.submit(
            Hold, self._kernel, share, self._threads, workers=[home], allow_other_workers=True, pure=False
        )

    def ask(self, question: bytes) -> bytes:
        if not self._holds:
            raise ValueError("the engine is closed")
        state = state_of(merged(self._kernel, self._insist(lambda: self._each(Hold.reply, question))))
        self._asked += 1
        if self._asked % SPREAD_EVERY == 0:
            self._spread()
        return state

    def _each(self, method: Callable[..., Reply], *question: bytes) -> list[Reply]:
        """Ask every hold, where it is, and merge on the way if there are many."""
        client = self._client
        # Dask spreads similar tasks of few inputs over idle workers, away from their inputs, unless workers are named.
        places = {"workers": self._known, "allow_other_workers": True} if len(self._holds) <= FAN_IN else {}
        # Never "pure": answers to a pure task may be those of an earlier one.
        replies = client.map(method, self._holds, *([one] * len(self._holds) for one in question), pure=False, **places)
        while len(replies) > FAN_IN and question:
            groups = [replies[i : i + FAN_IN] for i in range(0, len(replies), FAN_IN)]
            replies = client.map(merged, [self._kernel] * len(groups), groups, pure=False)
        self._wait(replies)
        found: list[Reply] = client.gather(replies)
        return found

    def _wait(self, replies: list[Any]) -> None:
        """Wait for tasks, unless they wait for workers that will not come back.

        Once all workers are gone at the same time, Dask waits for those that were named, even if any other would do.
        """
        while True:
            try:
                with self._client.as_current():
                    self._distributed.wait(replies, timeout=PATIENCE)
                return
            except self._distributed.TimeoutError:
                workers = self._workers()
                if workers and not set(workers) & set(self._known):
                    raise

    def _insist(self, work: Callable[[], list[Reply]]) -> list[Reply]:
        """Work again with new futures where Dask gave up, as it does when workers die over one again and again."""
        for _ in range(LOSSES):
            try:
                return work()
            except self._lost:
                self._known = self._workers() or self._known
                for i, (hold, home) in enumerate(zip(self._holds, cycle(self._known), strict=False)):
                    if hold.status != "finished":
                        self._holds[i] = self._hold(self._shares[i], home)
        raise WorkerFailed("Dask's workers died over one question again and again; is there too little memory?")

    def _spread(self) -> None:
        """Move holds that share a worker to workers that have none, as there are when one died and came back."""
        self._known = self._workers()
        homes = self._client.who_has(self._holds)
        free, crowded = set(self._known), []
        for i, hold in enumerate(self._holds):
            home = next(iter(homes.get(hold.key, ())), None)
            if home in free:
                free.remove(home)
            else:
                crowded.append(i)
        for i, home in zip(crowded, sorted(free), strict=False):
            self._holds[i] = self._hold(self._shares[i], home)

    def close(self) -> None:
        self._holds = []
        if self._attached:
            self._attached = False
            self._client.close()


def _plain() -> bool:
    return os.environ.get(PLAIN) == "trusted"
