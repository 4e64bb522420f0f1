"""A proxy that serves the demo's pages from a folder and passes everything else, sockets too, to a running server."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import anyio
import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.staticfiles import StaticFiles
from starlette.websockets import WebSocket, WebSocketDisconnect
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

PAGES = {
    "/": "index.html",
    "/turnbased": "turnbased.html",
    "/omni": "omni/omni.html",
    "/audio_duplex": "audio-duplex/audio_duplex.html",
    "/admin": "admin.html",
    "/mobile-omni/": "mobile-omni/index.html",
}
METHODS = ["GET", "POST", "PUT", "DELETE"]


def application(static: Path, server: str, missing: list[str]) -> Starlette:
    """The proxy. Addresses that the server does not know are added to `missing`."""
    http = httpx.AsyncClient(base_url=server, timeout=60)

    async def page(request: Request) -> Response:
        return FileResponse(static / PAGES[request.url.path])

    async def pass_on(request: Request) -> Response:
        target = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        headers = {"content-type": request.headers.get("content-type", "application/json")}
        answer = await http.request(request.method, target, content=await request.body(), headers=headers)
        if answer.status_code == 404 and (line := f"{request.method} {request.url.path}") not in missing:
            missing.append(line)
        kept = {name: answer.headers[name] for name in ("content-type", "location") if name in answer.headers}
        return Response(answer.content, answer.status_code, kept)

    async def relay(browser: WebSocket) -> None:
        await browser.accept()
        address = server.replace("http", "ws", 1) + browser.url.path
        async with connect(address, max_size=2**27) as upstream, anyio.create_task_group() as tasks:
            tasks.start_soon(_down, browser, upstream, tasks.cancel_scope)
            await _up(browser, upstream)
            tasks.cancel_scope.cancel()

    return Starlette(
        routes=[
            *(Route(path, page) for path in PAGES),
            *(
                [Mount("/mobile", StaticFiles(directory=static / "mobile", html=True))]
                if (static / "mobile").is_dir()
                else []
            ),
            Mount("/mobile-omni", StaticFiles(directory=static / "mobile-omni")),
            Mount("/static", StaticFiles(directory=static)),
            WebSocketRoute("/ws/{path:path}", relay),
            Route("/{path:path}", pass_on, methods=METHODS),
        ]
    )


async def _up(browser: WebSocket, upstream: ClientConnection) -> None:
    try:
        while True:
            message = await browser.receive()
            if message["type"] == "websocket.disconnect":
                await upstream.close(1000)
                return
            await upstream.send(message.get("text") or message["bytes"])
    except ConnectionClosed:
        return


async def _down(browser: WebSocket, upstream: ClientConnection, scope: anyio.CancelScope) -> None:
    try:
        async for message in upstream:
            await (browser.send_text(message) if isinstance(message, str) else browser.send_bytes(message))
        await browser.close(upstream.close_code or 1000, upstream.close_reason or "")
    except (RuntimeError, WebSocketDisconnect, ConnectionClosed):
        pass
    scope.cancel()


@contextmanager
def serving(static: Path, server: str, missing: list[str]) -> Iterator[str]:
    """The proxy on a free port; gives its address."""
    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    config = uvicorn.Config(application(static, server, missing), log_level="warning", ws_max_size=2**27)
    proxy = uvicorn.Server(config)
    thread = threading.Thread(target=proxy.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        proxy.should_exit = True
        thread.join(10)
