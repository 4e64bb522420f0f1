"""A conversation that goes on as a call: its rows are what was said and what was heard."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from duologue.config import Settings
from duologue.conversations import service
from duologue.conversations.service import Service
from duologue.conversations.spoken import spoken_turns
from duologue.errors import NotFound
from duologue.values.conversations import Conversation, GenerationOptions
from duologue.values.requests import ModelCard, Sampling
from duologue.values.runs import ListChanged

pytestmark = pytest.mark.anyio

CARD = ModelCard("mini", "scripted", 2048)


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Service]:
    async with service.opened(
        Settings(data=folder, engine="scripted"),
        generate=None,  # type: ignore[arg-type] # nothing is asked of a model here
        resolve=lambda name: CARD,
    ) as kept:
        yield kept


async def test_a_call_adds_what_was_said_and_what_was_heard_and_nothing_else(tmp_path: Path) -> None:
    async with opened(tmp_path) as kept:
        await kept.editing.begin("ann", Conversation("c", ""), "Be kind.")
        turns, request = await spoken_turns(kept, "ann", "c")
        assert [message.text for message in request.messages] == ["Be kind."]
        assert request.model == "mini"
        await turns.user_said("Count to ten.")
        await turns.assistant_said("One two", "interrupted")
        await turns.user_said("Stop.")
        await turns.assistant_said("", "interrupted")
        store = kept.stores.of("c")
        conversation = await store.conversations.get("ann", "c")
        assert conversation.leaf is not None
        path = await store.messages.path("c", conversation.leaf)
        assert [(row.role, row.text, row.status) for row in path] == [
            ("system", "Be kind.", "done"),
            ("user", "Count to ten.", "done"),
            ("assistant", "One two", "stopped"),
            ("user", "Stop.", "done"),
        ]
        assert conversation.title == "Count to ten."
        _, again = await spoken_turns(kept, "ann", "c")
        assert [message.text for message in again.messages][1:] == ["Count to ten.", "One two", "Stop."]


async def test_the_conversations_options_hold_in_its_calls(tmp_path: Path) -> None:
    async with opened(tmp_path) as kept:
        options = GenerationOptions(sampling=Sampling(temperature=0.5))
        await kept.editing.begin("ann", Conversation("c", "Bread", options=options))
        _, request = await spoken_turns(kept, "ann", "c")
        assert request.sampling.temperature == 0.5
        assert request.thinking is False


async def test_other_views_hear_of_every_turn(tmp_path: Path) -> None:
    async with opened(tmp_path) as kept:
        await kept.editing.begin("ann", Conversation("c", "Bread"))
        told: list[object] = []
        kept.feed.tell = lambda user, event: told.append((user, event))  # type: ignore[method-assign]
        turns, _ = await spoken_turns(kept, "ann", "c")
        await turns.user_said("Hi.")
        assert told == [("ann", ListChanged("c"))]


async def test_somebody_elses_conversation_is_not_there(tmp_path: Path) -> None:
    async with opened(tmp_path) as kept:
        await kept.editing.begin("ann", Conversation("c", "Bread"))
        with pytest.raises(NotFound):
            await spoken_turns(kept, "bob", "c")
