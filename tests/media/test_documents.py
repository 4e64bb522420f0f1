"""PDF documents: their text and their pages."""

import pytest
from tests.support.sample_files import locked_pdf, opened, pdf, pixel, scanned_pdf

from duologue.errors import BadRequest
from duologue.media import documents


def test_the_text_of_one_page():
    assert documents.text(pdf("Hello World")) == "Hello World"


def test_pages_are_numbered_empty_ones_too():
    assert documents.text(pdf("One", "", "Three")) == "[Page 1]\nOne\n\n[Page 2]\n\n[Page 3]\nThree"


def test_a_scan_has_no_text():
    assert documents.text(scanned_pdf(2)) == ""


def test_pages_are_counted():
    assert documents.page_count(pdf("One", "Two")) == 2


def test_a_page_is_a_readable_picture():
    made = documents.page(pdf("Hello World"), 0, 4.0)
    assert (made.width, made.height) == (918, 1188)
    picture = opened(made.data)
    assert picture.mode == "RGB"
    assert picture.getpixel((2, 2)) == (255, 255, 255)
    assert min(picture.convert("L").tobytes()) < 64


def test_each_page_is_itself():
    document = scanned_pdf(1)
    red, _, blue = pixel(opened(documents.page(document, 0, 4.0).data), 10, 10)
    assert (red, blue) < (10, 256)
    assert blue > 240
    two = pdf("One", "")
    assert documents.page(two, 0, 4.0).data != documents.page(two, 1, 4.0).data


def test_a_poster_is_drawn_within_the_cap():
    made = documents.page(pdf("x", size=(14_400, 14_400)), 0, 1.0)
    assert (made.width, made.height) == (1000, 1000)


def test_a_locked_document_is_refused_with_a_sentence():
    for read in (documents.text, documents.page_count):
        with pytest.raises(BadRequest, match="locked with a password") as refused:
            read(locked_pdf())
        assert refused.value.code == "document_locked"


@pytest.mark.parametrize("data", [b"", b"%PDF-1.7 and nothing more", pdf("Hello")[:120]])
def test_a_broken_document_is_refused_with_a_sentence(data):
    with pytest.raises(BadRequest, match="broken or cut off") as refused:
        documents.text(data)
    assert refused.value.code == "document_unreadable"


def test_a_page_that_is_not_there_is_a_broken_document():
    with pytest.raises(BadRequest):
        documents.page(pdf("One"), 1, 4.0)
