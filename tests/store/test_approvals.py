"""Questions to users and what they allowed, on every kind of database."""

from __future__ import annotations

import pytest
from tests.support.store_fixtures import conversation

from duologue.errors import NotFound
from duologue.values.conversations import Approval
from duologue.values.runs import Run

pytestmark = pytest.mark.anyio


@pytest.fixture
async def place(store) -> str:
    """A conversation with a run `r` in it."""
    made = await conversation(store, "hello", id="a")
    await store.runs.begin(Run("r", made.id, started=5), "local", b"")
    return made.id


def question(id: str = "q", **fields) -> Approval:
    return Approval(id, "r", "a", **fields)


async def test_a_question_is_kept_whole_and_open(store, place, clock):
    asked = question(
        kind="form",
        server="files",
        tool="delete",
        arguments='{"path": "x"}',
        message="Really?",
        schema={"type": "object", "properties": {"sure": {"type": "boolean"}}},
        url="https://example.org",
        expires=clock() + 5,
    )
    kept = await store.approvals.ask("local", asked)
    assert kept.created == clock()
    found = await store.approvals.get("local", "q")
    assert (found.approval, found.user, found.answered, found.decision) == (kept, "local", 0, None)
    assert await store.approvals.pending("local") == [kept]
    assert await store.approvals.ask("local", question(message="Other?")) == kept


async def test_open_questions_are_of_one_user_and_may_be_of_one_conversation(store, place, clock):
    first = await store.approvals.ask("local", question("q2"))
    clock.forward(1)
    second = await store.approvals.ask("local", question("q1"))
    other = await store.approvals.ask("anna", question("q3"))
    assert await store.approvals.pending("local") == [first, second]
    assert await store.approvals.pending("local", place) == [first, second]
    assert await store.approvals.pending("local", "elsewhere") == []
    assert {asked.approval.id for asked in await store.approvals.open()} == {"q1", "q2", "q3"}
    with pytest.raises(NotFound):
        await store.approvals.get("local", other.id)


async def test_the_first_answer_counts(store, place, clock):
    await store.approvals.ask("local", question())
    clock.forward(10)
    first = await store.approvals.answer("q", "accept", {"sure": True})
    assert (first.decision, first.values, first.answered) == ("accept", {"sure": True}, clock())
    clock.forward(10)
    assert await store.approvals.answer("q", "deny") == first
    assert await store.approvals.pending("local") == []
    with pytest.raises(NotFound):
        await store.approvals.answer("gone", "deny")


async def test_a_question_can_be_closed_undecided(store, place):
    await store.approvals.ask("local", question())
    closed = await store.approvals.answer("q", None)
    assert closed.decision is None
    assert closed.answered > 0


async def test_what_is_allowed_stays_allowed_until_it_is_forgotten(store):
    approvals = store.approvals
    for server, tool in (("files", "read"), ("files", "read"), ("files", "write"), ("web", "*")):
        await approvals.allow("local", server, tool)
    await approvals.allow("anna", "web", "*")
    assert await approvals.permissions("local") == {("files", "read"), ("files", "write"), ("web", "*")}
    assert await approvals.forget("local", "files", "read") == 1
    assert await approvals.permissions("local") == {("files", "write"), ("web", "*")}
    assert await approvals.forget("local", "files") == 1
    assert await approvals.forget("local") == 1
    assert await approvals.permissions("local") == set()
    assert await approvals.permissions("anna") == {("web", "*")}
