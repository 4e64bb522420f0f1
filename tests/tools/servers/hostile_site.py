"""A web server on loopback that answers as it is told, byte by byte if need be: for hostile MCP and sign-in servers.

`Site.pages` maps "METHOD /path" to an async function that gets the request and yields the bytes of the whole answer. What
is not there is answered 404. Under /mcp there is an MCP server with one tool; `site.answers` replaces its answers by method.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
from anyio.abc import SocketAttribute, SocketStream

SESSION = "s-1"


class Request:
    def __init__(self, method: str, path: str, headers: dict[str, str], body: bytes) -> None:
        self.method = method
        self.path = path
        self.headers = headers
        self.body = body

    @property
    def message(self) -> dict[str, Any]:
        return dict(json.loads(self.body or b"{}"))


Page = Callable[[Request], AsyncIterator[bytes]]


def head(status: int = 200, kind: str = "application/json", **headers: str) -> bytes:
    """The head of an answer that ends with the connection."""
    lines = [f"HTTP/1.1 {status} x", f"content-type: {kind}", "connection: close"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join(lines).encode() + b"\r\n\r\n"


def page(value: Any, status: int = 200, **headers: str) -> Page:
    """A page of JSON."""

    async def answer(request: Request) -> AsyncIterator[bytes]:
        yield head(status, **headers) + json.dumps(value).encode()

    return answer


def endless(start: bytes, piece: bytes, seconds: float = 0.0) -> Page:
    """A page that begins with `start` and goes on with `piece` until nobody listens any more."""

    async def answer(request: Request) -> AsyncIterator[bytes]:
        yield start
        while True:
            yield piece
            await anyio.sleep(seconds)

    return answer


async def silence(request: Request) -> AsyncIterator[bytes]:
    """Never answers."""
    await anyio.sleep_forever()
    yield b""


class Site:
    """`seen`: the requests that came."""

    def __init__(self) -> None:
        self.port = 0
        self.seen: list[Request] = []
        self.sent = 0
        self.pages: dict[str, Page] = {"POST /mcp": self._mcp}
        self.answers: dict[str, Page] = {}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def _mcp(self, request: Request) -> AsyncIterator[bytes]:
        message = request.message
        method, id = message.get("method", ""), message.get("id")
        results: dict[str, Any] = {
            "initialize": {
                "protocolVersion": (message.get("params") or {}).get("protocolVersion"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "site", "version": "1"},
            },
            "tools/list": {"tools": [{"name": "go", "inputSchema": {"type": "object"}}]},
            "tools/call": {"content": [{"type": "text", "text": "gone"}]},
        }
        if method in self.answers:
            async for piece in self.answers[method](request):
                yield piece
        elif id is None or not method:
            yield head(202)
        elif method in results:
            body = {"jsonrpc": "2.0", "id": id, "result": results[method]}
            yield head(mcp_session_id=SESSION) + json.dumps(body).encode()
        else:
            error = {"code": -32601, "message": "Method not found"}
            yield head() + json.dumps({"jsonrpc": "2.0", "id": id, "error": error}).encode()

    async def serve(self, stream: SocketStream) -> None:
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError, anyio.ClosedResourceError):
            async with stream:
                request = await _read(stream)
                self.seen.append(request)
                answer = self.pages.get(f"{request.method} {request.path.partition('?')[0]}", page({}, 404))
                async for piece in answer(request):
                    await stream.send(piece)
                    self.sent += len(piece)


async def _read(stream: SocketStream) -> Request:
    data = b""
    while b"\r\n\r\n" not in data:
        data += await stream.receive()
    top, _, body = data.partition(b"\r\n\r\n")
    first, *lines = top.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", "0")):
        body += await stream.receive()
    method, path, _ = first.split(" ")
    return Request(method, path, headers, body)


@asynccontextmanager
async def site() -> AsyncIterator[Site]:
    """A site, while the block runs."""
    served = Site()
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=0)
    served.port = listener.extra(SocketAttribute.local_port)
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, served.serve)
        yield served
        tasks.cancel_scope.cancel()
