"""The worker's end of a pair of sockets to a process of its own, for the event loop.

Used by the recogniser's decoders and by the renderers of chat templates.
"""

from __future__ import annotations

import socket
from typing import Generic, TypeVar

import anyio

from duologue.engines.message_stream import CHUNK, MessageReader

M = TypeVar("M")


class MessageSocket(Generic[M]):
    """Receives the messages of one union. `limit`: bytes that one may have."""

    def __init__(self, near: socket.socket, union: object, limit: int | None = None) -> None:
        near.setblocking(False)
        self._near = near
        self._reader = MessageReader[M](union, limit)

    @property
    def alive(self) -> bool:
        """Whether the other end is there, as far as is known without waiting."""
        try:
            return bool(self._near.recv(1, socket.MSG_PEEK))
        except BlockingIOError:
            return True
        except OSError:
            return False

    async def send(self, data: bytes) -> None:
        """Send a message, packed. Raises OSError when the other end is gone."""
        rest = memoryview(data)
        while rest:
            try:
                rest = rest[self._near.send(rest) :]
            except BlockingIOError:
                await anyio.wait_writable(self._near)

    async def receive(self) -> M:
        """The next message. Raises EOFError when the other end is gone, or sent what is no message."""
        try:
            while (message := self._reader.take()) is None:
                try:
                    data = self._near.recv(CHUNK)
                except BlockingIOError:
                    await anyio.wait_readable(self._near)
                    continue
                if not data:
                    raise EOFError
                self._reader.add(data)
        except (OSError, ValueError) as error:
            raise EOFError from error
        return message

    def close(self) -> None:
        """Close this end; the other one sees it."""
        self._near.close()
