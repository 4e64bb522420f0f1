"""A recording as the database has it: whose it is, how long it is, and how it ended."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

RecordingKind = Literal["call", "duplex", "chat"]
RecordingEnd = Literal["", "ended", "stopped", "cut", "disk_full", "slow_disk", "full", "failed"]
"""How it ended: "" while it runs; `ended` with its call; `stopped` by its owner; `cut` off by the end of the server; the disk
could not be written, was too slow, or the space for recordings is used up; or it `failed`."""


class StoredRecording(Struct, frozen=True):
    """`created` is in milliseconds since 1970 (UTC), `duration` in milliseconds, `size` in bytes of all its files."""

    id: str
    user: str
    kind: RecordingKind
    title: str = ""
    conversation: str = ""
    created: int = 0
    duration: int = 0
    size: int = 0
    frames: int = 0
    ended: RecordingEnd = ""
