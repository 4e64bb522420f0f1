"""What users set, on every kind of database."""

from __future__ import annotations

import pytest

from duologue.store.settings import merge

pytestmark = pytest.mark.anyio


async def test_a_user_has_no_settings_at_first_and_changes_some_at_a_time(store):
    assert await store.settings.get("local") == {}
    await store.settings.merge("local", {"theme": "dark", "chat": {"model": "mini", "top_k": 3}})
    now = await store.settings.merge("local", {"chat": {"top_k": None, "seed": 1}, "theme": None})
    assert now == {"chat": {"model": "mini", "seed": 1}}
    assert await store.settings.get("local") == now
    assert await store.settings.get("anna") == {}


def test_a_patch_replaces_what_is_no_object_and_drops_what_is_null():
    assert merge({"a": [1, 2], "b": 1}, {"a": [3], "b": {"c": None, "d": 1}}) == {"a": [3], "b": {"d": 1}}
    assert merge({"a": {"b": 1}}, {"a": 2}) == {"a": 2}


async def test_the_server_has_settings_of_its_own(store):
    assert await store.server_settings.get("apps") == {}
    await store.server_settings.put("apps", {"off": ["omni"]})
    await store.server_settings.put("apps", {"off": []})
    assert await store.server_settings.get("apps") == {"off": []}
    assert await store.settings.get("apps") == {}
