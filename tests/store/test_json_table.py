"""JSON objects by their key, on every kind of database."""

from __future__ import annotations

from functools import partial
from operator import or_

import anyio
import pytest
from sqlalchemy import select

from duologue.store.json_table import JsonTable
from duologue.store.schema.tables import mcp_tokens

pytestmark = pytest.mark.anyio


async def test_an_object_is_kept_by_its_whole_key_and_says_when_it_changed(database, clock):
    documents = JsonTable(database, mcp_tokens, clock)
    await documents.put({"a": 1}, server="x", user="anna")
    clock.forward(7)
    await documents.put({"b": [None, "ü"]}, server="x", user="anna")
    assert await documents.get(server="x", user="anna") == {"b": [None, "ü"]}
    assert await documents.get(server="x", user="bert") is None
    async with database.reading() as connection:
        assert await connection.scalar(select(mcp_tokens.c.updated)) == clock()
    assert not await documents.delete(server="x", user="bert")
    assert await documents.delete(server="x", user="anna")


async def test_an_object_is_changed_by_what_was_stored_and_begins_empty(database, clock):
    documents = JsonTable(database, mcp_tokens, clock)
    assert await documents.change(lambda old: old | {"a": 1}, server="x", user="anna") == {"a": 1}
    clock.forward(7)
    assert await documents.change(lambda old: old | {"b": 2}, server="x", user="anna") == {"a": 1, "b": 2}
    assert await documents.get(server="x", user="anna") == {"a": 1, "b": 2}
    async with database.reading() as connection:
        assert await connection.scalar(select(mcp_tokens.c.updated)) == clock()


async def test_a_change_that_fails_leaves_the_object_as_it_was(database, clock):
    documents = JsonTable(database, mcp_tokens, clock)
    with pytest.raises(KeyError):
        await documents.change(lambda old: old["a"], server="x", user="anna")
    assert await documents.get(server="x", user="anna") is None


async def test_two_gateways_that_store_the_first_object_of_a_key_at_once_both_succeed(both, clock):
    one, two = (JsonTable(database, mcp_tokens, clock) for database in both)
    for number in range(20):
        async with anyio.create_task_group() as tasks:
            for side, documents in (("one", one), ("two", two)):
                tasks.start_soon(partial(documents.put, {"by": side}, server=str(number), user="anna"))
        stored = await one.get(server=str(number), user="anna")
        assert stored in ({"by": "one"}, {"by": "two"})


async def test_changes_of_two_gateways_at_once_are_both_kept(both, clock):
    one, two = (JsonTable(database, mcp_tokens, clock) for database in both)

    async def change(documents: JsonTable, side: str) -> None:
        for number in range(20):
            await documents.change(partial(or_, {f"{side}{number}": number}), server="x", user="anna")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(change, one, "a")
        tasks.start_soon(change, two, "b")
    assert len(await one.get(server="x", user="anna") or ()) == 40
