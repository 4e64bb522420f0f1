"""A joined worker in the process of a test, with the scripted engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from msgspec import structs
from tests.support.join_gateway import KEY, JoinGateway

from duologue.values.messages import user
from duologue.values.requests import ChatRequest
from duologue.wire.worker_protocol import Begin, LoadSpec
from duologue.worker.joined.join_spec import JoinSpec
from duologue.worker.joined.joined_worker import JoiningWorker

PATIENCE = 60
MANY = 10_000_000


def spec(gateway: JoinGateway, **changes: Any) -> JoinSpec:
    load_spec = LoadSpec("attic_0", "scripted", "scripted")
    return structs.replace(JoinSpec(gateway.address, KEY, load_spec, machine="attic"), **changes)


def begin(lease: int, script: str, slot: int = 0) -> Begin:
    return Begin(lease, slot, ChatRequest(messages=(user(script),)), window=MANY)


@asynccontextmanager
async def working(spec: JoinSpec) -> AsyncIterator[JoiningWorker]:
    """A worker in this process, for the time of a block."""
    worker = JoiningWorker(spec)
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(worker.run)
            yield worker
            tasks.cancel_scope.cancel()


async def ended(worker: JoiningWorker) -> int:
    with anyio.fail_after(PATIENCE):
        return await worker.run()
