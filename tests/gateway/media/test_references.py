"""What a request names: files of every kind, and what is at web addresses, behind the guard of the tools."""

import pytest
from tests.support.sample_files import drawing, encoded, locked_pdf, pdf, recorded, scanned_pdf, wav
from tests.support.sample_videos import video
from tests.tools.test_pinned_transport import site

from duologue.config.settings import LimitSettings
from duologue.errors import Problem
from duologue.gateway.media.address_cache import SECONDS
from duologue.gateway.media.references import MediaReferences
from duologue.gateway.middleware.byte_ledger import ByteLedger, counted_by
from duologue.tools.ssrf_guard import AddressGuard, AllowList
from duologue.values.messages import AudioPart, ImagePart, TextPart, VideoPart
from duologue.values.requests import ModelCard
from duologue.wire.media_parts import MediaReference

pytestmark = pytest.mark.anyio

HERE = AddressGuard(AllowList(("127.0.0.1",)))
READS = ModelCard("reader", "scripted", 4096)
SEES = ModelCard("seer", "scripted", 4096, modalities=("text", "image"))
PNG = encoded(drawing())


async def read(
    reference: MediaReference, card: ModelCard = SEES, guard: AddressGuard | None = HERE, **limits
):
    found = await MediaReferences(LimitSettings(**limits), guard).read([reference], card, "ada")
    return list(found[reference.where])


async def refused(reference: MediaReference, **options) -> Problem:
    with pytest.raises(Problem) as info:
        await read(reference, **options)
    assert info.value.param == "here"
    assert info.value.message.startswith("here: ")
    return info.value


def file(data: bytes, name: str = "a") -> MediaReference:
    return MediaReference("here", "file", data, name=name)


async def test_a_file_is_what_its_bytes_are():
    assert await read(file(PNG)) == [ImagePart(PNG, "image/png")]
    clip = video(seconds=1)
    assert await read(file(clip)) == [VideoPart(clip, "video/mp4")]
    [sound] = await read(file(wav()))
    assert isinstance(sound, AudioPart)
    assert await read(file(b"x = 1\n", "a.py")) == [TextPart("\na.py:\n```\nx = 1\n```\n")]


async def test_a_pdf_is_its_text_or_its_pages():
    [text] = await read(file(pdf("some words"), "a.pdf"))
    assert "some words" in text.text
    pages = await read(file(scanned_pdf(2)))
    assert [type(page) for page in pages] == [ImagePart, ImagePart]
    assert (await refused(file(scanned_pdf()), card=READS)).code == "document_without_text"
    assert (await refused(file(locked_pdf()))).code == "document_locked"


async def test_a_recording_of_any_format_is_read():
    pytest.importorskip("av", reason="PyAV is not installed")
    [sound] = await read(MediaReference("here", "audio", recorded("audio/mpeg")))
    assert isinstance(sound, AudioPart)
    assert sound.rate == 16_000
    assert (await refused(MediaReference("here", "audio", b"hello"))).code in (
        "sound_unreadable",
        "sound_unsupported",
    )


async def test_what_nobody_can_read_has_a_code():
    assert (await refused(file(bytes(100)))).code == "file_unsupported"
    assert (await refused(file(b""))).code == "file_empty"


@pytest.mark.parametrize("kind", ["image", "file"])
async def test_an_address_is_fetched(kind):
    with site({"/a.png": (200, {"content-type": "text/html"}, PNG)}) as (port, _):
        reference = MediaReference("here", kind, url=f"http://127.0.0.1:{port}/a.png")
        assert await read(reference) == [ImagePart(PNG, "image/png")], "its bytes say what it is"


async def test_private_addresses_are_refused_and_none_are_fetched_where_that_is_switched_off():
    with site({"/a.png": (200, {}, PNG)}) as (port, asked):
        reference = MediaReference("here", "image", url=f"http://127.0.0.1:{port}/a.png")
        problem = await refused(reference, guard=AddressGuard(AllowList()))
        assert (problem.code, problem.status) == ("private_address", 403)
        assert (await refused(reference, media_address_mb=0)).code == "unsupported"
        assert (await refused(reference, guard=None)).code == "unsupported"
        assert not asked


async def test_a_redirect_into_a_private_network_is_refused():
    with site({"/a": (302, {"location": "http://10.0.0.1/secret"}, b"")}) as (port, _):
        reference = MediaReference("here", "image", url=f"http://127.0.0.1:{port}/a")
        assert (await refused(reference)).code == "private_address"


async def test_one_budget_of_bytes_holds_for_all_addresses_of_a_request():
    large = encoded(drawing()) + bytes(600_000)
    with site({"/a.png": (200, {}, large)}) as (port, _):
        url = f"http://127.0.0.1:{port}/a.png"
        references = MediaReferences(LimitSettings(media_address_mb=1), HERE)
        named = [MediaReference(where, "image", url=url) for where in ("one", "two")]
        assert len(await references.read(named[:1], SEES, "ada")) == 1
        with pytest.raises(Problem, match=r"limits\.media_address_mb") as info:
            await references.read(named, SEES, "ada")
        assert (info.value.code, info.value.param, info.value.status) == ("too_large", "two", 413)


async def test_an_address_is_fetched_once_for_the_turns_of_a_conversation():
    now = 0.0
    with site({"/a.png": (200, {}, PNG), "/b.png": (200, {"cache-control": "no-store"}, PNG)}) as (
        port,
        asked,
    ):
        references = MediaReferences(LimitSettings(), HERE, clock=lambda: now)

        async def again(name: str, user: str = "ada") -> int:
            named = MediaReference("here", "image", url=f"http://127.0.0.1:{port}/{name}")
            assert (await references.read([named], SEES, user))["here"] == [ImagePart(PNG, "image/png")]
            return len(asked)

        assert [await again("a.png"), await again("a.png")] == [1, 1]
        assert await again("a.png", "bob") == 2, "what others had fetched cannot be told"
        now = SECONDS
        assert [await again("a.png"), await again("b.png"), await again("b.png")] == [3, 4, 5]


async def test_what_was_fetched_counts_for_what_its_user_has_in_flight():
    ledger = ByteLedger(len(PNG) + 10)
    with site({"/a.png": (200, {}, PNG)}) as (port, _), counted_by(ledger.open("ada")):
        reference = MediaReference("here", "image", url=f"http://127.0.0.1:{port}/a.png")
        await read(reference)
        assert ledger.held("ada") == len(PNG)
        problem = await refused(reference)
        assert (problem.code, problem.status) == ("too_much_in_flight", 429)


async def test_what_is_not_there_is_an_error_of_the_address():
    with site({}) as (port, _):
        problem = await refused(MediaReference("here", "image", url=f"http://127.0.0.1:{port}/a"))
        assert (problem.code, problem.status) == ("fetch_failed", 503)
    assert (await refused(MediaReference("here", "image", url="http://" + "a" * 5000))).code == "bad_url"


async def test_a_stored_file_is_read_by_its_id():
    files = {"file-1": ("notes.txt", b"some words"), "file-2": ("a.pdf", pdf("more words"))}
    asked: list[tuple[str, str, int]] = []

    async def stored(user: str, id: str, most: int) -> tuple[str, bytes]:
        asked.append((user, id, most))
        return files[id]

    references = MediaReferences(LimitSettings(body_mb=1), stored=stored)
    named = [MediaReference(id, "file", stored=id) for id in files]
    found = await references.read(
        [*named, MediaReference("named", "file", name="b", stored="file-1")], READS, "ada"
    )
    assert found["file-1"] == [TextPart("\nnotes.txt:\n```\nsome words\n```\n")]
    [text] = found["file-2"]
    assert isinstance(text, TextPart)
    assert "more words" in text.text
    assert found["named"] == [TextPart("\nb:\n```\nsome words\n```\n")]
    assert asked[0] == ("ada", "file-1", 2**20)
    assert asked[1] == ("ada", "file-2", 2**20 - 10), "together they may have what a body may"


async def test_without_stored_files_an_id_is_refused():
    problem = await refused(MediaReference("here", "file", stored="file-1"))
    assert problem.code == "unsupported"
