"""Stored files and an application over routers, for tests of `/v1/files` and `/v1/batches`."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from fastapi import APIRouter, FastAPI

from duologue.gateway.files.stored_files import StoredFiles
from duologue.http.error_responses import exception_handlers
from duologue.values.batches.stored_batch import FilePurpose, StoredFile


@asynccontextmanager
async def clients(*routers: APIRouter) -> AsyncIterator[httpx.AsyncClient]:
    """A client of these routes whose header `user` says who it is."""
    app = FastAPI(exception_handlers=exception_handlers())
    for router in routers:
        app.include_router(router)

    async def as_user(scope: Any, receive: Any, send: Any) -> None:
        scope["state"] = {"user": dict(scope["headers"]).get(b"user", b"ada").decode()}
        await app(scope, receive, send)

    transport = httpx.ASGITransport(as_user)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost/v1") as client:
        yield client


async def stored(
    files: StoredFiles, data: bytes, user: str = "ada", purpose: FilePurpose = "batch", name: str = "in.jsonl"
) -> StoredFile:
    """A file of this user."""

    async def chunks() -> AsyncIterator[bytes]:
        yield data

    async with files.receiving(user, chunks()) as arrived:
        return await files.keep(user, arrived, purpose=purpose, name=name)
