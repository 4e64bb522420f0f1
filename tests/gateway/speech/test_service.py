"""The voice as the dialects use it: seats taken and given back, and what cannot be had refused at once."""

import anyio
import msgspec
import pytest
from tests.gateway.fake_voice_worker import CARD, WORD, Seats

from duologue.config.voice import VoiceSettings
from duologue.errors import NotFound, Problem, QueueFull, Unavailable, Unsupported
from duologue.gateway.speech.service import SpeechService
from duologue.media import chunks
from duologue.media.encoder import encode_file
from duologue.values.events import Failed
from duologue.values.speech import (
    SpeechCard,
    SpeechEngineStatus,
    SpeechRequest,
    TranscriptionRequest,
    Voice,
)

pytestmark = pytest.mark.anyio


def recording(seconds: float) -> chunks.AudioChunks:
    data = encode_file("wav", b"\1\0" * round(16_000 * seconds), 16_000)
    return chunks.AudioChunks(data, "audio/wav", minutes=10)


async def spoken(speech: SpeechService, text: str) -> int:
    count = 0
    async with speech.speak(SpeechRequest(text, "low")) as speaking:
        async for sound in speaking.sounds():
            count += len(sound.pcm) // 2
    return count


async def test_a_text_is_spoken_in_a_seat_that_is_given_back():
    seats = Seats()
    assert await spoken(SpeechService(seats), "three little words") == 3 * WORD
    assert (seats.kinds, seats.lent) == (["speech"], 0)


async def test_a_text_is_read_in_the_language_of_its_voice():
    card = SpeechCard(
        speaker=CARD.speaker, voices=(Voice("en-us", "en-US"), Voice("de", "de")), default_voice="en-us"
    )
    seats = Seats(card=card)
    for voice, language in (("de", ""), ("", ""), ("de", "fr")):
        async with SpeechService(seats).speak(SpeechRequest("1", voice, language=language)):
            pass
    assert [request.language for request in seats.requests] == ["de", "en-US", "fr"]


async def test_an_open_text_comes_in_pieces():
    seats = Seats()
    speech = SpeechService(seats)
    async with speech.speak(SpeechRequest(open=True)) as speaking:
        speaking.write("one two")
        speaking.write(" three", last=True)
        sounds = [sound async for sound in speaking.sounds()]
    assert [sound.words[0].text for sound in sounds] == ["one", "two", "three"]


async def test_leaving_in_the_middle_gives_the_seat_back():
    seats = Seats()
    seats.hold = anyio.Event()
    speech = SpeechService(seats)
    with anyio.move_on_after(0.05):
        await spoken(speech, "one two")
    assert seats.lent == 0


@pytest.mark.parametrize(
    "fails", [Problem("No.", code="voice_not_found", status=404), Failed("worker_lost", "Gone.", 503)]
)
async def test_what_a_session_ends_with_is_raised(fails):
    seats = Seats(fails=fails)
    with pytest.raises(Problem, match=fails.message) as caught:
        await spoken(SpeechService(seats), "one two")
    assert (caught.value.code, caught.value.status) == (fails.code, fails.status)
    assert seats.lent == 0


async def test_a_full_line_is_told():
    seats = Seats(refuses=QueueFull("Full."))
    with pytest.raises(QueueFull):
        await spoken(SpeechService(seats), "one")


async def test_a_recording_is_written_down_passage_by_passage_in_one_seat(monkeypatch):
    monkeypatch.setattr(chunks, "LONGEST", 16_000)
    monkeypatch.setattr(chunks, "SEARCHED", 8_000)
    seats = Seats("hello there", "how are", "you")
    speech = SpeechService(seats)
    asked = TranscriptionRequest(b"", "en", "a hint", True)
    async with speech.transcribe_recording(recording(2.0), asked) as pieces:
        heard = [piece async for piece in pieces]
    *texts, transcript = heard
    assert texts == ["hello there", " how are", " you"]
    assert transcript.text == "hello there how are you"
    assert seats.kinds == ["transcription"]
    first, second, _ = seats.requests
    assert (first.language, first.hint, first.words) == ("en", "a hint", True)
    start = len(first.pcm) / 2 / 16_000
    assert [word.start for word in transcript.words[:3]] == [0.0, 1.0, start]
    assert len(b"".join(request.pcm for request in seats.requests)) == 2 * round(2.0 * 16_000)
    assert second.pcm


async def test_a_short_sound_is_written_down():
    seats = Seats("hello")
    transcript = await SpeechService(seats, VoiceSettings(language="en")).transcribe(b"\0\0" * 100)
    assert (transcript.text, seats.requests[0].language) == ("hello", "en")


def test_the_voice_that_speaks_is_the_one_asked_for_or_one_of_the_language_or_the_default():
    voices = (Voice("anna", "de"), Voice("brit", "en-GB"), Voice("plain", "en-US"))
    speech = SpeechService(Seats(card=SpeechCard(speaker=CARD.speaker, voices=voices, default_voice="plain")))

    def who(voice="", language=""):
        return speech.voice_for(SpeechRequest("hi", voice=voice, language=language))

    assert who() == "plain"
    assert who("anna") == "anna"
    assert who(language="de-DE") == "anna"
    assert (who(language="en-GB"), who(language="en")) == ("brit", "plain")
    assert who(language="sw") == "plain"
    assert SpeechService(None).voice_for(SpeechRequest("hi")) == ""


async def test_without_a_voice_the_sentence_says_how_to_get_one():
    speech = SpeechService(None)
    assert speech.status[0] == "absent"
    for check in (speech.require_speaker, speech.require_recogniser):
        with pytest.raises(Unsupported, match=r"duologue\[voice\]") as caught:
            check()
        assert caught.value.code == "voice_unavailable"
    assert speech.view()["state"] == "absent"


async def test_an_engine_that_failed_says_why_and_the_other_works():
    broken = SpeechEngineStatus("failed", "pocketsphinx", detail="Its library is not installed.")
    card = SpeechCard(recogniser=broken, speaker=CARD.speaker, voices=CARD.voices)
    speech = SpeechService(Seats(card=card))
    speech.require_speaker()
    with pytest.raises(Unavailable, match="not installed"):
        speech.require_recogniser()


async def test_a_voice_that_loads_lets_requests_wait():
    speech = SpeechService(Seats(card=SpeechCard(), state="loading"))
    speech.require_speaker()
    assert (speech.status[0], speech.card) == ("loading", None)


async def test_the_view_shows_what_there_is():
    view = SpeechService(Seats(), VoiceSettings(voice="high")).view()
    assert (view["state"], view["default_voice"], view["languages"]) == ("ready", "high", ["en-US"])
    assert view["voices"][0] == {"name": "low", "language": "en", "description": "Low."}
    assert view["speaker"] == {
        "standing": "ready",
        "engine": "scripted",
        "name": "scripted",
        "detail": "",
    }


async def test_a_failed_voice_says_why():
    seats = Seats(state="failed", card=None)
    seats.workers["voice"].detail = "It broke."
    assert SpeechService(seats).status == ("failed", "It broke.")


async def test_voices_are_found_by_their_names():
    speech = SpeechService(Seats(), VoiceSettings(voice="high"))
    assert (speech.resolve_voice(""), speech.resolve_voice("low"), speech.resolve_voice("alloy")) == (
        "high",
        "low",
        "high",
    )
    with pytest.raises(NotFound):
        speech.resolve_voice("hal")


async def test_what_is_there_is_told_of_each_engine():
    assert SpeechService(None).features() == {"voice": False, "speech": False, "transcription": False}
    assert SpeechService(Seats()).features() == {"voice": True, "speech": True, "transcription": True}
    deaf = msgspec.structs.replace(CARD, recogniser=SpeechEngineStatus("failed", detail="No such model."))
    assert SpeechService(Seats(card=deaf)).features() == {
        "voice": False,
        "speech": True,
        "transcription": False,
    }
