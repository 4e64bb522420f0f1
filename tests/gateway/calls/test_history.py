"""What a call remembers: what was said and what was heard, and no word more."""

from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Literal

import anyio
import pytest

from duologue.conversations.agent.call_agent import CallContext
from duologue.conversations.agent.dependencies import ToolDependencies
from duologue.errors import NotFound, Problem, Unavailable
from duologue.gateway.calls import history
from duologue.gateway.calls.history import INTERRUPTED, EphemeralHistory, StoredHistory, heard_text
from duologue.values.call_events import Ending
from duologue.values.conversations import StoredMessage, StoredToolCall, TextContent, ToolCallRecord
from duologue.values.messages import ImagePart, Tool, assistant, system, user
from duologue.values.requests import ChatRequest, Sampling


def test_the_prompt_is_everything_so_far_and_the_new_words():
    history = EphemeralHistory("Be kind.", "m", (Tool("lamp"),))
    history.add_user_turn("hi")
    history.add_reply("Hello.", "", "spoken")
    request = history.request("how are you")
    assert request.messages == (system("Be kind."), user("hi"), assistant("Hello."), user("how are you"))
    assert (request.model, request.tools, request.spoken) == ("m", (Tool("lamp"),), True)


def test_every_prompt_asks_for_the_language_that_the_call_speaks():
    history = EphemeralHistory("", "m", ())
    history.speak("de")
    history.add_user_turn("hi")
    history.restart("Be brief.", "n", Sampling())
    requests = (history.request("again"), history.request_again())
    assert [request.spoken_language for request in requests] == ["de", "de"]


def test_asking_remembers_nothing():
    history = EphemeralHistory("", "m", ())
    history.request("hi")
    assert history.messages == ()


def test_what_was_said_last_is_known_without_the_instructions():
    history = EphemeralHistory("Be kind.", "m", ())
    history.add_user_turn("hi")
    history.add_reply("Hello.", "", "spoken")
    assert history.recent_text() == "hi Hello."
    for _ in range(9):
        history.add_user_turn("x" * 300)
    assert len(history.recent_text()) == 1000


def test_begun_again_it_has_forgotten_what_was_said():
    history = EphemeralHistory("Be kind.", "m", ())
    history.add_user_turn("hi")
    history.restart("Be brief.", "n", Sampling(temperature=0.0))
    request = history.request("again")
    assert request.messages == (system("Be brief."), user("again"))
    assert (request.model, request.sampling, request.spoken) == ("n", Sampling(temperature=0.0), True)


def test_a_reply_nobody_heard_leaves_no_trace():
    history = EphemeralHistory("", "m", ())
    history.add_reply("", "Never heard.", "interrupted")
    assert history.messages == ()


def test_where_a_reply_was_cut_off_the_history_shows_it():
    assert heard_text("One two ", "interrupted") == f"One two{INTERRUPTED}"
    assert heard_text("One two.", "spoken") == "One two."


def test_a_picture_comes_before_the_words_about_it():
    history = EphemeralHistory("", "m", ())
    history.add_user_turn("look", (ImagePart(b"x"),))
    assert [type(part).__name__ for part in history.messages[0].parts] == ["ImagePart", "TextPart"]


def test_of_older_pictures_only_the_words_are_left():
    history = EphemeralHistory("", "m", ())
    for number in range(4):
        history.add_user_turn(f"look {number}", (ImagePart(bytes([number])),))
        history.add_user_turn(f"and {number}")
    pictures = [message.text for message in history.messages if "image" in message.modalities]
    assert pictures == ["look 2", "look 3"]
    assert len(history.messages) == 8


def long_talk(history: EphemeralHistory) -> EphemeralHistory:
    for number in range(1, 5):
        history.add_user_turn(f"question {number}")
        history.add_reply(f"answer {number}.", "", "spoken")
    return history


def test_a_prompt_that_was_too_long_is_shortened_and_the_next_begins_there():
    history = long_talk(EphemeralHistory("Be kind.", "m", ()))
    shorter = history.shorten(history.request("well?"))
    assert shorter is not None
    left = ["Be kind.", "question 4", "answer 4.", "well?"]
    assert [message.text for message in shorter.messages] == left
    assert history.request("well?") == shorter


def test_a_prompt_of_one_turn_cannot_be_shortened():
    history = EphemeralHistory("Be kind.", "m", ())
    assert history.shorten(history.request("well?")) is None


def test_what_was_begun_anew_meanwhile_loses_nothing():
    history = long_talk(EphemeralHistory("Be kind.", "m", ()))
    request = history.request("well?")
    history.restart("Be brief.", "m", Sampling())
    history.add_user_turn("hi")
    assert history.shorten(request) is not None
    assert [message.text for message in history.messages] == ["Be brief.", "hi"]


class Turns:
    """Where turns are kept, unless it is broken. `told` is what others did, `reads` what is read then."""

    def __init__(self, request: ChatRequest) -> None:
        self.request = request
        self.context = CallContext(dependencies=ToolDependencies(lambda: 0, lambda: 0.0, lambda: "id"))
        self.kept: list[tuple[str, Ending | None]] = []
        self.rows: list[StoredMessage] = []
        self.broken = self.hangs = False
        self.ids: list[str] = []
        self.leaf: str | None = None
        self.path: tuple[StoredMessage, ...] = ()
        self.reads: list[ChatRequest | Problem | None] = []
        self.told, self._changes = anyio.create_memory_object_stream[Literal["changed", "deleted"]](8)

    async def read(self) -> bool:
        found = self.reads.pop(0) if self.reads else None
        if isinstance(found, Problem):
            raise found
        self.request = found or self.request
        return found is not None

    async def changes(self) -> AsyncGenerator[Literal["changed", "deleted"]]:
        async for change in self._changes:
            yield change

    async def user_said(self, id: str, text: str) -> None:
        self.ids.append(id)
        if self.hangs:
            await anyio.sleep_forever()
        self._keep(text, None)

    async def assistant_said(
        self, id: str, heard: str, ending: Ending, rows: Sequence[StoredMessage] = ()
    ) -> None:
        self._keep(heard, ending)
        self.rows += rows

    def _keep(self, text: str, ending: Ending | None) -> None:
        if self.broken:
            raise Unavailable("The disk is full.", code="storage_unavailable")
        self.kept.append((text, ending))


class Kept:
    """A call that goes on with a conversation."""

    def __init__(self) -> None:
        self.turns = Turns(ChatRequest((system("Be kind."), user("before")), model="m", stop=("END",)))
        self.told: list[Problem] = []
        self.history = StoredHistory(self.turns, self.told.append)
        self.branches: list[str | None] = []
        self.gone = False

    async def history_changed(self, leaf: str | None, path: Sequence[StoredMessage]) -> None:
        self.branches.append(leaf)

    async def deleted(self) -> None:
        self.gone = True

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.history.sync, self)
            yield
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()


@pytest.mark.anyio
async def test_a_call_goes_on_with_what_was_said_before_and_under_its_options():
    request = Kept().history.request("and now")
    assert [message.text for message in request.messages] == ["Be kind.", "before", "and now"]
    assert (request.stop, request.spoken, request.thinking) == (("END",), True, False)


@pytest.mark.anyio
async def test_what_is_said_and_heard_is_kept_in_order():
    kept = Kept()
    async with kept.running():
        kept.history.add_user_turn("count")
        kept.history.add_reply("One two", " three.", "interrupted")
        kept.history.add_user_turn("stop")
    assert kept.turns.kept == [("count", None), ("One two", "interrupted"), ("stop", None)]


@pytest.mark.anyio
async def test_what_cannot_be_kept_is_told_once_and_kept_later():
    kept = Kept()
    async with kept.running():
        kept.turns.broken = True
        kept.history.add_user_turn("one")
        await anyio.wait_all_tasks_blocked()
        kept.history.add_user_turn("two")
        await anyio.wait_all_tasks_blocked()
        assert [problem.code for problem in kept.told] == ["storage_unavailable"]
        kept.turns.broken = False
        kept.history.add_user_turn("three")
    assert [text for text, _ in kept.turns.kept] == ["one", "two", "three"]


@pytest.mark.anyio
async def test_the_last_turns_of_a_call_are_kept_at_its_end():
    kept = Kept()
    kept.history.add_user_turn("bye")
    await kept.history.close()
    assert kept.turns.kept == [("bye", None)]


@pytest.mark.anyio
async def test_the_next_reply_goes_on_from_what_others_have_made_of_the_conversation():
    kept = Kept()
    async with kept.running():
        kept.history.add_user_turn("one")
        await anyio.wait_all_tasks_blocked()
        kept.turns.reads = [ChatRequest((user("another branch"),), model="m")]
        kept.turns.leaf = "m9"
        await kept.turns.told.send("changed")
        await anyio.wait_all_tasks_blocked()
        assert [message.text for message in kept.history.request("so").messages] == ["another branch", "so"]
    assert kept.branches == ["m9"]


@pytest.mark.anyio
async def test_what_is_not_kept_yet_is_said_on_the_branch_that_is_current_now():
    kept = Kept()
    async with kept.running():
        kept.turns.reads = [ChatRequest((user("another branch"),), model="m")]
        await kept.turns.told.send("changed")
        kept.history.add_user_turn("just now")
        await anyio.wait_all_tasks_blocked()
        said = [message.text for message in kept.history.messages]
    assert said == ["another branch", "just now"]
    assert kept.turns.kept == [("just now", None)]


@pytest.mark.anyio
async def test_a_change_that_changes_nothing_for_the_call_is_no_news():
    kept = Kept()
    async with kept.running():
        kept.turns.reads = [None]
        await kept.turns.told.send("changed")
        await anyio.wait_all_tasks_blocked()
    assert kept.branches == []


@pytest.mark.anyio
@pytest.mark.parametrize("change", ["changed", "deleted"])
async def test_in_a_conversation_that_is_gone_nothing_more_is_kept(change):
    kept = Kept()
    async with kept.running():
        kept.turns.reads = [NotFound("There is no such conversation.")]
        await kept.turns.told.send(change)
        kept.history.add_user_turn("anybody there?")
        await anyio.wait_all_tasks_blocked()
        assert kept.gone
    await kept.history.close()
    assert kept.turns.kept == []
    assert kept.told == []


@pytest.mark.anyio
async def test_what_a_reply_did_is_remembered_before_what_it_said():
    kept = Kept()
    rows = (
        StoredMessage("a", "c", None, "assistant", tool_calls=(StoredToolCall("c1", "add", "{}"),)),
        StoredMessage("t", "c", None, "tool", tool_call_id="c1", call=ToolCallRecord("add")),
    )
    async with kept.running():
        kept.history.add_user_turn("add")
        kept.history.add_reply("It is two.", "", "spoken", rows)
    assert [message.role for message in kept.history.messages][2:] == [
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert kept.turns.rows == list(rows)


@pytest.mark.anyio
async def test_a_database_that_hangs_holds_no_call(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(history, "SAVE_TIMEOUT", 0.01)
    kept = Kept()
    kept.turns.hangs = True
    with anyio.fail_after(60):
        async with kept.running():
            kept.history.add_user_turn("bye")
        await kept.history.close()
    assert [problem.code for problem in kept.told] == ["storage_unavailable"]
    kept.turns.hangs = False
    await kept.history.close()
    assert kept.turns.kept == [("bye", None)]


@pytest.mark.anyio
async def test_what_is_kept_too_late_to_be_waited_for_is_said_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(history, "SAVE_TIMEOUT", 0.01)
    kept = Kept()
    kept.turns.hangs = True
    async with kept.running():
        kept.history.add_user_turn("one")
        while not kept.told:
            await anyio.wait_all_tasks_blocked()
        # The database has kept it after all.
        kept.turns.hangs = False
        (id,) = kept.turns.ids
        kept.turns.path = (StoredMessage(id, "c", None, "user", (TextContent("one"),)),)
        kept.turns.reads = [ChatRequest((user("one"),), model="m")]
        kept.history.add_user_turn("two")
    # It is told again under its own id, by which whoever keeps it knows it.
    assert kept.turns.ids[:2] == [id, id]
    assert len(set(kept.turns.ids)) == 2
    assert [message.text for message in kept.history.messages] == ["one", "two"]


@pytest.mark.anyio
async def test_pictures_that_cannot_be_kept_do_not_pile_up():
    kept = Kept()
    async with kept.running():
        kept.turns.broken = True
        for number in range(4):
            kept.history.add_user_turn(f"look {number}", (ImagePart(bytes([number])),))
        await anyio.wait_all_tasks_blocked()
        kept.turns.reads = [ChatRequest((user("another branch"),), model="m")]
        await kept.turns.told.send("changed")
        await anyio.wait_all_tasks_blocked()
    pictures = [message.text for message in kept.history.messages if "image" in message.modalities]
    assert pictures == ["look 2", "look 3"]


@pytest.mark.anyio
async def test_what_a_call_leaves_out_of_its_prompts_stays_in_the_conversation():
    kept = Kept()
    async with kept.running():
        long_talk(kept.history)
        kept.history.shorten(kept.history.request("well?"))
    assert len(kept.turns.kept) == 8
    assert kept.history.messages[:2] == (system("Be kind."), user("question 3"))
