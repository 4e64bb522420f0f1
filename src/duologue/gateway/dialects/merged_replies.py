"""Several replies as one: each prompt of a completion is a reply of its own, and they are written side by side.

Owns the tasks that read them, and how their choices are numbered. Used by `text_completions`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import anyio
from anyio.streams.memory import MemoryObjectSendStream

from duologue.gateway.scheduling.request_meter import one_request
from duologue.values.generate import Batch

Source = AbstractAsyncContextManager[AsyncIterator[Batch]]
BUFFERED = 16
"""Batches that may wait for the client. When the buffer is full, a slow client slows down the model."""


@asynccontextmanager
async def merged(sources: Sequence[Source], each: int) -> AsyncIterator[AsyncIterator[Batch]]:
    """The batches of all sources, as they come. Choice c of source s has the number s times `each`, plus c. Leaving the context cancels
    all of them."""
    if len(sources) == 1:
        async with sources[0] as only:
            yield only
        return
    send, receive = anyio.create_memory_object_stream[Batch](BUFFERED)
    try:
        async with receive, anyio.create_task_group() as tasks:
            with send, one_request():
                for at, source in enumerate(sources):
                    tasks.start_soon(_pass_on, source, at * each, send.clone())
            yield receive
            tasks.cancel_scope.cancel()
    except BaseExceptionGroup as group:
        # What the caller or one source raised, as it was.
        if len(group.exceptions) == 1:
            raise group.exceptions[0] from None
        raise


async def _pass_on(source: Source, first: int, send: MemoryObjectSendStream[Batch]) -> None:
    async with send, source as batches:
        async for batch in batches:
            await send.send([(first + choice, event) for choice, event in batch])
