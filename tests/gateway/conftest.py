"""A `generate` that plays what the test wrote, and a real server on loopback."""

import socket
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from typing import Any

import anyio
import pytest
import uvicorn

from duologue.values.events import Event
from duologue.values.requests import ChatRequest

Batch = list[tuple[int, Event]]
Step = Batch | anyio.Event | Exception | None


class Script:
    """Plays its steps for every request: a batch is yielded, an event waited for, an exception raised, and None waits
    for ever. `left` is set whenever a request's context was left; `running` counts the open ones. Leaving waits for `leaving`, where a
    test sets one."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.requests: list[ChatRequest] = []
        self.asked: list[dict[str, Any]] = []
        self.running = 0
        self.yielded = 0
        self.left = anyio.Event()
        self.leaving: anyio.Event | None = None

    def plays(self, *steps: Step | Event) -> None:
        """Set the steps; a bare event is a batch of choice 0."""
        self.steps = [[(0, step)] if isinstance(step, Event) else step for step in steps]

    @asynccontextmanager
    async def __call__(
        self,
        request: ChatRequest,
        *,
        kind: str = "chat",
        count: int = 1,
        request_id: str = "",
        user: str = "local",
    ) -> AsyncIterator[AsyncIterator[Batch]]:
        self.requests.append(request)
        self.asked.append({"kind": kind, "count": count, "request_id": request_id, "user": user})
        self.running += 1
        try:
            async with aclosing(self._batches(list(self.steps))) as batches:
                yield batches
        finally:
            if self.leaving is not None:
                await self.leaving.wait()
            self.running -= 1
            self.left.set()

    async def _batches(self, steps: list[Step]) -> AsyncGenerator[Batch]:
        for step in steps:
            if isinstance(step, list):
                self.yielded += 1
                yield step
            elif isinstance(step, Exception):
                raise step
            elif step is None:
                await anyio.sleep_forever()
            else:
                await step.wait()


@pytest.fixture
def script() -> Script:
    return Script()


@asynccontextmanager
async def _serve(app: Any, **options: Any) -> AsyncIterator[str]:
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        app,
        log_config=None,
        lifespan="off",
        ws="websockets-sansio",
        ws_max_size=2**21,
        timeout_graceful_shutdown=1,
        **options,
    )
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    await server.startup(sockets=[listener])
    try:
        yield f"127.0.0.1:{listener.getsockname()[1]}"
    finally:
        await server.shutdown(sockets=[listener])


@pytest.fixture
def serve() -> Callable[..., AbstractAsyncContextManager[str]]:
    """`async with serve(app) as address`: a real server in the test's own loop; `options` are the library's."""
    return _serve
