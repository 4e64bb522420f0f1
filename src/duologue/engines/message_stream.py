"""Messages of msgspec structs as bytes on a socket between a worker and a process of its own.

A message is its length in four bytes, then msgpack. `message_socket` is the worker's end; the processes read and write
blocking sockets with this alone. Pure.
"""

from __future__ import annotations

from typing import Generic, TypeVar

import msgspec

M = TypeVar("M")

CHUNK = 65536
"""Bytes read at a time."""
_LENGTH_BYTES = 4


def pack(message: msgspec.Struct) -> bytes:
    """A message as it is sent."""
    body = msgspec.msgpack.encode(message)
    return len(body).to_bytes(_LENGTH_BYTES, "big") + body


class MessageReader(Generic[M]):
    """Messages of one union from bytes that are cut anywhere. `limit`: bytes that one may have."""

    def __init__(self, union: object, limit: int | None = None) -> None:
        self._decoder = msgspec.msgpack.Decoder(union)
        self._limit = limit
        self._buffer = bytearray()

    def add(self, data: bytes) -> None:
        """The next bytes."""
        self._buffer += data

    def take(self) -> M | None:
        """The next message, or None while it is incomplete. Raises ValueError for one that is too long or wrong."""
        if len(self._buffer) < _LENGTH_BYTES:
            return None
        length = int.from_bytes(self._buffer[:_LENGTH_BYTES], "big")
        if self._limit is not None and length > self._limit:
            raise ValueError(f"a message of {length} bytes")
        end = _LENGTH_BYTES + length
        if len(self._buffer) < end:
            return None
        body = bytes(self._buffer[_LENGTH_BYTES:end])
        del self._buffer[:end]
        message: M = self._decoder.decode(body)
        return message
