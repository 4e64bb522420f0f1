"""Tools that the client of a call runs: the call goes out, the result comes back, and nobody waits forever."""

import anyio
import pytest
from tests.gateway.call_fixture import Client

from duologue.gateway.calls import client_tools
from duologue.gateway.calls.client_tools import ClientTools
from duologue.tools.values import ToolOutcome
from duologue.values.conversations import StoredToolCall, TextContent
from duologue.wire.calls import caller_messages, voice

pytestmark = pytest.mark.anyio

LAMP = StoredToolCall("c1", "lamp", '{"on":true}')


async def test_a_tool_call_ends_with_the_clients_result() -> None:
    client = Client()
    tools = ClientTools(voice.VoiceEncoder(), client.write)
    outcomes: list[ToolOutcome] = []

    async def call() -> None:
        outcomes.append(await tools.call(3, LAMP))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(call)
        message = await client.until("tool_call")
        assert (message["reply_id"], message["call_id"], message["name"]) == (3, "c1", "lamp")
        assert not tools.accept(caller_messages.ClientToolResult("c2", "not this one"))
        assert tools.accept(caller_messages.ClientToolResult("c1", "broken", is_error=True))
    assert outcomes == [ToolOutcome((TextContent("broken"),), True)]
    assert not tools.accept(caller_messages.ClientToolResult("c1", "too late"))


async def test_a_client_that_does_not_answer_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_tools, "TIMEOUT", 0.0)
    tools = ClientTools(voice.VoiceEncoder(), Client().write)
    outcome = await tools.call(1, LAMP)
    assert outcome.failed
    assert not tools.accept(caller_messages.ClientToolResult("c1", "too late"))
