"""Reading the pictures of avatars."""

from io import BytesIO

import pytest
from PIL import Image
from tests.support.tiny_video import face_picture

from duologue.engines.footage import picture_file as module
from duologue.engines.footage.picture_file import read_picture
from duologue.errors import BadRequest


def test_a_picture_is_scaled_to_even_sides():
    assert read_picture(face_picture(301, 203), 128).shape == (86, 128, 3)
    assert read_picture(face_picture(100, 300, "JPEG"), 200).shape == (200, 66, 3)


def test_a_picture_that_lies_on_its_side_is_set_upright():
    picture = Image.new("RGB", (80, 40), "red")
    exif = picture.getexif()
    exif[0x0112] = 6
    data = BytesIO()
    picture.save(data, "JPEG", exif=exif)
    assert read_picture(data.getvalue(), 80).shape == (80, 40, 3)


@pytest.mark.parametrize("data", [b"", b"GIF89a", b"\x89PNG\r\n\x1a\n", face_picture()[:200]])
def test_what_is_no_picture_is_a_sentence(data):
    with pytest.raises(BadRequest, match="PNG, JPEG or WebP"):
        read_picture(data, 100)


def test_a_huge_picture_is_refused_before_it_is_decoded(monkeypatch):
    data = face_picture()
    monkeypatch.setattr(module, "LARGEST", 1000)
    monkeypatch.setattr(Image.Image, "load", lambda *_: pytest.fail("decoded"))
    with pytest.raises(BadRequest, match="160 x 160 pixels"):
        read_picture(data, 100)


def test_a_model_may_ask_for_larger_multiples():
    assert read_picture(face_picture(300, 200), 128, multiple=32).shape == (96, 128, 3)
