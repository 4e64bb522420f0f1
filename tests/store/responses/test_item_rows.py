"""Items in their order, with their files."""

from __future__ import annotations

from threading import get_ident

import pytest
from sqlalchemy import select

from duologue.store.responses import item_rows
from duologue.store.responses.item_rows import add_items, items_of, read_items
from duologue.store.responses.response_record import StoredItem, StoredResponse
from duologue.store.schema.response_tables import response_item_blobs
from duologue.threads import LARGE

pytestmark = pytest.mark.anyio


async def test_items_are_read_in_the_order_in_which_they_came(store, database):
    await store.responses.add(StoredResponse("r", "ann", "queued", {}), [])
    items = [StoredItem(str(number), {"id": str(number)}) for number in range(3)]
    async with database.writing() as connection:
        size = await add_items(connection, "ann", items, response="r")
        assert size == sum(len('{"id":"0"}') for _ in items)
        assert await read_items(connection, items_of("ann", response="r")) == items
        assert await read_items(connection, items_of("bob", response="r")) == []


async def test_many_items_are_read_in_a_thread(store, database, monkeypatch):
    threads = []
    read = item_rows._items

    def noted(rows):
        threads.append(get_ident())
        return read(rows)

    monkeypatch.setattr(item_rows, "_items", noted)
    await store.responses.add(StoredResponse("r", "ann", "queued", {}), [])
    items = [StoredItem("1", {"id": "1", "text": "a" * LARGE})]
    async with database.writing() as connection:
        await add_items(connection, "ann", items, response="r")
        assert await read_items(connection, items_of("ann", response="r")) == items
    assert get_ident() not in threads
    assert len(threads) == 1


async def test_a_file_counts_once_for_an_item(store, database):
    await store.responses.add(StoredResponse("r", "ann", "queued", {}), [])
    async with database.writing() as connection:
        await add_items(connection, "ann", [StoredItem("1", {}, "input", ("a", "a", "b"))], response="r")
        hashes = await connection.scalars(select(response_item_blobs.c.hash).order_by("hash"))
        assert list(hashes) == ["a", "b"]
