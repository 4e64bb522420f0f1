"""What becomes of pictures, sounds and videos for models that see, hear, or only read."""

from array import array

import pytest
from tests.gateway.fake_voice_worker import Seats
from tests.support.sample_files import drawing, encoded, opened
from tests.support.sample_videos import video

from duologue.errors import BadRequest, TooLarge, Unsupported
from duologue.gateway.media.fitter import NOT_UNDERSTOOD, UNHEARD, MediaFitter
from duologue.gateway.speech.service import SpeechService
from duologue.values.events import Fitted, FittingNote
from duologue.values.fitting import MediaBudget
from duologue.values.messages import (
    AudioPart,
    ImagePart,
    Message,
    TextPart,
    VideoPart,
    assistant,
    system,
    user,
)
from duologue.values.requests import ChatRequest, MediaOptions, ModelCard
from duologue.values.speech import TranscribedPart

pytestmark = pytest.mark.anyio

READS = ModelCard("mini", "scripted", 0)
SEES = ModelCard("seer", "scripted", 0, modalities=("text", "image"))
HEARS = ModelCard("hearer", "scripted", 0, modalities=("text", "audio"))
OMNI = ModelCard("omni", "scripted", 0, modalities=("text", "image", "audio"))
FILMS = ModelCard("films", "scripted", 0, modalities=("text", "image", "video"))


def sound(value: float = 0.5, rate: int = 16_000) -> AudioPart:
    return AudioPart(array("f", [value] * (rate // 10)).tobytes(), rate)


def of(*parts, **fields) -> ChatRequest:
    return ChatRequest((user("before"), Message("user", parts)), **fields)


def deaf_server() -> MediaFitter:
    return MediaFitter(SpeechService(None))


async def fitted(card, request, fitter=None):
    fit = await (fitter or deaf_server()).fit(card, request)
    return fit.request.messages[-1].parts, fit.fitted, fit.request


# Sound


async def test_what_was_said_stands_where_the_sound_was():
    fitter = MediaFitter(SpeechService(Seats("hello there")))
    parts, told, _ = await fitted(READS, of(TextPart("Listen:"), sound(), TextPart("Well?")), fitter)
    assert parts == (TextPart("Listen:"), TextPart("\nhello there"), TextPart("\nWell?"))
    assert told.transcripts == (TranscribedPart(1, 1, "hello there"),)
    assert told.notes == (FittingNote("messages[1].content[1]", "audio", "text", seconds=0.1),)


async def test_sound_is_heard_as_16_bit_sound_at_16_khz_and_once():
    seats = Seats("one", "two")
    fitter = MediaFitter(SpeechService(seats))
    for _ in range(2):
        await fitted(READS, of(sound(0.5), sound(0.25, 48_000)), fitter)
    assert [len(request.pcm) for request in seats.requests] == [3200, 3200]
    assert array("h", seats.requests[1].pcm)[800] == pytest.approx(8192, abs=2)


async def test_what_was_not_understood_is_said_to_the_model_too():
    parts, told, _ = await fitted(READS, of(sound()), MediaFitter(SpeechService(Seats(""))))
    assert parts == (TextPart(NOT_UNDERSTOOD),)
    assert told.transcripts == (TranscribedPart(1, 0, "", False),)


async def test_a_model_that_hears_gets_the_sound_at_16_khz():
    parts, told, _ = await fitted(HEARS, of(sound(), sound(rate=48_000)))
    assert parts[0] == sound()
    assert isinstance(parts[1], AudioPart)
    assert (parts[1].rate, len(parts[1].data)) == (16_000, 6400)
    assert told == Fitted()


async def test_a_sample_of_a_voice_is_left_out_and_never_written_down():
    seats = Seats("never")
    request = ChatRequest(
        (Message("system", (TextPart("Be kind."), sound(), TextPart("Speak like this."))), user("hi"))
    )
    for card in (READS, OMNI):
        fit = await MediaFitter(SpeechService(seats)).fit(card, request)
        assert fit.request.messages[0].text == "Be kind.\nSpeak like this."
        assert fit.request.messages[0].modalities == {"text"}
        assert fit.fitted.notes == (FittingNote("messages[0].content[1]", "audio", "left_out"),)
    alone = ChatRequest((Message("system", (sound(),)), user("hi")))
    assert (await MediaFitter(SpeechService(seats)).fit(READS, alone)).request.messages == (user("hi"),)
    assert seats.requests == []


async def test_sound_of_earlier_turns_gives_way_as_words_or_as_a_note():
    spoken = [Message("user", (sound(value),)) for value in (0.1, 0.2, 0.3)]
    talk = ChatRequest((spoken[0], assistant("a"), spoken[1], assistant("b"), spoken[2]))
    tight = MediaBudget(sound_minutes=0.25 / 60)
    seats = Seats("good morning")
    fit = await MediaFitter(SpeechService(seats), tight).fit(HEARS, talk)
    assert fit.request.messages[0].parts == (TextPart("good morning"),)
    assert fit.request.messages[1:] == talk.messages[1:], "the newer two have room"
    where = "messages[0].content[0]"
    assert fit.fitted.notes == (FittingNote(where, "audio", "text", seconds=0.1),)
    deaf = await MediaFitter(SpeechService(None), tight).fit(HEARS, talk)
    assert deaf.request.messages[0].parts == (TextPart(UNHEARD),)
    assert deaf.fitted.notes == (FittingNote(where, "audio", "left_out", seconds=0.1),)


async def test_more_sound_at_hand_than_the_prompt_has_room_for_is_refused():
    tight = MediaFitter(SpeechService(Seats("never")), MediaBudget(sound_minutes=0.15 / 60))
    with pytest.raises(TooLarge, match=r"limits\.sound_minutes") as info:
        await fitted(HEARS, of(sound(), sound()), tight)
    assert (info.value.code, info.value.param) == ("sound_too_long", "messages[1].content[1]")
    words, _, _ = await fitted(READS, of(sound()), tight)
    assert words == (TextPart("never"),), "sound that is written down takes no room"


# Pictures


async def test_a_picture_is_kept_where_it_is_small_enough_and_told_where_it_was_made_smaller():
    small, large = encoded(drawing()), encoded(drawing(640, 480))
    parts, told, _ = await fitted(SEES, of(ImagePart(small, "image/png")))
    assert (parts, told) == ((ImagePart(small, "image/png"),), Fitted())
    tight = MediaFitter(SpeechService(None), MediaBudget(image_megapixels=0.1))
    parts, told, _ = await fitted(SEES, of(ImagePart(large, "image/png")), tight)
    assert opened(parts[0].data).width < 640
    assert told.notes == (FittingNote("messages[1].content[0]", "image", "resized", 1),)


async def test_a_picture_of_low_detail_is_made_small_and_the_others_are_kept():
    data = encoded(drawing(800, 600))
    pictures = [ImagePart(data, "image/png", detail) for detail in ("low", "high", "")]
    parts, told, _ = await fitted(SEES, of(*pictures))
    low = opened(parts[0].data)
    assert low.width * low.height <= 512 * 512 < 800 * 600
    assert parts[1:] == tuple(pictures[1:])
    assert [part.detail for part in parts] == ["low", "high", ""]
    assert told.notes == (FittingNote("messages[1].content[0]", "image", "resized", 1),)


async def test_many_pictures_share_the_pixels_of_a_request():
    tight = MediaFitter(SpeechService(None), MediaBudget(request_megapixels=0.2))
    parts, _, _ = await fitted(SEES, of(*[ImagePart(encoded(drawing(640, 480)))] * 2), tight)
    assert sum(opened(part.data).width * opened(part.data).height for part in parts) <= 200_000


async def test_a_webp_becomes_what_every_engine_reads():
    parts, told, _ = await fitted(SEES, of(ImagePart(encoded(drawing(), "WEBP"), "image/webp")))
    assert parts[0].mime in ("image/png", "image/jpeg")
    assert told == Fitted()


async def test_a_picture_that_is_none_is_refused_by_its_place():
    with pytest.raises(BadRequest, match=r"messages\[1\]\.content\[1\]: The picture cannot be read") as info:
        await fitted(SEES, of(TextPart("look"), ImagePart(b"\xff\xd8\xff nonsense")))
    assert (info.value.code, info.value.param) == ("image_unreadable", "messages[1].content[1]")


# Videos


async def test_a_video_is_frames_for_a_model_that_sees():
    clip = VideoPart(video(seconds=2))
    parts, told, _ = await fitted(SEES, of(TextPart("What is it?"), clip))
    assert [type(part) for part in parts] == [TextPart, TextPart, ImagePart, ImagePart]
    assert parts[1] == TextPart("\n[A video of 2 s, as 2 pictures in order, without its sound]")
    assert told.notes == (FittingNote("messages[1].content[1]", "video", "frames", 2, 2.0),)


async def test_a_model_is_told_of_a_videos_sound_only_where_there_is_some_that_it_does_not_get():
    silent, _, _ = await fitted(SEES, of(VideoPart(video(seconds=2, sound=False))))
    heard, _, _ = await fitted(OMNI, of(VideoPart(video(seconds=2))))
    assert silent[0] == heard[0] == TextPart("[A video of 2 s, as 2 pictures in order]")


async def test_a_video_is_frames_and_sound_for_one_that_hears_too():
    clip = VideoPart(video(seconds=2))
    parts, told, _ = await fitted(OMNI, of(clip))
    assert [type(part) for part in parts] == [TextPart, ImagePart, ImagePart, AudioPart]
    assert len(parts[3].data) == pytest.approx(4 * 32_000, rel=0.05)
    assert told.notes[0].became == "frames_and_sound"


async def test_a_video_whose_sound_has_no_room_is_frames():
    tight = MediaFitter(SpeechService(None), MediaBudget(sound_minutes=1 / 60))
    parts, told, _ = await fitted(OMNI, of(VideoPart(video(seconds=2))), tight)
    assert [type(part) for part in parts] == [TextPart, ImagePart, ImagePart]
    assert told.notes[0].became == "frames"


async def test_frames_and_sound_alternate_where_that_is_asked():
    request = of(VideoPart(video(seconds=2)), media=MediaOptions(interleave=True))
    parts, _, changed = await fitted(OMNI, request)
    assert [type(part) for part in parts] == [ImagePart, AudioPart] * 2
    assert not changed.media.interleave, "it was applied, and no engine has to name it"
    _, _, silent = await fitted(SEES, request)
    assert silent.media.interleave, "there was nothing to alternate with: the engine names it"


async def test_frames_a_second_and_stacks_are_as_asked():
    faster, told, _ = await fitted(SEES, of(VideoPart(video(seconds=2), frame_rate=2.0)))
    assert told.notes[0].count == 4
    assert len(faster) == 5
    request = of(VideoPart(video(seconds=2), stack_frames=3), media=MediaOptions(interleave=True))
    stacked, _, _ = await fitted(OMNI, request)
    assert [type(part) for part in stacked] == [ImagePart, AudioPart, ImagePart] * 2
    assert opened(stacked[2].data).width == 2 * opened(stacked[0].data).width


async def test_a_model_that_takes_videos_gets_the_file():
    clip = VideoPart(video(seconds=1), stack_frames=2)
    parts, told, _ = await fitted(FILMS, of(clip))
    assert (parts, told) == ((clip,), Fitted())


async def test_a_video_is_read_once_for_all_turns(monkeypatch):
    fitter, clip = deaf_server(), VideoPart(video(seconds=1))
    first, _, _ = await fitted(SEES, of(clip), fitter)
    monkeypatch.setattr("duologue.gateway.media.fitter.decode_stream", None)
    monkeypatch.setattr("duologue.gateway.media.fitter.decode", None)
    again, _, _ = await fitted(SEES, of(clip), fitter)
    assert again == first


async def test_what_nothing_can_be_made_of_is_refused_with_the_one_code():
    for card, part in (
        (READS, VideoPart(b"x")),
        (HEARS, VideoPart(b"x")),
        (READS, sound()),
        (READS, ImagePart(b"")),
    ):
        with pytest.raises(Unsupported) as info:
            await fitted(card, of(part))
        assert (info.value.code, info.value.param) == ("modality_unsupported", "messages[1].content[0]")


async def test_a_bad_video_has_its_code_and_an_old_one_does_not_end_a_conversation():
    whole = video()
    broken = VideoPart(whole[: len(whole) // 3])
    with pytest.raises(BadRequest) as info:
        await fitted(SEES, of(broken))
    assert (info.value.code, info.value.param) == ("video_unreadable", "messages[1].content[0]")
    short = MediaFitter(SpeechService(None), MediaBudget(video_minutes=1 / 60))
    with pytest.raises(TooLarge) as long:
        await fitted(SEES, of(VideoPart(whole)), short)
    assert long.value.code == "video_too_long"
    old = ChatRequest((system("s"), Message("user", (broken,)), assistant("Hm."), user("And now?")))
    fit = await deaf_server().fit(SEES, old)
    assert fit.request.messages[1].text == "[video: it cannot be read]"
    assert fit.fitted.notes[0].became == "left_out"
