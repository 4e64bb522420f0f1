"""What is said of a file when it is attached: what makes it unusable for every model, and whether it is a scan."""

import pytest
from tests.support.kept_files import Kept, kept
from tests.support.sample_files import drawing, encoded, locked_pdf, pdf, scanned_pdf, wav

from duologue.config.settings import LimitSettings
from duologue.conversations.files.inspection import Inspection, inspect
from duologue.errors import NotFound

pytestmark = pytest.mark.anyio
LIMITS = LimitSettings(text_mb=1)


@pytest.fixture
async def place(tmp_path, anyio_backend):
    async with kept(tmp_path / "blobs") as place:
        yield place


async def inspected(place: Kept, data: bytes, name: str) -> Inspection:
    blob = await place.blobs.keep("ada", data, name=name)
    return await inspect(place.blobs, LIMITS, "ada", blob.hash)


async def test_what_every_model_can_be_given_is_fine(place):
    for data, name in (
        (encoded(drawing()), "a.png"),
        (pdf("Tea."), "a.pdf"),
        (b"Tea.", "a.txt"),
        (wav(), "a.wav"),
    ):
        assert await inspected(place, data, name) == Inspection()


async def test_a_pdf_without_text_is_a_scan(place):
    assert await inspected(place, scanned_pdf(), "a.pdf") == Inspection(scan=True)


@pytest.mark.parametrize(
    ("data", "name", "code"),
    [
        (b"", "empty.txt", "file_empty"),
        (b" \n\t\n", "blank.txt", "file_empty"),
        (bytes(range(256)) * 8, "data.bin", "file_unsupported"),
        (b"%PDF-1.7 nothing follows", "broken.pdf", "document_unreadable"),
        (locked_pdf(), "locked.pdf", "document_locked"),
        (b"Tea. " * 300_000, "long.txt", "document_too_long"),
        (encoded(drawing())[:60], "broken.png", "image_unreadable"),
    ],
)
async def test_what_no_model_can_be_given_says_why(place, data, name, code):
    found = await inspected(place, data, name)
    assert found.code == code
    assert found.message != ""


async def test_a_file_of_somebody_else_is_not_there(place):
    blob = await place.blobs.keep("ada", b"Tea.", name="a.txt")
    with pytest.raises(NotFound):
        await inspect(place.blobs, LIMITS, "bob", blob.hash)
