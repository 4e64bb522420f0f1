"""Tool calls that wait for their user, who is at another gateway than the run, over one PostgreSQL."""

from __future__ import annotations

from typing import Any

import anyio
import msgspec
import pytest
from tests.conversations.fakes.run_dependencies import FunctionTools
from tests.support.gateway_sites import GatewaySite, die, schema, sites, until

from duologue.values.events import Done, Event, ToolCallDelta, Usage
from duologue.values.requests import ChatRequest

__all__ = ["schema", "sites"]
pytestmark = pytest.mark.anyio


def calling(*tools: str) -> Any:
    """What a model says that calls these tools at once and then says what came of it."""

    def says(request: ChatRequest) -> str | list[Event]:
        if request.messages[-1].role == "tool":
            return " and ".join(message.text for message in request.messages if message.role == "tool")
        calls = [ToolCallDelta(at, "{}", f"call_{at}", name) for at, name in enumerate(tools)]
        return [*calls, Done("tool_calls", Usage(10, 5))]

    return says


async def asking(site: GatewaySite, *tools: str) -> FunctionTools:
    """A reply of this gateway that waits for its user to allow these tools."""
    box = FunctionTools()
    for tool in tools:
        box.add(tool, read_only=False)
    runs = site.service.runs
    runs._dependencies = msgspec.structs.replace(runs._dependencies, toolbox=box)
    site.model.says = calling(*tools)
    await site.conversation()
    begun = await site.send("Write it down", 1)
    assert begun.status_code == 202, begun.text
    return box


async def questions(site: GatewaySite, number: int) -> list[dict[str, Any]]:
    """The open questions of ann, as this gateway tells them, once there are so many."""
    found: list[dict[str, Any]] = []

    async def are_asked() -> bool:
        found[:] = (await site.ann.get("/api/approvals")).json()["approvals"]
        return len(found) == number

    await until(are_asked)
    return found


async def reply(site: GatewaySite, question: dict[str, Any], decision: str) -> str:
    answer = await site.ann.post(f"/api/approvals/{question['id']}", json={"decision": decision})
    assert answer.status_code == 200, answer.text
    return answer.json()["decision"]


async def test_a_tool_call_that_is_allowed_at_another_gateway_runs_at_its_own(sites):
    one, two = sites
    box = await asking(one, "write")
    (question,) = await questions(two, 1)
    assert (question["run"], question["tool"], question["server"]) == ("r1", "write", "desk")
    assert box.called == []
    assert await reply(two, question, "once") == "once"
    await two.end("r1", "done")
    assert box.called == [("write", {})]
    assert (await two.texts())[-1] == "write of {}"
    assert await questions(one, 0) == []


async def test_one_that_is_denied_at_another_gateway_does_not_run(sites):
    one, two = sites
    box = await asking(one, "write")
    (question,) = await questions(two, 1)
    await reply(two, question, "deny")
    await two.end("r1", "done")
    assert box.called == []
    row = next(row for row in (await two.whole())["messages"] if row["role"] == "tool")
    assert row["call"]["state"] == "denied"


async def test_an_answer_about_a_whole_server_at_another_gateway_answers_every_question_it_covers(sites):
    one, two = sites
    box = await asking(one, "write", "erase")
    first, _ = await questions(two, 2)
    await reply(two, first, "server")
    await two.end("r1", "done")
    assert sorted(name for name, _ in box.called) == ["erase", "write"]
    assert ("desk", "*") in await one.service.stores.durable.approvals.permissions("ann")


async def test_of_two_answers_at_both_gateways_the_first_counts_at_both(sites):
    one, two = sites
    box = await asking(one, "write")
    (question,) = await questions(two, 1)
    said = []

    async def answer(site: GatewaySite, decision: str) -> None:
        said.append(await reply(site, question, decision))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(answer, one, "once")
        tasks.start_soon(answer, two, "deny")
    assert said[0] == said[1]
    await two.end("r1", "done")
    assert len(box.called) == (1 if said[0] == "once" else 0)


async def test_an_answer_that_nobody_told_its_gateway_is_found_when_it_looks(sites):
    """The gateway where it was given may die before it tells, and a pooler may pass no notices on."""
    one, two = sites
    box = await asking(one, "write")
    (question,) = await questions(two, 1)
    await two.service.stores.durable.approvals.answer(question["id"], "once")
    one.look()
    await two.end("r1", "done")
    assert box.called == [("write", {})]


async def test_the_questions_of_a_gateway_that_dies_are_closed(sites):
    one, two = sites
    await asking(one, "write")
    (question,) = await questions(two, 1)
    await die(one)
    two.look()
    await two.end("r1", "interrupted")
    assert await questions(two, 0) == []
    late = await two.ann.post(f"/api/approvals/{question['id']}", json={"decision": "once"})
    assert late.json()["decision"] is None
