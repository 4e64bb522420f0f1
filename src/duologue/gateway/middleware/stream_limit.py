"""The limit on what a user holds open: WebSockets and event streams together. Stands behind authentication, which sets the user.

A socket is counted here. Whether a request becomes an event stream only its endpoint knows: `http.sse` takes the place for it.
Replies that are streamed are not counted; they end, and the queue bounds them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from starlette.types import ASGIApp, Receive, Scope, Send

from duologue.errors import Busy
from duologue.http.error_responses import refuse
from duologue.http.sse import STREAM_PLACE

UNCOUNTED = "/join/"
"""The sockets of workers on other machines, which have a limit of their own."""


class StreamLimit:
    """Refuses a user's socket or event stream while `limit` of theirs are open."""

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limit = limit
        self._open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope["state"][STREAM_PLACE] = partial(self._place, scope["state"]["user"])
        if scope["type"] != "websocket" or scope["path"].startswith(UNCOUNTED):
            await self._app(scope, receive, send)
            return
        user = scope["state"]["user"]
        if self._open[user] >= self._limit:
            await refuse(scope, receive, send, self._refusal())
            return
        with self._place(user):
            await self._app(scope, receive, send)

    @contextmanager
    def _place(self, user: str) -> Iterator[None]:
        """One of the user's places, for the length of the context. Raises Busy (`too_many_sockets`)."""
        if self._open[user] >= self._limit:
            raise self._refusal()
        self._open[user] += 1
        try:
            yield
        finally:
            self._open[user] -= 1
            if not self._open[user]:
                del self._open[user]

    def _refusal(self) -> Busy:
        return Busy(
            f"You already have {self._limit} sockets and event streams open. Close some pages or programs; the setting "
            "limits.sockets_per_user raises the limit.",
            code="too_many_sockets",
        )
