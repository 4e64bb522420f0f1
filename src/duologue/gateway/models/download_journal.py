"""The journal of downloads that have not ended: a small file in the data folder, read at the next start.

`downloads` writes it whole at each change, and so do the voice packs with theirs; `duologue setup` notes what it downloads. The bytes of the files themselves are kept by `duologue.models.hub`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from duologue.threads import disk_io

log = logging.getLogger(__name__)

FILE = "downloads.json"
"""The journal of models, in the data folder."""
PACKS_FILE = "voice-pack-downloads.json"
"""The journal of voice packs, there too."""
LONGEST = 64 * 1024
"""Bytes of a journal; a longer file is not a journal."""


class JournalEntry(Struct, frozen=True):
    """A download, as it was requested. `name` of the model once its files are complete; `loads`: how often loading it has begun."""

    what: str
    use: bool = False
    user: str = ""
    name: str = ""
    loads: int = 0


class DownloadJournal:
    """The journal in the file at `path`."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._written: list[JournalEntry] = []

    async def read(self) -> list[JournalEntry]:
        """What had not ended. A file that cannot be read is ignored."""
        self._written = await disk_io(self._read)
        return self._written

    async def write(self, entries: list[JournalEntry]) -> None:
        """Replace the journal. Where that fails, the next start does not resume them."""
        if entries != self._written:
            self._written = entries
            await disk_io(self._write, entries)

    @contextmanager
    def holding(self, entry: JournalEntry) -> Iterator[None]:
        """Around a download outside of a server. A process that is killed in it leaves it to the next start of a server; one that
        ends otherwise does not. Blocks."""
        self._write([*self._without(entry), entry])
        try:
            yield
        finally:
            self._write(self._without(entry))

    def _without(self, entry: JournalEntry) -> list[JournalEntry]:
        return [other for other in self._read() if other.what != entry.what]

    def _read(self) -> list[JournalEntry]:
        try:
            with self._path.open("rb") as file:
                return msgspec.json.decode(file.read(LONGEST), type=list[JournalEntry])
        except FileNotFoundError:
            return []
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError) as error:
            log.warning("the journal of downloads at %s is ignored: %s", self._path, error)
            return []

    def _write(self, entries: list[JournalEntry]) -> None:
        temporary = self._path.with_name(self._path.name + ".new")
        try:
            if not entries:
                self._path.unlink(missing_ok=True)
                return
            self._path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(msgspec.json.encode(entries))
            temporary.replace(self._path)
        except OSError as error:
            log.warning("the journal of downloads cannot be written: %s", error)
