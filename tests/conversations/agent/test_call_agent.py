"""The tool calls of one spoken reply: made, asked about, ended, and told to the model as far as they came."""

from typing import Any

import anyio
import pytest
from tests.conversations.fakes.run_dependencies import FunctionTools

from duologue.config.settings import RunSettings
from duologue.conversations.agent.call_agent import (
    APPROVAL_SECONDS,
    CallContext,
    CallToolLoop,
    client_tools,
    text_messages,
)
from duologue.conversations.agent.dependencies import ToolDependencies
from duologue.tools.values import OfferedTool, ToolOutcome
from duologue.values.conversations import StoredToolCall, TextContent
from duologue.values.messages import Tool, ToolCall
from duologue.values.runs import ApprovalAnswered, ApprovalRequested, MessageAdded

pytestmark = pytest.mark.anyio

LOOK = ToolCall("c1", "look", '{"at": "it"}')
WRITE = ToolCall("c2", "write", "{}")


class Room:
    """A tool loop with a toolbox; `published` are its events."""

    def __init__(self, *, tools=None, settings=None, own=(), client=None):
        self.toolbox = tools or FunctionTools().add("look").add("write", read_only=False)
        self.published: list[Any] = []
        self.allowed = set()
        numbers = iter(range(1000))
        offered = {
            name: OfferedTool(name, server, name, read_only=read_only)
            for name, (_, read_only, server) in self.toolbox.functions.items()
        }
        self.loop = CallToolLoop(
            CallContext(
                dependencies=ToolDependencies(
                    lambda: 0, lambda: 0.0, lambda: f"id{next(numbers)}", self.toolbox
                ),
                tools=offered | client_tools(own),
                settings=settings or RunSettings(),
                permissions=self._permissions,
                allow=self._allow,
            ),
            publish=self.published.append,
            client=client,
        )

    async def _permissions(self):
        return self.allowed

    async def _allow(self, server, tool):
        self.allowed.add((server, tool))

    @property
    def states(self):
        return [row.call.state for row in self.loop.rows.values() if row.call]

    @property
    def asked(self):
        return [event.approval for event in self.published if isinstance(event, ApprovalRequested)]


async def test_a_turns_calls_are_rows_behind_the_turn_and_the_model_is_asked_again():
    room = Room()
    assert await room.loop.run("Let me see. ", [LOOK])
    asking, tool = room.loop.rows.values()
    assert (asking.role, asking.text, asking.tool_calls) == (
        "assistant", "Let me see. ", (StoredToolCall("c1", "look", '{"at": "it"}'),),
    )  # fmt: skip
    assert (tool.role, tool.text, tool.call.state) == ("tool", 'look of {"at":"it"}', "done")
    assert [message.role for message in room.loop.messages] == ["assistant", "tool"]
    assert not room.loop.has_acted


async def test_what_only_reads_does_not_wait_and_everything_else_does():
    room = Room()
    room.allowed.add(("desk", "write"))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(room.loop.run, "", [LOOK, WRITE])
        await anyio.wait_all_tasks_blocked()
        assert [name for name, _ in room.toolbox.called] == ["look"]
        assert not room.loop.has_acted
        room.loop.confirm_turn()
    assert [name for name, _ in room.toolbox.called] == ["look", "write"]
    assert room.loop.has_acted


async def test_after_as_many_turns_as_are_allowed_the_model_is_not_asked_again():
    room = Room(settings=RunSettings(max_turns=2))
    assert await room.loop.run("", [LOOK])
    assert not await room.loop.run("", [LOOK])


@pytest.mark.parametrize(("agreed", "state"), [(True, "done"), (False, "denied")])
async def test_a_spoken_answer_goes_to_what_is_asked(agreed, state):
    room = Room()
    room.loop.confirm_turn()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(room.loop.run, "", [WRITE])
        await anyio.wait_all_tasks_blocked()
        assert [approval.tool for approval in room.loop.approvals] == ["write"]
        assert room.asked[0].expires == APPROVAL_SECONDS * 1000
        room.loop.answer_all(agreed)
    assert room.states == [state]
    assert any(isinstance(event, ApprovalAnswered) for event in room.published)


async def test_nobody_who_answers_is_a_no():
    room = Room(settings=RunSettings(approval_s=0.001))
    room.loop.confirm_turn()
    assert await room.loop.run("", [WRITE])
    assert room.states == ["expired"]


async def test_closed_it_is_well_formed_wherever_it_was():
    async def hang(*_, **__):
        await anyio.sleep_forever()

    room = Room(tools=FunctionTools().add("look", hang).add("write", read_only=False))
    room.loop.confirm_turn()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(room.loop.run, "So. ", [LOOK, WRITE])
        await anyio.wait_all_tasks_blocked()
        room.loop.close()
        tasks.cancel_scope.cancel()
    assert room.states == ["skipped", "skipped"]
    assert all(row.text for row in room.loop.rows.values())
    assert room.loop.approvals == ()
    assert room.toolbox.running == 0


async def test_its_rows_hold_what_was_heard_and_the_rest_was_said_behind_its_calls():
    room = Room()
    await room.loop.run("One. ", [LOOK])
    await room.loop.run("Two. ", [LOOK])
    assert room.loop.trim("One. Two. Three.") == "Three."
    texts = [row.text for row in room.loop.rows.values() if row.role == "assistant"]
    assert texts == ["One. ", "Two. "]


async def test_what_was_not_heard_of_a_turn_is_not_in_its_row():
    room = Room()
    await room.loop.run("One two. ", [LOOK])
    assert room.loop.trim("One") == ""
    row = next(iter(room.loop.rows.values()))
    assert (row.text, row.status) == ("One", "stopped")
    # What is said later is behind it.
    assert room.loop.trim("Three.") == "Three."


async def test_a_clients_own_tool_is_called_by_it_and_asks_nobody():
    called = []

    async def client(call):
        called.append((call.id, call.name, call.arguments))
        return ToolOutcome((TextContent("on"),))

    room = Room(own=[Tool("lamp")], client=client)
    room.loop.confirm_turn()
    assert await room.loop.run("", [ToolCall("c9", "lamp", '{"on":true}')])
    assert called == [("c9", "lamp", '{"on":true}')]
    assert not room.asked
    assert [message.text for message in room.loop.messages][-1] == "on"


async def test_a_running_tool_is_heard_of():
    async def slow(arguments, *, report, **_):
        await report("Half of it", 1, 2)
        return "Done"

    room = Room(tools=FunctionTools().add("slow", slow))
    await room.loop.run("", [ToolCall("c1", "slow", "{}")])
    told_of = [
        (event.message.call.state, event.message.text)
        for event in room.published
        if isinstance(event, MessageAdded)
    ]
    assert ("running", "Half of it") in told_of
    assert told_of[-1] == ("done", "Done")


async def test_what_an_earlier_try_has_done_is_told_first():
    room = Room()
    await room.loop.run("", [LOOK])
    rows = tuple(room.loop.rows.values())
    again = CallToolLoop(
        CallContext(dependencies=ToolDependencies(lambda: 0, lambda: 0.0, lambda: "x")),
        publish=print,
        earlier=rows,
    )
    assert again.messages == text_messages(rows)
    assert again.has_acted
