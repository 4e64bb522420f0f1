"""Who may have, use, change and hear which recorded voice."""

from __future__ import annotations

import pytest
from tests.support.sample_files import tone, wav_file
from tests.support.store_fixtures import clock, memory

from duologue.errors import BadRequest, Forbidden, NotFound, Unavailable
from duologue.gateway.speech.voice_library import VoiceLibrary
from duologue.store.stores import Store

__all__ = ["clock", "memory"]

pytestmark = pytest.mark.anyio

SOUND = tone(16_000, 1.5)
FILE = wav_file(SOUND)


@pytest.fixture
def library(memory, clock) -> VoiceLibrary:
    library = VoiceLibrary(most=2)
    library.use(Store(memory, clock).custom_voices)
    return library


async def test_a_voice_is_kept_with_what_was_agreed_to(library, clock):
    voice = await library.add("anna", FILE, name="Me", statement=" It is mine. ", text=" one two ")
    assert (voice.statement, voice.agreed, voice.user) == ("It is mine.", clock.at, "anna")
    assert (voice.duration, voice.text) == (1500, "one two")
    sample = await library.sample("anna", voice.id)
    assert (sample.pcm, sample.text) == (SOUND, "one two")


async def test_ids_cannot_be_guessed(library):
    first, second = [await library.add("anna", FILE, name="Me", statement="Yes.") for _ in range(2)]
    assert first.id != second.id
    assert len(bytes.fromhex(first.id.removeprefix("voice_"))) == 16


async def test_nothing_is_kept_without_consent(library):
    for statement in ("", "  "):
        with pytest.raises(BadRequest) as caught:
            await library.add("anna", b"not even sound", name="Me", statement=statement)
        assert caught.value.code == "voice_consent_missing"
    assert await library.visible("anna") == []


async def test_there_is_a_limit_for_each_user(library):
    for _ in range(2):
        await library.add("anna", FILE, name="Me", statement="Yes.")
    with pytest.raises(BadRequest, match=r"limits\.voices") as caught:
        await library.add("anna", FILE, name="Me", statement="Yes.")
    assert caught.value.code == "too_many_voices"
    assert await library.add("ben", FILE, name="Me", statement="Yes.")


async def test_a_voice_of_somebody_else_is_not_there(library):
    voice = await library.add("anna", FILE, name="Me", statement="Yes.")
    for admin in (False, True):
        for act in (
            library.sample("ben", voice.id),
            library.recording("ben", voice.id, admin=admin),
            library.change("ben", voice.id, admin=admin, name="Mine"),
            library.change("ben", voice.id, admin=admin, shared=True),
            library.delete("ben", voice.id, admin=admin),
        ):
            with pytest.raises(NotFound) as caught:
                await act
            assert caught.value.code == "voice_not_found"
    assert await library.sample("anna", voice.id)


async def test_a_shared_voice_speaks_for_everyone_and_is_changed_by_its_owner_and_admins(library):
    voice = await library.add("anna", FILE, name="Me", statement="Yes.")
    with pytest.raises(Forbidden) as caught:
        await library.change("anna", voice.id, admin=False, shared=True)
    assert caught.value.code == "admin_needed"
    await library.change("anna", voice.id, admin=True, shared=True)
    assert (await library.sample("ben", voice.id)).pcm == SOUND
    for act in (
        library.recording("ben", voice.id, admin=False),
        library.change("ben", voice.id, admin=False, name="Mine"),
        library.delete("ben", voice.id, admin=False),
    ):
        with pytest.raises(Forbidden) as caught:
            await act
        assert caught.value.code == "voice_not_yours"
    assert await library.recording("ben", voice.id, admin=True) == SOUND
    assert not (await library.change("ben", voice.id, admin=True, shared=False)).shared
    with pytest.raises(NotFound):
        await library.sample("ben", voice.id)


async def test_its_owner_renames_and_corrects_it(library):
    voice = await library.add("anna", FILE, name="Me", statement="Yes.", text="won two")
    changed = await library.change("anna", voice.id, admin=False, name="My voice", text="one two")
    assert (changed.name, changed.text, changed.statement) == ("My voice", "one two", "Yes.")
    assert await library.get("anna", voice.id) == changed


async def test_a_deleted_voice_is_gone(library):
    voice = await library.add("anna", FILE, name="Me", statement="Yes.")
    await library.delete("anna", voice.id, admin=False)
    with pytest.raises(NotFound):
        await library.sample("anna", voice.id)


async def test_before_the_database_is_open_it_says_so():
    with pytest.raises(Unavailable):
        await VoiceLibrary(most=1).visible("anna")
