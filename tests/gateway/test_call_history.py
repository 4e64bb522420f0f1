"""What a call remembers: what was said and what was heard, and no word more."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest

from duologue.errors import Problem, Unavailable
from duologue.gateway.call_history import CUT, KeptHistory, LooseHistory, said
from duologue.values.calls import Ending
from duologue.values.messages import ImagePart, Tool, assistant, system, user
from duologue.values.requests import ChatRequest, Sampling


def test_the_prompt_is_everything_so_far_and_the_new_words():
    history = LooseHistory("Be kind.", "m", (Tool("lamp"),))
    history.user_said("hi")
    history.assistant_said("Hello.", "", "spoken")
    request = history.request("how are you")
    assert request.messages == (system("Be kind."), user("hi"), assistant("Hello."), user("how are you"))
    assert (request.model, request.tools, request.spoken) == ("m", (Tool("lamp"),), True)


def test_asking_remembers_nothing():
    history = LooseHistory("", "m", ())
    history.request("hi")
    assert history.messages == ()


def test_begun_again_it_has_forgotten_what_was_said():
    history = LooseHistory("Be kind.", "m", ())
    history.user_said("hi")
    history.restart("Be brief.", "n", Sampling(temperature=0.0))
    request = history.request("again")
    assert request.messages == (system("Be brief."), user("again"))
    assert (request.model, request.sampling, request.spoken) == ("n", Sampling(temperature=0.0), True)


def test_a_reply_nobody_heard_leaves_no_trace():
    history = LooseHistory("", "m", ())
    history.assistant_said("", "Never heard.", "interrupted")
    assert history.messages == ()


def test_where_a_reply_was_cut_off_the_history_shows_it():
    assert said("One two ", "interrupted") == f"One two{CUT}"
    assert said("One two.", "spoken") == "One two."


def test_a_picture_comes_before_the_words_about_it():
    history = LooseHistory("", "m", ())
    history.user_said("look", (ImagePart(b"x"),))
    assert [type(part).__name__ for part in history.messages[0].parts] == ["ImagePart", "TextPart"]


class Turns:
    """Where turns are kept, unless it is broken."""

    def __init__(self) -> None:
        self.kept: list[tuple[str, Ending | None]] = []
        self.broken = False

    async def user_said(self, text: str) -> None:
        self._keep(text, None)

    async def assistant_said(self, heard: str, ending: Ending) -> None:
        self._keep(heard, ending)

    def _keep(self, text: str, ending: Ending | None) -> None:
        if self.broken:
            raise Unavailable("The disk is full.", code="storage_unavailable")
        self.kept.append((text, ending))


class Kept:
    """A call that goes on with a conversation."""

    def __init__(self) -> None:
        self.turns = Turns()
        self.told: list[Problem] = []
        begun = ChatRequest((system("Be kind."), user("before")), model="m", stop=("END",))
        self.history = KeptHistory(self.turns, begun, (), self.told.append)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.history.keeping)
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
        kept.history.user_said("count")
        kept.history.assistant_said("One two", " three.", "interrupted")
        kept.history.user_said("stop")
    assert kept.turns.kept == [("count", None), ("One two", "interrupted"), ("stop", None)]


@pytest.mark.anyio
async def test_what_cannot_be_kept_is_told_once_and_kept_later():
    kept = Kept()
    async with kept.running():
        kept.turns.broken = True
        kept.history.user_said("one")
        await anyio.wait_all_tasks_blocked()
        kept.history.user_said("two")
        await anyio.wait_all_tasks_blocked()
        assert [problem.code for problem in kept.told] == ["storage_unavailable"]
        kept.turns.broken = False
        kept.history.user_said("three")
    assert [text for text, _ in kept.turns.kept] == ["one", "two", "three"]


@pytest.mark.anyio
async def test_the_last_turns_of_a_call_are_kept_at_its_end():
    kept = Kept()
    kept.history.user_said("bye")
    await kept.history.close()
    assert kept.turns.kept == [("bye", None)]
