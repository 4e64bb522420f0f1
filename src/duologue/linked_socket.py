"""A socket of binary frames that outlives its connections: a `FrameLink` over whichever connection there is now.

Both sides of a joined worker use it, as the live and the bulk socket of a session: `worker.joined` dials and passes each new connection to
`serve`, `gateway.machines` accepts it and does the same. `send` and `receive` wait while there is none, and end when the link is closed.
"""

from __future__ import annotations

from typing import Protocol

import anyio

from duologue.notifier import Notifier
from duologue.wire.machines.frame_link import FrameLink, LinkBroken


class Connection(Protocol):
    """One WebSocket. Both raise EOFError once it is closed, and may be cancelled; it is not used again after that."""

    async def receive(self) -> bytes: ...

    async def send(self, frame: bytes) -> None: ...


class LinkedSocket:
    """One task may `send`, and another one has to `receive` all the time, so that a broken connection is noticed. A third one serves the
    connections, one at a time."""

    def __init__(self, link: FrameLink | None = None) -> None:
        self.link = link or FrameLink()
        self._connection: Connection | None = None
        self._serving: anyio.CancelScope | None = None
        self._receiving: anyio.CancelScope | None = None
        self._changed = Notifier()
        """A connection came or went, or the link was closed."""
        self._writable = Notifier()
        """There is something to write."""
        self._room = Notifier()
        self._all_written: anyio.Event | None = None
        self._closed = False
        self.broken = ""
        """Why the two sides could not go on; "" if they could."""

    @property
    def connected(self) -> bool:
        return self._connection is not None

    @property
    def closed(self) -> bool:
        return self._closed

    async def send(self, frame: bytes) -> None:
        """Send a frame, waiting for room. Raises EOFError once the link is closed."""
        while not self._closed and not self.link.has_room:
            await self._room.wait()
        if self._closed:
            raise EOFError
        self.link.add(frame)
        self._writable.notify()

    async def receive(self) -> bytes:
        """The next frame, over as many connections as it takes. Raises EOFError once the link is closed."""
        while True:
            await self.wait_connected()
            assert self._connection is not None
            if (payload := await self._receive_over(self._connection)) is not None:
                return payload

    async def serve(self, connection: Connection, peer_received: int) -> None:
        """Use this connection until it breaks, another one comes, or the link is closed; its opener closes it then.
        `peer_received`: what the peer's opening message says. The link is closed, and says why in `broken`, when the two sides cannot go on."""
        if self._closed:
            return
        self._drop()
        try:
            self.link.resume(peer_received)
        except LinkBroken as error:
            self._break(error)
            return
        self._room.notify()
        with anyio.CancelScope() as self._serving:
            self._connection = connection
            self._changed.notify()
            try:
                await self._write(connection)
            except EOFError:
                pass
            finally:
                if self._connection is connection:
                    self._drop()

    async def wait_connected(self) -> None:
        """Return while there is a connection. Raises EOFError once the link is closed."""
        while self._connection is None:
            if self._closed:
                raise EOFError
            await self._changed.wait()

    async def wait_disconnected(self) -> None:
        """Return while there is no connection."""
        while self._connection is not None:
            await self._changed.wait()

    async def wait_written(self) -> None:
        """Return once every frame was written to a connection, or the link is closed."""
        while not self._closed and not self.link.all_written:
            self._all_written = self._all_written or anyio.Event()
            await self._all_written.wait()

    def acknowledge(self) -> None:
        """Tell the peer soon what was received, if it was not told."""
        self.link.ask_ack()
        self._writable.notify()

    def close(self) -> None:
        """End the link: the session is over."""
        self._closed = True
        self._drop()
        self._changed.notify()
        self._room.notify()
        self._tell_written()

    def _tell_written(self) -> None:
        written, self._all_written = self._all_written, None
        if written is not None:
            written.set()

    def _drop(self) -> None:
        """Stop using the current connection."""
        self._connection = None
        serving, self._serving = self._serving, None
        for scope in (serving, self._receiving):
            if scope is not None:
                scope.cancel()
        self._changed.notify()

    async def _write(self, connection: Connection) -> None:
        while True:
            while (frame := self.link.next_frame()) is None:
                self._tell_written()
                await self._writable.wait()
            await connection.send(frame)

    async def _receive_over(self, connection: Connection) -> bytes | None:
        """The payload of the next frame on this connection; None if there is none in it, or the connection ended. Raises EOFError."""
        frame = None
        with anyio.CancelScope() as self._receiving:
            try:
                frame = await connection.receive()
            except EOFError:
                self._receiving = None
                if self._connection is connection:
                    self._drop()
        self._receiving = None
        # What a connection gave that is not used any more comes again on the next one.
        if frame is None or self._connection is not connection:
            return None
        try:
            payload = self.link.take(frame)
        except LinkBroken as error:
            self._break(error)
            raise EOFError from error
        if self.link.ack_due:
            self._writable.notify()
        self._room.notify()
        return payload

    def _break(self, error: LinkBroken) -> None:
        self.broken = str(error)
        self.close()
