"""Sound for a model without ears is text, in the same place."""

from array import array

import pytest
from tests.gateway.voices import CARD, Seats

from duologue.errors import Unavailable
from duologue.gateway.speech.audio_input import NOT_UNDERSTOOD, AudioTranscriber, with_texts, without_sound
from duologue.gateway.speech.service import SpeechService
from duologue.values.messages import AudioPart, ImagePart, Message, TextPart, user
from duologue.values.requests import ChatRequest, ModelCard
from duologue.values.speech import HeardPart, SpeechCard, SpeechEngineStatus

pytestmark = pytest.mark.anyio

DEAF = ModelCard("mini", "scripted", 2048)
HEARING = ModelCard("omni", "scripted", 2048, modalities=("text", "audio"))


def sound(value: float = 0.5, rate: int = 16_000) -> AudioPart:
    return AudioPart(array("f", [value] * (rate // 10)).tobytes(), rate)


def asked(*parts) -> ChatRequest:
    return ChatRequest((user("before"), Message("user", parts)))


async def test_what_was_said_stands_where_the_sound_was():
    request, heard = await AudioTranscriber(SpeechService(Seats("hello there"))).hear(
        asked(TextPart("Listen:"), sound())
    )
    assert request.messages[1].parts == (TextPart("Listen:"), TextPart("\nhello there"))
    assert heard == (HeardPart(1, 1, "hello there"),)


async def test_it_is_heard_as_16_bit_sound_at_16_khz():
    seats = Seats("one", "two")
    await AudioTranscriber(SpeechService(seats)).hear(asked(sound(0.5), sound(0.25, 48_000)))
    assert [len(request.pcm) for request in seats.requests] == [3200, 3200]
    assert array("h", seats.requests[1].pcm)[800] == pytest.approx(8192, abs=2)


async def test_what_was_not_understood_is_said_to_the_model_too():
    request, heard = await AudioTranscriber(SpeechService(Seats(""))).hear(asked(sound()))
    assert request.messages[1].text == NOT_UNDERSTOOD
    assert heard == (HeardPart(1, 0, "", False),)


async def test_the_same_sound_is_written_down_once():
    seats = Seats("hello", "other")
    ears = AudioTranscriber(SpeechService(seats))
    for _ in range(3):
        request, _ = await ears.hear(asked(sound()))
        assert request.messages[1].text == "hello"
    await ears.hear(asked(sound(0.1)))
    assert len(seats.requests) == 2


def test_only_sound_for_a_model_without_ears_is_written_down():
    ears = AudioTranscriber(SpeechService(Seats()))
    assert ears.needed(DEAF, asked(sound()))
    assert not ears.needed(HEARING, asked(sound()))
    assert not ears.needed(DEAF, asked(TextPart("hi"), ImagePart(b"")))
    assert not AudioTranscriber(SpeechService(None)).needed(DEAF, asked(sound()))


def test_a_recogniser_that_failed_says_why():
    broken = SpeechCard(
        recogniser=SpeechEngineStatus("failed", "some", detail="No model."), speaker=CARD.speaker
    )
    with pytest.raises(Unavailable, match="No model"):
        AudioTranscriber(SpeechService(Seats(card=broken))).needed(DEAF, asked(sound()))


def test_texts_stand_on_lines_of_their_own():
    parts = (TextPart("a"), sound(), sound(), TextPart("b"), TextPart("c"))
    message = with_texts(Message("user", parts), {1: "one", 2: "two"})
    assert message.text == "a\none\ntwo\nbc"
    assert without_sound(asked(sound())).messages[1].modalities == {"text"}
