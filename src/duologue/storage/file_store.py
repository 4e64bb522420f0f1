"""What a place for users' files can do, wherever it is. Implemented by `folder_store.py` and `object_store.py`; `opening.py` chooses.

A name is a path of plain words, such as `ab/abcdef`. A file is whole or not there, and never changes once it is there, except that it
is replaced whole.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import AsyncIterator
from pathlib import Path
from typing import NamedTuple, Protocol

from duologue.errors import NotFound

PIECE = 2**20
"""Bytes that are read from a disk in one go."""


class StoredEntry(NamedTuple):
    """A file in a listing; `modified`: milliseconds since 1970, by the clock of the storage."""

    name: str
    size: int
    modified: int


class FileStore(Protocol):
    """One kind of files. Methods raise the store's NotFound for a missing file, and Unavailable where the storage fails:
    `storage_unavailable`, `storage_denied`, `storage_bucket_missing`."""

    incoming: Path
    """The folder in which files are written that `put` then takes."""
    is_shared: bool
    """Whether other gateways have the same files."""

    @abstractmethod
    async def put(self, name: str, file: Path) -> None:
        """Keep what is in `file`, which is moved or removed. Durable when this returns."""

    @abstractmethod
    async def put_bytes(self, name: str, data: bytes) -> None:
        """Keep a small file. Another reader sees all of it or the former one."""

    @abstractmethod
    async def size(self, name: str) -> int: ...
    @abstractmethod
    async def read(self, name: str, start: int = 0, size: int = -1) -> bytes: ...
    @abstractmethod
    def pieces(self, name: str, start: int, end: int) -> AsyncIterator[bytes]:
        """The bytes from `start` up to `end`, a few megabytes in memory at a time."""

    @abstractmethod
    def path(self, name: str) -> Path | None:
        """Where the file itself is on a disk that this gateway reaches; None in object storage."""

    @abstractmethod
    async def source(self, name: str) -> Path:
        """The file on a disk of this machine, to be read at once: a copy may be removed a quarter of an hour later."""

    @abstractmethod
    async def delete(self, *names: str) -> None:
        """No error for one that does not exist."""

    @abstractmethod
    def entries(self, folder: str = "") -> AsyncIterator[StoredEntry]:
        """Every file, or those below a folder, in no order. Those in `incoming` are not among them."""


class FileStorage(Protocol):
    """A place for all kinds of files of users."""

    place: str
    """How a sentence names it, from its beginning."""
    is_shared: bool

    @abstractmethod
    def section(self, name: str, missing: NotFound) -> FileStore:
        """The files of one kind, below a folder of this name. `missing` is raised for a file that does not exist."""

    @abstractmethod
    async def check(self) -> None:
        """Write, list, read and delete a file. Raises StartFailed with what to do."""
