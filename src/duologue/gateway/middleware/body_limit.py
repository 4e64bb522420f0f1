"""The limit on the size of request bodies, by path; and refusing a body that is still arriving, for `bytes_in_flight` too."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

import anyio
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from duologue.errors import Problem, TooLarge
from duologue.gateway.middleware.headers import header_values
from duologue.http.error_responses import refuse

DRAIN_SECONDS = 5
DRAIN_BYTES = 2**20
"""How long, and how much at least, the rest of a refused body is still read."""


class BodyLimit:
    """Refuses request bodies of more than `limit` bytes: at once by Content-Length, else while they arrive.

    `others`: paths with a limit of their own, in bytes, and the setting that raises it, "" where none does. A path may have parameters, as
    routes have: `/v1/things/{id}` stands for every id.
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
        self._patterns = [(_pattern(path), limit) for path, limit in others.items() if "{" in path]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit, setting = self._limit(scope["path"])
        problem = _too_large(limit, setting)
        declared = declared_length(scope)
        if declared is not None and declared > limit:
            await refuse_body(scope, receive, send, problem, limit)
            return
        taken = 0

        def check(size: int) -> TooLarge | None:
            nonlocal taken
            taken += size
            return problem if taken > limit else None

        await with_checked_body(self._app, scope, receive, send, check, room=limit)

    def _limit(self, path: str) -> tuple[int, str]:
        if (own := self._others.get(path)) is not None:
            return own
        return next((limit for pattern, limit in self._patterns if pattern.fullmatch(path)), self._default)


def _pattern(path: str) -> re.Pattern[str]:
    """What matches a path with parameters: each is one segment."""
    return re.compile("/".join("[^/]+" if "{" in part else re.escape(part) for part in path.split("/")))


async def with_checked_body(
    app: ASGIApp,
    scope: Scope,
    receive: Receive,
    send: Send,
    check: Callable[[int], Problem | None],
    *,
    room: int,
) -> None:
    """Run `app`; `check` is given the size of each piece of the body and may end the request with a problem. `room`: bytes of the
    rest that are read and dropped then."""
    refusal: Problem | None = None
    started = complete = False

    async def receive_checked() -> Message:
        nonlocal refusal, complete
        message = await receive()
        complete = not message.get("more_body", False)
        if body := message.get("body", b""):
            refusal = refusal or check(len(body))
        if refusal is not None:
            raise refusal
        return message

    async def send_unless_refused(message: Message) -> None:
        # A framework may turn what `receive` raised into an answer of its own, such as a 400: drop it and send ours.
        nonlocal started
        if refusal is None or started:
            started = True
            await send(message)

    try:
        await app(scope, receive_checked, send_unless_refused)
    except Problem as raised:
        if raised is not refusal:
            raise
    if refusal is not None and not started:
        # Nothing follows the last piece: reading on would wait for the client to leave.
        await refuse_body(scope, receive, send, refusal, 0 if complete else room)


async def refuse_body(scope: Scope, receive: Receive, send: Send, problem: Problem, room: int) -> None:
    """Answer, then read some more of the body: many clients read the answer only after they have sent everything, and
    would lose it if the connection closed under them. `room` 0: nothing more comes."""

    async def send_and_drain(message: Message) -> None:
        if message["type"] == "http.response.body":
            await send({**message, "more_body": True})
            await _drain(receive, room and max(room, DRAIN_BYTES))
            message = {"type": "http.response.body", "body": b""}
        await send(message)

    await refuse(scope, receive, send_and_drain, problem, {"connection": "close"})


def declared_length(scope: Scope) -> int | None:
    """The length that a request declares for its body; None without one."""
    declared = header_values(scope, b"content-length")
    return int(declared[0]) if declared and declared[0].isdigit() else None


def _too_large(limit: int, setting: str) -> TooLarge:
    if not setting:
        return TooLarge(f"The request body is larger than {limit:,} bytes, which is the limit here.")
    return TooLarge(
        f"The request body is larger than {limit / 2**20:g} MB; the setting {setting} raises the limit."
    )


async def _drain(receive: Receive, room: int) -> None:
    with anyio.move_on_after(DRAIN_SECONDS):
        while room > 0:
            message = await receive()
            room -= len(message.get("body", b""))
            if message["type"] == "http.disconnect" or not message.get("more_body"):
                return
