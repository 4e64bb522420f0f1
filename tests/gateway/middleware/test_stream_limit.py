"""Open sockets and event streams of a user, counted together."""

from collections.abc import AsyncGenerator
from typing import Any

import anyio
import pytest

from duologue.gateway.middleware.stream_limit import StreamLimit
from duologue.http.sse import resumable_stream

pytestmark = pytest.mark.anyio


class Visitors:
    """Opens sockets and event streams of users that stay until `release`."""

    def __init__(self, limit: int) -> None:
        self.release = anyio.Event()
        self.statuses: list[Any] = []
        self._limit = StreamLimit(self._app, limit)

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await resumable_stream(self._frames())(scope, receive, send)
            return
        self.statuses.append("open")
        await self.release.wait()

    async def _frames(self) -> AsyncGenerator[bytes]:
        yield b": hello\n\n"
        await self.release.wait()

    async def open(self, kind: str, user: str = "ada") -> None:
        begun = False

        async def receive() -> Any:
            nonlocal begun
            if begun or kind == "http":
                await anyio.sleep_forever()
            begun = True
            return {"type": "websocket.connect"}

        async def send(message: Any) -> None:
            if "status" in message:
                self.statuses.append("open" if message["status"] == 200 else message["status"])

        scope = {"type": kind, "path": "/ws", "method": "GET", "headers": [], "state": {"user": user}}
        await self._limit(scope | {"extensions": {"websocket.http.response": {}}}, receive, send)


@pytest.mark.parametrize("kinds", [("websocket",) * 3, ("http",) * 3, ("http", "websocket", "http")])
async def test_a_user_may_open_so_many_and_again_when_one_closes(kinds: tuple[str, ...]) -> None:
    visitors = Visitors(2)
    async with anyio.create_task_group() as tasks:
        for kind in kinds:
            tasks.start_soon(visitors.open, kind)
            await anyio.wait_all_tasks_blocked()
        assert visitors.statuses == ["open", "open", 429]
        tasks.start_soon(visitors.open, kinds[0], "ben")
        await anyio.wait_all_tasks_blocked()
        assert visitors.statuses[-1] == "open"  # another user's are counted apart
        visitors.release.set()
    await visitors.open(kinds[0])
    assert visitors.statuses[-1] == "open"
