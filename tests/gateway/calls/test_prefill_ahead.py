"""Reading a prompt ahead: one at a time, the newest next, and the reply begins behind it."""

import anyio
import pytest

from duologue.gateway.calls.prefill_ahead import PrefillAhead
from duologue.values.messages import system, user
from duologue.values.requests import ChatRequest

pytestmark = pytest.mark.anyio


def prompt(text: str, before: str = "Be kind.") -> ChatRequest:
    return ChatRequest((system(before), user(text)))


class Reader:
    """Reads until it is let go."""

    def __init__(self) -> None:
        self.read: list[str] = []
        self.cancelled = 0
        self.go = anyio.Event()

    async def __call__(self, request: ChatRequest, user: str) -> None:
        self.read.append(request.messages[-1].text)
        try:
            await self.go.wait()
        except anyio.get_cancelled_exc_class():
            self.cancelled += 1
            raise


async def test_one_prompt_is_read_at_a_time_and_the_newest_next():
    reader = Reader()
    ahead = PrefillAhead(reader, "ada")
    async with anyio.create_task_group() as tasks:
        for text in ("tell", "tell me", "tell me a"):
            ahead.start(prompt(text), tasks)
            await anyio.wait_all_tasks_blocked()
        assert reader.read == ["tell"]
        reader.go.set()
    assert reader.read == ["tell", "tell me a"]


async def test_the_reply_waits_for_what_is_read_of_its_own_prompt():
    reader = Reader()
    ahead = PrefillAhead(reader, "ada")
    begun = anyio.Event()

    async def reply() -> None:
        await ahead.finish(prompt("tell me a story"))
        begun.set()

    async with anyio.create_task_group() as tasks:
        ahead.start(prompt("tell me"), tasks)
        await anyio.wait_all_tasks_blocked()
        tasks.start_soon(reply)
        await anyio.wait_all_tasks_blocked()
        assert not begun.is_set()
        reader.go.set()
    assert begun.is_set()
    assert reader.cancelled == 0


async def test_what_is_of_no_use_any_more_is_ended():
    reader = Reader()
    ahead = PrefillAhead(reader, "ada")
    async with anyio.create_task_group() as tasks:
        ahead.start(prompt("tell me"), tasks)
        await anyio.wait_all_tasks_blocked()
        with anyio.fail_after(60):
            await ahead.finish(prompt("tell me", before="Another conversation."))
    assert reader.cancelled == 1


async def test_after_a_lost_session_there_is_nothing_to_wait_for():
    ahead = PrefillAhead(Reader(), "ada")
    async with anyio.create_task_group() as tasks:
        ahead.start(prompt("tell"), tasks)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    with anyio.fail_after(60):
        await ahead.finish(prompt("tell"))


async def test_where_nothing_can_be_read_ahead_nothing_is():
    ahead = PrefillAhead(None, "ada")
    async with anyio.create_task_group() as tasks:
        ahead.start(prompt("tell"), tasks)
    await ahead.finish(prompt("tell"))
