"""Against real servers: the reference server over every transport, and others from npm and PyPI."""

import sys
from contextlib import ExitStack, asynccontextmanager
from typing import Any

import anyio
import pytest
from tests.tools.fakes import Person, until
from tests.tools.servers import npm
from tests.tools.servers.talk import open_talk
from tests.tools.test_pinned_transport import site

from duologue.errors import Unavailable
from duologue.tools.mcp.call_context import SessionLost
from duologue.tools.values import ElicitationAnswer
from duologue.values.conversations import ResourceContent, TextContent

pytestmark = pytest.mark.anyio
TRANSPORTS = ("stdio", "streamableHttp", "sse")


@asynccontextmanager
async def everything(transport):
    """A session with the reference server."""
    if transport == "stdio":
        async with open_talk("every", command="node", args=(str(npm.script("everything")), "stdio")) as talk:
            yield talk.session
        return
    with npm.everything(transport) as port:
        path, kind = ("mcp", "http") if transport == "streamableHttp" else ("sse", "sse")
        async with open_talk("every", url=f"http://127.0.0.1:{port}/{path}", type=kind) as talk:
            yield talk.session


async def call(session, tool, person=None, **arguments):
    person = person or Person()
    context = person.context(tool)
    return await session.call_tool(tool, arguments, context, person.keep)


def text(outcome):
    return "\n".join(part.text for part in outcome.content if isinstance(part, TextContent))


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_the_reference_server_over_every_transport(transport):
    async with everything(transport) as session:
        listing = await session.listing()
        assert {"echo", "get-sum", "trigger-elicitation-request"} <= {tool.name for tool in listing.tools}
        assert {prompt.name for prompt in listing.prompts} >= {"simple-prompt", "args-prompt"}
        assert len(listing.resources) >= 5
        assert len(listing.templates) == 2
        assert session.about.title == "Everything Reference Server"
        assert session.about.protocol == "2025-11-25"
        assert "Everything Server" in session.about.instructions

        assert text(await call(session, "echo", message="hello")) == "Echo: hello"

        person = Person()
        await call(session, "trigger-long-running-operation", person, duration=0.2, steps=2)
        assert [(progress, total) for _, progress, total in person.reports] == [(1, 2), (2, 2)]

        person = Person(ElicitationAnswer("accept", {"name": "Ann"}))
        assert "Name: Ann" in text(await call(session, "trigger-elicitation-request", person))
        assert person.questions[0].kind == "form"
        schema: Any = person.questions[0].schema
        assert "name" in schema["properties"]

        person = Person()
        content = await session.read("demo://resource/dynamic/text/1", person.keep)
        assert isinstance(content[0], ResourceContent)
        filled = await session.prompt("args-prompt", {"city": "Bonn"}, person.keep)
        assert "Bonn" in filled.messages[0][1]
        values = await session.complete("prompt", "completable-prompt", "department", "E", {})
        assert values == ("Engineering",)


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_a_cancelled_call_leaves_the_session_as_it_was(transport):
    async with everything(transport) as session:
        with anyio.move_on_after(0.1) as scope:
            await call(session, "trigger-long-running-operation", duration=30, steps=30)
        assert scope.cancelled_caught
        assert text(await call(session, "echo", message="still here")) == "Echo: still here"


async def test_pictures_and_files_in_results_are_kept():
    async with everything("stdio") as session:
        person = Person()
        outcome = await call(session, "get-tiny-image", person)
        assert [type(part).__name__ for part in outcome.content] == [
            "TextContent",
            "ImageContent",
            "TextContent",
        ]
        ((data, _, mime),) = person.files
        assert (data[:4], mime) == (b"\x89PNG", "image/png")
        outcome = await call(session, "get-resource-reference", person, resourceType="Blob", resourceId=2)
        assert outcome.content[1].blob
        outcome = await call(session, "get-resource-links", person, count=2)
        assert "demo://resource/dynamic/blob/1" in text(outcome)
        assert "Cloudy" in text(await call(session, "get-structured-content", person, location="New York"))


@pytest.mark.parametrize("decision", ["decline", "cancel"])
async def test_a_form_can_be_turned_down(decision):
    async with everything("stdio") as session:
        outcome = await call(session, "trigger-elicitation-request", Person(ElicitationAnswer(decision)))
        assert decision in text(outcome)


async def test_a_form_filled_in_wrongly_is_not_sent():
    async with everything("stdio") as session:
        person = Person(ElicitationAnswer("accept", {"name": 5}))
        assert '"action": "cancel"' in text(await call(session, "trigger-elicitation-request", person))


async def test_a_page_to_open_is_asked_about_both_ways_a_server_may_ask():
    async with everything("stdio") as session:
        person = Person(ElicitationAnswer("accept"))
        outcome = await call(session, "trigger-url-elicitation", person, url="https://a.example/x")
        assert [(asked.kind, asked.url) for asked in person.questions] == [("link", "https://a.example/x")]
        assert not outcome.failed
        person = Person(ElicitationAnswer("accept"))
        outcome = await call(
            session,
            "trigger-url-elicitation",
            person,
            url="https://a.example/x",
            errorPath=True,
            elicitationId="one",
        )
        assert len(person.questions) == 2
        assert not outcome.failed
        person = Person(ElicitationAnswer("decline"))
        outcome = await call(
            session,
            "trigger-url-elicitation",
            person,
            url="https://a.example/y",
            errorPath=True,
            elicitationId="two",
        )
        assert outcome.failed
        assert "did not open" in text(outcome)


async def test_a_tool_there_is_not_is_a_failed_outcome():
    async with everything("stdio") as session:
        outcome = await call(session, "no-such-tool")
        assert outcome.failed
        assert "no-such-tool" in text(outcome)
        with pytest.raises(Unavailable) as refused:
            await session.read("demo://nothing", Person().keep)
        assert refused.value.code == "tool_server_error"


async def test_the_filesystem_server_reads_and_writes_where_it_may(tmp_path):
    (tmp_path / "notes.txt").write_text("buy milk")
    command = (str(npm.script("filesystem")), str(tmp_path))
    async with open_talk("files", command="node", args=command) as talk:
        tools = {tool.name: tool for tool in (await talk.session.listing()).tools}
        assert tools["read_text_file"].read_only
        assert not tools["write_file"].read_only
        read = await call(talk.session, "read_text_file", path=str(tmp_path / "notes.txt"))
        assert "buy milk" in text(read)
        await call(talk.session, "write_file", path=str(tmp_path / "new.txt"), content="done")
        assert (tmp_path / "new.txt").read_text() == "done"
        outside = await call(talk.session, "read_text_file", path="/etc/hostname")
        assert outside.failed


async def test_the_memory_server_remembers(tmp_path):
    environment = {"MEMORY_FILE_PATH": str(tmp_path / "memory.json")}
    async with open_talk(
        "memory", command="node", args=(str(npm.script("memory")),), env=environment
    ) as talk:
        entities = [{"name": "Ann", "entityType": "person", "observations": ["likes tea"]}]
        await call(talk.session, "create_entities", entities=entities)
        assert "likes tea" in text(await call(talk.session, "search_nodes", query="tea"))


async def test_the_time_server_speaks_the_newer_era():
    async with open_talk("time", command=sys.executable, args=("-m", "mcp_server_time")) as talk:
        assert talk.session.about.protocol == "2026-07-28"
        outcome = await call(talk.session, "get_current_time", timezone="Asia/Tokyo")
        assert "+09:00" in text(outcome)
        assert (await call(talk.session, "get_current_time", timezone="Mars/Olympus")).failed


async def test_the_fetch_server_fetches():
    page = b"<html><head><title>Tea</title></head><body><p>Green tea is made of leaves.</p></body></html>"
    arguments = ("-m", "mcp_server_fetch", "--allow-private-ips", "--ignore-robots-txt")
    with site({"/": (200, {"content-type": "text/html"}, page)}) as (port, _):
        async with open_talk("fetch", command=sys.executable, args=arguments) as talk:
            assert [tool.name for tool in (await talk.session.listing()).tools] == ["fetch"]
            outcome = await call(talk.session, "fetch", url=f"http://127.0.0.1:{port}/", raw=True)
            assert "Green tea" in text(outcome)


async def test_a_server_tells_when_its_tools_change():
    command, *arguments = npm.ours("odd")
    async with (
        open_talk("odd", command=command, args=tuple(arguments)) as talk,
        anyio.create_task_group() as tasks,
    ):
        session = talk.session
        before = len((await session.listing()).tools)
        tasks.start_soon(session.listen)
        # The subscription is on its way, ahead of the call: both go through the same pipe.
        await anyio.wait_all_tasks_blocked()
        await call(session, "grow")
        await until(lambda: session.stale)
        assert len((await session.listing()).tools) == before + 1
        tasks.cancel_scope.cancel()


async def test_a_server_that_dies_in_a_call_ends_the_session_and_says_so():
    command, *arguments = npm.ours("odd")
    async with open_talk("odd", command=command, args=tuple(arguments)) as talk:
        with pytest.raises(SessionLost) as failure:
            await call(talk.session, "die")
        assert not failure.value.undelivered
        assert talk.session.ended
        with pytest.raises(SessionLost) as failure:
            await call(talk.session, "whoami")
        assert failure.value.undelivered


async def test_a_restarted_server_has_forgotten_the_session_and_heard_nothing():
    script = ["node", str(npm.script("everything")), "streamableHttp"]
    with ExitStack() as stack:
        port = stack.enter_context(npm.listening(script))
        async with open_talk("every", url=f"http://127.0.0.1:{port}/mcp", type="http") as talk:
            assert text(await call(talk.session, "echo", message="one")) == "Echo: one"
            stack.close()
            with npm.listening(script, port):
                with pytest.raises(SessionLost) as failure:
                    await call(talk.session, "echo", message="two")
                assert failure.value.undelivered


@pytest.mark.parametrize("accepted", [True, False])
async def test_a_server_of_the_newer_era_asks_by_answering_that_it_needs_to_know(accepted):
    command, *arguments = npm.ours("odd")
    async with open_talk("odd", command=command, args=tuple(arguments)) as talk:
        person = Person(
            ElicitationAnswer("accept", {"name": "Ann"}) if accepted else ElicitationAnswer("decline")
        )
        outcome = await call(talk.session, "book", person)
        assert talk.session.about.protocol == "2026-07-28"
        assert [asked.message for asked in person.questions] == ["Who is it for?"]
        assert outcome.failed is not accepted
        if accepted:
            assert text(outcome) == "booked for Ann"


async def test_a_large_picture_comes_through_over_every_transport():
    command, *arguments = npm.ours("odd")
    person = Person()
    async with open_talk("odd", command=command, args=tuple(arguments)) as talk:
        await call(talk.session, "large", person)
    with npm.listening(npm.ours("odd", "http")) as port:
        async with open_talk("odd", url=f"http://127.0.0.1:{port}/mcp") as talk:
            await call(talk.session, "large", person)
    assert [len(data) for data, _, _ in person.files] == [3_000_000, 3_000_000]
