"""Pictures of faces: upright, of a size for a graphics card, with nothing else that was in the file."""

from __future__ import annotations

import io

import pytest
from PIL import Image
from tests.support.vrm_file import png

from duologue.errors import BadRequest
from duologue.media.avatar_picture import read_avatar_picture


def opened(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def test_a_photo_is_turned_upright_and_loses_its_other_data() -> None:
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "secret"
    buffer = io.BytesIO()
    Image.new("RGB", (300, 200), "red").save(buffer, "JPEG", exif=exif, comment=b"secret")
    read = read_avatar_picture(buffer.getvalue())
    assert (read.picture.width, read.picture.height, read.picture.mime) == (200, 300, "image/jpeg")
    assert b"secret" not in read.picture.data
    assert not opened(read.picture.data).getexif()
    assert opened(read.preview).size == (171, 256)


def test_a_large_picture_is_made_smaller_and_loses_its_transparency() -> None:
    buffer = io.BytesIO()
    Image.new("RGBA", (4200, 1000), (255, 0, 0, 0)).save(buffer, "PNG")
    read = read_avatar_picture(buffer.getvalue())
    assert (read.picture.width, read.picture.height) == (2048, 487)
    assert (opened(read.picture.data).mode, opened(read.preview).format) == ("RGB", "PNG")


def test_a_drawing_becomes_pixels() -> None:
    drawing = (
        b'<svg xmlns="http://www.w3.org/2000/svg" width="100" height="200"><rect width="9" height="9"/></svg>'
    )
    assert read_avatar_picture(drawing).picture.mime == "image/png"


def test_a_picture_of_a_few_pixels_is_refused() -> None:
    with pytest.raises(BadRequest) as caught:
        read_avatar_picture(png(40, 400))
    assert caught.value.code == "avatar_too_small"
