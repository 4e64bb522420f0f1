import sys

import anyio
import httpx2
import pytest
from tests.tools.fakes import Person, server_config, until
from tests.tools.servers import npm
from tests.tools.servers.talk import open_talk

from duologue.errors import Unavailable
from duologue.tools.mcp.bounded_http import TransportState
from duologue.tools.mcp.health import Journal
from duologue.tools.mcp.transports import WatchedStream, http_client

pytestmark = pytest.mark.anyio


def odd(*way, **more):
    command, *arguments = npm.ours("odd", *way)
    return {"command": command, "args": tuple(arguments)} | more


async def test_what_a_program_says_on_standard_error_is_in_the_journal_without_secrets():
    async with open_talk("odd", **odd("noisy", env={"ODD_SECRET": "hunter2hunter2"})) as talk:
        person = Person()
        await talk.session.call_tool("whoami", {}, person.context(), person.keep)
        await until(lambda: "my secret is" in talk.log())
        assert "stderr: and this one goes to standard error" in talk.log()
        assert "stderr: my secret is ***" in talk.log()
        assert "hunter2" not in talk.log()


async def test_what_is_no_message_of_the_protocol_does_no_harm():
    async with open_talk("odd", **odd("noisy")) as talk:
        assert (await talk.session.listing()).tools
        assert "not a protocol message" in talk.log()


async def test_a_program_gets_its_own_environment_and_not_ours(monkeypatch):
    monkeypatch.setenv("ODD_NAME", "from the server's own environment")
    person = Person()
    async with open_talk("odd", **odd()) as talk:
        outcome = await talk.session.call_tool("whoami", {}, person.context(), person.keep)
        assert outcome.content[0].text == "nobody"
    async with open_talk("odd", **odd(env={"ODD_NAME": "Ann"})) as talk:
        outcome = await talk.session.call_tool("whoami", {}, person.context(), person.keep)
        assert outcome.content[0].text == "Ann"


async def test_a_program_runs_in_its_folder(tmp_path):
    (tmp_path / "here.py").write_text("import os, sys; print(os.getcwd(), file=sys.stderr)")
    journal = Journal((), lambda: 0)
    with pytest.raises(Unavailable):
        async with open_talk(command=sys.executable, args=("here.py",), cwd=str(tmp_path), journal=journal):
            pytest.fail("it spoke the protocol")
    assert str(tmp_path) in [line.text for line in journal.lines()]


async def test_the_end_of_a_stream_is_noticed():
    send, receive = anyio.create_memory_object_stream[str](1)
    state = TransportState()
    watched = WatchedStream(receive, state.end)
    await send.send("one")
    send.close()
    assert [item async for item in watched] == ["one"]
    assert state.ended.is_set()
    await watched.aclose()


async def test_the_headers_of_a_server_go_with_every_request():
    server = server_config("web", url="http://127.0.0.1:1/mcp", headers={"X-Key": "k-123456"}).server
    state = TransportState()
    async with http_client(server, state, None, None) as client:
        assert client.headers["x-key"] == "k-123456"
        with pytest.raises(httpx2.ConnectError):
            await client.get("http://127.0.0.1:1/")
    assert state.trouble
