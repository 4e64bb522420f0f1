"""The span of a reply in the gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from tests.support.recorded_spans import recording

from duologue.gateway.scheduling.traced_generate import TracedGenerate, traced
from duologue.tracing import spans
from duologue.values.events import Done, Failed, Started, TextDelta, Usage
from duologue.values.generate import Batch
from duologue.values.messages import user
from duologue.values.requests import ChatRequest

REQUEST = ChatRequest((user("a secret"),), model="m")


def scripted(*events: Any) -> Any:
    @asynccontextmanager
    async def generate(request: ChatRequest, **_: Any) -> AsyncIterator[AsyncIterator[Batch]]:
        async def batches() -> AsyncIterator[Batch]:
            for event in events:
                spans.start("below").end()
                yield [(0, event)]

        yield batches()

    return generate


async def taken(generate: Any) -> list[Any]:
    async with generate(REQUEST, kind="chat", request_id="id") as batches:
        return [event async for batch in batches for _, event in batch]


@pytest.mark.anyio
async def test_a_reply_is_a_span_with_its_model_and_its_tokens():
    events = [Started("m-1"), TextDelta("a secret"), Done("stop", Usage(input=5, output=2))]
    with recording() as seen:
        assert await taken(TracedGenerate(scripted(*events))) == events
    span = seen["chat m"]
    assert span.attributes["gen_ai.response.model"] == "m-1"
    assert span.attributes["gen_ai.usage.input_tokens"] == 5
    assert seen.parent("below") == "chat m"
    assert "secret" not in span.to_json()


@pytest.mark.anyio
async def test_a_reply_that_fails_says_its_code():
    with recording() as seen:
        await taken(TracedGenerate(scripted(Failed("queue_full", "a secret", 503))))
    assert seen["chat m"].attributes["error.type"] == "queue_full"


@pytest.mark.anyio
async def test_a_client_that_leaves_ends_the_span():
    with recording() as seen:
        async with TracedGenerate(scripted(Started("m"), Done("stop")))(REQUEST) as batches:
            async for _ in batches:
                break
        assert spans.current() is spans.NO_SPAN
    assert "chat m" in seen.names


@pytest.mark.anyio
async def test_without_tracing_nothing_is_wrapped_and_without_a_sample_nothing_is_watched():
    generate = scripted(Done("stop"))
    assert traced(generate) is generate
    with recording(ratio=0.0) as seen:
        assert await taken(traced(generate)) == [Done("stop")]
    assert seen.names == []
