"""Strips the header of a WAV file from a stream of sound: some servers send one where bare samples were requested.

Used by `speech`. Pure: bytes in, bytes out.
"""

from __future__ import annotations

import struct

_PCM = 1
LARGEST_HEADER = 64 * 1024


class WavHeaderStripper:
    """`rate` (Hz) is what the header says, 0 while none came. Raises ValueError for sound that is not 16-bit mono."""

    def __init__(self) -> None:
        self.rate = 0
        self._head: bytes | None = b""
        """The beginning, which may be a header; None once it is past."""

    def feed(self, data: bytes) -> bytes:
        """The samples in `data`."""
        if self._head is None:
            return data
        self._head += data
        if len(self._head) < 4 and b"RIFF".startswith(self._head):
            return b""
        if not self._head.startswith(b"RIFF"):
            samples, self._head = self._head, None
            return samples
        start = self._start(self._head)
        if start is None:
            if len(self._head) > LARGEST_HEADER:
                raise ValueError("a WAV file without sound")
            return b""
        samples, self._head = self._head[start:], None
        return samples

    def finish(self) -> bytes:
        """The bytes held back: fewer than a header has."""
        rest, self._head = self._head or b"", None
        return b"" if rest.startswith(b"RIFF") else rest

    def _start(self, head: bytes) -> int | None:
        """Where the sound begins, once it is known."""
        at = 12
        while at + 8 <= len(head):
            name, size = head[at : at + 4], int.from_bytes(head[at + 4 : at + 8], "little")
            at += 8
            if name == b"data":
                return at
            if name == b"fmt ":
                if at + 16 > len(head):
                    return None
                kind, channels, rate, _, _, bits = struct.unpack("<HHIIHH", head[at : at + 16])
                # 0xFFFE (extensible) has more fields; its samples are PCM here as well.
                if kind not in (_PCM, 0xFFFE) or channels != 1 or bits != 16:
                    raise ValueError(f"sound of {channels} channels with {bits} bits (kind {kind})")
                self.rate = rate
            at += size + size % 2
        return None
