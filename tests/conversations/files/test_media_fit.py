"""What the page is told a model will get of a file, before it is sent."""

import pytest
from tests.support.kept_files import Kept, kept
from tests.support.sample_files import drawing, encoded, pdf, scanned_pdf, wav
from tests.support.sample_videos import video

from duologue.config.settings import LimitSettings
from duologue.conversations.files.media_fit import MediaFit, media_fit
from duologue.errors import NotFound
from duologue.values.requests import ModelCard

READS = ModelCard("reader", "scripted", 4096)
SEES = ModelCard("seer", "scripted", 4096, modalities=("text", "image"))
ALL = ModelCard("omni", "scripted", 4096, modalities=("text", "image", "audio"))
FILMS = ModelCard("films", "scripted", 4096, modalities=("text", "image", "video"))

pytestmark = pytest.mark.anyio


@pytest.fixture
async def place(tmp_path, anyio_backend):
    async with kept(tmp_path / "blobs") as place:
        yield place


@pytest.fixture
def fit(place: Kept):
    async def fit(data: bytes, card: ModelCard, *, hears: bool = False, **limits) -> MediaFit:
        blob = await place.blobs.keep("ada", data, name="file")
        return await media_fit(place.blobs, LimitSettings(**limits), "ada", blob.hash, card, hears=hears)

    return fit


async def test_a_video_becomes_frames_for_a_model_that_sees(fit):
    clip = video(seconds=3)
    assert await fit(clip, SEES) == MediaFit("video", "frames", 3.0, 64, 48, 3, 64 * 48, tokens=3 * 256)
    assert (await fit(clip, ALL)).became == "frames_and_sound"
    assert (await fit(video(sound=False), ALL)).became == "frames"
    assert (await fit(clip, FILMS)).became == "kept"
    assert (await fit(clip, SEES, video_frames=2)).frames == 2


async def test_what_the_model_takes_in_no_form_is_refused_with_the_one_code(fit):
    for data in (video(), encoded(drawing()), wav()):
        refused = await fit(data, READS)
        assert (refused.became, refused.code) == ("refused", "modality_unsupported")
        assert "reader takes text" in refused.message


async def test_sound_becomes_text_where_there_is_a_recogniser(fit):
    said = await fit(wav(), READS, hears=True)
    assert (said.kind, said.became) == ("audio", "text")
    heard = await fit(wav(), ALL, hears=True)
    assert (heard.became, heard.seconds > 0, heard.tokens > 0) == ("kept", True, True)
    assert heard.most_seconds > heard.seconds
    note = video("video/webm", 1, pictures=False)
    assert (await fit(note, READS, hears=True)).became == "text", "a browser's recording of sound alone"
    assert (await fit(note, READS)).code == "modality_unsupported"


async def test_sound_that_the_prompt_has_no_room_for_is_told(fit):
    long = await fit(wav(), ALL, sound_minutes=0.001 / 60)
    assert (long.became, long.code, long.seconds > 0) == ("refused", "sound_too_long", True)
    assert "limits.sound_minutes" in long.message
    assert (await fit(video(seconds=3), ALL, sound_minutes=2 / 60)).became == "frames"


async def test_a_large_picture_is_told_to_be_made_smaller(fit):
    picture = encoded(drawing(640, 480))
    small = await fit(picture, SEES, image_megapixels=0.1)
    assert (small.became, small.width, small.height) == ("resized", 640, 480)
    assert small.pixels <= 100_000
    assert (await fit(picture, SEES)).became == "kept"


async def test_documents_are_text_or_pages(fit):
    assert (await fit(b"some words", READS)).became == "text"
    text = await fit(pdf("some words"), READS)
    assert (text.kind, text.became, text.tokens > 0) == ("document", "text", True)
    assert await fit(scanned_pdf(2), SEES) == MediaFit("document", "frames", frames=2)
    assert (await fit(bytes(100), SEES)).code == "file_unsupported"


async def test_a_file_that_cannot_be_read_tells_its_code(fit, place):
    clip = video()
    assert (await fit(clip[: len(clip) // 3], SEES)).code == "video_unreadable"
    assert (await fit(clip, SEES, video_minutes=1 / 60)).code == "video_too_long"
    with pytest.raises(NotFound):
        await media_fit(place.blobs, LimitSettings(), "ada", "0" * 64, SEES, hears=False)
