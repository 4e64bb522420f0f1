"""Recorded voices, on every kind of database."""

from __future__ import annotations

import msgspec
import pytest
from tests.support.at_once import done_before

from duologue.store.sound.custom_voices import CustomVoices
from duologue.values.custom_voice import CustomVoice

pytestmark = pytest.mark.anyio

ANNA = CustomVoice("voice_1", "anna", "Anna", 2000, "It is mine.", "one two")


async def test_a_voice_is_its_owners_until_it_is_shared(store, clock):
    voice = await store.custom_voices.add(ANNA, b"\1\2", 5)
    assert (voice.created, voice.agreed) == (clock.at, clock.at)
    assert await store.custom_voices.visible("anna") == [voice]
    assert await store.custom_voices.get("anna", voice.id) == voice
    assert await store.custom_voices.visible("ben") == []
    assert await store.custom_voices.get("ben", voice.id) is None
    assert await store.custom_voices.change(msgspec.structs.replace(voice, shared=True))
    assert [each.id for each in await store.custom_voices.visible("ben")] == [voice.id]


async def test_ones_own_voices_come_first_each_by_name(store):
    for id, user, name, shared in (
        ("voice_1", "ben", "Abel", True),
        ("voice_2", "anna", "zoe", False),
        ("voice_3", "anna", "Mia", False),
    ):
        await store.custom_voices.add(CustomVoice(id, user, name, 1, "Yes.", shared=shared), b"", 5)
    assert [voice.name for voice in await store.custom_voices.visible("anna")] == ["Mia", "zoe", "Abel"]


async def test_a_user_has_no_more_than_the_most(store):
    assert await store.custom_voices.add(ANNA, b"", 1) is not None
    assert await store.custom_voices.add(msgspec.structs.replace(ANNA, id="voice_2"), b"", 1) is None
    other = msgspec.structs.replace(ANNA, id="voice_3", user="ben")
    assert await store.custom_voices.add(other, b"", 1) is not None


async def test_a_change_keeps_the_recording_and_what_was_agreed_to(store):
    voice = await store.custom_voices.add(ANNA, b"\0\1" * 500, 5)
    changed = msgspec.structs.replace(voice, name="Me", text="three")
    assert await store.custom_voices.change(msgspec.structs.replace(changed, statement="Nothing."))
    assert await store.custom_voices.get("anna", voice.id) == changed
    assert await store.custom_voices.sound(voice.id) == b"\0\1" * 500


async def test_a_deleted_voice_is_gone_with_its_recording(store):
    voice = await store.custom_voices.add(ANNA, b"\1", 5)
    assert await store.custom_voices.delete(voice.id)
    assert not await store.custom_voices.delete(voice.id)
    assert await store.custom_voices.sound(voice.id) is None
    assert not await store.custom_voices.change(voice)


async def test_a_user_has_no_more_than_the_most_at_two_gateways_at_once(both, clock):
    two = CustomVoices(both[1], clock)
    later = msgspec.structs.replace(ANNA, id="voice_2")
    async with done_before(both[0], lambda: two.add(later, b"", 1)) as (first, results):
        await CustomVoices(first, clock).add(ANNA, b"", 1)
    assert results == [None]
