"""Files made to take endless time, memory or stack: at most their decoder ends, and the next file is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.support import hostile_jobs as jobs
from tests.support.hostile_files import DOCUMENTS, DRAWINGS, LAYERS, PICTURES
from tests.support.sample_files import HEIC, drawing, encoded, pdf, svg

from duologue.decoder import service
from duologue.decoder.service import decode
from duologue.errors import BadRequest, Problem, TooLarge
from duologue.media import documents, images

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).resolve().parents[2]
ENDLESS_DRAWINGS = ("layers", "patterns", "clip paths", "masked")
"""Those that the renderer does not refuse by itself."""
ENDLESS_DOCUMENTS = ("forms", "fills")


@pytest.fixture(scope="module", autouse=True)
def decoder_finds_the_tests() -> object:
    """One fork server for all of these tests, which finds the jobs in tests/."""
    service.close()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        yield
    service.close()


async def outcome(job: Callable[[bytes], object], data: bytes) -> str:
    """ "read", or the code of the refusal; then the next file is read."""
    try:
        await decode(job, data)
        code = "read"
    except (BadRequest, TooLarge) as problem:
        code = problem.code
    assert (await decode(images.thumbnail, encoded(drawing()), 64)).width == 64
    return code


async def test_the_drawing_that_ended_the_server_ends_its_decoder(caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(BadRequest, match="cannot be read") as refused:
        await decode(images.thumbnail, LAYERS, 256)
    assert refused.value.code in ("file_breaks_reader", "file_too_complex")
    assert len(caplog.records) == 1


@pytest.mark.parametrize("name", DRAWINGS)
async def test_a_drawing_is_drawn_or_refused(name: str) -> None:
    await outcome(jobs.thumbnail, DRAWINGS[name])


@pytest.mark.parametrize("name", ENDLESS_DRAWINGS)
async def test_a_drawing_without_end_ends_its_decoder_also_unchecked(name: str) -> None:
    ended = ("file_breaks_reader", "file_too_complex")
    assert await outcome(jobs.unchecked_drawing, DRAWINGS[name]) in ended


@pytest.mark.parametrize("name", DOCUMENTS)
async def test_a_document_is_read_or_refused(name: str) -> None:
    await outcome(jobs.page, DOCUMENTS[name])
    await outcome(jobs.text, DOCUMENTS[name])


@pytest.mark.parametrize("name", ENDLESS_DOCUMENTS)
async def test_a_document_without_end_ends_its_decoder_also_unchecked(name: str) -> None:
    assert await outcome(jobs.unchecked_page, DOCUMENTS[name]) == "file_too_complex"


@pytest.mark.parametrize("name", PICTURES)
async def test_a_picture_is_shown_or_refused(name: str) -> None:
    data = PICTURES[name]()
    try:
        assert max((await decode(images.thumbnail, data, 64)).width, 1) <= 64
    except Problem as problem:
        assert problem.code in ("image_unreadable", "image_too_large")  # noqa: PT017
    assert (await decode(documents.thumbnail, pdf("Hello"), 64)).height == 64


@pytest.mark.parametrize(
    "data", [encoded(drawing()), encoded(drawing(), "JPEG"), HEIC, svg("<rect/>"), pdf("Hello")]
)
async def test_a_child_imports_nothing(data: bytes) -> None:
    assert await decode(jobs.imports, data) == []
