"""An OpenAI-compatible model server on loopback for tests, in a thread, with everything that goes wrong with one.

What a test wants to go wrong it sets on the `ModelServer`; what was asked, and with which key, is in `requests`.
"""

from __future__ import annotations

import base64
import json
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route


@dataclass
class Asked:
    path: str
    key: str
    body: dict[str, Any]


@dataclass
class ModelServer:
    """`models`: the entries of its list. The fields below the line are what goes wrong, each off unless set."""

    models: list[dict[str, Any]] = field(default_factory=lambda: [{"id": "llama"}])
    key: str = ""
    """What a request must bring, where it is set."""
    reply: str = "Hello there"
    extra: dict[str, Any] = field(default_factory=dict)
    """Further answers, by path."""
    speech: bytes = b""
    """16-bit samples at 24 kHz, with which it speaks a reply that is asked for with sound."""
    pieces: int = 4
    """In how many pieces the sound is streamed."""
    url: str = ""
    requests: list[Asked] = field(default_factory=list)

    status: int = 200
    error: Any = None
    """The body of an error."""
    raw: bytes | None = None
    """The list of models instead of JSON."""
    redirect: str = ""
    encoding: str = ""
    """A content encoding that it claims."""
    silent: threading.Event = field(default_factory=threading.Event)
    """While set, it answers nothing."""
    breaks: bool = False
    """Whether replies end in the middle, with the connection."""

    def asked(self, path: str) -> list[Asked]:
        return [request for request in self.requests if request.path == path]


def _application(server: ModelServer) -> Starlette:
    async def trouble(request: Request) -> Response | None:
        key = request.headers.get("authorization", "").removeprefix("Bearer ")
        content = await request.body()
        server.requests.append(Asked(request.url.path, key, json.loads(content) if content else {}))
        while server.silent.is_set():  # noqa: ASYNC110 (the test is in another thread)
            await anyio.sleep(0.01)
        if server.redirect:
            return RedirectResponse(server.redirect, 308)
        if server.key and key != server.key:
            return JSONResponse({"error": {"message": f"The key {key!r} is not valid."}}, 401)
        if server.status != 200:
            body = server.error if server.error is not None else {"error": {"message": "It is broken."}}
            return (
                PlainTextResponse(body, server.status)
                if isinstance(body, str)
                else JSONResponse(body, server.status)
            )
        return None

    async def models(request: Request) -> Response:
        if (refused := await trouble(request)) is not None:
            return refused
        headers = {"content-encoding": server.encoding} if server.encoding else {}
        content = (
            server.raw
            if server.raw is not None
            else json.dumps({"object": "list", "data": server.models}).encode()
        )
        return Response(content, media_type="application/json", headers=headers)

    async def chat(request: Request) -> Response:
        if (refused := await trouble(request)) is not None:
            return refused

        speaks = bool(server.speech) and "audio" in (await request.json()).get("modalities", ())

        async def body() -> AsyncIterator[str]:
            for word in server.reply.split(" "):
                yield _event(
                    {"audio": {"id": "audio_1", "transcript": word + " "}}
                    if speaks
                    else {"content": word + " "}
                )
            for sound in _cut(server.speech, server.pieces) if speaks else ():
                yield _event({"audio": {"id": "audio_1", "data": base64.b64encode(sound).decode()}})
            if speaks:
                yield _event({"audio": {"id": "audio_1", "expires_at": 4_000_000_000}})
            if server.breaks:
                raise ConnectionResetError
            yield _event({}, "stop") + "data: [DONE]\n\n"

        return StreamingResponse(body(), media_type="text/event-stream")

    async def other(request: Request) -> Response:
        if (refused := await trouble(request)) is not None:
            return refused
        found = server.extra.get(request.url.path)
        return PlainTextResponse("no", 404) if found is None else JSONResponse(found)

    return Starlette(
        routes=[
            Route("/v1/models", models),
            Route("/v1/chat/completions", chat, methods=["POST"]),
            Route("/{path:path}", other, methods=["GET", "POST"]),
        ]
    )


def _event(delta: dict[str, Any], finish: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return f"data: {json.dumps({'choices': [choice]})}\n\n"


def _cut(data: bytes, pieces: int) -> list[bytes]:
    """In about so many pieces, cut without regard for samples, as networks do."""
    size = max(1, len(data) // pieces) | 1
    return [data[at : at + size] for at in range(0, len(data), size)]


@contextmanager
def serving(server: ModelServer) -> Iterator[ModelServer]:
    """The server until the context is left. Entered again, it is at the same address."""
    port = int(server.url.rpartition(":")[2]) if server.url else 0
    listener = socket.create_server(("127.0.0.1", port))
    server.url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    config = uvicorn.Config(
        _application(server), log_config=None, log_level="critical", lifespan="off", ws="none"
    )
    running = uvicorn.Server(config)
    thread = threading.Thread(target=running.run, args=([listener],), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.silent.clear()
        running.should_exit = running.force_exit = True
        thread.join(timeout=10)
        listener.close()
