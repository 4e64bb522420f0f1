"""The calls of one turn, with tools and people played. How they follow each other is in test_agent.py."""

from typing import Any, cast

import anyio
import pytest
from tests.conversations.fakes.run_dependencies import Surroundings
from tests.support.store_fixtures import Clock

from duologue.config.settings import RunSettings as RunSettings
from duologue.conversations.agent.approvals import OpenApprovals
from duologue.conversations.agent.loop import ToolCallVerdict
from duologue.conversations.agent.tool_calls import ToolCallBatch, ToolCallRun, free_tools, tool_call_row
from duologue.tools.values import OfferedTool
from duologue.values.conversations import Approval, StoredToolCall, TextContent
from duologue.values.runs import ApprovalRequested, ToolResult, ToolStarted

pytestmark = pytest.mark.anyio

TOOL = OfferedTool("write", "desk", "write_file")


class Desk:
    def __init__(self, *functions, **settings):
        self.around = Surroundings(Clock())
        self.published: list[Any] = []
        self.put: list[Any] = []
        self.approvals = OpenApprovals(
            self, publish=self.published.append, now=self.around.dependencies().now
        )
        calls = []
        for at, function in enumerate(functions):
            tool = OfferedTool(f"tool{at}", "desk", f"tool{at}")
            self.around.toolbox.add(tool.name, function)
            row = tool_call_row(
                f"t{at}", "c", "a", "r", StoredToolCall(f"c{at}", tool.name, '{"a": 1}'), tool
            )
            calls.append(ToolCallRun(row, ToolCallVerdict("run", {"a": 1}), tool))
        self.calls = ToolCallBatch(
            calls,
            user="ann",
            run="r",
            dependencies=self.around.dependencies(),
            settings=RunSettings(**settings),
            approvals=self.approvals,
            publish=self.published.append,
            put=self.put.append,
            keep=cast(Any, None),
        )

    async def add(self, approval):
        pass

    async def close(self, id):
        pass


def test_a_tool_is_free_when_it_only_reads_or_was_allowed():
    tools = {
        "a": OfferedTool("a", "desk", "a", read_only=True),
        "b": OfferedTool("b", "desk", "b"),
        "c": OfferedTool("c", "else", "c"),
        "d": OfferedTool("d", "third", "d"),
    }
    assert free_tools(tools, {("desk", "b"), ("else", "*"), ("third", "other")}) == {
        "a": True,
        "b": True,
        "c": True,
        "d": False,
    }


def test_a_row_knows_where_its_tool_lives():
    row = tool_call_row("t", "c", "a", "r", StoredToolCall("c1", "write", "{}"), TOOL)
    assert (row.role, row.status, row.tool_call_id) == ("tool", "running", "c1")
    assert (row.call.name, row.call.server, row.call.tool, row.call.state) == (
        "write",
        "desk",
        "write_file",
        "waiting",
    )
    assert tool_call_row("t", "c", "a", "r", StoredToolCall("c1", "what", "{}"), None).call.server == ""


async def test_a_call_is_told_run_and_kept():
    async def add(arguments, **_):
        return f"{arguments['a'] + 1}"

    desk = Desk(add)
    assert await desk.calls.run(0)
    assert [row.call.state for row in desk.put] == ["running", "done"]
    assert desk.published == [ToolStarted("t0"), ToolResult(desk.put[-1])]
    assert desk.put[-1].text == "2"


async def test_a_call_that_is_ended_while_it_runs_ends_once():
    async def hang(arguments, **_):
        await anyio.sleep_forever()

    desk, found = Desk(hang), []

    async def run():
        found.append(await desk.calls.run(0))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(run)
        await anyio.wait_all_tasks_blocked()
        await desk.calls.end(0, "skipped", "Stopped.")
    assert found == [False]
    assert len([event for event in desk.published if isinstance(event, ToolResult)]) == 1
    assert desk.put[-1].content == (TextContent("Stopped."),)
    await desk.calls.end(7, "skipped", "There is no such call.")


async def test_a_call_that_was_ended_before_its_task_began_is_neither_asked_nor_made():
    async def never(arguments, **_):
        raise AssertionError("it was made")

    desk = Desk(never)
    await desk.calls.end(0, "skipped", "Stopped.")
    assert await desk.calls.ask(0) is None
    assert await desk.calls.run(0) is False
    assert [row.call.state for row in desk.put] == ["skipped"]
    assert desk.approvals.open == ()


async def test_a_question_about_a_call_shows_in_its_row():
    desk, found = Desk(None, approval_s=60), []

    async def ask():
        found.append(await desk.calls.ask(0))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        (asked,) = desk.approvals.open
        assert (asked.id, asked.run, asked.tool) == ("t0", "r", "tool0")
        assert (desk.put[-1].call.state, desk.put[-1].call.expires) == ("asked", asked.expires)
        assert asked.expires - asked.created == 60_000
        assert isinstance(desk.published[0], ApprovalRequested)
        desk.approvals.answer("t0", "server", {})
    assert found == ["allowed"]


@pytest.mark.parametrize(("end", "answer"), [("deny", "denied"), (None, "expired")])
async def test_a_question_answered_with_no_or_not_at_all(end, answer):
    desk, found = Desk(None), []

    async def ask():
        found.append(await desk.calls.ask(0))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ask)
        await anyio.wait_all_tasks_blocked()
        if end is None:
            await desk.approvals.withdraw("t0")
        else:
            desk.approvals.answer("t0", end, {})
    assert found == [answer]


@pytest.mark.parametrize(
    ("reply", "decision"), [("accept", "accept"), ("decline", "decline"), ("cancel", "cancel")]
)
async def test_what_a_server_asks_is_put_to_the_user(reply, decision):
    async def form(arguments, *, ask, **_):
        answer = await ask(Approval("q", "", "", "form"))
        return f"{answer.decision} {len(answer.values)}"

    desk = Desk(form)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(desk.calls.run, 0)
        await anyio.wait_all_tasks_blocked()
        desk.approvals.answer("q", reply, {"a": 1})
    assert desk.put[-1].text.startswith(decision)


@pytest.mark.parametrize("order", [("q1", "q2"), ("q2", "q1")])
async def test_overlapping_questions_of_one_tool_do_not_end_its_time_limit(order):
    async def form(arguments, *, ask, **_):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask, Approval("q1", "", "", "form"))
            tasks.start_soon(ask, Approval("q2", "", "", "form"))
        await anyio.sleep_forever()

    desk = Desk(form, tool_s=0.1)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(desk.calls.run, 0)
            for question in order:
                await anyio.wait_all_tasks_blocked()
                desk.approvals.answer(question, "accept", {})
    assert "did not answer within" in desk.put[-1].text
