"""Transactions that PostgreSQL undoes because of each other."""

from __future__ import annotations

import anyio
import pytest
from sqlalchemy import insert, select, text, update

from duologue.errors import Problem, Unavailable
from duologue.http.error_responses import problem_headers
from duologue.store.database import Database
from duologue.store.schema.repeating import TRIES, RolledBack, repeated
from duologue.store.schema.tables import users

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
async def two_users(both: tuple[Database, Database]) -> None:
    """The users `a` and `b`."""
    async with both[0].writing() as connection:
        await connection.execute(
            insert(users),
            [{"id": id, "name": id, "role": "user", "created": 0, "disabled": 0} for id in "ab"],
        )


class Crossing:
    """Two transactions that change two users in opposite orders, each when the other one has its first. `tries` counts them."""

    def __init__(self) -> None:
        self.tries = 0
        self.has_first = {"a": anyio.Event(), "b": anyio.Event()}

    async def change(self, database: Database, first: str, second: str) -> None:
        self.tries += 1
        async with database.writing() as connection:
            await connection.execute(update(users).where(users.c.id == first).values(created=ord(first)))
            self.has_first[first].set()
            await self.has_first[second].wait()
            await connection.execute(update(users).where(users.c.id == second).values(created=ord(first)))


async def test_of_two_that_wait_for_each_other_one_is_refused_with_a_sentence_and_a_time(both):
    one, two = both
    crossing, problems = Crossing(), []

    async def change(database: Database, first: str, second: str) -> None:
        try:
            await crossing.change(database, first, second)
        except Problem as problem:
            problems.append(problem)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(change, one, "a", "b")
        tasks.start_soon(change, two, "b", "a")
    (problem,) = problems
    assert isinstance(problem, Unavailable)
    assert (problem.status, problem.code) == (503, "storage_unavailable")
    assert problem_headers(problem)["retry-after"] == "1"


async def test_of_two_that_wait_for_each_other_the_one_that_was_undone_is_tried_again(both):
    one, two = both
    crossing = Crossing()
    change = repeated(crossing.change)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(change, one, "a", "b")
        tasks.start_soon(change, two, "b", "a")
    assert crossing.tries == 3
    async with one.reading() as connection:
        written = set(await connection.scalars(select(users.c.created)))
    assert written in ({ord("a")}, {ord("b")})


async def test_one_that_has_read_what_another_changes_is_tried_again(both):
    one, two = both
    tries = 0

    @repeated
    async def rename() -> None:
        nonlocal tries
        tries += 1
        async with one.writing() as connection:
            await connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
            name = await connection.scalar(select(users.c.name).where(users.c.id == "a"))
            if tries == 1:
                async with two.writing() as other:
                    await other.execute(update(users).where(users.c.id == "a").values(name="theirs"))
            await connection.execute(update(users).where(users.c.id == "a").values(name=f"{name} and ours"))

    await rename()
    async with one.reading() as connection:
        assert await connection.scalar(select(users.c.name).where(users.c.id == "a")) == "theirs and ours"
    assert tries == 2


class Undone:
    """Work that is undone every time. `tries` counts it."""

    def __init__(self) -> None:
        self.tries = 0

    @repeated
    async def work(self, *, within: object = None) -> None:
        self.tries += 1
        raise RolledBack("Try again.", retry_after=1)


async def test_it_is_tried_a_few_times_and_no_more():
    undone = Undone()
    with pytest.raises(RolledBack):
        await undone.work()
    assert undone.tries == TRIES


async def test_a_part_of_a_transaction_is_left_to_the_whole():
    undone = Undone()
    with pytest.raises(RolledBack):
        await undone.work(within="the whole")
    assert undone.tries == 1


async def test_nothing_else_is_tried_again():
    tries = []

    @repeated
    async def fail() -> None:
        tries.append(1)
        raise Unavailable("The disk is full.")

    with pytest.raises(Unavailable):
        await fail()
    assert len(tries) == 1
