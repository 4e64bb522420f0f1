"""A conversation that goes on as a call: its rows are what was said and what was heard."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import pytest

from duologue.config import Settings
from duologue.conversations import service
from duologue.conversations.call_turns import CallTurns, open_call_turns
from duologue.conversations.service import Service
from duologue.errors import NotFound
from duologue.values.conversations import (
    Conversation,
    GenerationOptions,
    StoredMessage,
    StoredToolCall,
    TextContent,
    ToolCallRecord,
)
from duologue.values.messages import Tool
from duologue.values.requests import ModelCard, Sampling
from duologue.values.runs import ListChanged, ListRemoved

pytestmark = pytest.mark.anyio

CARD = ModelCard("mini", "scripted", 2048, verbs=("tools",))


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
        turns = await open_call_turns(kept, "ann", "c")
        assert [message.text for message in turns.request.messages] == ["Be kind."]
        assert turns.request.model == "mini"
        await turns.user_said("m1", "Count to ten.")
        await turns.assistant_said("m2", "One two", "interrupted")
        await turns.user_said("m3", "Stop.")
        await turns.assistant_said("m4", "", "interrupted")
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
        assert conversation.title == "Count to ten"
        again = await open_call_turns(kept, "ann", "c")
        assert [message.text for message in again.request.messages][1:] == [
            "Count to ten.",
            "One two",
            "Stop.",
        ]


async def test_the_conversations_options_hold_in_its_calls(tmp_path: Path) -> None:
    async with opened(tmp_path) as kept:
        options = GenerationOptions(sampling=Sampling(temperature=0.5))
        await kept.editing.begin("ann", Conversation("c", "Bread", options=options))
        turns = await open_call_turns(kept, "ann", "c")
        assert turns.request.sampling.temperature == 0.5
        assert turns.request.thinking is False


async def test_other_views_hear_of_every_turn(tmp_path: Path) -> None:
    async with opened(tmp_path) as kept:
        await kept.editing.begin("ann", Conversation("c", "Bread"))
        told: list[object] = []
        kept.feed.publish = lambda user, event: told.append((user, event))  # type: ignore[method-assign]
        turns = await open_call_turns(kept, "ann", "c")
        await turns.user_said("m5", "Hi.")
        assert told == [("ann", ListChanged("c"))]


async def test_somebody_elses_conversation_is_not_there(tmp_path: Path) -> None:
    async with opened(tmp_path) as kept:
        await kept.editing.begin("ann", Conversation("c", "Bread"))
        with pytest.raises(NotFound):
            await open_call_turns(kept, "bob", "c")


async def rows_of(kept: Service) -> list[StoredMessage]:
    conversation = await kept.stores.of("c").conversations.get("ann", "c")
    return list(await kept.stores.of("c").messages.path("c", conversation.leaf or ""))


def texts(turns: CallTurns) -> list[str]:
    return [message.text for message in turns.request.messages]


async def test_what_a_reply_did_is_kept_between_the_question_and_the_answer(tmp_path: Path) -> None:
    async with opened(tmp_path) as kept:
        await kept.editing.begin("ann", Conversation("c", "Sums"))
        turns = await open_call_turns(kept, "ann", "c")
        await turns.user_said("m6", "Two and two?")
        call = StoredToolCall("c1", "calculator", "{}")
        did = (
            StoredMessage("a", "c", None, "assistant", (TextContent("Let me"),), tool_calls=(call,)),
            StoredMessage(
                "t", "c", None, "tool", (TextContent("4"),), tool_call_id="c1",
                call=ToolCallRecord("calculator", state="done"),
            ),
        )  # fmt: skip
        await turns.assistant_said("m7", "Four.", "spoken", did)
        path = await rows_of(kept)
        assert [(row.role, row.text) for row in path] == [
            ("user", "Two and two?"),
            ("assistant", "Let me"),
            ("tool", "4"),
            ("assistant", "Four."),
        ]
        assert path[1].model == "mini"
        assert not await turns.read()


async def test_its_replies_may_use_what_a_typed_reply_may_and_what_the_client_offers(tmp_path: Path) -> None:
    async with opened(tmp_path) as kept:
        await kept.editing.begin("ann", Conversation("c", "Tools"))
        turns = await open_call_turns(kept, "ann", "c", tools=[Tool("lamp"), Tool("calculator")])
        tools = turns.context.tools
        assert "builtin" in {tool.server for tool in tools.values()}
        assert (tools["lamp"].server, tools["calculator"].server) == ("client", "client")
        assert {tool.name for tool in turns.request.tools} == set(tools)
        off = GenerationOptions(tools=False)
        await kept.stores.of("c").conversations.change("ann", "c", {"options": off})
        assert await turns.read()
        assert set(turns.context.tools) == {"lamp", "calculator"}


async def test_a_call_goes_on_from_the_branch_that_is_current_by_then(tmp_path: Path) -> None:
    async with opened(tmp_path) as kept:
        await kept.editing.begin("ann", Conversation("c", "Bread"))
        turns = await open_call_turns(kept, "ann", "c")
        await turns.user_said("m8", "Hello.")
        hello = turns.leaf
        await turns.assistant_said("m9", "Hi.", "spoken")
        await kept.stores.of("c").conversations.change("ann", "c", {"leaf": hello})
        assert await turns.read()
        assert texts(turns) == ["Hello."]
        await turns.user_said("m10", "Once more.")
        assert [row.text for row in await rows_of(kept)] == ["Hello.", "Once more."]


async def test_an_answer_stays_with_its_question_when_another_branch_is_shown_meanwhile(
    tmp_path: Path,
) -> None:
    async with opened(tmp_path) as kept:
        await kept.editing.begin("ann", Conversation("c", "Bread"))
        turns = await open_call_turns(kept, "ann", "c")
        await turns.user_said("m11", "One.")
        one = turns.leaf
        await turns.assistant_said("m12", "First.", "spoken")
        await turns.user_said("m13", "Two.")
        two = turns.leaf
        await kept.stores.of("c").conversations.change("ann", "c", {"leaf": one})
        await turns.read()
        await turns.assistant_said("m14", "Second.", "spoken")
        assert [row.text for row in await rows_of(kept)] == ["One."]
        rows = await kept.stores.of("c").messages.all("c")
        assert next(row for row in rows if row.text == "Second.").parent == two


async def test_an_answer_whose_question_was_deleted_goes_where_the_conversation_is(tmp_path: Path) -> None:
    async with opened(tmp_path) as kept:
        await kept.editing.begin("ann", Conversation("c", "Bread"))
        turns = await open_call_turns(kept, "ann", "c")
        await turns.user_said("m15", "One.")
        await turns.assistant_said("m16", "First.", "spoken")
        await turns.user_said("m17", "Two.")
        two = turns.leaf
        assert two is not None
        await kept.editing.delete("ann", "c", two)
        await turns.read()
        await turns.assistant_said("m18", "Second.", "spoken")
        assert [row.text for row in await rows_of(kept)] == ["One.", "First.", "Second."]


async def test_only_what_others_do_is_a_change(tmp_path: Path) -> None:
    async with opened(tmp_path) as kept:
        await kept.editing.begin("ann", Conversation("c", "Bread"))
        turns = await open_call_turns(kept, "ann", "c")
        await turns.user_said("m19", "Hi.")
        kept.feed.publish("ann", ListChanged("another"))
        kept.feed.publish("ann", ListChanged("c"))
        kept.feed.publish("ann", ListRemoved("c"))
        told: list[str] = []
        with anyio.fail_after(60):
            async for change in turns.changes():
                told.append(change)
                if change == "deleted":
                    break
        assert told == ["changed", "deleted"]


async def test_a_deleted_conversation_is_not_there_any_more(tmp_path: Path) -> None:
    async with opened(tmp_path) as kept:
        await kept.editing.begin("ann", Conversation("c", "Bread"))
        turns = await open_call_turns(kept, "ann", "c")
        await kept.stores.of("c").conversations.delete("ann", "c")
        with pytest.raises(NotFound):
            await turns.read()


@pytest.mark.parametrize("again", [False, True], ids=["", "read again"])
async def test_a_turn_that_is_kept_when_nobody_waits_for_it_any_more_is_not_kept_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    async with opened(tmp_path) as kept:
        await kept.editing.begin("ann", Conversation("c", "Bread"))
        turns = await open_call_turns(kept, "ann", "c")
        messages = kept.stores.of("c").messages

        async def keep_late(new: Sequence[StoredMessage], *, leaf: str | None) -> None:
            await add(new, leaf=leaf)
            raise TimeoutError

        add = messages.add
        row = StoredMessage("t", "c", None, "assistant", tool_calls=(StoredToolCall("c1", "add", "{}"),))
        for say in (
            lambda: turns.user_said("u", "Hello."),
            lambda: turns.assistant_said("a", "Hi.", "spoken", [row]),
        ):
            with monkeypatch.context() as patch:
                patch.setattr(messages, "add", keep_late)
                with pytest.raises(TimeoutError):
                    await say()
            if again:
                await turns.read()
            await say()
        assert [row.id for row in await messages.path("c", "a")] == ["u", "t", "a"]
        assert (await kept.stores.of("c").conversations.get("ann", "c")).leaf == "a"
