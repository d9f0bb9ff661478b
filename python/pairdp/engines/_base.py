"""What all engines have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Engine(ABC):
    """Answers questions about a table whose parts are held by workers."""

    @abstractmethod
    def ask(self, question: bytes) -> bytes:
        """Return the merged state of all parts, the same bytes whatever happens to workers meanwhile.

        A table that workers refuse for its form raises their ``ValueError``. Other failures raise ``WorkerFailed``,
        which says nothing about records.
        """

    @abstractmethod
    def close(self) -> None:
        """Let go of the workers, and of the records in their memory."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
