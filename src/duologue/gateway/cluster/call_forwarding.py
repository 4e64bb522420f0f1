"""Forwards the socket of a call whose temporary chat is at another gateway. That gateway holds the call; this one passes frames on in both directions.

`VoiceSocket` asks once it has read which conversation the call is in. As with requests (`forwarding`), the client's own key or login goes along and is
checked again there, and what was passed on once goes no further. Each direction stops reading while its receiver is slow, so memory use stays bounded.
"""

from __future__ import annotations

import json
import logging
import ssl
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import anyio
from starlette.types import Scope
from starlette.websockets import WebSocket, WebSocketDisconnect

from duologue.errors import Problem
from duologue.gateway.cluster.forwarding import CONNECT_S, Neighbours, target_of
from duologue.gateway.cluster.held_things import TEMPORARY, HeldThing, owner_unreachable
from duologue.gateway.cluster.hop import HEADER
from duologue.gateway.middleware.headers import header_values
from duologue.values.cluster.gateway_entry import GatewayEntry

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection
    from websockets.exceptions import InvalidStatus
    from websockets.typing import Subprotocol

log = logging.getLogger(__name__)

PATH = "/ws/voice"
PING_S, PONG_S, CLOSE_S = 15.0, 20.0, 2.0
"""Seconds between two pings to the owner, for its answer, and for a close to finish."""
FRAME_BYTES = 32 * 2**20
"""Bytes of the largest frame of the owner: a picture or a clip."""
FRAMES = 16
"""Frames of the owner that wait here for the client."""
NORMAL, GOING_AWAY = 1000, 1001
PASSED_ON = frozenset({1000, 1001, 1002, 1003, *range(1007, 1015)})
"""Close codes that may be sent, beside those of applications, from 3000 on."""


class CallForwarding:
    """Passes calls on."""

    def __init__(self, neighbours: Neighbours) -> None:
        self._neighbours = neighbours
        self._trust: ssl.SSLContext | None = None

    async def __call__(
        self, socket: WebSocket, conversation: str, first: Sequence[str | bytes]
    ) -> tuple[int, str] | None:
        """Have a call held by the gateway that has its conversation, until it ends; returns the code and the reason of its close, or None if no other
        gateway has it. `first`: what the client has sent already. Raises Problem if the owner is gone, does not answer, or refuses."""
        if not self._neighbours.gateway or header_values(socket.scope, HEADER):
            return None
        owner = await self._neighbours.owner_of(HeldThing("claim", TEMPORARY + conversation))
        if owner is None:
            return None
        async with self._connected(owner, socket.scope) as connection:
            return await _relay(socket, connection, first)

    @asynccontextmanager
    async def _connected(self, owner: GatewayEntry, scope: Scope) -> AsyncIterator[ClientConnection]:
        """A socket to the owner. Raises Problem."""
        from websockets.asyncio.client import connect
        from websockets.exceptions import InvalidStatus, WebSocketException

        address = urlsplit(owner.address)
        if not address.hostname:
            raise owner_unreachable()
        is_encrypted = address.scheme == "https"
        # Every server answers to this name, whatever its own is.
        uri = f"{'wss' if is_encrypted else 'ws'}://localhost{address.path.rstrip('/')}{_call_target(scope)}"
        try:
            connection = await connect(
                uri,
                host=address.hostname,
                port=address.port or (443 if is_encrypted else 80),
                additional_headers=[
                    (name.decode("latin-1"), value.decode("latin-1"))
                    for name, value in self._neighbours.headers(_call_scope(scope))
                ],
                subprotocols=_subprotocols(scope),
                compression=None,
                user_agent_header=None,
                proxy=None,
                max_size=FRAME_BYTES,
                max_queue=FRAMES,
                open_timeout=CONNECT_S,
                ping_interval=PING_S,
                ping_timeout=PONG_S,
                close_timeout=CLOSE_S,
                ssl=self._trusted() if is_encrypted else None,
                server_hostname=address.hostname if is_encrypted else None,
            )
        except InvalidStatus as refusal:
            raise _refusal(refusal) from None
        except (OSError, WebSocketException, TimeoutError, ValueError) as error:
            log.warning("the gateway at %s takes no call: %s", owner.address, type(error).__name__)
            raise owner_unreachable() from None
        try:
            yield connection
        finally:
            with anyio.CancelScope(shield=True):
                await connection.close(GOING_AWAY)

    def _trusted(self) -> ssl.SSLContext:
        if self._trust is None:
            self._trust = ssl.create_default_context()
        return self._trust


async def _relay(
    socket: WebSocket, connection: ClientConnection, first: Sequence[str | bytes]
) -> tuple[int, str]:
    """Pass frames on until either side closes; returns how the owner closed. Raises Unavailable if its connection broke."""
    from websockets.exceptions import ConnectionClosed

    ending: tuple[int, str] = (NORMAL, "")
    is_broken = False
    async with anyio.create_task_group() as tasks:

        async def listen() -> None:
            """What the owner says."""
            nonlocal ending, is_broken
            try:
                while True:
                    frame = await connection.recv()
                    if isinstance(frame, str):
                        await socket.send_text(frame)
                    else:
                        await socket.send_bytes(frame)
            except ConnectionClosed as closed:
                is_broken = closed.rcvd is None
                if closed.rcvd is not None:
                    ending = (passed_on(closed.rcvd.code, NORMAL), closed.rcvd.reason)
            except (WebSocketDisconnect, RuntimeError):
                log.debug("the client of a call that is passed on is gone")
            tasks.cancel_scope.cancel()

        tasks.start_soon(listen)
        try:
            for frame in first:
                await connection.send(frame)
            while (message := await socket.receive())["type"] != "websocket.disconnect":
                text = message.get("text")
                await connection.send(bytes(message["bytes"]) if text is None else text)
            await connection.close(
                passed_on(message.get("code") or 0, GOING_AWAY), message.get("reason") or ""
            )
            tasks.cancel_scope.cancel()
        except ConnectionClosed:
            pass  # `listen` sees it too, after what was said before
    if is_broken:
        raise owner_unreachable()
    return ending


def passed_on(code: int, otherwise: int) -> int:
    """The code with which a close is passed on. Some codes only report what happened to a connection and may not be sent."""
    return code if code in PASSED_ON or 3000 <= code < 5000 else otherwise


def _call_scope(scope: Scope) -> Scope:
    """The request that the owner gets. Calls that began on `/ws/chat` too go to the socket that takes nothing else."""
    return {**scope, "raw_path": None, "path": PATH, "state": {**scope["state"], "base_path": ""}}


def _call_target(scope: Scope) -> str:
    return target_of(_call_scope(scope))


def _subprotocols(scope: Scope) -> list[Subprotocol] | None:
    """What the client offered; one of them may be its key."""
    from websockets.typing import Subprotocol

    offered = [
        Subprotocol(name.strip())
        for value in header_values(scope, b"sec-websocket-protocol")
        for name in value.split(",")
    ]
    return offered or None


def _refusal(refusal: InvalidStatus) -> Problem:
    """The owner's own error, where it answered with one instead of a socket."""
    response = refusal.response
    try:
        error = json.loads(response.body or b"")["error"]
        return Problem(str(error["message"]), code=str(error["code"]), status=response.status_code)
    except (ValueError, KeyError, TypeError):
        return owner_unreachable()
