"""Connected model servers, on every kind of database."""

from __future__ import annotations

import msgspec
import pytest
from sqlalchemy import update

from duologue.store.schema.tables import upstreams
from duologue.store.upstreams import StoredUpstream
from duologue.values.requests import ModelPreset, PresetEntry, RawFormat, UpstreamModel

pytestmark = pytest.mark.anyio

SEEN = (UpstreamModel("a", 4096, modalities=("text", "image"), tools=False), UpstreamModel("b"))
BOX = StoredUpstream(
    "box",
    "ollama",
    "http://127.0.0.1:11434/v1",
    b"sealed",
    ("a",),
    SEEN,
    user="anna",
    modalities={"a": ("audio",)},
    outputs={"a": ("audio",)},
    presets={"a": ModelPreset({"temperature": PresetEntry(0.2, force=True)}, force_thinking=True)},
    formats={"a": RawFormat("llama3_json"), "b": RawFormat(thoughts="[THINK]", opens_thoughts=True)},
    timeouts={"idle_timeout": 0.5, "retries": 3},
)


async def test_servers_are_kept_in_the_order_in_which_they_were_connected(store, clock):
    later = await store.upstreams.add(msgspec.structs.replace(BOX, name="zoo", key=None, chosen=None))
    box = await store.upstreams.add(BOX)
    assert box == msgspec.structs.replace(BOX, created=box.created)
    assert await store.upstreams.all() == sorted([later, box], key=lambda each: (each.created, each.name))
    assert later.key is None
    assert later.chosen is None


async def test_a_name_is_given_once(store):
    assert await store.upstreams.add(BOX) is not None
    assert await store.upstreams.add(BOX) is None


async def test_a_server_is_changed_and_deleted(store):
    box = await store.upstreams.add(BOX)
    changed = msgspec.structs.replace(box, enabled=False, key=None, chosen=None, seen=(), modalities={})
    await store.upstreams.save(changed, box)
    assert await store.upstreams.all() == [changed]
    assert await store.upstreams.delete("box")
    assert not await store.upstreams.delete("box")
    await store.upstreams.save(changed, box)
    assert await store.upstreams.all() == []


async def test_what_two_gateways_change_of_a_server_at_once_is_both_kept(store):
    box = await store.upstreams.add(BOX)
    await store.upstreams.save_seen("box", ())
    for change in ({"enabled": False}, {"chosen": None}):
        await store.upstreams.save(msgspec.structs.replace(box, **change), box)
    assert await store.upstreams.all() == [msgspec.structs.replace(box, enabled=False, chosen=None, seen=())]


async def test_a_server_that_was_stored_before_anything_could_be_said_of_its_models_is_read(store, database):
    box = await store.upstreams.add(BOX)
    async with database.writing() as connection:
        await connection.execute(update(upstreams).values(modalities=None, outputs=None))
    assert await store.upstreams.all() == [msgspec.structs.replace(box, modalities={}, outputs={})]
