"""Faces that people brought, on every kind of database."""

from __future__ import annotations

import msgspec
import pytest
from tests.support.at_once import done_before
from tests.support.vrm_file import PORTRAIT_LANDMARKS

from duologue.store.faces.avatar_rows import AvatarRows
from duologue.values.avatars import Landmarks, StoredAvatar

pytestmark = pytest.mark.anyio

ANNA = StoredAvatar("avatar_1", "anna", "Anna", "picture", "image/png", 3, "00", statement="It is me.")
MARKS = msgspec.convert(PORTRAIT_LANDMARKS, Landmarks)


async def test_a_face_is_its_owners_until_it_is_shared(store, clock):
    face = await store.avatars.add(ANNA, b"abc", b"p", 5)
    assert (face.created, face.agreed, face.has_preview) == (clock.at, clock.at, True)
    assert await store.avatars.visible("anna") == [face]
    assert await store.avatars.visible("ben") == []
    assert await store.avatars.get(face.id, "ben") is None
    assert await store.avatars.change(msgspec.structs.replace(face, shared=True))
    assert [each.id for each in await store.avatars.visible("ben")] == [face.id]


async def test_its_landmarks_come_back_as_they_were_set(store):
    face = await store.avatars.add(ANNA, b"abc", b"", 5)
    assert (face.landmarks, face.has_preview) == (None, False)
    marked = msgspec.structs.replace(face, landmarks=MARKS, name="Me")
    assert await store.avatars.change(marked)
    assert await store.avatars.get(face.id, "anna") == marked


async def test_its_bytes_are_kept_beside_it_and_go_with_it(store):
    face = await store.avatars.add(ANNA, b"abc", b"preview", 5)
    assert await store.avatars.data(face.id) == b"abc"
    assert await store.avatars.data(face.id, "preview") == b"preview"
    assert await store.avatars.delete(face.id)
    assert not await store.avatars.delete(face.id)
    assert await store.avatars.data(face.id) is None
    assert not await store.avatars.change(face)


async def test_a_user_has_no_more_than_the_most(store):
    assert await store.avatars.add(ANNA, b"a", b"", 1) is not None
    assert await store.avatars.add(msgspec.structs.replace(ANNA, id="avatar_2"), b"a", b"", 1) is None
    assert await store.avatars.add(msgspec.structs.replace(ANNA, id="avatar_3", user="ben"), b"a", b"", 1)


async def test_what_nothing_was_agreed_to_has_no_time_of_it(store):
    figure = msgspec.structs.replace(ANNA, kind="figure", statement="")
    assert (await store.avatars.add(figure, b"a", b"", 1)).agreed == 0


async def test_a_user_has_no_more_than_the_most_at_two_gateways_at_once(both, clock):
    two = AvatarRows(both[1], clock)
    later = msgspec.structs.replace(ANNA, id="avatar_2")
    async with done_before(both[0], lambda: two.add(later, b"", b"", 1)) as (first, results):
        await AvatarRows(first, clock).add(ANNA, b"", b"", 1)
    assert results == [None]
