"""A client ends the thought of a reply that runs: it is closed within a piece, and the answer follows."""

from datetime import datetime
from itertools import count

import pytest

from duologue.engines.scripted.language import ScriptedEngine
from duologue.sessions.chat.chat import reply
from duologue.sessions.chat.reply_controls import ReplyControls
from duologue.values.events import Done, ReasoningDelta, TextDelta
from duologue.values.messages import user
from duologue.values.requests import ChatRequest

pytestmark = pytest.mark.anyio
THINKS = "/say <think>one two three four five six </think>Four and more."


async def ended_at(word: str, script: str = THINKS, **more) -> list:
    """The events of a reply whose thought is ended once it has said `word`; "": before it begins."""
    controls, events, ticks = ReplyControls(), [], count()
    if not word:
        controls.end_thought()

    async def emit(event):
        events.append(event)
        if word and isinstance(event, ReasoningDelta | TextDelta) and word in event.text:
            controls.end_thought()

    request = ChatRequest((user(script),), **more)
    engine = ScriptedEngine("m")
    await reply(
        engine, 0, request, emit, now=datetime(2031, 5, 4), clock=lambda: next(ticks), controls=controls
    )
    return events


def thought(events) -> str:
    return "".join(event.text for event in events if isinstance(event, ReasoningDelta)).strip()


def text(events) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


async def test_the_thought_ends_where_it_is_and_the_answer_follows():
    heard = await ended_at("two")
    assert thought(heard) == "one two"
    assert text(heard) == "Four and more."
    assert isinstance(heard[-1], Done)
    assert heard[-1].finish == "stop"


async def test_a_thought_may_be_ended_before_it_begins():
    heard = await ended_at("")
    assert thought(heard) in ("", "one")
    assert text(heard) == "Four and more."


async def test_an_answer_is_not_disturbed():
    heard = await ended_at("Four")
    assert thought(heard) == "one two three four five six"
    assert text(heard) == "Four and more."


async def test_it_holds_for_the_thought_that_is_open_and_for_no_later_one():
    heard = await ended_at("Four", "/say <think>one </think>Four. <think>and two three </think>Five.")
    assert thought(heard).split() == ["one", "and", "two", "three"]


async def test_a_budget_goes_on_beside_it():
    assert thought(await ended_at("six", thinking_tokens=4)) in ("one two three", "one two three four")
