from typing import Any

import anyio
import pytest
from tests.tools.fakes import Person, until

from duologue.tools.mcp.call_context import ToolCallContexts
from duologue.tools.values import ElicitationAnswer

pytestmark = pytest.mark.anyio


async def test_a_question_carries_what_the_person_needs_to_answer_it():
    person = Person(ElicitationAnswer("accept", {"name": "Ann"}))
    answer = await person.context("book").form("Your name?", {"type": "object"}, 7)
    assert answer.values == {"name": "Ann"}
    (asked,) = person.questions
    assert (asked.kind, asked.server, asked.tool, asked.message, asked.created) == (
        "form",
        "s",
        "book",
        "Your name?",
        7,
    )
    assert asked.conversation == "c"
    assert len(asked.id) > 16


@pytest.mark.parametrize("url", ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", ""])
async def test_only_an_address_of_the_web_is_ever_shown(url):
    person = Person(ElicitationAnswer("accept"))
    assert (await person.context().link("Open", url, 0)).decision == "cancel"
    assert person.questions == []


async def test_a_question_does_not_outlive_its_call():
    answers = []

    class Slow(Person):
        async def ask(self, approval):
            self.questions.append(approval)
            await anyio.sleep_forever()

    person = Slow()
    context = person.context()

    async def ask():
        answers.append(await context.form("?", {}, 0))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await until(lambda: person.questions)
        context.close()
    assert answers == [ElicitationAnswer("cancel")]


async def test_a_question_goes_to_the_one_call_there_is():
    contexts, context = ToolCallContexts(), Person().context()
    assert contexts.current() is None
    with contexts.track(context):
        assert contexts.current() is context
    assert contexts.current() is None


async def test_with_two_people_on_one_connection_nobody_gets_the_others_question():
    contexts = ToolCallContexts()
    found: list[Any] = []
    stop = anyio.Event()

    async def run(context):
        with contexts.track(context):
            await stop.wait()
            # Its own context tells, where that comes along.
            found.append(contexts.current() is context)

    async with anyio.create_task_group() as tasks:
        for user in ("ann", "bob"):
            tasks.start_soon(run, Person().context(user=user))
        await until(lambda: len(contexts._running) == 2)
        found.append(contexts.current())
        stop.set()
    assert found == [None, True, True]


async def test_with_one_person_it_is_the_latest_call():
    contexts, first, second = ToolCallContexts(), Person().context("first"), Person().context("second")
    found = []

    async def look():
        found.append(contexts.current())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(look)
        contexts._running += [first, second]
    assert found == [second]
