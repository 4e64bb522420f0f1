"""Questions of a run, kept by a store that is played."""

from typing import Any

import anyio
import pytest

from duologue.conversations.agent.approvals import OpenApprovals
from duologue.errors import Unavailable
from duologue.values.conversations import Approval
from duologue.values.runs import ApprovalAnswered, ApprovalRequested

pytestmark = pytest.mark.anyio


class Desk:
    def __init__(self):
        self.asked = []
        self.closed = []
        self.published: list[Any] = []
        self.problem = None
        self.approvals = OpenApprovals(self, publish=self.published.append, now=lambda: 1000)

    async def add(self, approval):
        if self.problem is not None:
            raise self.problem
        self.asked.append(approval.id)

    async def close(self, id):
        if self.problem is not None:
            raise self.problem
        self.closed.append(id)


def question(id="q", expires=1_000_000):
    return Approval(id, "r", "c", expires=expires)


async def waiting(desk, found, id="q", expires=1_000_000):
    found.append(await desk.approvals.ask(question(id, expires)))


@pytest.mark.parametrize(
    ("reply", "told"),
    [("once", "once"), ("server", "server"), ("deny", "deny"), ("accept", "once"), ("cancel", "deny")],
)
async def test_a_reply_comes_back_with_its_values_and_is_told_as_a_decision(reply, told):
    desk = Desk()
    found: list[Any] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(waiting, desk, found)
        await anyio.wait_all_tasks_blocked()
        assert desk.approvals.answer("q", reply, {"a": 1})
    assert found == [(reply, {"a": 1})]
    assert desk.published == [ApprovalRequested(question()), ApprovalAnswered("q", told)]
    assert not desk.approvals.answer("q", "once", {})
    assert desk.closed == []


async def test_a_question_out_of_time_is_closed_and_told():
    desk = Desk()
    found: list[Any] = []
    await waiting(desk, found, expires=1001)
    assert found == [(None, {})]
    assert (desk.closed, desk.published[-1]) == (["q"], ApprovalAnswered("q", None))


async def test_a_withdrawn_question_comes_back_without_a_reply():
    desk = Desk()
    found: list[Any] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(waiting, desk, found)
        tasks.start_soon(waiting, desk, found, "p")
        await anyio.wait_all_tasks_blocked()
        assert {asked.id for asked in desk.approvals.open} == {"q", "p"}
        await desk.approvals.withdraw_all()
    assert found == [(None, {}), (None, {})]
    assert sorted(desk.closed) == ["p", "q"]
    assert desk.approvals.open == ()


async def test_cancelling_who_asks_closes_the_question():
    desk = Desk()
    found: list[Any] = []
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(waiting, desk, found)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    assert (found, desk.closed, desk.approvals.open) == ([], ["q"], ())


async def test_a_question_that_cannot_be_kept_is_not_asked():
    desk = Desk()
    desk.problem = Unavailable("Full.")
    with pytest.raises(Unavailable):
        await desk.approvals.ask(question())
    assert desk.approvals.open == ()
    assert not any(isinstance(event, ApprovalRequested) for event in desk.published)


async def test_a_question_withdrawn_while_it_is_being_kept_is_closed_unseen():
    desk, gate = Desk(), anyio.Event()
    found: list[Any] = []

    async def slow(approval):
        await gate.wait()

    desk.add = slow  # type: ignore[method-assign]
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(waiting, desk, found)
        await anyio.wait_all_tasks_blocked()
        await desk.approvals.withdraw("q")
        gate.set()
    assert (found, desk.closed, desk.published) == ([(None, {})], ["q"], [])
