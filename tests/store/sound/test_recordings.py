"""Recordings: each is its owner's alone, and knows how it ended; on every kind of database."""

from __future__ import annotations

import msgspec
import pytest

from duologue.errors import NotFound
from duologue.values.recordings import StoredRecording

pytestmark = pytest.mark.anyio

CALL = StoredRecording("r1", "anna", "call", "About boats", "c1")


async def test_a_recording_is_found_by_its_owner_alone(store):
    stored = await store.recordings.add(CALL)
    assert await store.recordings.get("anna", "r1") == stored
    assert await store.recordings.of("anna") == [stored]
    assert await store.recordings.of("ben") == []
    with pytest.raises(NotFound):
        await store.recordings.get("ben", "r1")


async def test_it_runs_until_it_has_an_end(store):
    stored = await store.recordings.add(CALL)
    later = msgspec.structs.replace(stored, title="Boats", duration=1000, size=500, frames=2)
    await store.recordings.save(later)
    assert await store.recordings.running() == [later]
    await store.recordings.save(msgspec.structs.replace(later, ended="disk_full"))
    assert await store.recordings.running() == []
    assert (await store.recordings.get("anna", "r1")).ended == "disk_full"


async def test_what_recordings_take_is_counted(store):
    await store.recordings.add(CALL)
    await store.recordings.add(StoredRecording("r2", "ben", "duplex"))
    await store.recordings.save(msgspec.structs.replace(CALL, size=100))
    await store.recordings.save(StoredRecording("r2", "ben", "duplex", size=11))
    assert (await store.recordings.usage("anna"), await store.recordings.usage()) == (100, 111)
    assert await store.recordings.usage("carl") == 0


async def test_an_old_one_expires_once_it_has_ended(store):
    await store.recordings.add(CALL)
    assert await store.recordings.expired(-1000) == []
    await store.recordings.save(msgspec.structs.replace(CALL, ended="ended"))
    assert [each.id for each in await store.recordings.expired(-1000)] == ["r1"]
    assert await store.recordings.expired(3_600_000) == []


async def test_a_deleted_one_is_gone_for_good(store):
    await store.recordings.add(CALL)
    assert await store.recordings.ids() == {"r1"}
    assert await store.recordings.delete("r1")
    assert not await store.recordings.delete("r1")
    await store.recordings.save(msgspec.structs.replace(CALL, ended="ended"))
    assert await store.recordings.ids() == set()
