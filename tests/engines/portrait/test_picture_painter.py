"""The painter of pictures: mouth and eyes move by the places that were marked, and nothing else does."""

from io import BytesIO

import msgspec
import numpy as np
import pytest
from PIL import Image
from tests.support.vrm_file import PORTRAIT_LANDMARKS, portrait

from duologue.engines.portrait.picture_painter import PicturePainter
from duologue.errors import BadRequest
from duologue.values.avatars import Landmarks

MARKS = msgspec.convert(PORTRAIT_LANDMARKS, Landmarks)
SIDE = 240
HALF = 0.5
"""The portrait is drawn on 480 units."""


@pytest.fixture(scope="module")
def painter() -> PicturePainter:
    return PicturePainter(portrait(480), MARKS, SIDE)


def pixels(painter, **pose):
    return np.frombuffer(painter.paint(pose), np.uint8).reshape(SIDE, SIDE, 3).astype(int)


def at(image, x, y):
    """The colour at a place in the units of the portrait."""
    return image[int(y * HALF), int(x * HALF)]


def darkness(colour) -> int:
    return 255 * 3 - int(colour.sum())


def test_at_rest_it_is_the_picture(painter):
    rest = pixels(painter)
    with Image.open(BytesIO(portrait(480))) as opened:
        picture = opened.convert("RGB").resize((SIDE, SIDE), Image.Resampling.LANCZOS)
    assert np.array_equal(rest, np.asarray(picture))
    pixels(painter, turn=1.0)
    assert np.array_equal(rest, pixels(painter)), "again after it has moved"
    assert abs(at(rest, 30, 30) - (0xB8, 0xC8, 0xD8)).max() < 4


def test_an_open_mouth_is_dark_between_lips_that_are_apart(painter):
    rest, opened = pixels(painter), pixels(painter, open=1.0)
    assert darkness(at(opened, 241, 348)) > darkness(at(rest, 241, 348)) + 100
    assert np.array_equal(rest[: int(290 * HALF)], opened[: int(290 * HALF)]), "what is above the mouth stays"
    half = pixels(painter, open=0.5)
    assert np.abs(half - rest).sum() < np.abs(opened - rest).sum()


@pytest.mark.parametrize("part", ["turn", "nod", "tilt", "breath"])
def test_the_head_moves_and_the_edges_stay(painter, part):
    rest, moved = pixels(painter), pixels(painter, **{part: 1.0})
    changed = np.abs(moved - rest).max(axis=2) > 20
    assert changed.sum() > 50
    assert not changed[[0, -1]].any()
    assert not changed[:, [0, -1]].any()


def test_mouth_and_lids_go_with_the_head(painter):
    turned = {"turn": 0.5, "nod": -0.4}
    shut = pixels(painter, **turned)
    spoken = pixels(painter, open=0.8, blink=1.0, **turned)
    moved = np.abs(spoken - shut).max(axis=2) > 60
    still = np.abs(pixels(painter, open=0.8, blink=1.0) - pixels(painter)).max(axis=2) > 60
    shift = np.argwhere(moved).mean(axis=0) - np.argwhere(still).mean(axis=0)
    assert shift[1] > 1, "to the right"
    assert shift[0] < -1, "and up"


def test_rounded_lips_are_narrower_and_spread_ones_wider(painter):
    def width(**pose):
        row = pixels(painter, **pose)[int(328 * HALF)]
        return int((row[:, 1] < 120).sum())

    assert width(round=1.0) < width() < width(wide=1.0)


def test_each_sound_has_its_own_mouth(painter):
    shapes = [pixels(painter, **pose) for pose in ({"press": 1.0}, {"open": 0.9}, {"wide": 0.7, "open": 0.2})]
    for one in range(3):
        for other in range(one):
            assert np.abs(shapes[one] - shapes[other]).sum() > 20_000


def test_closed_lids_cover_the_eyes(painter):
    closed = pixels(painter, blink=1.0)
    assert np.array_equal(closed[int(260 * HALF) :], pixels(painter)[int(260 * HALF) :])
    assert abs(at(closed, 187, 220) - (0xE8, 0xB5, 0x90)).max() < 60


def test_a_picture_of_another_shape_is_cut_around_the_face():
    with Image.open(BytesIO(portrait(480))) as face:
        wide = Image.new("RGB", (960, 480))
        wide.paste(face, (480, 0))
    file = BytesIO()
    wide.save(file, "PNG")
    shifted = msgspec.convert(_shifted(PORTRAIT_LANDMARKS), Landmarks)
    moved = PicturePainter(file.getvalue(), shifted, SIDE)
    straight = PicturePainter(portrait(480), MARKS, SIDE)
    assert np.abs(pixels(moved, open=0.8) - pixels(straight, open=0.8)).mean() < 3


def _shifted(marks):
    """The landmarks in the right half of a picture that is twice as wide."""
    if isinstance(marks, dict):
        return {name: _shifted(value) for name, value in marks.items()}
    x, y = marks
    return [0.5 + x / 2, y]


def test_what_cannot_be_painted_is_a_sentence():
    with pytest.raises(BadRequest, match="not marked") as unmarked:
        PicturePainter(portrait(480), None, SIDE)
    assert unmarked.value.code == "landmarks_missing"
    with pytest.raises(BadRequest, match="cannot be read"):
        PicturePainter(b"no picture", MARKS, SIDE)


def test_a_face_at_the_edge_does_no_harm():
    corner = msgspec.convert(_scaled(PORTRAIT_LANDMARKS), Landmarks)
    painter = PicturePainter(portrait(480), corner, SIDE)
    assert len(painter.paint({"open": 1.0, "blink": 1.0, "smile": 1.0})) == SIDE * SIDE * 3


def _scaled(marks):
    """The face, tiny, in the lower right corner."""
    if isinstance(marks, dict):
        return {name: _scaled(value) for name, value in marks.items()}
    return [0.9 + marks[0] * 0.1, 0.9 + marks[1] * 0.1]
