"""PDF documents: their text and their pages."""

import pytest
from tests.support.sample_files import locked_pdf, opened, pdf, pixel, scanned_pdf

from duologue.errors import BadRequest
from duologue.media import documents
from duologue.media.images import Picture

MOST = 1_000_000
"""Characters."""


def page(data: bytes, megapixels: float = 4.0) -> Picture:
    return next(iter(documents.pages(data, 1, megapixels)))


def test_the_text_of_one_page():
    assert documents.text(pdf("Hello World"), MOST) == "Hello World"


def test_pages_are_numbered_empty_ones_too():
    assert documents.text(pdf("One", "", "Three"), MOST) == "[Page 1]\nOne\n\n[Page 2]\n\n[Page 3]\nThree"


def test_a_scan_has_no_text():
    assert documents.text(scanned_pdf(2), MOST) == ""


def test_pages_are_counted():
    assert documents.page_count(pdf("One", "Two")) == 2


def test_a_page_is_a_readable_picture():
    made = page(pdf("Hello World"))
    assert (made.width, made.height) == (918, 1188)
    picture = opened(made.data)
    assert picture.mode == "RGB"
    assert picture.getpixel((2, 2)) == (255, 255, 255)
    assert min(picture.convert("L").tobytes()) < 64


def test_each_page_is_itself():
    document = scanned_pdf(1)
    red, _, blue = pixel(opened(page(document).data), 10, 10)
    assert (red, blue) < (10, 256)
    assert blue > 240
    first, second = documents.pages(pdf("One", ""), 9, 4.0)
    assert first.data != second.data


def test_a_poster_is_drawn_within_the_cap():
    made = page(pdf("x", size=(14_400, 14_400)), 1.0)
    assert (made.width, made.height) == (1000, 1000)


def test_a_locked_document_is_refused_with_a_sentence():
    for read in (lambda data: documents.text(data, MOST), documents.page_count):
        with pytest.raises(BadRequest, match="locked with a password") as refused:
            read(locked_pdf())
        assert refused.value.code == "document_locked"


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7 and nothing more", pdf("Hello")[:120]])
def test_a_broken_document_is_refused_with_a_sentence(data):
    with pytest.raises(BadRequest, match="broken or cut off") as refused:
        documents.text(data, MOST)
    assert refused.value.code == "document_unreadable"


def test_only_so_many_pages_are_drawn():
    assert len(list(documents.pages(pdf("One", "Two", "Three"), 2, 1.0))) == 2


def test_only_so_much_text_is_read():
    assert documents.text(pdf("One", "Two", "Three"), 4) == "[Page 1]\nOne\n\n[Page 2]\nTwo"


def test_the_first_page_is_its_thumbnail():
    made = documents.thumbnail(pdf("Hello", "World"), 64)
    assert (made.mime, made.height, opened(made.data).format) == ("image/webp", 64, "WEBP")


def test_a_document_without_pages_has_no_thumbnail():
    with pytest.raises(BadRequest):
        documents.thumbnail(pdf(), 64)
