"""PDF documents: their text, and their pages as pictures.

Used for attachments and previews: jobs for `decoder.service`. The only use of PDFium.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from duologue.decoder.job import decoder_job
from duologue.errors import BadRequest
from duologue.media.images import LIBRARIES, Picture, of_drawing, small

if TYPE_CHECKING:
    from PIL import Image
    from pypdfium2 import PdfDocument  # type: ignore[import-untyped]

SCALE = 1.5
"""Of 72 dots an inch: text of ten points stays readable, and a page takes about one megapixel."""
PAGES_SECONDS = 120
"""Processor seconds for all pages of a document as pictures."""
_PASSWORD = 4
# PDFium's marks of a hyphen at the end of a line, inside a word.
_HYPHEN = re.compile("[\\ufffe\\x02]\\r?\\n?")
_GAP = re.compile(r"\n{3,}")


_preload = ("pypdfium2", *LIBRARIES)
_job = decoder_job(preload=_preload)


@_job
def page_count(data: bytes) -> int:
    """How many pages. Raises BadRequest for a broken or locked document."""
    with _open(data) as document:
        return len(document)


@_job
def text(data: bytes, most: int) -> str:
    """The text of all pages, each under its number; "" where no page has text (a scan). Beyond `most` characters it is cut
    off. Raises BadRequest."""
    pages: list[str] = []
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
            if (most := most - len(pages[-1])) < 0:
                break
    if not any(pages):
        return ""
    if len(pages) == 1:
        return pages[0]
    return "\n\n".join(f"[Page {number}]\n{page}".rstrip() for number, page in enumerate(pages, 1))


@decoder_job(cpu_seconds=PAGES_SECONDS, preload=_preload)
def pages(data: bytes, most: int, megapixels: float) -> Iterator[Picture]:
    """The pictures of the first `most` pages, each of at most `megapixels`. Raises BadRequest."""
    with _open(data) as document:
        document.init_forms()
        for index in range(min(most, len(document))):
            yield of_drawing(_drawn(document, index, megapixels))


@_job
def thumbnail(data: bytes, side: int) -> Picture:
    """A WebP of the first page that fits into a square of `side` pixels. Raises BadRequest."""
    with _open(data) as document:
        document.init_forms()
        return small(_drawn(document, 0, 1.0), side)


def _drawn(document: PdfDocument, index: int, megapixels: float) -> Image.Image:
    page = document[index]
    try:
        width, height = page.get_size()
        scale = min(SCALE, (megapixels * 1_000_000 / max(1.0, width * height)) ** 0.5)
        bitmap = page.render(scale=scale, rev_byteorder=True, prefer_bgrx=False, may_draw_forms=True)
        try:
            # A page is drawn on white, so alpha can be dropped. The copy outlives the bitmap.
            image: Image.Image = bitmap.to_pil().convert("RGB")
            return image
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


def _tidy(words: str) -> str:
    words = _HYPHEN.sub("", words).replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    lines = (line.rstrip() for line in words.split("\n"))
    return _GAP.sub("\n\n", "\n".join(lines)).strip()


def _broken() -> BadRequest:
    return BadRequest("The PDF cannot be read: it is broken or cut off.", code="document_unreadable")
