"""The painter of looks: what it keeps from frame to frame draws what another renderer draws all at once."""

import pytest
from PIL import Image, ImageChops, ImageStat
from tests.support.simple_look import drawn_by_resvg, simple_look

from duologue.engines.portrait import look_painter
from duologue.engines.portrait.look_painter import PAPER, LookPainter
from duologue.engines.portrait.portrait_pose import pose_of
from duologue.faces import catalogue
from duologue.values.mouth import MouthKey

TALKING = tuple(
    MouthKey(at * 2400, 20 * (at % 5), 30 * (at % 7) - 90, 50 * (at % 3), 25 * (at % 4), 30 * (at % 3))
    for at in range(60)
)


def picture(painter: LookPainter, pose, size: int) -> Image.Image:
    return Image.frombytes("RGB", (size, size), painter.paint(pose))


def difference(one: Image.Image, other: Image.Image) -> float:
    """The mean difference of a colour, of 255."""
    return sum(ImageStat.Stat(ImageChops.difference(one, other)).mean) / 3


@pytest.mark.parametrize("name", catalogue.LOOKS)
def test_a_painted_look_is_the_look(name):
    look = catalogue.look(name)
    painter = LookPainter(look, 256)
    for frame in range(0, 90, 9):
        pose = pose_of(frame, 25, frame * 960, TALKING)
        whole = drawn_by_resvg(look, pose, 256, PAPER)
        assert difference(picture(painter, pose, 256), whole) < 1.5
        assert difference(whole, Image.new("RGB", whole.size, PAPER)) > 10


def test_a_shape_moves_with_its_part_and_is_clipped_and_shaded():
    look, poses = (
        simple_look(),
        [{}, {"open": 1.0}, {"open": 0.5, "tongue": 0.5}, {"turn": 1.0, "tongue": 1.0}],
    )
    painter = LookPainter(look, 128)
    seen = [picture(painter, pose, 128) for pose in poses]
    for image, pose in zip(seen, poses, strict=True):
        assert difference(image, drawn_by_resvg(look, pose, 128, PAPER)) < 0.5
    assert seen[0].getpixel((62, 85)) == (0xE0, 0xB0, 0x90)
    assert seen[1].getpixel((62, 90)) == (0x60, 0x10, 0x20)


def test_the_same_pose_is_the_same_picture_whatever_was_painted_before():
    look = simple_look()
    painter = LookPainter(look, 64)
    pose = {"open": 0.4, "turn": 0.2, "tongue": 0.7}
    first = painter.paint(pose)
    for step in range(30):
        painter.paint({"open": step / 30, "turn": -step / 30})
    assert painter.paint(pose) == first == LookPainter(look, 64).paint(pose)


def test_what_is_kept_is_bounded(monkeypatch):
    monkeypatch.setattr(look_painter, "KEPT", 100_000)
    painter = LookPainter(simple_look(), 128)
    for step in range(200):
        painter.paint({"open": step / 200, "turn": step / 200, "tongue": step / 200})
        assert painter.kept_bytes <= 100_000


def test_parts_beyond_their_range_and_points_beyond_the_picture_do_no_harm():
    painter = LookPainter(simple_look(), 64)
    assert len(painter.paint({"turn": 40.0, "open": -3.0, "tongue": 9.0})) == 64 * 64 * 3
