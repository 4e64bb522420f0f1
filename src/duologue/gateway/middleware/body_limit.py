"""The limit on the size of request bodies, by path."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duologue.errors import TooLarge
from duologue.gateway.middleware.headers import header_values
from duologue.http.error_responses import refuse

DRAIN_SECONDS = 5
DRAIN_BYTES = 2**20
"""How long, and how much at least, the rest of a refused body is still read."""


class BodyLimit:
    """Refuses request bodies of more than `limit` bytes: at once by Content-Length, else while they arrive.

    `others`: paths with a limit of their own, in bytes, and the setting that raises it.
    """

    def __init__(
        self,
        app: ASGIApp,
        limit: int,
        setting: str = "limits.body_mb",
        others: Mapping[str, tuple[int, str]] = MappingProxyType({}),
    ) -> None:
        self._app = app
        self._default = limit, setting
        self._others = others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit, setting = self._others.get(scope["path"], self._default)
        problem = TooLarge(
            f"The request body is larger than {limit / 2**20:g} MB; the setting {setting} raises the limit."
        )
        declared = header_values(scope, b"content-length")
        if declared and declared[0].isdigit() and int(declared[0]) > limit:
            await self._refuse(scope, receive, send, problem, limit)
            return
        taken = 0
        started = exceeded = False

        async def receive_limited() -> Message:
            nonlocal taken, exceeded
            message = await receive()
            taken += len(message.get("body", b""))
            if taken > limit:
                exceeded = True
                raise problem
            return message

        async def send_unless_exceeded(message: Message) -> None:
            # A framework may turn what `receive` raised into an answer of its own, such as a 400: drop it and send ours.
            nonlocal started
            if not exceeded or started:
                started = True
                await send(message)

        try:
            await self._app(scope, receive_limited, send_unless_exceeded)
        except TooLarge as raised:
            if raised is not problem:
                raise
        if exceeded and not started:
            await self._refuse(scope, receive, send, problem, limit)

    async def _refuse(
        self, scope: Scope, receive: Receive, send: Send, problem: TooLarge, limit: int
    ) -> None:
        """Answer, then read some more of the body: many clients read the answer only after they have sent everything, and
        would lose it if the connection closed under them."""

        async def send_and_drain(message: Message) -> None:
            if message["type"] == "http.response.body":
                await send({**message, "more_body": True})
                await _drain(receive, max(limit, DRAIN_BYTES))
                message = {"type": "http.response.body", "body": b""}
            await send(message)

        await refuse(scope, receive, send_and_drain, problem, {"connection": "close"})


async def _drain(receive: Receive, room: int) -> None:
    with anyio.move_on_after(DRAIN_SECONDS):
        while room > 0:
            message = await receive()
            room -= len(message.get("body", b""))
            if message["type"] == "http.disconnect" or not message.get("more_body"):
                return
