"""What users set, on every kind of database."""

from __future__ import annotations

from functools import partial
from typing import Any

import anyio
import pytest

from duologue.store.settings import ServerSettings, UserSettings, merge

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
    await store.server_settings.change("apps", lambda old: {"off": ["omni"], "old": old})
    await store.server_settings.change("apps", lambda old: {"off": []})
    assert await store.server_settings.get("apps") == {"off": []}
    assert await store.settings.get("apps") == {}


async def test_settings_that_a_user_changes_at_two_gateways_at_once_are_all_kept(both, clock):
    async def change(settings: UserSettings, side: str) -> None:
        for number in range(20):
            await settings.merge("local", {"chat": {f"{side}{number}": number}})

    one, two = (UserSettings(database, clock) for database in both)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(change, one, "a")
        tasks.start_soon(change, two, "b")
    assert len((await one.get("local"))["chat"]) == 40


async def test_what_admins_change_at_two_gateways_at_once_is_all_kept(both, clock):
    def with_one_more(name: str, old: dict[str, Any]) -> dict[str, Any]:
        return {"off": [*old.get("off", ()), name]}

    async def switch(settings: ServerSettings, side: str) -> None:
        for number in range(20):
            await settings.change("apps", partial(with_one_more, f"{side}{number}"))

    one, two = (ServerSettings(database, clock) for database in both)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(switch, one, "a")
        tasks.start_soon(switch, two, "b")
    assert len((await one.get("apps"))["off"]) == 40
