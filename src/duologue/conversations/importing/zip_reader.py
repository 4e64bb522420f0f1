"""A zip somebody uploaded, read member by member and never unpacked.

Owns the limits on what may come out of it. Knows no format.
"""

from __future__ import annotations

import zipfile
import zlib
from io import BytesIO

from duologue.errors import BadRequest, TooLarge

MAGIC = b"PK\x03\x04"
EMPTY = b"PK\x05\x06"
MEMBERS = 200_000
MEMBER = 1024 * 1024 * 1024
"""Bytes of one member; a history of years is some hundred megabytes of JSON."""
WHOLE = 8 * MEMBER
"""Bytes that may be read out of one archive."""


class Archive:
    """The members of a zip by name. Raises BadRequest when it is damaged, TooLarge over a limit."""

    def __init__(self, data: bytes, *, member: int = MEMBER, whole: int = WHOLE) -> None:
        self._member, self._left = member, whole
        try:
            self._zip = zipfile.ZipFile(BytesIO(data))
        except (zipfile.BadZipFile, ValueError, NotImplementedError, OSError) as error:
            raise BadRequest(f"This zip archive is damaged: {error}.", code="import_unreadable") from None
        self._members = {info.filename: info for info in self._zip.infolist() if not info.is_dir()}
        if len(self._members) > MEMBERS:
            raise TooLarge(f"This archive has more than {MEMBERS:,} files.")
        self._by_beginning: dict[str, str] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._members)

    def __contains__(self, name: str) -> bool:
        return name in self._members

    def read(self, name: str) -> bytes:
        """The bytes of a member. Raises KeyError for a name that is not there."""
        info = self._members[name]
        limit = min(self._member, self._left)
        try:
            # What a member's entry says of its size may be wrong: no more than the limit is ever unpacked.
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

    def beginning_with(self, beginning: str) -> str | None:
        """The member whose file name, without its folder, is `beginning`, or goes on with one of `-._`."""
        if self._by_beginning is None:
            self._by_beginning = {}
            for name in self._members:
                base = name.rpartition("/")[2]
                for at, character in enumerate(base):
                    if character in "-._":
                        self._by_beginning.setdefault(base[:at], name)
                self._by_beginning[base] = name
        return self._by_beginning.get(beginning)
