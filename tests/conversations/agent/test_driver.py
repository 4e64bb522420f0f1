"""The driver, on a host that is played. What runs and calls make of it is in their own tests."""

from contextlib import asynccontextmanager

import anyio
import pytest

from duologue.conversations.agent.driver import (
    AgentDriver,
    AgentStarted,
    ApprovalDecided,
    EndRequested,
    ModelTurnEnded,
    SteeringRequested,
    ToolCallEnded,
    TurnResult,
)
from duologue.conversations.agent.loop import Agent
from duologue.conversations.agent.turn import INTERNAL_ERROR
from duologue.errors import Unavailable
from duologue.values.conversations import StoredToolCall

pytestmark = pytest.mark.anyio

ASKED = StoredToolCall("c1", "write", "{}")
FREE = StoredToolCall("c2", "look", "{}")


class Batch:
    tools_ms = 5

    def __init__(self):
        self.ended = []

    async def end(self, number, state, text):
        self.ended.append((number, state))

    def cut(self, number, state, text):
        self.ended.append((number, state))


class Host:
    """Writes what it is asked to do into `log`. `results` are the ends of its model turns, in order."""

    def __init__(self, *results, one_question=False):
        self.results = list(results)
        self.facts = 0
        self.log = []
        self.batch = Batch()
        self.gate = anyio.Event()
        self.problem = None
        self.outcome = None
        self.driver = AgentDriver(
            Agent(max_turns=9, parallel=9),
            self,
            name="the test",
            one_question=one_question,
            after_fact=self.count,
        )

    def count(self):
        self.facts += 1

    @asynccontextmanager
    async def driving(self, fact=None):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self.driver.drive, tasks, fact or AgentStarted())
            await anyio.wait_all_tasks_blocked()
            yield self.driver
            await anyio.wait_all_tasks_blocked()
            tasks.cancel_scope.cancel()

    async def allowed_tools(self):
        return {"write": False, "look": True}

    async def start_turn(self):
        self.log.append("turn")
        if self.problem is not None:
            raise self.problem

    async def turn_result(self, message):
        return self.results.pop(0) if self.results else None

    def cancel_turn(self):
        self.log.append("cancel")

    async def add_tool_calls(self, tool_calls, verdicts):
        self.log.append([verdict.verdict for verdict in verdicts])
        return self.batch

    async def ask(self, batch, number):
        self.log.append(f"ask {number}")
        await self.gate.wait()
        return "allowed"

    async def run_tool_call(self, batch, number):
        self.log.append(f"run {number}")
        return True

    async def take_steering(self):
        self.log.append("steering")

    async def finish(self, outcome, error):
        if self.outcome is None:
            self.outcome = (outcome, error)
        self.driver.close()


async def test_turns_and_tool_calls_follow_each_other_to_the_end():
    host = Host(TurnResult((FREE,)), TurnResult())
    async with host.driving() as driver:
        driver.post(ModelTurnEnded("a"))
        await anyio.wait_all_tasks_blocked()
        driver.post(ModelTurnEnded("b"))
    assert host.log == ["turn", ["run"], "run 0", "turn"]
    assert host.outcome == ("done", None)
    assert (driver.closed, driver.batch, driver.tools_ms) == (True, None, 5)


async def test_a_run_starts_with_the_tool_calls_left_open():
    host = Host()
    async with host.driving(AgentStarted((FREE,))):
        pass
    assert host.log == [["run"], "run 0", "turn"]


async def test_a_turn_that_is_no_longer_current_has_no_effect():
    host = Host()
    async with host.driving() as driver:
        driver.post(ModelTurnEnded("old"))
    assert (host.log, host.outcome) == (["turn"], None)


@pytest.mark.parametrize(
    ("one_question", "first", "then"), [(False, ["ask 0", "ask 1"], []), (True, ["ask 0"], ["ask 1"])]
)
async def test_questions_are_asked_together_or_one_at_a_time(one_question, first, then):
    host = Host(TurnResult((ASKED, ASKED)), one_question=one_question)
    async with host.driving() as driver:
        driver.post(ModelTurnEnded("a"))
        await anyio.wait_all_tasks_blocked()
        assert host.log[2:] == first
        host.gate.set()
        await anyio.wait_all_tasks_blocked()
        assert [entry for entry in host.log[2:] if entry.startswith("ask")] == first + then
    assert [entry for entry in host.log if entry in ("run 0", "run 1")] == ["run 0", "run 1"]


async def test_facts_about_the_tool_calls_of_an_earlier_turn_have_no_effect():
    host = Host(TurnResult((FREE,)), TurnResult((ASKED,)))
    async with host.driving() as driver:
        driver.post(ModelTurnEnded("a"))
        await anyio.wait_all_tasks_blocked()
        driver.post(ModelTurnEnded("b"))
        await anyio.wait_all_tasks_blocked()
        log = list(host.log)
        driver.post(ApprovalDecided(1, 0, "allowed"))
        driver.post(ToolCallEnded(1, 0))
        await anyio.wait_all_tasks_blocked()
        assert host.log == log


async def test_a_fact_that_is_queued_already_is_handled_once():
    host = Host(TurnResult((ASKED,)))
    async with host.driving() as driver:
        driver.post(ModelTurnEnded("a"))
        await anyio.wait_all_tasks_blocked()
        facts = host.facts
        for _ in range(100):
            driver.post(SteeringRequested())
            driver.post(EndRequested("stopped"))
    assert host.facts == facts + 2
    assert host.outcome == ("stopped", None)


async def test_steering_skips_what_has_not_started_and_goes_in_before_the_next_turn():
    host = Host(TurnResult((ASKED,)))
    async with host.driving() as driver:
        driver.post(ModelTurnEnded("a"))
        await anyio.wait_all_tasks_blocked()
        driver.post(SteeringRequested())
    assert host.batch.ended == [(0, "skipped")]
    assert host.log[-2:] == ["steering", "turn"]


async def test_a_problem_on_the_way_ends_the_run_as_failed():
    host = Host()
    host.problem = Unavailable("The store is away.")
    async with host.driving():
        pass
    assert host.outcome is not None
    outcome, error = host.outcome
    assert (outcome, error.message) == ("failed", "The store is away.")
    assert host.log == ["turn", "cancel"]


async def test_a_bug_on_the_way_ends_the_run_as_failed_and_is_logged(caplog):
    host = Host()
    host.problem = RuntimeError("a secret")
    async with host.driving():
        pass
    assert host.outcome == ("failed", INTERNAL_ERROR)
    assert "a secret" in caplog.text


async def test_stopped_at_once_every_open_tool_call_ends():
    host = Host(TurnResult((ASKED, ASKED)))
    async with host.driving() as driver:
        driver.post(ModelTurnEnded("a"))
        await anyio.wait_all_tasks_blocked()
        driver.stop_now()
        assert (host.batch.ended, driver.batch) == ([(0, "skipped"), (1, "skipped")], None)


async def test_a_closed_driver_takes_no_facts():
    host = Host()
    async with host.driving() as driver:
        driver.close()
        driver.post(EndRequested("stopped"))
    assert host.outcome is None
