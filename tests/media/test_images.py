"""Pictures of every kind: measured, turned upright, scaled, flattened; bombs and broken ones refused."""

import base64
import io
import struct
import zlib

import pytest
from PIL import Image
from tests.support.sample_files import HEIC, HEIC_TURNED, SVG, drawing, encoded, opened, pixel, svg, turned

from duologue.errors import BadRequest, TooLarge
from duologue.media import images

KINDS = ["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF", "AVIF"]


def colour(data: bytes, x: int, y: int) -> str:
    red, green, blue = pixel(opened(data).convert("RGB"), x, y)
    if red > 200 and green < 80 and blue < 80:
        return "red"
    return "blue" if blue > 200 and red < 80 and green < 80 else f"{red},{green},{blue}"


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_measured_and_shown(kind):
    data = encoded(drawing(), kind)
    assert images.inspect(data) == (f"image/{kind.lower()}", 64, 48)
    shown = images.for_model(data, 4.0)
    given = shown.data or data
    assert shown.mime in ("image/png", "image/jpeg")
    assert (shown.width, shown.height) == opened(given).size == (64, 48)
    assert (colour(given, 4, 24), colour(given, 60, 24)) == ("blue", "red")


def test_an_icon_is_shown():
    shown = images.for_model(encoded(drawing(48, 48), "ICO"), 4.0)
    assert (shown.mime, shown.width, shown.height) == ("image/png", 48, 48)


@pytest.mark.parametrize(("data", "size"), [(HEIC, (64, 48)), (HEIC_TURNED, (48, 64))])
def test_a_phones_picture_is_shown_upright(data, size):
    assert images.inspect(data) == ("image/heic", *size)
    shown = images.for_model(data, 4.0)
    assert (shown.mime, shown.width, shown.height) == ("image/jpeg", *size)
    assert colour(shown.data, 3, 3) == "blue"
    assert colour(shown.data, size[0] - 4, size[1] - 4) == "red"


def test_a_turned_picture_is_upright():
    assert images.inspect(turned()) == ("image/jpeg", 48, 64)
    shown = images.for_model(turned(), 4.0)
    assert (shown.width, shown.height) == (48, 64)
    assert (colour(shown.data, 24, 3), colour(shown.data, 24, 60)) == ("blue", "red")


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_what_is_right_already_is_not_made_anew(kind):
    data = encoded(drawing(), kind)
    assert images.for_model(data, 4.0) == images.Picture(b"", f"image/{kind.lower()}", 64, 48)


def test_where_a_picture_was_taken_is_not_given_on():
    exif = Image.Exif()
    exif.get_ifd(0x8825)[1] = "N"
    shown = images.for_model(encoded(drawing(), "JPEG", exif=exif), 4.0)
    assert 0x8825 not in opened(shown.data).getexif()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_a_large_picture_is_scaled_to_the_cap_with_its_proportions(kind):
    shown = images.for_model(encoded(drawing(2000, 1000), kind), 0.5)
    assert 480_000 < shown.width * shown.height <= 500_000
    assert shown.width / shown.height == pytest.approx(2, rel=0.01)
    assert colour(shown.data, 10, 10) == "blue"


def test_a_large_turned_photograph_is_both():
    exif = Image.Exif()
    exif[0x0112] = 8
    shown = images.for_model(encoded(drawing(2000, 1000), "JPEG", exif=exif), 0.5)
    assert shown.height / shown.width == pytest.approx(2, rel=0.01)


def test_a_photograph_that_is_too_large_as_png_becomes_a_jpeg():
    noise = Image.effect_noise((1600, 1200), 90).convert("RGB")
    assert images.for_model(encoded(noise, "BMP"), 4.0).mime == "image/jpeg"


def test_transparent_ground_becomes_white():
    image = Image.new("RGBA", (10, 10), (0, 0, 0, 0))
    image.paste((0, 0, 0, 255), (2, 2, 6, 6))
    shown = opened(images.for_model(encoded(image), 4.0).data)
    assert (shown.mode, shown.getpixel((0, 0)), shown.getpixel((3, 3))) == ("RGB", (255, 255, 255), (0, 0, 0))


def test_a_white_drawing_on_transparent_ground_stays_visible():
    image = Image.new("RGBA", (10, 10), (255, 255, 255, 0))
    image.paste((255, 255, 255, 255), (2, 2, 6, 6))
    shown = opened(images.for_model(encoded(image), 4.0).data)
    assert shown.getpixel((3, 3)) == (255, 255, 255)
    assert max(pixel(shown, 0, 0)) < 64


def test_a_palette_with_transparency_is_flattened():
    image = drawing().convert("P")
    shown = opened(images.for_model(encoded(image, "GIF", transparency=image.getpixel((0, 0))), 4.0).data)
    assert shown.getpixel((3, 3)) == (255, 255, 255)


def test_sixteen_bits_become_eight_and_not_white():
    samples = struct.pack("<3H", 0, 32_768, 65_535)
    shown = opened(images.for_model(encoded(Image.frombytes("I;16", (3, 1), samples)), 4.0).data).convert("L")
    assert [shown.getpixel((x, 0)) for x in range(3)] == [0, 127, 255]


def test_print_colours_become_screen_colours():
    shown = images.for_model(encoded(drawing().convert("CMYK"), "JPEG"), 4.0)
    assert opened(shown.data).mode == "RGB"


def test_an_animation_shows_its_first_picture():
    frames = [Image.new("RGB", (8, 8), "blue"), Image.new("RGB", (8, 8), "red")]
    shown = images.for_model(encoded(frames[0], "GIF", save_all=True, append_images=frames[1:]), 4.0)
    assert colour(shown.data, 4, 4) == "blue"
    animated = encoded(frames[0], "PNG", save_all=True, append_images=frames[1:])
    assert images.for_model(animated, 4.0).data


@pytest.mark.parametrize(
    ("attributes", "size"),
    [
        ('width="20" height="10"', (20, 10)),
        ('viewBox="0 0 40 20"', (40, 20)),
        ('viewBox="0,0,40,20" width="80"', (80, 40)),
        ('viewBox="0 0 40 20" height="10mm"', (76, 38)),
        ('width="100%" height="100%"', (300, 150)),
        ("", (300, 150)),
    ],
)
def test_a_drawing_has_the_size_it_asks_for(attributes, size):
    assert images.inspect(svg("<rect/>", attributes)) == ("image/svg+xml", *size)


def test_a_drawing_is_drawn_large_enough_to_be_seen():
    shown = images.for_model(svg('<rect width="10" height="10" fill="blue"/>'), 4.0)
    assert (shown.mime, shown.width, shown.height) == ("image/png", 768, 384)
    assert (colour(shown.data, 100, 100), colour(shown.data, 700, 100)) == ("blue", "255,255,255")


def test_a_huge_drawing_is_drawn_within_the_cap():
    shown = images.for_model(svg('<rect width="90000" height="90000"/>', 'width="90000" height="90000"'), 1.0)
    assert (shown.width, shown.height) == (1000, 1000)


@pytest.mark.parametrize(
    "inside",
    [
        '<image href="{}" width="20" height="10"/>',
        '<g><image xlink:href="{}" width="20" height="10"/></g>',
        '<image href="file://{}" width="20" height="10"/>',
        '<filter id="f"><feImage href="{}"/></filter><rect width="20" height="10" fill="#fff" filter="url(#f)"/>',
        '<style>rect {{ fill: url("{}") }}</style><rect width="20" height="10" fill="#fff"/>',
    ],
)
@pytest.mark.parametrize("is_within", [False, True])
def test_a_drawing_reads_no_file_of_this_machine(inside, is_within, tmp_path):
    secret = tmp_path / "secret.png"
    secret.write_bytes(encoded(Image.new("RGB", (20, 10), "red")))
    drawn = svg(inside.format(secret))
    if is_within:
        data = base64.b64encode(drawn).decode()
        drawn = svg(f'<image width="20" height="10" href="data:image/svg+xml;base64,{data}"/>')
    shown = opened(images.for_model(drawn, 4.0).data).convert("RGB")
    assert "red" not in {colour(encoded(shown), x, y) for x in (5, 100, 700) for y in (5, 200)}


def test_a_drawing_keeps_its_filters():
    shown = opened(
        images.for_model(
            svg(
                '<filter id="f"><feFlood flood-color="blue"/></filter>'
                '<rect width="20" height="10" filter="url(#f)"/>'
            ),
            4.0,
        ).data
    )
    assert shown.getpixel((300, 100)) == (0, 0, 255)


def test_a_drawing_that_names_itself_is_drawn():
    assert (
        images.for_model(svg('<g id="a"><use href="#a"/><rect width="20" height="10"/></g>'), 4.0).width
        == 768
    )


def test_a_drawing_may_carry_a_picture_within():
    inner = base64.b64encode(encoded(Image.new("RGB", (2, 2), "red"))).decode()
    shown = images.for_model(
        svg(f'<image href="data:image/png;base64,{inner}" width="20" height="10"/>'), 4.0
    )
    assert colour(shown.data, 384, 100) == "red"


def test_entities_that_grow_without_end_are_refused():
    entities = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(12))
    bomb = f'<!DOCTYPE svg [<!ENTITY e0 "ha">{entities}]><svg {SVG}><text>&e12;</text></svg>'
    with pytest.raises(BadRequest):
        images.for_model(bomb.encode(), 4.0)


@pytest.mark.parametrize("data", [b"<svg", b"<svg xmlns='http://www.w3.org/2000/svg'><g></svg>"])
def test_a_broken_drawing_is_refused(data):
    with pytest.raises(BadRequest, match="cannot be read"):
        images.for_model(data, 4.0)


def test_a_drawing_of_many_megabytes_is_refused():
    with pytest.raises(TooLarge, match="SVG drawing may have 8 MB"):
        images.for_model(svg(f"<!--{'x' * images.SVG_BYTES}-->"), 4.0)


@pytest.mark.parametrize("side", [16, 64, 200])
@pytest.mark.parametrize(
    "data",
    [
        encoded(drawing(640, 480)),
        encoded(drawing()),
        encoded(drawing(), "JPEG"),
        turned(),
        HEIC,
        svg("<rect/>"),
        encoded(drawing(640, 480, "RGBA")),
    ],
)
def test_a_thumbnail_fits_its_square(data, side):
    made = images.thumbnail(data, side)
    assert (made.mime, opened(made.data).format) == ("image/webp", "WEBP")
    assert max(opened(made.data).size) <= side


def test_a_thumbnail_keeps_its_transparency():
    made = images.thumbnail(encoded(Image.new("RGBA", (100, 100), (0, 0, 0, 0))), 32)
    assert opened(made.data).mode == "RGBA"


def bomb(width: int, height: int) -> bytes:
    """A PNG of a few kilobytes that claims to be huge."""
    rows = zlib.compress(bytes((width // 8 + 1) * 1000))

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.mark.parametrize("size", [(13_000, 10_000), (40_000, 40_000)])
@pytest.mark.parametrize("what", ["inspect", "shown", "thumbnail"])
def test_a_bomb_is_refused_before_it_is_decoded(size, what, monkeypatch):
    monkeypatch.setattr(Image.Image, "load", lambda self: pytest.fail("decoded"))
    calls = {
        "inspect": lambda data: images.inspect(data),
        "shown": lambda data: images.for_model(data, 4.0),
        "thumbnail": lambda data: images.thumbnail(data, 64),
    }
    with pytest.raises(TooLarge, match="more than 120 megapixels") as refused:
        calls[what](bomb(*size))
    assert refused.value.code == "image_too_large"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello",
        b"\x89PNG\r\n\x1a\nnothing more",
        encoded(Image.effect_noise((200, 200), 90), "PNG")[:5000],
        encoded(Image.effect_noise((200, 200), 90).convert("RGB"), "JPEG")[:300],
        HEIC[:-20],
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n",
    ],
)
def test_a_broken_picture_is_refused_with_a_sentence(data):
    with pytest.raises(BadRequest, match="The picture cannot be read") as refused:
        images.for_model(data, 4.0)
    assert refused.value.code == "image_unreadable"


def test_what_was_drawn_becomes_a_picture():
    made = images.of_drawing(Image.new("RGB", (3, 2), "blue"))
    assert (made.mime, made.width, made.height) == ("image/png", 3, 2)
    assert colour(made.data, 1, 1) == "blue"
    assert io.BytesIO(made.data).read(4) == b"\x89PNG"
