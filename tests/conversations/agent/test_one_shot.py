"""One whole reply of a model, outside any conversation."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from duologue.conversations.agent.one_shot import one_shot_reply
from duologue.errors import EngineFailed, Problem
from duologue.values.events import Done, Event, Failed, Queued, ReasoningDelta, Started, TextDelta
from duologue.values.messages import user
from duologue.values.requests import ChatRequest

pytestmark = pytest.mark.anyio

REQUEST = ChatRequest((user("hello"),))


class Model:
    """Says the given events; None waits for ever."""

    def __init__(self, *events: Event | None) -> None:
        self.events = events
        self.open = 0

    @asynccontextmanager
    async def __call__(self, request: ChatRequest, **_: Any) -> AsyncIterator[AsyncIterator[Any]]:
        self.open += 1
        try:
            yield self._batches()
        finally:
            self.open -= 1

    async def _batches(self) -> AsyncIterator[list[tuple[int, Event]]]:
        for event in self.events:
            if event is None:
                await anyio.sleep_forever()
            else:
                yield [(0, event)]


async def test_the_text_is_whole_and_the_thoughts_are_left_out() -> None:
    model = Model(
        Queued("t", 1, 0.0, 1),
        Started("m"),
        ReasoningDelta("hm"),
        TextDelta("one "),
        TextDelta("two"),
        Done("stop"),
    )
    assert await one_shot_reply(model, REQUEST, user="ann") == "one two"
    assert model.open == 0


async def test_a_failure_is_raised_as_it_was_said() -> None:
    with pytest.raises(Problem, match=r"No room\.") as raised:
        await one_shot_reply(Model(Failed("queue_full", "No room.", 503)), REQUEST, user="ann")
    assert (raised.value.code, raised.value.status) == ("queue_full", 503)


async def test_a_model_that_takes_too_long_is_given_up() -> None:
    model = Model(TextDelta("one"), None)
    with pytest.raises(EngineFailed, match="too long"):
        await one_shot_reply(model, REQUEST, user="ann", timeout_s=0.01)
    assert model.open == 0


async def test_a_reply_that_breaks_off_is_no_reply() -> None:
    with pytest.raises(EngineFailed, match="broke off"):
        await one_shot_reply(Model(TextDelta("one")), REQUEST, user="ann")
