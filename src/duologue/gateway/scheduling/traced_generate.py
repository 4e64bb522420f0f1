"""`Generate` with a span around each request: its model, its numbers, how it ended. Wraps `generate.Generator` where tracing is on.

The wait for a slot (`lease.py`) and the worker's own spans are below it.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager

from duologue.tracing import attributes, spans
from duologue.values.events import Done, Failed, Started
from duologue.values.generate import Batch, Generate
from duologue.values.requests import ChatRequest


def traced(generate: Generate) -> Generate:
    """`generate`, with spans where this process traces."""
    return TracedGenerate(generate) if spans.is_on() else generate


class TracedGenerate:
    """Implements `values.generate.Generate`."""

    def __init__(self, generate: Generate) -> None:
        self._generate = generate

    @asynccontextmanager
    async def __call__(
        self,
        request: ChatRequest,
        *,
        kind: str = "chat",
        count: int = 1,
        request_id: str = "",
        user: str = "local",
    ) -> AsyncIterator[AsyncIterator[Batch]]:
        asked = attributes.of_request(request, kind, count, request_id)
        with spans.span(f"chat {request.model}".rstrip(), kind="client", attributes=asked) as span:
            source = self._generate(request, kind=kind, count=count, request_id=request_id, user=user)
            async with source as batches:
                if not span.recording:
                    yield batches
                    return
                async with aclosing(_watched(batches, span)) as watched:
                    yield watched


async def _watched(batches: AsyncIterator[Batch], span: spans.TraceSpan) -> AsyncGenerator[Batch]:
    """The batches, while the span learns of the model and the end."""
    async for batch in batches:
        for _, event in batch:
            if isinstance(event, Started):
                span.set({attributes.RESPONSE_MODEL: event.model})
            elif isinstance(event, Done):
                span.set(attributes.of_end(event))
            elif isinstance(event, Failed):
                span.fail(event.code)
        yield batch
