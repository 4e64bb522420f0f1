"""Gateways that pass requests on to each other, in one process: `from tests.support.passing_gateways import Gateway`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from duologue.gateway.cluster.forwarding import Forwarding, HopReader, Neighbours
from duologue.values.cluster.gateway_entry import GatewayEntry

ONE, TWO, THREE = "1" * 32, "2" * 32, "3" * 32
SECRET = b"s" * 32


class Gateway:
    """A gateway that answers with its name and what it heard; what it `has` is found here alone."""

    def __init__(self, id: str, has: tuple[str, ...] = ()) -> None:
        self.id, self.has = id, has
        self.neighbours = Neighbours()
        self.neighbours.gateway, self.neighbours.secret = id, SECRET
        self.seen: list[Request] = []
        self.lists: dict[str, Any] | None = None
        everything = Route("/{path:path}", self._answer, methods=["GET", "POST", "PATCH", "DELETE"])
        self.becomes(Starlette(routes=[everything]))

    def becomes(self, app: ASGIApp) -> None:
        """This answers from now on; call it before the others reach this gateway."""
        self.forwarding = Forwarding(app, self.neighbours)
        self.app = HopReader(self.forwarding, self.neighbours)

    async def _answer(self, request: Request) -> Response:
        self.seen.append(request)
        if self.has and request.url.path not in self.has:
            return PlainTextResponse("unknown", 404)
        if self.lists is not None:
            return JSONResponse(self.lists)
        body = (await request.body()).decode()
        return PlainTextResponse(f"{self.id[0]} {body}", headers={"x-own": "yes"})

    def reaches(self, *others: Gateway, owners: dict[str, str] | None = None) -> None:
        entries = [
            GatewayEntry(other.id, "", f"http://{other.id[0]}", "", 7, 0, 0) for other in (self, *others)
        ]
        self.neighbours.living = lambda: entries

        async def owner(name: str) -> str | None:
            return (owners or {}).get(name)

        self.neighbours.owner = owner
        mounts: dict[str, Any] = {
            f"http://{other.id[0]}": httpx.ASGITransport(app=other.app) for other in others
        }
        self.neighbours._client = httpx.AsyncClient(mounts=mounts, transport=httpx.MockTransport(refused))

    def client(self) -> httpx.AsyncClient:
        transport = httpx.ASGITransport(app=self.app, client=("198.51.100.7", 1))
        return httpx.AsyncClient(transport=transport, base_url="http://example.org")


def refused(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("nobody listens")


class BreaksOff(httpx.AsyncByteStream):
    """The answer of a gateway that dies in its middle."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        yield b"half"
        raise httpx.ReadError("gone")
