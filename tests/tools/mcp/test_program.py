"""Programs that attack the server that started them. Each must lose its own session at most."""

import sys
from contextlib import suppress
from pathlib import Path

import anyio
import pytest
from tests.tools.fakes import Person, until
from tests.tools.servers import npm
from tests.tools.servers.talk import open_talk

from duologue.config.sections.mcp import McpServer
from duologue.errors import Problem
from duologue.tools.mcp import program
from duologue.tools.mcp.call_context import OPEN_QUESTIONS, SessionLost
from duologue.tools.mcp.health import Journal
from duologue.tools.mcp.listing import ENTRIES
from duologue.tools.mcp.message_bounds import PARTS

pytestmark = pytest.mark.anyio


def hostile(way):
    command, *arguments = npm.ours("hostile", way)
    return open_talk("hostile", command=command, args=tuple(arguments))


async def go(talk, person):
    return await talk.session.call_tool("go", {}, person.context("go"), person.keep)


@pytest.mark.parametrize(
    ("way", "count"),
    [
        ("many tools", ENTRIES),
        ("endless pages", 20),
        ("same page", 1),
        ("huge cursor", 1),
        ("large schema", 1),
    ],
)
async def test_a_list_without_end_is_cut(way, count):
    async with hostile(way) as talk:
        assert len((await talk.session.listing()).tools) == count


async def test_long_words_are_cut_and_names_that_cannot_be_used_left_out():
    async with hostile("long words") as talk:
        (tool,) = (await talk.session.listing()).tools
        assert len(tool.description) <= 4000
        assert len(tool.title) <= 200
        assert "2 entries of its lists were left out" in talk.log()


async def test_a_name_counts_once():
    async with hostile("twice") as talk:
        listing = await talk.session.listing()
        assert [(tool.name, tool.description) for tool in listing.tools] == [("go", ""), ("calculate", "")]


@pytest.mark.parametrize(
    ("way", "why"), [("long line", "more than 16 MB"), ("numbers", f"more than {PARTS:,} values")]
)
async def test_a_message_over_the_bounds_ends_the_session_and_says_why(way, why):
    async with hostile(way) as talk:
        with pytest.raises((SessionLost, Problem)):
            await talk.session.listing()
        assert talk.session.ended
        assert why in talk.log()


@pytest.mark.parametrize("way", ["storm", "garbage", "stderr"])
async def test_a_flood_beside_the_answers_does_no_harm(way):
    async with hostile(way) as talk:
        assert [tool.name for tool in (await talk.session.listing()).tools] == ["go"]
        outcome = await go(talk, Person())
        assert outcome.content[0].text == "gone"
        assert len(talk.log()) < 500_000


async def test_a_result_over_the_bounds_fails_the_call():
    async with hostile("result") as talk:
        with pytest.raises(SessionLost):
            await go(talk, Person())
        assert "more than 16 MB" in talk.log()


async def test_a_report_of_progress_is_cut():
    person = Person()
    async with hostile("progress") as talk:
        await go(talk, person)
        await until(lambda: person.reports)
        assert max(len(text) for text, _, _ in person.reports) <= 500


async def test_of_many_questions_at_once_a_few_are_asked():
    class Thinking(Person):
        async def ask(self, approval):
            self.questions.append(approval)
            await anyio.sleep_forever()

    person = Thinking()
    async with hostile("questions") as talk, anyio.create_task_group() as tasks:
        tasks.start_soon(go, talk, person)
        await until(lambda: len(person.questions) == OPEN_QUESTIONS)
        # The server goes on asking meanwhile, and is refused.
        await anyio.wait_all_tasks_blocked()
        assert len(person.questions) == OPEN_QUESTIONS
        assert len(person.questions[0].message) <= 4000
        tasks.cancel_scope.cancel()


async def test_a_program_that_does_not_read_its_input_loses_its_session(monkeypatch):
    monkeypatch.setattr(program, "WRITE_SECONDS", 0.3)
    async with hostile("deaf") as talk:
        await talk.session.listing()
        with pytest.raises(SessionLost):
            await go(talk, Person())
        assert "did not read its standard input" in talk.log()


async def test_standard_error_without_end_is_read_at_a_pace(tmp_path):
    written = tmp_path / "written"
    source = (
        "import os, sys\n"
        "counter = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)\n"
        "size = 0\n"
        "while True:\n"
        "    size += os.write(2, b'complaint of a program\\n' * 2000)\n"
        "    os.pwrite(counter, b'%15d' % size, 0)\n"
    )
    server = McpServer(command=sys.executable, args=("-c", source, str(written)))

    def size() -> int:
        return int(written.read_text() or 0) if written.exists() else 0

    began = anyio.current_time()
    async with program.program(server, journal := Journal((), lambda: 0)):
        enough = program.STDERR_BURST + program.STDERR_RATE
        with anyio.fail_after(60):
            while size() < enough:  # noqa: ASYNC110 - the program tells nobody
                await anyio.sleep(0.01)
        # The pipe holds some, and so does the write that waits for it.
        most = program.STDERR_BURST + 2**19
        assert size() <= most + program.STDERR_RATE * (anyio.current_time() - began)
    assert {line.text for line in journal.lines()} >= {"complaint of a program"}


async def test_children_of_a_program_do_not_survive_it():
    async with hostile("children") as talk:
        await talk.session.listing()
        await until(lambda: "child " in talk.log())
        child = int(talk.log().partition("child ")[2].split()[0])

    with suppress(FileNotFoundError):  # no /proc, or nobody there
        await until(lambda: ") Z " in Path(f"/proc/{child}/stat").read_text())
