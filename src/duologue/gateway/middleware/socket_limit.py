"""The limit on a user's open WebSockets. Stands behind authentication, which sets the user."""

from __future__ import annotations

from collections import Counter

from starlette.types import ASGIApp, Receive, Scope, Send

from duologue.errors import Busy
from duologue.http.error_responses import refuse


class SocketLimit:
    """Refuses a user's WebSocket while `limit` of theirs are open."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit
        self._open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "websocket":
            await self._app(scope, receive, send)
            return
        user = scope["state"]["user"]
        if self._open[user] >= self._limit:
            sentence = f"You already have {self._limit} sockets open. The setting limits.sockets_per_user raises the limit."
            await refuse(scope, receive, send, Busy(sentence, code="too_many_sockets"))
            return
        self._open[user] += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._open[user] -= 1
            if not self._open[user]:
                del self._open[user]
