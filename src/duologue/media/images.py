"""Pictures: measured, turned upright, scaled down, and converted to PNG or JPEG.

Used for attachments, thumbnails and pages of documents: jobs for `decoder.service.decode`, and nothing here runs in the
gateway. Owns the size of a picture that is decoded at all, and what a drawing may refer to. How much time and memory a picture
takes is bounded by its process.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from duologue.decoder.job import decoder_job
from duologue.errors import BadRequest, Problem, TooLarge
from duologue.media.sniff import HEAD, SVG, kind

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from PIL import Image

PIXELS = 120_000_000
"""A picture with more is refused before anything is decoded: it would take about 500 MB of memory."""
JPEG_PIXELS = 2 * PIXELS
"""A JPEG may have more, because it is made smaller while it is decoded: phones have cameras of 200 megapixels."""
MEMORY_MB = 1280
"""Measured, for a thumbnail: a PNG of 100 megapixels 400 MB, a HEIC or AVIF of 50 megapixels 450, a WebP of 50 megapixels 780, a
progressive JPEG of 108 megapixels 320."""
SECONDS = 60
"""For a picture, on the clock: a PNG of 100 megapixels takes 7 processor seconds, and other processes come first."""
THREADS = 4
"""Of a decoder that uses several: each takes address space."""
LIBRARIES = (
    *(
        f"PIL.{kind}ImagePlugin"
        for kind in ("Jpeg", "Mpo", "Png", "Gif", "WebP", "Bmp", "Tiff", "Ico", "Avif", "Ppm")
    ),
    *("PIL.ImageOps", "PIL.ImageStat", "pi_heif", "resvg_py", "xml.etree.ElementTree"),
)
"""What is imported before a child is forked."""
SVG_BYTES = 8 * 2**20
SVG_SIDE = 768
"""Pixels: a smaller drawing is rendered this long, since models see little of an icon."""
LOSSLESS_BYTES = 4 * 2**20
"""A PNG larger than this is a photograph and becomes a JPEG."""
QUALITY = 90

_FORMATS = {
    "JPEG": "image/jpeg",
    "MPO": "image/jpeg",
    "PNG": "image/png",
    "GIF": "image/gif",
    "WEBP": "image/webp",
    "BMP": "image/bmp",
    "TIFF": "image/tiff",
    "ICO": "image/x-icon",
    "AVIF": "image/avif",
    "HEIF": "image/heic",
}
_LOSSLESS = frozenset(["PNG", "GIF", "BMP", "ICO", "SVG"])
"""Lossless formats, mostly of drawings and screenshots."""
_ORIENTATION, _GPS = 0x0112, 0x8825
_TURNS = {2: 0, 3: 3, 4: 1, 5: 5, 6: 4, 7: 6, 8: 2}
"""Pillow's `Transpose` that turns a picture of each orientation upright."""
_SCALED = frozenset(["RGB", "RGBA", "L", "LA", "CMYK", "YCbCr", "I;16", "I", "F"])
"""Modes that are scaled before they are converted, which takes less memory."""
_UNITS = {
    "": 1.0,
    "px": 1.0,
    "pt": 4 / 3,
    "pc": 16.0,
    "mm": 96 / 25.4,
    "cm": 96 / 2.54,
    "in": 96.0,
    "em": 16.0,
}
_LENGTH = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?\s*(px|pt|pc|mm|cm|in|em)?\s*", re.IGNORECASE)


class Picture(Struct, frozen=True):
    """An encoded picture, upright. Pixels. Without `data`: the file itself."""

    data: bytes
    mime: str
    width: int
    height: int


_job = decoder_job(seconds=SECONDS, memory_mb=MEMORY_MB, preload=LIBRARIES)


@_job
def inspect(data: bytes) -> tuple[str, int, int]:
    """The media type, width and height of a picture turned upright. Raises BadRequest, TooLarge."""
    if _is_svg(data):
        width, height = _svg_size(_svg(data))
        return "image/svg+xml", max(1, round(width)), max(1, round(height))
    with _open(data) as image:
        width, height = image.size
        if image.getexif().get(_ORIENTATION, 1) in (5, 6, 7, 8):
            width, height = height, width
        return _FORMATS[str(image.format)], width, height


@_job
def for_model(data: bytes, megapixels: float) -> Picture:
    """The picture as it is sent to a model: upright, without transparency, of at most `megapixels`, PNG or JPEG.

    Without data where the file already is that. Raises BadRequest, TooLarge.
    """
    most = megapixels * 1_000_000
    if _is_svg(data):
        return _encode(_flatten(_render_svg(data, most)), lossless=True)
    with _open(data) as image:
        format = str(image.format)
        if _is_suitable(image, most):
            return Picture(b"", _FORMATS[format], *image.size)
        return _encode(_flatten(_upright(image, most)), lossless=format in _LOSSLESS)


@_job
def sized_for_model(data: bytes, megapixels: float) -> tuple[Picture, bool]:
    """As `for_model`, and whether the picture was made smaller."""
    _, width, height = inspect(data)
    picture = for_model(data, megapixels)
    return picture, picture.width * picture.height < width * height


@_job
def thumbnail(data: bytes, side: int) -> Picture:
    """A WebP of the picture that fits into a square of `side` pixels. Raises BadRequest, TooLarge."""
    if _is_svg(data):
        image = _render_svg(data, float(side * side))
    else:
        with _open(data) as original:
            image = _upright(original, float(side * side) * 4)
    return small(image, side)


def portrait(data: bytes, side: int) -> Picture:
    """A PNG or JPEG of the picture that fits into a square of `side` pixels: upright, without transparency, and without whatever else is
    in the file. Raises BadRequest, TooLarge."""
    if _is_svg(data):
        image, lossless = _flatten(_render_svg(data, float(side * side))), True
    else:
        with _open(data) as original:
            image = _flatten(_upright(original, float(side * side)))
            lossless = str(original.format) in _LOSSLESS
    image.thumbnail((side, side))
    # A JPEG would be written with the comment of the original.
    image.info.clear()
    return _encode(image, lossless=lossless)


def preview(data: bytes, side: int) -> bytes:
    """A PNG of the picture that fits into a square of `side` pixels. Raises BadRequest, TooLarge."""
    if _is_svg(data):
        image = _render_svg(data, float(side * side))
    else:
        with _open(data) as original:
            image = _upright(original, float(side * side) * 4)
    image.thumbnail((side, side))
    image.info.clear()
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def small(image: Image.Image, side: int) -> Picture:
    """A WebP of the picture that fits into a square of `side` pixels. Changes the picture."""
    image.thumbnail((side, side))
    buffer = io.BytesIO()
    image.save(buffer, "WEBP", quality=80)
    return Picture(buffer.getvalue(), "image/webp", *image.size)


def of_drawing(image: Image.Image) -> Picture:
    """The picture of something drawn, such as a page."""
    return _encode(image, lossless=True)


@contextmanager
def _open(data: bytes) -> Iterator[Image.Image]:
    """The picture with its header read and nothing decoded. Errors of the libraries become Problems."""
    from pi_heif import options, register_heif_opener  # type: ignore[import-untyped]
    from PIL import AvifImagePlugin, Image

    register_heif_opener()
    options.DECODE_THREADS = AvifImagePlugin.DEFAULT_MAX_THREADS = THREADS
    # Pillow's own limit guards the pictures inside ICO and TIFF files, which have sizes of their own.
    Image.MAX_IMAGE_PIXELS = PIXELS
    try:
        with Image.open(io.BytesIO(data), formats=[name for name in _FORMATS if name != "MPO"]) as image:
            if image.width * image.height > (JPEG_PIXELS if image.format in ("JPEG", "MPO") else PIXELS):
                raise _too_large()
            yield image
    except (Problem, MemoryError):
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise _too_large() from None
    except Exception:  # noqa: BLE001
        # Decoders raise anything for broken files: KeyError, struct.error, SyntaxError ...
        raise _unreadable() from None


def _is_suitable(image: Image.Image, most: float) -> bool:
    """Whether the file can be sent to a model unchanged. One with a GPS position is encoded again without it."""
    exif = image.getexif()
    return (
        image.format in ("JPEG", "PNG")
        and image.mode in ("RGB", "L")
        and "transparency" not in image.info
        and getattr(image, "n_frames", 1) == 1
        and exif.get(_ORIENTATION, 1) in (0, 1)
        and _GPS not in exif
        and image.width * image.height <= most
        and _is_complete(image)
    )


def _is_complete(image: Image.Image) -> bool:
    """Decode the picture, so that a truncated file is an error here and not in the model."""
    image.load()
    return True


def _upright(image: Image.Image, most: float) -> Image.Image:
    """The picture turned upright, of at most `most` pixels, as RGB or RGBA."""
    from PIL.Image import Transpose

    turn = _TURNS.get(image.getexif().get(_ORIENTATION, 1))
    if image.format in ("JPEG", "MPO") and image.width * image.height > most:
        # The decoder scales by powers of two as it reads, for a fraction of the time and memory.
        scale = (most / (image.width * image.height)) ** 0.5
        image.draft("RGB", (round(image.width * scale), round(image.height * scale)))
        if image.width * image.height > PIXELS:
            raise _too_large()
    image.load()
    if image.mode not in _SCALED or "transparency" in image.info:
        image = _to_rgb(image)
    image = _to_rgb(_scale_down(image, most))
    return image if turn is None else image.transpose(Transpose(turn))


def _scale_down(image: Image.Image, most: float) -> Image.Image:
    from PIL import Image

    pixels = image.width * image.height
    if pixels <= most:
        return image
    scale = (most / pixels) ** 0.5
    size = (max(1, int(image.width * scale)), max(1, int(image.height * scale)))
    # Pillow cannot reduce pictures of 16 bits first, which only saves time.
    gap = None if image.mode == "I;16" else 3.0
    return image.resize(size, Image.Resampling.LANCZOS, reducing_gap=gap)


def _to_rgb(image: Image.Image) -> Image.Image:
    """The picture as RGB, or RGBA where it has transparency, of 8 bits."""
    if image.mode in ("I;16", "I;16B", "I;16L", "I", "F"):
        # Pillow's conversion clips 16-bit values to white instead of scaling them.
        return image.convert("F").point(lambda value: value * (1 / 257) + 0.0).convert("L").convert("RGB")
    mode = "RGBA" if image.has_transparency_data else "RGB"
    return image if image.mode == mode else image.convert(mode)


def _flatten(image: Image.Image) -> Image.Image:
    """Without transparency: on white, or on dark where the visible part is nearly white itself. Engines just drop the
    alpha channel and show the colours below it."""
    from PIL import Image, ImageStat

    image = _to_rgb(image)
    if image.mode != "RGBA":
        return image
    alpha = image.getchannel("A")
    visible = ImageStat.Stat(image.convert("L"), mask=alpha.point(lambda value: 255 if value > 32 else 0))
    is_pale = visible.count[0] > 0 and visible.mean[0] > 230 and alpha.getextrema()[0] == 0
    background = Image.new("RGB", image.size, (32, 32, 32) if is_pale else (255, 255, 255))
    background.paste(image, mask=alpha)
    return background


def _encode(image: Image.Image, *, lossless: bool) -> Picture:
    buffer = io.BytesIO()
    if lossless:
        image.save(buffer, "PNG")
        if buffer.tell() <= LOSSLESS_BYTES:
            return Picture(buffer.getvalue(), "image/png", *image.size)
        buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=QUALITY)
    return Picture(buffer.getvalue(), "image/jpeg", *image.size)


def _is_svg(data: bytes) -> bool:
    return kind(data[:HEAD]) == SVG


def _svg(data: bytes) -> Element:
    """The drawing without the pictures it names by address: the library would read them from this machine's disk."""
    from xml.etree import ElementTree

    if len(data) > SVG_BYTES:
        raise TooLarge(f"An SVG drawing may have {SVG_BYTES // 2**20} MB.", code="image_too_large")
    try:
        root = ElementTree.fromstring(data)
    except (ElementTree.ParseError, ValueError, LookupError):
        raise _unreadable() from None
    for element in list(root.iter()):
        for child in list(element):
            if not isinstance(child.tag, str) or _names_a_file(child):
                element.remove(child)
    return root


def _names_a_file(element: Element) -> bool:
    return _local(element.tag) in ("image", "feimage") and any(
        _local(attribute) == "href" and not value.strip().lower().startswith("data:")
        for attribute, value in element.attrib.items()
    )


def _local(name: str) -> str:
    """A name without its namespace, in lower case."""
    return name.rpartition("}")[2].lower()


def _svg_size(root: Element) -> tuple[float, float]:
    """Width and height in pixels as the drawing gives them; else those of its view box, else 300 by 150."""
    box = re.split(r"[\s,]+", root.get("viewBox", "").strip())
    try:
        across, down = (float(box[2]), float(box[3])) if len(box) == 4 else (0.0, 0.0)
    except ValueError:
        across = down = 0.0
    width, height = _pixels(root.get("width")), _pixels(root.get("height"))
    if across > 0 and down > 0:
        if width and not height:
            height = width * down / across
        elif height and not width:
            width = height * across / down
        return width or across, height or down
    return width or 300.0, height or 150.0


def _pixels(length: str | None) -> float:
    """A length of SVG in pixels; 0 for percentages and for none."""
    match = _LENGTH.fullmatch(length or "")
    return float(match[1]) * _UNITS[(match[2] or "").lower()] if match else 0.0


def _render_svg(data: bytes, most: float) -> Image.Image:
    """The drawing as an RGBA picture of at most `most` pixels."""
    from xml.etree import ElementTree

    import resvg_py
    from PIL import Image

    root = _svg(data)
    width, height = _svg_size(root)
    scale = max(1.0, SVG_SIDE / max(width, height))
    scale = min(scale, (most / (width * height)) ** 0.5)
    size: dict[str, Any] = {"width": max(1, round(width * scale)), "height": max(1, round(height * scale))}
    try:
        png = resvg_py.svg_to_bytes(svg_string=ElementTree.tostring(root, encoding="unicode"), **size)
    except MemoryError:
        raise
    except BaseException:  # noqa: BLE001
        # The library raises ValueError or OSError for what it cannot render; a panic in its Rust code is no Exception.
        raise _unreadable() from None
    return Image.open(io.BytesIO(bytes(png))).convert("RGBA")


def _too_large() -> TooLarge:
    return TooLarge(
        f"The picture has more than {PIXELS // 1_000_000} megapixels; scale it down first.",
        code="image_too_large",
    )


def _unreadable() -> BadRequest:
    return BadRequest(
        "The picture cannot be read: it is broken, or of an unknown format "
        "(JPEG, PNG, GIF, WebP, AVIF, HEIC, SVG, BMP, TIFF and ICO are supported).",
        code="image_unreadable",
    )
