"""The limit on the bytes of a user that are arriving or being worked on. Stands behind authentication, which sets the user.

A request's body counts until its response has ended, and so do the files that are read because the body names them; a socket's message until the socket is read again. What a socket has not
delivered yet, its protocol counts (`connections`), through the entry ARRIVING of the scope's state.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any
from urllib.parse import unquote_to_bytes

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duologue.gateway.middleware.body_limit import declared_length, refuse_body, with_checked_body
from duologue.gateway.middleware.byte_ledger import ByteLedger, counted_by, too_much

ARRIVING = "arriving_bytes"
"""The entry of a socket's state: the `HeldBytes` of the part of a message that has arrived."""
TRY_AGAIN_LATER = 1013
"""The WebSocket close code for an overload."""


class BytesInFlight:
    """Refuses what exceeds the ledger. `streamed`: paths whose bodies go to the disk piece by piece, and do not count; a file of
    a temporary chat goes to memory, and does."""

    def __init__(self, app: ASGIApp, ledger: ByteLedger, *, streamed: Collection[str] = ()) -> None:
        self._app = app
        self._ledger = ledger
        self._streamed = frozenset(streamed)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            await self._socket(scope, receive, send)
        elif scope["type"] == "http" and not self._is_streamed(scope):
            await self._request(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    def _is_streamed(self, scope: Scope) -> bool:
        # A name in the query may be written as %74emporary, too.
        query = unquote_to_bytes(scope.get("query_string", b""))
        return scope["path"] in self._streamed and b"temporary" not in query

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        user, ledger = scope["state"]["user"], self._ledger
        problem = too_much(ledger.limit)
        declared = declared_length(scope)
        if declared is not None and ledger.held(user) + declared > ledger.limit:
            await refuse_body(scope, receive, send, problem, declared)
            return
        held = ledger.open(user)
        try:
            with counted_by(held):
                await with_checked_body(
                    self._app,
                    scope,
                    receive,
                    send,
                    lambda size: None if held.add(size) else problem,
                    room=ledger.limit,
                )
        finally:
            held.close()

    async def _socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        working, arriving = (
            self._ledger.open(scope["state"]["user"]),
            self._ledger.open(scope["state"]["user"]),
        )
        scope["state"][ARRIVING] = arriving
        refused = False

        async def receive_counted() -> Message:
            nonlocal refused
            working.hold(0)
            message = await receive()
            if message["type"] == "websocket.receive" and not working.hold(_size(message)):
                refused = True
                return {"type": "websocket.disconnect", "code": TRY_AGAIN_LATER}
            return message

        async def send_unless_refused(message: Message) -> None:
            if not (refused and message["type"] == "websocket.close"):
                await send(message)

        try:
            await self._app(scope, receive_counted, send_unless_refused)
            if refused:
                reason = too_much(self._ledger.limit).message
                await send({"type": "websocket.close", "code": TRY_AGAIN_LATER, "reason": reason})
        finally:
            working.close()
            arriving.close()


def _size(message: Message) -> int:
    content: Any = message.get("bytes") or message.get("text") or b""
    return len(content)
