"""Sound for a model without transcriber is text, in the same place."""

from array import array

import pytest
from tests.gateway.fake_voice_worker import CARD, Seats

from duologue.errors import Unavailable
from duologue.gateway.speech.audio_input import NOT_UNDERSTOOD, AudioTranscriber, replace_parts, without_audio
from duologue.gateway.speech.service import SpeechService
from duologue.values.messages import AudioPart, ImagePart, Message, TextPart, user
from duologue.values.requests import ChatRequest, ModelCard
from duologue.values.speech import SpeechCard, SpeechEngineStatus, TranscribedPart

pytestmark = pytest.mark.anyio

DEAF = ModelCard("mini", "scripted", 2048)
HEARING = ModelCard("omni", "scripted", 2048, modalities=("text", "audio"))


def sound(value: float = 0.5, rate: int = 16_000) -> AudioPart:
    return AudioPart(array("f", [value] * (rate // 10)).tobytes(), rate)


def request_of(*parts) -> ChatRequest:
    return ChatRequest((user("before"), Message("user", parts)))


async def test_what_was_said_stands_where_the_sound_was():
    request, transcripts = await AudioTranscriber(SpeechService(Seats("hello there"))).transcribe(
        request_of(TextPart("Listen:"), sound())
    )
    assert request.messages[1].parts == (TextPart("Listen:"), TextPart("\nhello there"))
    assert transcripts == (TranscribedPart(1, 1, "hello there"),)


async def test_it_is_heard_as_16_bit_sound_at_16_khz():
    seats = Seats("one", "two")
    await AudioTranscriber(SpeechService(seats)).transcribe(request_of(sound(0.5), sound(0.25, 48_000)))
    assert [len(request.pcm) for request in seats.requests] == [3200, 3200]
    assert array("h", seats.requests[1].pcm)[800] == pytest.approx(8192, abs=2)


async def test_what_was_not_understood_is_said_to_the_model_too():
    request, transcripts = await AudioTranscriber(SpeechService(Seats(""))).transcribe(request_of(sound()))
    assert request.messages[1].text == NOT_UNDERSTOOD
    assert transcripts == (TranscribedPart(1, 0, "", False),)


async def test_the_same_sound_is_written_down_once():
    seats = Seats("hello", "other")
    transcriber = AudioTranscriber(SpeechService(seats))
    for _ in range(3):
        request, _ = await transcriber.transcribe(request_of(sound()))
        assert request.messages[1].text == "hello"
    await transcriber.transcribe(request_of(sound(0.1)))
    assert len(seats.requests) == 2


def test_only_sound_for_a_model_without_ears_is_written_down():
    transcriber = AudioTranscriber(SpeechService(Seats()))
    assert transcriber.is_needed(DEAF, request_of(sound()))
    assert not transcriber.is_needed(HEARING, request_of(sound()))
    assert not transcriber.is_needed(DEAF, request_of(TextPart("hi"), ImagePart(b"")))
    assert not AudioTranscriber(SpeechService(None)).is_needed(DEAF, request_of(sound()))


def test_a_recogniser_that_failed_says_why():
    broken = SpeechCard(
        recogniser=SpeechEngineStatus("failed", "some", detail="No model."), speaker=CARD.speaker
    )
    with pytest.raises(Unavailable, match="No model"):
        AudioTranscriber(SpeechService(Seats(card=broken))).is_needed(DEAF, request_of(sound()))


def test_texts_stand_on_lines_of_their_own():
    parts = (TextPart("a"), sound(), sound(), TextPart("b"), TextPart("c"))
    message = replace_parts(Message("user", parts), {1: "one", 2: "two"})
    assert message.text == "a\none\ntwo\nbc"
    assert without_audio(request_of(sound())).messages[1].modalities == {"text"}
