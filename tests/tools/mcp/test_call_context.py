import anyio
import pytest
from tests.tools.fakes import Person, until

from duologue.tools.mcp.call_context import ToolCallContexts
from duologue.tools.values import ElicitationAnswer

pytestmark = pytest.mark.anyio


async def test_a_question_carries_what_the_person_needs_to_answer_it():
    person = Person(ElicitationAnswer("accept", {"name": "Ann"}))
    answer = await person.calling("book").form("Your name?", {"type": "object"}, 7)
    assert answer.values == {"name": "Ann"}
    (asked,) = person.asked
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
    assert (await person.calling().link("Open", url, 0)).decision == "cancel"
    assert person.asked == []


async def test_a_question_does_not_outlive_its_call():
    answers = []

    class Slow(Person):
        async def ask(self, approval):
            self.asked.append(approval)
            await anyio.sleep_forever()

    person = Slow()
    calling = person.calling()

    async def asking():
        answers.append(await calling.form("?", {}, 0))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(asking)
        await until(lambda: person.asked)
        calling.over()
    assert answers == [ElicitationAnswer("cancel")]


async def test_a_question_goes_to_the_one_call_there_is():
    callings, calling = ToolCallContexts(), Person().calling()
    assert callings.asking() is None
    with callings.running(calling):
        assert callings.asking() is calling
    assert callings.asking() is None


async def test_with_two_people_on_one_connection_nobody_gets_the_others_question():
    callings = ToolCallContexts()
    found = []
    stop = anyio.Event()

    async def run(calling):
        with callings.running(calling):
            await stop.wait()
            # Its own context tells, where that comes along.
            found.append(callings.asking() is calling)

    async with anyio.create_task_group() as tasks:
        for user in ("ann", "bob"):
            tasks.start_soon(run, Person().calling(user=user))
        await until(lambda: len(callings._running) == 2)
        found.append(callings.asking())
        stop.set()
    assert found == [None, True, True]


async def test_with_one_person_it_is_the_latest_call():
    callings, first, second = ToolCallContexts(), Person().calling("first"), Person().calling("second")
    found = []

    async def look():
        found.append(callings.asking())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(look)
        callings._running += [first, second]
    assert found == [second]
