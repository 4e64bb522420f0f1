"""Reads an uploaded zip archive member by member, in memory.

Pure; used by `importing`. Owns the limits on what an archive may unpack to.
"""

from __future__ import annotations

import zipfile
import zlib
from io import BytesIO

from duologue.errors import BadRequest, TooLarge

MAGIC = b"PK\x03\x04"
EMPTY = b"PK\x05\x06"
MOST_MEMBERS = 200_000
MEMBER_BYTES = 1024 * 1024 * 1024
"""Limit of one member. A history of years is a few hundred megabytes of JSON."""
ARCHIVE_BYTES = 8 * MEMBER_BYTES
"""Limit of everything read from one archive."""
RATIO = 200
"""How many times its packed size a large member may have. JSON packs about tenfold; blanks a thousandfold."""
SMALL_BYTES = 32 * 1024 * 1024
"""A member of no more is read whatever its ratio."""


class Archive:
    """The members of a zip by name. Raises BadRequest when it is damaged, TooLarge over a limit."""

    def __init__(self, data: bytes, *, member: int = MEMBER_BYTES, whole: int = ARCHIVE_BYTES) -> None:
        self._member, self._left = member, whole
        try:
            self._zip = zipfile.ZipFile(BytesIO(data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
            raise BadRequest(f"This zip archive is damaged: {error}.", code="import_unreadable") from None
        self._members = {info.filename: info for info in self._zip.infolist() if not info.is_dir()}
        if len(self._members) > MOST_MEMBERS:
            raise TooLarge(f"This archive has more than {MOST_MEMBERS:,} files.")
        self._by_prefix: dict[str, str] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._members)

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def read(self, name: str) -> bytes:
        """The bytes of a member. Raises KeyError for an unknown name."""
        info = self._members[name]
        if info.file_size > max(SMALL_BYTES, RATIO * info.compress_size):
            raise TooLarge(f"{name} in this archive unpacks to more than {RATIO} times its size.")
        limit = min(self._member, self._left)
        try:
            # The size in a member's header may be a lie, so no more than the limit is ever unpacked.
            with self._zip.open(info) as file:
                data = file.read(limit + 1)
        except (
            zipfile.BadZipFile,
            zlib.error,
            EOFError,
            OSError,
            NotImplementedError,
            RuntimeError,
        ) as error:
            raise BadRequest(
                f"{name} in this archive is damaged: {error}.", code="import_unreadable"
            ) from None
        if len(data) > limit:
            raise TooLarge(f"{name} in this archive is too large to read.")
        self._left -= len(data)
        return data

    def starting_with(self, prefix: str) -> str | None:
        """The member whose file name, without its folder, is `prefix`, or continues with one of `-._`."""
        if self._by_prefix is None:
            self._by_prefix = {}
            for name in self._members:
                base = name.rpartition("/")[2]
                for at, character in enumerate(base):
                    if character in "-._":
                        self._by_prefix.setdefault(base[:at], name)
                self._by_prefix[base] = name
        return self._by_prefix.get(prefix)
