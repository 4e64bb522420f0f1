"""JSON objects by their key, on every kind of database."""

from __future__ import annotations

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
