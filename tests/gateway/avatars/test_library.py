"""Who may show, change and delete which face, and what a video engine is given of it."""

from __future__ import annotations

import msgspec
import pytest
from tests.support.store_fixtures import clock, memory
from tests.support.vrm_file import PORTRAIT_LANDMARKS, png, portrait, vrm_file

from duologue.errors import BadRequest, Forbidden, NotFound, Problem, Unavailable
from duologue.faces.look import Look
from duologue.gateway.avatars.library import AvatarLibrary
from duologue.store.stores import Store
from duologue.values.avatars import Landmarks

__all__ = ["clock", "memory"]

pytestmark = pytest.mark.anyio

LOOK = Look("ada", "Ada", {"light": {}, "dark": {}}, ())
MARKS = msgspec.convert(PORTRAIT_LANDMARKS, Landmarks)


@pytest.fixture
def library(memory, clock) -> AvatarLibrary:
    library = AvatarLibrary(2, {"ada": LOOK})
    library.use(Store(memory, clock).avatars)
    return library


async def add(library: AvatarLibrary, user: str = "anna"):
    return await library.add(user, portrait(200), name="Me", statement="It is me.")


async def code(awaitable) -> str:
    with pytest.raises(Problem) as caught:
        await awaitable
    return caught.value.code


async def test_a_picture_is_kept_with_what_was_agreed_to(library, clock):
    face = await add(library)
    assert (face.kind, face.mime, face.width, face.height) == ("picture", "image/png", 200, 200)
    assert (face.statement, face.agreed, face.has_preview) == ("It is me.", clock.at, True)
    _, data = await library.file(face.id, "anna")
    assert len(data) == face.size


async def test_no_picture_is_kept_without_consent_and_a_figure_needs_none(library):
    assert await code(library.add("anna", png(99, 99), name="Me", statement=" ")) == "avatar_consent_missing"
    assert (await library.add("anna", vrm_file(1), name="Fox")).kind == "figure"


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (b"", "avatar_unreadable"),
        (b"glTF and nothing else", "avatar_unreadable"),
        (vrm_file(1)[:2000], "avatar_unreadable"),
        (b"\x89PNG\r\n\x1a\n broken", "image_unreadable"),
        (b"just a text", "image_unreadable"),
    ],
)
async def test_a_file_that_cannot_be_read_is_a_sentence(library, file, expected):
    assert await code(library.add("anna", file, name="Me", statement="Yes.")) == expected
    assert await library.visible("anna") == []


async def test_there_is_a_limit_for_each_user(library):
    await add(library)
    await add(library)
    with pytest.raises(BadRequest, match=r"limits\.avatars") as caught:
        await add(library)
    assert caught.value.code == "too_many_avatars"


async def test_a_face_of_somebody_else_is_not_there(library):
    face = await add(library)
    for attempt in (
        library.get(face.id, "ben"),
        library.file(face.id, "ben"),
        library.source(face.id, "ben"),
        library.preview(face.id, "ben"),
        library.change(face.id, "ben", admin=True, name="Mine"),
        library.delete(face.id, "ben", admin=True),
    ):
        with pytest.raises(NotFound):
            await attempt


async def test_a_shared_face_is_changed_by_its_owner_and_admins_alone(library):
    face = await add(library)
    assert await code(library.change(face.id, "anna", admin=False, shared=True)) == "admin_needed"
    await library.change(face.id, "anna", admin=True, shared=True)
    assert (await library.file(face.id, "ben"))[0].shared
    assert await code(library.change(face.id, "ben", admin=False, name="Mine")) == "avatar_not_yours"
    assert await code(library.delete(face.id, "ben", admin=False)) == "avatar_not_yours"
    await library.delete(face.id, "ben", admin=True)
    assert await library.visible("anna") == []


async def test_the_source_of_a_picture_has_its_landmarks_and_a_digest_of_both(library):
    face = await add(library)
    assert await code(library.source(face.id, "anna")) == "landmarks_missing"
    await library.change(face.id, "anna", admin=False, landmarks=MARKS)
    source = await library.source(face.id, "anna")
    assert (source.kind, source.landmarks) == ("picture", MARKS)
    assert source.data == (await library.file(face.id, "anna"))[1]
    moved = msgspec.structs.replace(MARKS, chin=msgspec.structs.replace(MARKS.chin, y=0.9))
    await library.change(face.id, "anna", admin=False, landmarks=moved)
    assert (await library.source(face.id, "anna")).digest != source.digest


async def test_the_source_of_a_drawn_face_names_its_look(library):
    source = await library.source("ada", "anybody")
    assert (source.kind, source.look, source.data) == ("drawn", "ada", b"")
    assert len(source.digest) == 64


async def test_a_figure_is_given_to_engines_without_its_bytes_and_takes_no_landmarks(library):
    figure = await library.add("anna", vrm_file(0, textures=[png(64, 64)]), name="Fox")
    source = await library.source(figure.id, "anna")
    assert (source.kind, source.data, source.digest) == ("figure", b"", figure.digest)
    assert (await library.preview(figure.id, "anna")).startswith(b"\x89PNG")
    refused = library.change(figure.id, "anna", admin=False, landmarks=MARKS)
    assert await code(refused) == "landmarks_invalid"


async def test_a_figure_without_a_thumbnail_says_so(library):
    figure = await library.add("anna", vrm_file(1), name="Fox")
    assert await code(library.preview(figure.id, "anna")) == "avatar_without_preview"


async def test_a_drawn_face_is_nobodys_to_change(library):
    for attempt in (
        library.delete("ada", "anna", admin=True),
        library.change("ada", "anna", admin=True, name="X"),
    ):
        with pytest.raises(Forbidden):
            await attempt


async def test_before_the_database_is_open_drawn_faces_are_there_and_others_are_not_yet():
    library = AvatarLibrary(2, {"ada": LOOK})
    assert (await library.source("ada", "anna")).kind == "drawn"
    with pytest.raises(Unavailable):
        await library.visible("anna")


async def test_a_drawn_face_has_a_preview(library):
    preview = await library.preview("ada", "anybody")
    assert preview.startswith(b"\x89PNG")
    assert await library.preview("ada", "anybody") is preview
