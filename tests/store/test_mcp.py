"""Servers an admin added and what users need to log in to them, on every kind of database."""

from __future__ import annotations

import pytest

from duologue.store.mcp import AddedServer

pytestmark = pytest.mark.anyio


async def test_servers_are_kept_by_name(store, clock):
    await store.mcp.put("web", {"url": "https://example.org"}, "anna")
    await store.mcp.put("files", {"command": "files", "args": ["/x"]}, "anna")
    changed = await store.mcp.put("web", {"url": "https://example.com"}, "bert")
    assert changed == AddedServer("web", {"url": "https://example.com"}, "bert", clock())
    assert [server.name for server in await store.mcp.all()] == ["files", "web"]
    assert (await store.mcp.all())[1] == changed


async def test_tokens_are_of_one_user_and_go_with_the_server(store):
    await store.mcp.put("web", {"url": "https://example.org"}, "anna")
    await store.mcp.save_tokens("web", "anna", {"access": "secret"})
    await store.mcp.save_tokens("web", "bert", {"access": "other"})
    assert await store.mcp.tokens("web", "anna") == {"access": "secret"}
    await store.mcp.save_tokens("web", "anna", None)
    assert await store.mcp.tokens("web", "anna") is None
    assert await store.mcp.delete("web")
    assert not await store.mcp.delete("web")
    assert await store.mcp.tokens("web", "bert") is None
    assert await store.mcp.all() == []


async def test_tokens_are_kept_for_servers_of_the_settings_too(store):
    await store.mcp.save_tokens("configured", "anna", {"access": "secret"})
    assert await store.mcp.tokens("configured", "anna") == {"access": "secret"}
