"""What a file becomes in a message, and what models get of it: those that see, those that hear, those that only read."""

import pytest
from tests.support.kept_files import Kept, kept
from tests.support.sample_files import (
    HEIC,
    drawing,
    encoded,
    locked_pdf,
    opened,
    pdf,
    recorded,
    scanned_pdf,
    svg,
    turned,
    wav,
)
from tests.support.sample_videos import video

from duologue.config.settings import LimitSettings
from duologue.conversations.files.attachments import Attachments
from duologue.errors import BadRequest, NotFound, Problem, TooLarge, Unsupported
from duologue.values.conversations import (
    AudioContent,
    DocumentContent,
    ImageContent,
    ResourceContent,
    StoredMessage,
    StoredToolCall,
    TextContent,
    VideoContent,
)
from duologue.values.messages import AudioPart, ImagePart, TextPart, ToolCall, VideoPart
from duologue.values.requests import ModelCard

READS = ModelCard("reader", "scripted", 4096)
SEES = ModelCard("seer", "scripted", 4096, modalities=("text", "image"))
HEARS = ModelCard("hearer", "scripted", 4096, modalities=("text", "audio", "video"))
MP4 = video(seconds=1)
PNG = encoded(drawing())


@pytest.fixture
async def place(tmp_path, anyio_backend):
    async with kept(tmp_path / "blobs") as place:
        yield place


@pytest.fixture
def attachments(place: Kept) -> Attachments:
    return Attachments(place.blobs, LimitSettings(document_pages=3))


@pytest.fixture
def attach(place: Kept, attachments: Attachments):
    """Keep a file and make content of it."""

    async def attach(data: bytes, name: str = "", **options):
        blob = await place.blobs.keep("ada", data, name=name)
        return await attachments.content("ada", blob.hash, **options)

    return attach


def row(role: str, *content, id: str = "m", **fields) -> StoredMessage:
    return StoredMessage(id, "c", None, role, content, **fields)  # type: ignore[arg-type]


async def parts(attachments: Attachments, card: ModelCard | None, *content, role: str = "user"):
    (message,) = await attachments.messages("ada", [row(role, *content)], card)
    return message.parts


@pytest.mark.anyio
async def test_a_picture_that_is_right_is_given_as_it_is(attach, attachments):
    content = await attach(PNG, "cat.png")
    assert content == ImageContent(content.blob, "image/png", "cat.png", "", 64, 48)
    assert await parts(attachments, SEES, content) == (ImagePart(PNG, "image/png"),)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("data", "mime", "size", "given"),
    [
        (HEIC, "image/heic", (64, 48), "image/jpeg"),
        (turned(), "image/jpeg", (48, 64), "image/jpeg"),
        (encoded(drawing(), "WEBP"), "image/webp", (64, 48), "image/jpeg"),
        (svg("<rect/>"), "image/svg+xml", (20, 10), "image/png"),
    ],
)
async def test_any_other_picture_is_made_into_one_a_model_takes(attach, attachments, data, mime, size, given):
    content = await attach(data)
    assert (content.mime, content.width, content.height) == (mime, *size)
    assert content.shown != content.blob
    (part,) = await parts(attachments, SEES, content)
    assert part.mime == given
    assert opened(part.data).format == given.removeprefix("image/").upper()


@pytest.mark.anyio
async def test_a_large_picture_is_scaled_to_the_cap(place):
    attachments = Attachments(place.blobs, LimitSettings(image_megapixels=0.1))
    blob = await place.blobs.keep("ada", encoded(drawing(800, 400)))
    content = await attachments.content("ada", blob.hash)
    assert (content.width, content.height) == (800, 400)
    (part,) = await parts(attachments, SEES, content)
    assert opened(part.data).width * opened(part.data).height <= 100_000


@pytest.mark.anyio
async def test_a_text_file_is_given_in_a_fence_under_its_name(attach, attachments):
    content = await attach(b"a = 1\n", "sums.py")
    assert content == DocumentContent(content.blob, "text/plain", "sums.py", content.blob)
    assert await parts(attachments, READS, content) == (TextPart("sums.py:\n```\na = 1\n```"),)


@pytest.mark.anyio
async def test_a_text_in_an_old_encoding_is_read(attach, attachments):
    content = await attach("Grüße\r\naus Köln\r\n".encode("cp1252"), "alt.txt")
    assert content.text != content.blob
    assert await parts(attachments, READS, content) == (TextPart("alt.txt:\n```\nGrüße\naus Köln\n```"),)


@pytest.mark.anyio
async def test_a_fence_is_longer_than_any_within(attach, attachments):
    content = await attach(b"```\ncode\n````\n", "notes.md")
    (part,) = await parts(attachments, READS, content)
    assert part.text == "notes.md:\n`````\n```\ncode\n````\n`````"


@pytest.mark.anyio
async def test_words_and_files_keep_their_distance(attach, attachments):
    one, two = await attach(b"1", "a.txt"), await attach(b"2", "b.txt")
    said = await parts(
        attachments, READS, TextContent("Add "), TextContent("these:"), one, two, TextContent("Now.")
    )
    assert said == (TextPart("Add these:\n\na.txt:\n```\n1\n```\n\nb.txt:\n```\n2\n```\n\nNow."),)


@pytest.mark.anyio
async def test_a_pdf_is_given_as_its_text(attach, attachments):
    content = await attach(pdf("Hello", "World"), "paper.pdf", card=SEES)
    assert (content.given, content.pages) == ("text", ())
    (part,) = await parts(attachments, SEES, content)
    assert part.text == "paper.pdf:\n```\n[Page 1]\nHello\n\n[Page 2]\nWorld\n```"


@pytest.mark.anyio
async def test_a_pdf_can_be_given_as_its_pages(attach, attachments):
    content = await attach(pdf("Hello", "World"), "paper.pdf", given="pages")
    assert (content.given, len(content.pages)) == ("pages", 2)
    told, *pages = await parts(attachments, SEES, content)
    assert told == TextPart("[paper.pdf: 2 pages as pictures]")
    assert [opened(page.data).size for page in pages] == [(918, 1188)] * 2


@pytest.mark.anyio
async def test_of_many_pages_the_first_are_given_and_it_is_said(attach, attachments):
    content = await attach(pdf(*"abcde"), "book.pdf", given="pages")
    assert len(content.pages) == 3
    told = (await parts(attachments, SEES, content))[0]
    assert told == TextPart("[book.pdf: the first 3 of 5 pages as pictures]")


@pytest.mark.anyio
async def test_pages_are_text_again_for_a_model_that_cannot_see(attach, attachments):
    content = await attach(pdf("Hello"), "paper.pdf", given="pages")
    assert await parts(attachments, READS, content) == (TextPart("paper.pdf:\n```\nHello\n```"),)


@pytest.mark.anyio
@pytest.mark.parametrize("card", [SEES, None])
@pytest.mark.parametrize("given", [None, "text", "pages"])
async def test_a_scan_is_given_as_its_pages(attach, card, given):
    content = await attach(scanned_pdf(2), "scan.pdf", given=given, card=card)
    assert (content.given, len(content.pages), content.text) == ("pages", 2, "")


@pytest.mark.anyio
async def test_a_scan_for_a_model_that_cannot_see_is_refused_with_a_sentence(attach):
    with pytest.raises(
        Unsupported, match=r"scan\.pdf: The PDF has no text in it.*reader cannot see"
    ) as refused:
        await attach(scanned_pdf(), "scan.pdf", card=READS)
    assert refused.value.code == "document_without_text"


@pytest.mark.anyio
async def test_sound_is_given_as_samples(attach, attachments):
    content = await attach(wav(44_100, channels=2, seconds=1.5), "voice.wav")
    assert content == AudioContent(content.blob, "audio/wav", "voice.wav", 1500)
    (part,) = await parts(attachments, HEARS, content)
    assert isinstance(part, AudioPart)
    assert (part.rate, len(part.data)) == (16_000, 4 * 24_000)


@pytest.mark.anyio
async def test_compressed_sound_that_cannot_be_read_is_refused_by_its_name(attach):
    # Without PyAV the sentence names the package that is missing.
    with pytest.raises(BadRequest, match=r"^song.mp3: ") as refused:
        await attach(b"ID3\x04\0\0\0\0\0\0" + bytes(100), "song.mp3")
    assert refused.value.code in ("sound_unreadable", "sound_unsupported")


@pytest.mark.anyio
async def test_compressed_sound_reaches_a_model_that_hears(attach, attachments):
    pytest.importorskip("av", reason="PyAV is not installed: compressed sound is not tested")
    content = await attach(recorded("audio/flac"), "song.flac")
    assert content == AudioContent(content.blob, "audio/flac", "song.flac", 500)
    (part,) = await parts(attachments, HEARS, content)
    assert isinstance(part, AudioPart)
    assert (part.rate, len(part.data)) == (16_000, 4 * 8000)


@pytest.mark.anyio
async def test_a_video_is_given_to_models_that_see_and_sound_where_it_is_written_down(attach, place):
    clip, sound = await attach(MP4, "clip.mp4"), await attach(wav(), "said.wav")
    sees, reads = (Attachments(place.blobs, LimitSettings(), hears=lambda: True) for _ in range(2))
    sees.check([clip, sound], SEES)
    reads.check([sound], READS)
    assert isinstance((await parts(reads, READS, sound))[0], AudioPart), "the gateway makes text of it"
    assert isinstance((await parts(sees, SEES, clip))[0], VideoPart), "the gateway makes frames of it"


async def test_a_browsers_recording_of_sound_alone_is_sound(attach):
    content = await attach(video("video/webm", 1, pictures=False), "note.webm")
    assert isinstance(content, AudioContent)


async def test_a_video_that_cannot_be_read_is_refused_with_its_name(attach, place):
    with pytest.raises(BadRequest, match=r"half\.mp4: The video is broken") as info:
        await attach(MP4[: len(MP4) // 3], "half.mp4")
    assert info.value.code == "video_unreadable"
    short = Attachments(place.blobs, LimitSettings(video_minutes=1 / 600))
    blob = await place.blobs.keep("ada", video(seconds=2), name="long.mp4")
    with pytest.raises(TooLarge) as long:
        await short.content("ada", blob.hash)
    assert long.value.code == "video_too_long"


async def test_video_is_given_to_models_that_take_it(attach, attachments):
    content = await attach(MP4, "clip.mp4")
    assert content == VideoContent(content.blob, "video/mp4", "clip.mp4")
    assert await parts(attachments, HEARS, content) == (VideoPart(MP4, "video/mp4"),)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("data", "name", "kind", "code"),
    [
        (b"PK\x03\x04", "a.docx", BadRequest, "file_unsupported"),
        (b"\x89PNG\r\n\x1a\nbroken", "a.png", BadRequest, "image_unreadable"),
        (locked_pdf(), "a.pdf", BadRequest, "document_locked"),
        (b"%PDF-1.4", "a.pdf", BadRequest, "document_unreadable"),
        (b"RIFF1234WAVE", "a.wav", BadRequest, "sound_unreadable"),
        (b"x" * (2**20 + 1), "a.txt", TooLarge, "document_too_long"),
    ],
)
async def test_what_cannot_be_given_is_refused_naming_the_file(attach, data, name, kind, code):
    with pytest.raises(kind, match=f"^{name}: ") as refused:
        await attach(data, name)
    assert refused.value.code == code


@pytest.mark.anyio
async def test_another_users_file_cannot_be_attached(place, attachments):
    blob = await place.blobs.keep("ada", PNG)
    with pytest.raises(NotFound):
        await attachments.content("bob", blob.hash)


@pytest.mark.anyio
async def test_the_same_file_becomes_the_same_content(attach):
    assert await attach(HEIC, "a.heic") == await attach(HEIC, "a.heic")
    assert await attach(pdf("a", "b"), "a.pdf", given="pages") == await attach(
        pdf("a", "b"), "a.pdf", given="pages"
    )


@pytest.mark.anyio
async def test_a_temporary_chat_leaves_nothing_on_the_disk(place):
    attachments = Attachments(place.blobs, LimitSettings(), temporary=True)
    blob = await place.blobs.keep("ada", pdf("Hello"), name="a.pdf", temporary=True)
    content = await attachments.content("ada", blob.hash, given="pages")
    assert (await parts(attachments, SEES, content))[1:]
    assert place.files() == []


@pytest.mark.anyio
async def test_a_new_message_with_what_the_model_takes_is_fine(attach, attachments):
    attachments.check(
        [TextContent("Hi"), await attach(b"a", "a.txt"), await attach(pdf("x"), "a.pdf")], READS
    )
    attachments.check([await attach(PNG, "cat.png")], SEES)
    attachments.check([await attach(PNG, "cat.png")], None)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("data", "name", "given", "sentence"),
    [
        (PNG, "cat.png", None, "cat.png is a picture, but the model reader takes text; choose another model or leave the file out."),
        (wav(), "hi.wav", None, "hi.wav is sound, but"),
        (MP4, "clip.mp4", None, "clip.mp4 is a video, but"),
        (pdf("a"), "a.pdf", "pages", "a.pdf would be given as pictures of its pages.*attach it as text"),
        (scanned_pdf(), "a.pdf", None, "a.pdf would be given as pictures.*choose a model that takes pictures"),
    ],
)  # fmt: skip
async def test_a_new_message_with_what_it_cannot_take_is_refused(
    attach, attachments, data, name, given, sentence
):
    content = await attach(data, name, given=given)
    with pytest.raises(Unsupported, match=sentence) as refused:
        attachments.check([TextContent("Look"), content], READS)
    assert refused.value.code == "modality_unsupported"


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("data", "name", "note"),
    [
        (PNG, "cat.png", "[image cat.png: not shown: this model cannot take it]"),
        (wav(), "hi.wav", "[audio hi.wav: not shown: this model cannot take it]"),
        (MP4, "clip.mp4", "[video clip.mp4: not shown: this model cannot take it]"),
        (scanned_pdf(), "a.pdf", "[document a.pdf: not shown: this model cannot take it]"),
    ],
)
async def test_an_old_file_the_model_cannot_take_is_a_note(attach, attachments, data, name, note):
    content = await attach(data, name)
    assert await parts(attachments, READS, content, TextContent("What is this?")) == (
        TextPart(f"{note}\n\nWhat is this?"),
    )


@pytest.mark.anyio
async def test_a_file_that_is_gone_is_a_note(attach, attachments, place):
    content = await attach(PNG, "cat.png")
    for path in place.files():
        path.unlink()
    assert await parts(attachments, SEES, content) == (TextPart("[image cat.png: the file is gone]"),)


@pytest.mark.anyio
async def test_a_tools_picture_stays_in_its_result(attach, attachments):
    picture = await attach(PNG, "plot.png")
    rows = [
        row("user", TextContent("Plot it")),
        row("assistant", reasoning="I plot.", tool_calls=(StoredToolCall("1", "plot", '{"x": 1}'),)),
        row("tool", TextContent("Here:"), picture, tool_call_id="1"),
    ]
    _, asked, result = await attachments.messages("ada", rows, SEES)
    assert (asked.reasoning, asked.tool_calls) == ("I plot.", (ToolCall("1", "plot", '{"x": 1}'),))
    assert (result.role, result.tool_call_id, result.name) == ("tool", "1", "plot")
    assert result.parts == (TextPart("Here:"), ImagePart(PNG, "image/png"))


@pytest.mark.anyio
async def test_a_resource_is_given_as_it_was_read(attachments):
    resource = ResourceContent("notes", "note://1", "First", "text/plain", "Buy milk")
    assert await parts(attachments, READS, resource) == (TextPart("First note://1:\n```\nBuy milk\n```"),)


@pytest.mark.anyio
async def test_a_resources_file_is_given_if_it_is_this_users(place, attachments):
    mine = (await place.blobs.keep("ada", PNG)).hash
    others = (await place.blobs.keep("bob", encoded(drawing(10, 10)))).hash
    assert await parts(attachments, SEES, ResourceContent("s", "pic://1", blob=mine)) == (
        ImagePart(PNG, "image/png"),
    )
    refused = await parts(attachments, SEES, ResourceContent("s", "pic://2", blob=others))
    assert refused == (TextPart("[resource pic://2: the file is gone]"),)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("data", "mime", "kind"),
    [
        (PNG, "image/png", ImageContent),
        (wav(), "audio/wav", AudioContent),
        (b"ID3\x04\0\0\0\0\0\0", "audio/mpeg", AudioContent),
        (b"hello", "text/plain", DocumentContent),
        (b"PK\x03\x04", "application/zip", ResourceContent),
        (b"\x89PNG\r\n\x1a\nbroken", "image/png", ResourceContent),
    ],
)
async def test_whatever_a_tool_gives_is_kept(attachments, place, data, mime, kind):
    content = await attachments.keep("ada", data, "result", mime)
    assert isinstance(content, kind)
    assert await place.blobs.read(content.blob) == data
    assert await parts(attachments, SEES, content)


@pytest.mark.anyio
async def test_a_busy_server_is_not_a_broken_file(attach, attachments, monkeypatch):
    content = await attach(wav(), "hi.wav")

    async def busy(*_, **__):
        raise Problem("Too much to do.", code="files_busy", status=429)

    monkeypatch.setattr("duologue.conversations.files.attachments.decode", busy)
    with pytest.raises(Problem, match="Too much to do"):
        await parts(attachments, HEARS, content)


@pytest.mark.anyio
async def test_a_plain_chat_is_plain(attachments):
    rows = [
        row("system", TextContent("Be brief.")),
        row("user", TextContent("Hi")),
        row("assistant", TextContent("Hello")),
    ]
    messages = await attachments.messages("ada", rows, READS)
    assert [(message.role, message.text) for message in messages] == [
        ("system", "Be brief."),
        ("user", "Hi"),
        ("assistant", "Hello"),
    ]
