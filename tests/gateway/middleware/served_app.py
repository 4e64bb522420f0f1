"""A small application behind the middleware, on a real port."""

import socket
from contextlib import asynccontextmanager

import anyio
import uvicorn
from fastapi import FastAPI, Request, WebSocket

from duologue import telemetry
from duologue.gateway.middleware.host_check import AllowedHosts

ALLOWED = AllowedHosts(["chat.example"], ["https://friend.example"])
LIMIT = 1000
LARGER = {"/v1/files/echo": (3 * LIMIT, "limits.file_mb"), "/v1/tiny/echo": (10, "")}


def application() -> FastAPI:
    app = FastAPI()

    @app.get("/hello/{name}")
    async def hello(name: str) -> dict[str, str]:
        return {"id": telemetry.request_id.get()}

    @app.post("/v1/tiny/echo")
    @app.post("/v1/files/echo")
    @app.post("/v1/echo")
    async def echo(request: Request) -> dict[str, int]:
        return {"size": len(await request.body())}

    @app.post("/parsed")
    async def parsed(body: dict[str, str]) -> dict[str, int]:
        return {"size": len(body)}

    @app.websocket("/ws")
    async def ws(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.send_text(telemetry.request_id.get())
        await websocket.close()

    return app


@asynccontextmanager
async def served(app):
    """The application on a real port of this machine."""
    listener = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(app, log_config=None, ws="websockets-sansio", lifespan="off")
    server = uvicorn.Server(config)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: server.serve(sockets=[listener]))
        try:
            yield listener.getsockname()[1]
        finally:
            server.should_exit = True
