"""Accepts connections, with TLS: a place in the table for each before its handshake, and a deadline for the handshake.

Plain connections are accepted by the event loop's own server, which is faster, and their protocol asks for the place. With TLS
that would be too late: a protocol hears of a connection only when the handshake is over.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import ssl
from collections.abc import Callable

import anyio
from anyio.abc import TaskGroup

from duologue.gateway.connections.admission import Admission
from duologue.gateway.connections.guard import ConnectionGuard
from duologue.gateway.connections.refusals import plain_http_answer

log = logging.getLogger(__name__)

Protocols = Callable[[Admission | None], asyncio.Protocol]

BACKLOG = 2048
BATCH = 64
"""Connections that are accepted before the event loop is given back."""
PAUSE_SECONDS = 0.5
"""How long nothing is accepted after the system had no room for another file."""
NO_ROOM = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
REFUSED_SECONDS = 1.0
REFUSED_AT_ONCE = 64
"""How long, and how many, clients that speak no TLS may take to read why they are refused."""
PEEKED = 2048
HANDSHAKE = 0x16
"""The first byte of TLS."""


class Acceptor:
    """Accepts for `protocols`, with TLS if there is a context. `run` is its task. A protocol is made with the place of its
    connection, or without one, and then asks for it."""

    def __init__(
        self, guard: ConnectionGuard, protocols: Protocols, context: ssl.SSLContext | None = None
    ) -> None:
        self._guard = guard
        self._protocols = protocols
        self._context = context
        self._refused = 0
        self._scope = anyio.CancelScope()
        self._ended = anyio.Event()

    async def run(self, listener: socket.socket) -> None:
        """Accept until `stop`."""
        listener.setblocking(False)
        try:
            with self._scope:
                if self._context is None:
                    await self._run_plain(listener)
                else:
                    await self._run_tls(listener)
        finally:
            self._ended.set()

    async def stop(self) -> None:
        """Accept no more. Afterwards the listening socket is not used any longer."""
        self._scope.cancel()
        await self._ended.wait()

    async def _run_plain(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        server = await loop.create_server(lambda: self._protocols(None), sock=listener, backlog=BACKLOG)
        try:
            await anyio.sleep_forever()
        finally:
            server.close()

    async def _run_tls(self, listener: socket.socket) -> None:
        async with anyio.create_task_group() as tasks:
            while True:
                await anyio.wait_readable(listener)
                if not self._accept(listener, tasks):
                    self._guard.met("open_files", "")
                    await anyio.sleep(PAUSE_SECONDS)

    def _accept(self, listener: socket.socket, tasks: TaskGroup) -> bool:
        """Accept who waits. False when the system has no room."""
        for _ in range(BATCH):
            try:
                connection, address = listener.accept()
            except (BlockingIOError, InterruptedError):
                break
            except OSError as error:
                if error.errno in NO_ROOM:
                    return False
                continue  # that one has left already
            connection.setblocking(False)
            self._take(connection, address[0] if isinstance(address, tuple) else "", tasks)
        return True

    def _take(self, connection: socket.socket, peer: str, tasks: TaskGroup) -> None:
        place = self._guard.admit(peer)
        if isinstance(place, Admission):
            tasks.start_soon(self._serve, connection, peer, place)
        else:
            connection.close()  # nothing can be said without a handshake

    async def _serve(self, connection: socket.socket, peer: str, place: Admission) -> None:
        """Hand a connection to its protocol after the handshake."""
        try:
            if connection.family in (socket.AF_INET, socket.AF_INET6):
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            handshake = _Handshake(place)
            self._guard.idle[handshake] = None
            seconds = self._guard.settings.handshake_s
            try:
                with anyio.fail_after(seconds), handshake.scope:
                    if await self._is_tls(connection):
                        await self._connect(connection, place, seconds)
                        return
            finally:
                self._guard.idle.pop(handshake, None)
            connection.close()
            place.release()
        except (OSError, TimeoutError) as error:  # ssl.SSLError is an OSError
            if isinstance(error, TimeoutError):
                self._guard.met("handshake", peer)
            connection.close()
            place.release()
        except BaseException:
            connection.close()
            place.release()
            raise

    async def _connect(self, connection: socket.socket, place: Admission, seconds: float) -> None:
        loop = asyncio.get_running_loop()
        await loop.connect_accepted_socket(
            lambda: self._protocols(place),
            connection,
            ssl=self._context,
            ssl_handshake_timeout=seconds,
        )

    async def _is_tls(self, connection: socket.socket) -> bool:
        """Whether the client begins a handshake. Plain HTTP is answered with a sentence, anything else with nothing."""
        await anyio.wait_readable(connection)
        start = connection.recv(PEEKED, socket.MSG_PEEK)
        if start[:1] == bytes([HANDSHAKE]):
            return True
        if start[:1].isalpha() and self._refused < REFUSED_AT_ONCE:
            await self._say(connection, plain_http_answer(start, connection.getsockname()[1]))
        return False

    async def _say(self, connection: socket.socket, text: bytes) -> None:
        """Send a last answer, and close when the client has had the time to read it."""
        self._refused += 1
        try:
            with connection, anyio.move_on_after(REFUSED_SECONDS):
                connection.send(text)
                connection.shutdown(socket.SHUT_WR)
                for _ in range(BATCH):
                    await anyio.wait_readable(connection)
                    if not connection.recv(PEEKED):
                        return
        except OSError:
            return
        finally:
            self._refused -= 1


class _Handshake:
    """A connection that is not yet one."""

    def __init__(self, place: Admission) -> None:
        self._place = place
        self.scope = anyio.CancelScope()

    def evict(self) -> None:
        self.scope.cancel()
        self._place.release()
