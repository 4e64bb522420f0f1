"""Items in their order, with their files."""

from __future__ import annotations

from threading import get_ident

import pytest
from sqlalchemy import select

from duologue.errors import TooLarge
from duologue.store.responses import item_rows
from duologue.store.responses.item_rows import add_items, items_of, read_items, read_page
from duologue.store.responses.response_record import ItemBounds, ItemPage, StoredItem, StoredResponse
from duologue.store.schema.response_tables import response_item_blobs
from duologue.threads import LARGE

pytestmark = pytest.mark.anyio


def numbered(count: int) -> list[StoredItem]:
    """Items of ten characters each."""
    return [StoredItem(str(number), {"id": str(number)}) for number in range(count)]


async def test_items_are_read_in_the_order_in_which_they_came(store, database):
    await store.responses.add(StoredResponse("r", "ann", "queued", {}), [])
    items = numbered(3)
    async with database.writing() as connection:
        size = await add_items(connection, "ann", items, response="r")
        assert size == sum(len('{"id":"0"}') for _ in items)
        read = await read_items(connection, items_of("ann", response="r"))
        assert [(item.id, item.item, item.size) for item in read] == [
            (item.id, item.item, len('{"id":"0"}')) for item in items
        ]
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
        found = await read_items(connection, items_of("ann", response="r"))
    assert [item.item for item in found] == [item.item for item in items]
    assert get_ident() not in threads
    assert len(threads) == 1


@pytest.mark.parametrize("bounds", [ItemBounds(2, 1000), ItemBounds(100, 29)])
async def test_too_many_items_are_refused_before_they_are_read(store, database, monkeypatch, bounds):
    monkeypatch.setattr(item_rows, "_items", lambda rows: pytest.fail("they were read"))
    await store.responses.add(StoredResponse("r", "ann", "queued", {}), [])
    async with database.writing() as connection:
        await add_items(connection, "ann", numbered(3), response="r")
        with pytest.raises(TooLarge):
            await read_items(connection, items_of("ann", response="r"), bounds)
    monkeypatch.undo()
    async with database.reading() as connection:
        assert len(await read_items(connection, items_of("ann", response="r"), ItemBounds(3, 30))) == 3


async def test_a_list_is_read_page_by_page(store, database):
    await store.responses.add(StoredResponse("r", "ann", "queued", {}), [])
    bounds = ItemBounds(1, 20)  # of a page only the bytes are bounded
    async with database.writing() as connection:
        await add_items(connection, "ann", numbered(3), response="r")
        these = items_of("ann", response="r")

        async def page(limit, after=None, *, ascending):
            found, more = await read_page(connection, these, ItemPage(limit, after, ascending), bounds)
            return "".join(item.id for item in found), more

        assert await page(2, ascending=True) == ("01", True)
        assert await page(2, "1", ascending=True) == ("2", False)
        assert await page(2, ascending=False) == ("21", True)
        assert await page(1, "2", ascending=False) == ("1", True)
        assert await page(1, "1", ascending=False) == ("0", False)
        assert await page(1, "unknown", ascending=True) == ("0", True)
        assert await page(2, "2", ascending=True) == ("", False)
        with pytest.raises(TooLarge):
            await page(3, ascending=True)


async def test_a_file_counts_once_for_an_item(store, database):
    await store.responses.add(StoredResponse("r", "ann", "queued", {}), [])
    async with database.writing() as connection:
        await add_items(connection, "ann", [StoredItem("1", {}, "input", ("a", "a", "b"))], response="r")
        hashes = await connection.scalars(select(response_item_blobs.c.hash).order_by("hash"))
        assert list(hashes) == ["a", "b"]
