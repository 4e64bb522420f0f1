"""A gateway's pool and its joins on a real port, without the rest."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio
from fastapi import FastAPI
from starlette.types import ASGIApp, Receive, Scope, Send
from tests.gateway.middleware.served_app import served

from duologue.config import Settings
from duologue.gateway.auth.keys import User
from duologue.gateway.machines import join_socket, machine_routes
from duologue.gateway.machines.join_service import JoinService
from duologue.gateway.scheduling.lease import Lease
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.scheduler import Scheduler
from duologue.http.error_responses import exception_handlers
from duologue.values.messages import user
from duologue.values.requests import ChatRequest

PATIENCE = 60
NAME = "box/gpu0"
REQUEST = ChatRequest((user("hello"),), model="mini")


async def granted(lease: Lease) -> None:
    with anyio.fail_after(PATIENCE):
        async for _ in lease.places():
            pass


async def events_of(lease: Lease, count: int) -> list[object]:
    found: list[object] = []
    with anyio.fail_after(PATIENCE):
        while len(found) < count:
            found += [event for _, event in await lease.take()]
    return found


class _Known:
    """In the place of the authentication: the key is the user."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        key = dict(scope.get("headers", ())).get(b"authorization", b"").decode().removeprefix("Bearer ")
        role = "admin" if key == "admin" else "worker"
        scope["state"] = {"user": f"user_{key}", "role": role, "name": key, "key": f"key_{key}"}
        await self._app(scope, receive, send)


class JoinServer:
    """`acts`: what was recorded."""

    def __init__(self, lease_s: float = 60.0, **machines: Any) -> None:
        self.settings = Settings.model_validate({"machines": {"join": True, "lease_s": lease_s, **machines}})
        self.pool = Pool([], Scheduler())
        self.acts: list[tuple[str, str]] = []
        self.revoke: dict[str, Callable[[], None]] = {}
        self.joins = JoinService(self.settings, self.pool, None, self._watched, self._record, gateway="g1")
        self.app = FastAPI(exception_handlers=exception_handlers())
        machine = self.settings.machines
        self.app.include_router(join_socket.router(self.joins))
        self.app.include_router(
            machine_routes.router(self.joins, [self.pool], join=machine.join, lease_s=machine.lease_s)
        )
        self.app.add_middleware(_Known)
        self.address = ""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            await tasks.start(self.pool.run)
            await tasks.start(self.joins.run)
            async with served(self.app) as port:
                self.address = f"127.0.0.1:{port}"
                yield
            tasks.cancel_scope.cancel()

    async def until(self, name: str, state: str) -> None:
        """Return once a worker has this state; "" is none at all."""
        with anyio.fail_after(PATIENCE):
            while self.state(name) != state:
                await self.pool.changed()

    def state(self, name: str) -> str:
        status = self.pool.workers.get(name)
        return "" if status is None else status.state

    @contextmanager
    def _watched(self, user: str, key: str, end: Callable[[], None]) -> Iterator[None]:
        self.revoke[user] = end
        yield

    async def _record(self, act: str, target: str, user: User, details: Mapping[str, Any]) -> None:
        self.acts.append((act, target))
