"""Ollama's routes as an application with the errors of its port, for a user with a role."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send

from duologue.gateway.ollama_port import OllamaErrors
from duologue.http.error_responses import exception_handlers

Ask = Callable[..., AbstractAsyncContextManager[httpx.AsyncClient]]


class _Someone:
    """In the place of authentication."""

    def __init__(self, app: ASGIApp, role: str) -> None:
        self._app, self._role = app, role

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {}).update(user="ann", role=self._role, request_id="r1")
        await self._app(scope, receive, send)


def application(router: APIRouter, role: str = "admin") -> ASGIApp:
    app = FastAPI(exception_handlers=exception_handlers())
    app.include_router(router)
    return OllamaErrors(_Someone(app, role))


@pytest.fixture
def ask() -> Ask:
    """`async with ask(router, role=...) as client`."""

    @asynccontextmanager
    async def connected(router: APIRouter, role: str = "admin") -> AsyncIterator[httpx.AsyncClient]:
        transport = httpx.ASGITransport(application(router, role))
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            yield client

    return connected
