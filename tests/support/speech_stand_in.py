"""A small server with OpenAI's paths for sound on loopback, whose answers a test decides."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

Answer = Callable[[Request], Awaitable[Response]]


def saying(body: Any, status: int = 200) -> Answer:
    """An answer of text, or of JSON."""

    async def answer(request: Request) -> Response:
        return PlainTextResponse(body, status) if isinstance(body, str) else JSONResponse(body, status)

    return answer


def sounding(*parts: bytes, kind: str = "audio/pcm") -> Answer:
    """An answer of sound, each part in a packet of its own."""

    async def answer(request: Request) -> Response:
        async def body() -> AsyncIterator[bytes]:
            for part in parts:
                yield part
                await anyio.lowlevel.checkpoint()

        return StreamingResponse(body(), media_type=kind)

    return answer


class SpeechStandIn:
    """The server. What was asked is in `forms` and `bodies`, the keys in `keys`."""

    def __init__(self) -> None:
        self.answer: Answer = saying({"text": "hello"})
        self.voices: Any = None
        self.forms: list[dict[str, Any]] = []
        self.sounds: list[bytes] = []
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.hung_up = anyio.Event()
        self.app = Starlette(
            routes=[
                Route("/v1/audio/voices", self._voices),
                Route("/v1/audio/transcriptions", self._transcriptions, methods=["POST"]),
                Route("/v1/audio/speech", self._speech, methods=["POST"]),
            ]
        )
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._server = uvicorn.Server(uvicorn.Config(self.app, log_level="critical", lifespan="off"))

    async def endless(self, request: Request) -> Response:
        """A little sound, then nothing, until the other side hangs up."""

        async def body() -> AsyncIterator[bytes]:
            try:
                yield bytes(4800)
                await anyio.sleep_forever()
            finally:
                self.hung_up.set()

        return StreamingResponse(body(), media_type="audio/pcm")

    async def silent(self, request: Request) -> Response:
        """Not even headers, until the other side hangs up."""
        while (await request.receive())["type"] != "http.disconnect":
            pass
        self.hung_up.set()
        return Response()

    async def broken(self, request: Request) -> Response:
        """Sound that breaks off in the middle of its announced length."""

        async def body() -> AsyncIterator[bytes]:
            yield bytes(4800)
            raise RuntimeError("the server breaks")

        return StreamingResponse(body(), media_type="audio/pcm", headers={"Content-Length": "9600"})

    async def _voices(self, request: Request) -> Response:
        if isinstance(self.voices, bytes):
            return PlainTextResponse(self.voices)
        return PlainTextResponse("", 404) if self.voices is None else JSONResponse(self.voices)

    async def _transcriptions(self, request: Request) -> Response:
        self.keys.append(request.headers.get("authorization"))
        form = await request.form()
        self.forms.append({name: form.getlist(name) for name in form if name != "file"})
        self.sounds.append(await form["file"].read())
        return await self.answer(request)

    async def _speech(self, request: Request) -> Response:
        self.keys.append(request.headers.get("authorization"))
        self.bodies.append(await request.json())
        return await self.answer(request)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[SpeechStandIn]:
        async with anyio.create_task_group() as group:
            group.start_soon(lambda: self._server.serve(sockets=[self._socket]))
            try:
                yield self
            finally:
                self._server.should_exit = True
                self._server.force_exit = True
