"""The size of one message on the sockets of calls, by path: they carry sound and pictures, not whole chats with files.

The socket's protocol (`connections`) leaves the function that sets the limit in the scope's state, under MESSAGE_LIMIT, and closes with
1009 where a message exceeds it, before it has arrived.
"""

from __future__ import annotations

from collections.abc import Mapping

from starlette.types import ASGIApp, Receive, Scope, Send

MESSAGE_LIMIT = "message_limit"
"""The entry of a socket's state: a function that takes the most bytes a message may have."""


class MessageLimit:
    """`limits`: the beginning of a path, and the most bytes of a message on its sockets. Other sockets keep the server's limit."""

    def __init__(self, app: ASGIApp, limits: Mapping[str, int]) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket" and (set_limit := scope["state"].get(MESSAGE_LIMIT)) is not None:
            for beginning, limit in self._limits.items():
                if scope["path"].startswith(beginning):
                    set_limit(limit)
        await self._app(scope, receive, send)
