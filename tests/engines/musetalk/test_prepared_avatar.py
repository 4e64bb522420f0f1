"""Preparing avatars, with an encoder that takes the mean of a face, and keeping them."""

import msgspec
import numpy
import pytest
from tests.support.tiny_video import FACE, avatar

from duologue.engines.footage.clip_store import BaseClip, ClipDetails
from duologue.engines.musetalk import prepared_avatar
from duologue.engines.musetalk.face_box import Box, face_box
from duologue.engines.musetalk.prepared_avatar import find, keep, prepare, stored_key
from duologue.errors import BadRequest

AREA = (0.2, 0.2, 0.8, 0.8)


class Mean:
    face_side = 16

    def encode(self, face):
        assert face.shape == (16, 16, 3)
        return numpy.full((2, 4, 4), face.mean(), numpy.float32)


def clip(count, **details):
    frames = numpy.stack([numpy.full((80, 60, 3), 10 * n, numpy.uint8) for n in range(count)])
    return BaseClip("clip", frames, ClipDetails(**({"rate": 25, "loops": False} | details)))


def test_a_picture_is_one_frame_with_the_face_of_its_points():
    made = prepare(avatar(), None, Mean(), longest=120, rate=25)
    assert made.frames.shape == (1, 120, 120, 3)
    assert made.order == (0,)
    assert made.boxes == (face_box(FACE, 120, 120),)
    assert made.latents.shape == (1, 2, 4, 4)


def test_a_clip_keeps_every_frame_and_those_without_a_face_their_places():
    made = prepare(
        avatar(landmarks=None), clip(4, faces=(None, AREA, None, AREA)), Mean(), longest=120, rate=25
    )
    box = Box(12, 16, 48, 64)
    assert made.boxes == (None, box, None, box)
    assert made.order == (0, 1, 2, 3, 3, 2, 1, 0)
    assert made.latents[:, 0, 0, 0].tolist() == [0, 10, 0, 30]
    assert list(made.masks()) == [box]


def test_a_clip_of_another_rate_is_resampled_with_its_faces():
    faces = (None, *[AREA] * 24)
    made = prepare(avatar(), clip(25, rate=24, faces=faces, loops=True), Mean(), longest=120, rate=48)
    assert len(made.frames) == len(made.boxes) == len(made.latents) == 49
    assert made.boxes[0] is None
    assert made.order == tuple(range(48))


def test_an_avatar_without_points_is_a_sentence():
    with pytest.raises(BadRequest, match="not marked yet"):
        prepare(avatar(landmarks=None), None, Mean(), longest=120, rate=25)


def test_what_was_prepared_is_found_again_and_anything_else_is_made_again(tmp_path):
    made = prepare(avatar(), clip(3, faces=(AREA, None, AREA)), Mean(), longest=120, rate=25)
    assert find(tmp_path, "key") is None
    keep(tmp_path, "key", made)
    found = find(tmp_path, "key")
    assert (found.order, found.boxes) == (made.order, made.boxes)
    assert (found.frames == made.frames).all()
    assert (found.latents == made.latents).all()
    details = tmp_path / "key" / "avatar.json"
    stored = msgspec.json.decode(details.read_bytes())
    changes: list[dict[str, object]] = [{"version": 0}, {"order": [0, 9]}, {"order": []}, {"boxes": [None]}]
    for change in [*changes, {"more": 1}]:
        details.write_bytes(msgspec.json.encode(stored | change))
        assert find(tmp_path, "key") is None
    details.write_bytes(msgspec.json.encode(stored))
    numpy.savez(tmp_path / "key" / "arrays.npz", frames=numpy.array([{}], object), latents=made.latents)
    assert find(tmp_path, "key") is None


def test_only_the_last_few_stay_on_the_disk(tmp_path, monkeypatch):
    monkeypatch.setattr(prepared_avatar, "KEPT", 2)
    made = prepare(avatar(), None, Mean(), longest=64, rate=25)
    for key in ("one", "two", "two", "three", "four"):
        keep(tmp_path, key, made)
    assert len(list(tmp_path.iterdir())) == 2
    assert find(tmp_path, "four") is not None


def test_the_key_changes_with_everything_it_is_made_of():
    assert len({stored_key("a", 1), stored_key("a", 2), stored_key("a1"), stored_key("a", "1")}) == 4
    assert stored_key("a", 1) == stored_key("a", 1)
