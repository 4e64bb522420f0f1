"""PDF documents: their text, and their pages as pictures.

Used for attachments and previews. The only use of PDFium, which is not thread-safe: call everything here by
`decoding.decode_alone`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from duologue.errors import BadRequest
from duologue.media.images import Picture, of_pixels

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument  # type: ignore[import-untyped]

SCALE = 1.5
"""Of 72 dots an inch: text of ten points stays readable, and a page takes about one megapixel."""
_PASSWORD = 4
# PDFium's marks of a hyphen at the end of a line, inside a word.
_HYPHEN = re.compile("[\\ufffe\\x02]\\r?\\n?")
_GAP = re.compile(r"\n{3,}")


def page_count(data: bytes) -> int:
    """How many pages. Raises BadRequest for a broken or locked document."""
    with _open(data) as document:
        return len(document)


def text(data: bytes) -> str:
    """The text of all pages, each under its number; "" where no page has text (a scan). Raises BadRequest."""
    pages = []
    with _open(data) as document:
        for index in range(len(document)):
            page = document[index]
            try:
                words = page.get_textpage()
                try:
                    pages.append(_tidy(words.get_text_bounded()))
                finally:
                    words.close()
            finally:
                page.close()
    if not any(pages):
        return ""
    if len(pages) == 1:
        return pages[0]
    return "\n\n".join(f"[Page {number}]\n{page}".rstrip() for number, page in enumerate(pages, 1))


def page(data: bytes, index: int, megapixels: float) -> Picture:
    """The picture of one page, from 0; of at most `megapixels`. Raises BadRequest."""
    with _open(data) as document:
        document.init_forms()
        page = document[index]
        try:
            width, height = page.get_size()
            scale = min(SCALE, (megapixels * 1_000_000 / max(1.0, width * height)) ** 0.5)
            bitmap = page.render(scale=scale, rev_byteorder=True, prefer_bgrx=False, may_draw_forms=True)
            try:
                row = bitmap.width * bitmap.n_channels
                pixels = bytes(bitmap.buffer)
                lines = [
                    pixels[at : at + row] for at in range(0, bitmap.stride * bitmap.height, bitmap.stride)
                ]
                return of_pixels(_rgb(b"".join(lines), bitmap.n_channels), bitmap.width, bitmap.height)
            finally:
                bitmap.close()
        finally:
            page.close()


@contextmanager
def _open(data: bytes) -> Iterator[PdfDocument]:
    from pypdfium2 import PdfDocument, PdfiumError

    try:
        document = PdfDocument(data)
    except PdfiumError as error:
        if error.err_code == _PASSWORD:
            raise BadRequest(
                "The PDF is locked with a password; save it without one and attach it again.",
                code="document_locked",
            ) from None
        raise _broken() from None
    try:
        yield document
    except PdfiumError:
        raise _broken() from None
    finally:
        document.close()


def _rgb(pixels: bytes, channels: int) -> bytes:
    """RGB of grey, RGB or RGBA pixels. A page is drawn on white, so alpha can be dropped."""
    if channels == 3:
        return pixels
    rgb = bytearray(len(pixels) // channels * 3)
    for channel in range(3):
        rgb[channel::3] = pixels[min(channel, channels - 1) :: channels]
    return bytes(rgb)


def _tidy(words: str) -> str:
    words = _HYPHEN.sub("", words).replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    lines = (line.rstrip() for line in words.split("\n"))
    return _GAP.sub("\n\n", "\n".join(lines)).strip()


def _broken() -> BadRequest:
    return BadRequest("The PDF cannot be read: it is broken or cut off.", code="document_unreadable")
