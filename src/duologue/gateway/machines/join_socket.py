"""`WS /join/live` and `/join/bulk`: the two sockets of a worker on another machine. The messages are in `wire/machines/join_protocol.py`."""

from __future__ import annotations

import logging
from contextlib import suppress
from typing import TypeVar

import anyio
import msgspec
from fastapi import APIRouter, WebSocket
from starlette.websockets import WebSocketDisconnect

from duologue.gateway.auth.keys import User
from duologue.gateway.machines.join_service import JoinService, JoinSession
from duologue.gateway.machines.joined_transport import Line
from duologue.gateway.middleware.message_limit import MESSAGE_LIMIT
from duologue.http.error_responses import refuse
from duologue.wire.machines.join_protocol import (
    FOR_GOOD,
    GOING,
    Gateways,
    Join,
    JoinBulk,
    Refuse,
    decode_opening,
    encode_opening,
)

log = logging.getLogger(__name__)

OPENING_SECONDS = 10.0
"""Seconds for the first message."""
OPENING_BYTES = 64 * 1024
FRAME_BYTES = 2 * 1024 * 1024
"""Bytes of a frame of a worker, which sends at most half of that; what is larger comes in fragments. Reading a hostile one of 32 MB held up the
server for two seconds."""
WRONG, REFUSED = 1002, 4403
"""Close codes: the message was not one of this protocol; the worker is refused, and the message before says why."""
Message = TypeVar("Message", Join, JoinBulk)


class ServerSocket:
    """The frames of an accepted socket."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self.code, self.reason = 0, ""
        """With which the worker closed it."""

    async def receive(self) -> bytes:
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            self.code, self.reason = message.get("code") or 0, message.get("reason") or ""
            raise EOFError
        if (frame := message.get("bytes")) is None:
            raise EOFError  # text has no place here
        return bytes(frame)

    async def send(self, frame: bytes) -> None:
        try:
            await self._socket.send_bytes(frame)
        except (WebSocketDisconnect, OSError, RuntimeError) as error:
            raise EOFError from error


def router(service: JoinService) -> APIRouter:
    """The routes."""
    routes = APIRouter()

    @routes.websocket("/join/live")
    async def live(socket: WebSocket) -> None:
        if (opening := await _opening(service, socket, Join)) is not None:
            await _serve(service, socket, "live", service.enter(opening, _user(socket)), opening.received)

    @routes.websocket("/join/bulk")
    async def bulk(socket: WebSocket) -> None:
        if (opening := await _opening(service, socket, JoinBulk)) is not None:
            session = service.resume_bulk(opening, _user(socket))
            await _serve(service, socket, "bulk", session, opening.received)

    return routes


def _user(socket: WebSocket) -> User:
    state = socket.scope["state"]
    return User(state["user"], state["role"], state["name"], state["key"])


async def _opening(service: JoinService, socket: WebSocket, kind: type[Message]) -> Message | None:
    """The first message; None if the socket was refused or sent nothing usable, and is closed."""
    if (problem := service.refusal()) is not None:
        await refuse(socket.scope, socket.receive, socket.send, problem)
        return None
    _limit(socket, OPENING_BYTES)
    await socket.accept()
    try:
        with anyio.fail_after(OPENING_SECONDS):
            message = decode_opening(await socket.receive_text())
    except (TimeoutError, msgspec.DecodeError, RecursionError, KeyError, TypeError):
        await _close(socket, WRONG)
        return None
    except WebSocketDisconnect:
        return None
    if not isinstance(message, kind):
        await _close(socket, WRONG)
        return None
    _limit(socket, FRAME_BYTES)
    return message


async def _serve(
    service: JoinService, socket: WebSocket, line: Line, session: JoinSession | Refuse, received: int
) -> None:
    """Answer, and relay until the socket closes or the session ends."""
    try:
        if isinstance(session, Refuse):
            await socket.send_text(encode_opening(session))
            await _close(socket, REFUSED)
            return
        transport = session.transport
        welcome = service.welcome(session, transport.lines[line].link.received)
        await socket.send_text(encode_opening(welcome))
    except (WebSocketDisconnect, OSError, RuntimeError):
        return
    connection = ServerSocket(socket)
    async with anyio.create_task_group() as tasks:
        if line == "live" and not session.worker.placed:
            tasks.start_soon(_tell_gateways, service, socket, welcome.gateways)
        await transport.serve(line, connection, received)
        tasks.cancel_scope.cancel()
    if line == "live" and connection.code == GOING:
        transport.leave(for_good=connection.reason == FOR_GOOD)
    await _close(socket, GOING if transport.ended else WRONG)


async def _tell_gateways(service: JoinService, socket: WebSocket, told: tuple[str, ...]) -> None:
    """Tell the worker of other gateways, as they come and go. `told`: what it knows already."""
    with suppress(WebSocketDisconnect, OSError, RuntimeError):
        while True:
            changed = service.addresses_changed.pending()
            if (addresses := service.addresses()) != told:
                told = addresses
                await socket.send_text(encode_opening(Gateways(addresses)))
            await changed.wait()


async def _close(socket: WebSocket, code: int) -> None:
    with suppress(WebSocketDisconnect, OSError, RuntimeError), anyio.move_on_after(5):
        await socket.close(code)


def _limit(socket: WebSocket, size: int) -> None:
    if (set_limit := socket.scope["state"].get(MESSAGE_LIMIT)) is not None:
        set_limit(size)
