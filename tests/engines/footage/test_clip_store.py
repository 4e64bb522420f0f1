"""Base clips on the disk."""

import numpy
import pytest

from duologue.engines.footage.clip_store import BaseClip, ClipDetails, ClipStore

FRAMES = numpy.arange(2 * 4 * 6 * 3, dtype=numpy.uint8).reshape(2, 4, 6, 3)


def clip(key="abc", frames=FRAMES, **details):
    return BaseClip(key, frames, ClipDetails(**({"rate": 25, "loops": True} | details)))


@pytest.fixture
def store(tmp_path):
    return ClipStore(tmp_path / "clips")


def test_a_clip_is_found_as_it_was_kept(store):
    assert store.find("abc") is None
    store.keep(clip(faces=((0.1, 0.2, 0.3, 0.4), None)))
    found = store.find("abc")
    assert (found.frames == FRAMES).all()
    assert found.details == ClipDetails(25, True, ((0.1, 0.2, 0.3, 0.4), None))


def test_a_clip_of_the_same_key_is_replaced(store, tmp_path):
    store.keep(clip())
    store.keep(clip(frames=FRAMES + 1))
    assert (store.find("abc").frames == FRAMES + 1).all()
    assert [place.name for place in (tmp_path / "clips").iterdir()] == ["abc"]


def test_a_picture_has_the_clip_that_it_was_given_last(store):
    assert store.of_picture("face") is None
    store.keep(clip())
    store.use("face", "gone")
    assert store.of_picture("face") is None
    store.use("face", "abc")
    assert store.of_picture("face").key == "abc"


@pytest.mark.parametrize("file", ["frames.npz", "clip.json"])
@pytest.mark.parametrize("data", [b"", b"PK\x03\x04 cut off", b"{}"])
def test_a_damaged_clip_is_none(store, tmp_path, file, data):
    store.keep(clip())
    (tmp_path / "clips" / "abc" / file).write_bytes(data)
    assert store.find("abc") is None


def test_arrays_that_would_be_unpickled_and_those_that_are_no_pictures_are_none(store, tmp_path):
    store.keep(clip())
    place = tmp_path / "clips" / "abc" / "frames.npz"
    for frames in (numpy.array([{"a": 1}], dtype=object), FRAMES.astype(float), FRAMES[0], FRAMES[:0]):
        numpy.savez(place, frames=frames)
        assert store.find("abc") is None
    numpy.savez(place, others=FRAMES)
    assert store.find("abc") is None


def test_faces_of_other_frames_than_there_are_make_a_clip_damaged(store):
    store.keep(clip(faces=(None,)))
    assert store.find("abc") is None


@pytest.mark.parametrize("key", ["../abc", "a/b", "", ".", "a" * 200])
def test_a_key_leads_to_no_other_folder(store, key):
    with pytest.raises(ValueError, match="no digest"):
        store.find(key)
    with pytest.raises(ValueError, match="no digest"):
        store.use("face", key)
