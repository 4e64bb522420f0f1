"""The voice as the dialects use it: seats taken and given back, and what cannot be had refused at once."""

from collections.abc import AsyncGenerator

import anyio
import msgspec
import pytest
from tests.gateway.fake_voice_worker import CARD, WORD, Seats
from tests.support.sample_files import tone, wav_file
from tests.support.store_fixtures import clock, memory
from tests.support.usage_record import RecordingMeter

from duologue.config.sections.voice import VoiceSettings
from duologue.errors import Busy, NotFound, Problem, QueueFull, Unavailable, Unsupported
from duologue.gateway.speech.service import SpeechService
from duologue.gateway.speech.voice_choice import CLONED
from duologue.gateway.speech.voice_library import VoiceLibrary
from duologue.store.stores import Store
from duologue.values.audio import to_float32
from duologue.values.events import Failed
from duologue.values.messages import AudioPart
from duologue.values.speech import (
    SpeechCard,
    SpeechEngineStatus,
    SpeechRequest,
    TranscriptionRequest,
    Voice,
    VoiceSample,
)

__all__ = ["clock", "memory"]

pytestmark = pytest.mark.anyio


async def chunks(*seconds: float) -> AsyncGenerator[bytes]:
    """Chunks of a recording, of these lengths."""
    for length in seconds:
        yield b"\1\0" * round(16_000 * length)


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


async def test_a_recording_is_written_down_passage_by_passage_in_one_seat():
    seats = Seats("hello there", "how are", "you")
    speech = SpeechService(seats)
    asked = TranscriptionRequest(b"", "en", "a hint", True)
    async with speech.transcribe_recording(chunks(1.0, 0.6, 0.4), asked) as pieces:
        heard = [piece async for piece in pieces]
    *texts, recording = heard
    transcript = recording.transcript
    assert recording.seconds == pytest.approx(2.0)
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
    assert view["turn_end"]["standing"] == "absent"
    assert (view["video"]["standing"], view["draws"]) == ("absent", [])
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


async def test_one_users_recordings_leave_seats_for_the_others():
    seats = Seats(*["one two"] * 21)
    seats.hold = anyio.Event()
    speech = SpeechService(seats, VoiceSettings(seats=8))

    async def transcribe(user: str) -> None:
        await speech.transcribe(b"\0\0" * 16_000, user=user)

    async with anyio.create_task_group() as tasks:
        for _ in range(20):
            tasks.start_soon(transcribe, "ann")
        tasks.start_soon(transcribe, "ben")
        await anyio.wait_all_tasks_blocked()
        assert seats.lent == 3  # two of ann's, and ben's
        seats.hold.set()
    assert len(seats.kinds) == 21


CLONING = msgspec.structs.replace(CARD, clones=True)
SOUND = tone(16_000, 1.5)
RECORDING = AudioPart(to_float32(SOUND), 16_000)


async def test_a_recording_that_came_with_the_request_is_what_is_spoken_like():
    speech = SpeechService(Seats(card=CLONING), VoiceSettings(voice="high"))
    request, choice = await speech.choose_voice(SpeechRequest("one", "low"), "anna", RECORDING)
    assert request == SpeechRequest("one", "high", sample=VoiceSample(SOUND))
    assert (choice.name, choice.note) == ("", CLONED)


async def test_a_speaker_that_cannot_imitate_it_does_not_even_look_at_it():
    speech = SpeechService(Seats())
    request, choice = await speech.choose_voice(SpeechRequest("one"), "anna", AudioPart(b"", 16_000))
    assert request == SpeechRequest("one")
    assert (choice.name, choice.sample) == ("low", None)
    assert "the voice low speaks instead" in choice.note


async def test_while_the_voice_loads_the_recording_is_passed_on():
    speech = SpeechService(Seats(card=None, state="loading"))
    request, _ = await speech.choose_voice(SpeechRequest("one"), "anna", RECORDING)
    assert request.sample == VoiceSample(SOUND)


async def test_a_voice_by_its_id_is_its_owners(memory, clock):
    library = VoiceLibrary(most=1)
    library.use(Store(memory, clock).custom_voices)
    voice = await library.add("anna", wav_file(SOUND), name="Me", statement="Yes.", text="one two")
    speech = SpeechService(Seats(card=CLONING), None, library)
    request, choice = await speech.choose_voice(SpeechRequest("one", voice.id), "anna")
    assert request == SpeechRequest("one", "", sample=VoiceSample(SOUND, "one two"))
    assert (choice.name, choice.note) == (voice.id, "")
    with pytest.raises(NotFound) as caught:
        await speech.choose_voice(SpeechRequest("one", voice.id), "ben")
    assert caught.value.code == "voice_not_found"


async def test_the_default_voice_may_be_a_recorded_one_and_another_speaks_once_it_is_gone(memory, clock):
    library = VoiceLibrary(most=1)
    library.use(Store(memory, clock).custom_voices)
    voice = await library.add("anna", wav_file(SOUND), name="Me", statement="Yes.", text="")
    speech = SpeechService(Seats(card=CLONING), VoiceSettings(voice=voice.id), library)
    for asked in ("", "default"):
        request, choice = await speech.choose_voice(SpeechRequest("one", asked), "anna")
        assert (request.voice, request.sample) == ("", VoiceSample(SOUND))
        assert (choice.name, choice.note) == (voice.id, "")
    assert (await speech.choose_voice(SpeechRequest("one", "high"), "anna"))[0].voice == "high"
    not_his = await speech.choose_voice(SpeechRequest("one"), "ben")
    await library.delete("anna", voice.id, admin=False)
    for request, choice in (not_his, await speech.choose_voice(SpeechRequest("one"), "anna")):
        assert (request.voice, request.sample, choice.name) == ("", None, "low")
        assert choice.note.endswith("(setting voice.voice) is not available. The voice low speaks instead.")


async def test_a_default_voice_that_the_speaker_does_not_have_is_replaced():
    speech = SpeechService(Seats(), VoiceSettings(voice="of-another-pack"))
    request, choice = await speech.choose_voice(SpeechRequest("one"), "anna")
    assert (request.voice, choice.name, "voice low speaks instead" in choice.note) == ("", "low", True)
    assert speech.view()["default_voice"] == "low"
    # Nothing is known of a speaker that is loading.
    loading = SpeechService(Seats(card=None, state="loading"), VoiceSettings(voice="high"))
    assert (await loading.choose_voice(SpeechRequest("one"), "anna"))[0].voice == "high"


async def test_what_is_said_in_a_recording_is_written_down_where_the_speaker_must_know_it():
    card = msgspec.structs.replace(CLONING, clones_by_text=True)
    for sample, text, kinds in (
        (VoiceSample(SOUND), "good morning", ["transcription", "speech"]),
        (VoiceSample(SOUND, "hello"), "hello", ["speech"]),
    ):
        seats = Seats("good morning", card=card)
        async with SpeechService(seats).speak(SpeechRequest("one", sample=sample)):
            pass
        spoken = seats.requests[-1]
        assert isinstance(spoken, SpeechRequest)
        assert (spoken.sample, seats.kinds) == (VoiceSample(SOUND, text), kinds)


async def test_speech_is_counted_in_seconds_for_its_user_and_is_a_request_only_by_itself():
    meter = RecordingMeter()
    speech = SpeechService(Seats("hello"), meter=meter)
    await spoken(speech, "three little words")
    async with speech.speak(SpeechRequest("one", "low"), user="ada", part=False) as speaking:
        async for _ in speaking.sounds():
            pass
    await speech.transcribe(b"\0\0" * 16_000, user="ada")
    counted = [(one.kind, one.user, one.part) for one in meter.requests]
    assert counted == [("speech", "local", True), ("speech", "ada", False), ("transcription", "ada", True)]
    assert [one.seconds_spoken for one in meter.requests] == pytest.approx(
        [3 * WORD / 24_000, WORD / 24_000, 0]
    )
    assert meter.requests[2].seconds_heard == 1.0
    assert all(one.has_ended for one in meter.requests)


async def test_a_recording_is_a_request_of_all_its_seconds():
    meter = RecordingMeter()
    speech = SpeechService(Seats("hello there", "how are", "you"), meter=meter)
    asked = TranscriptionRequest(b"", "en")
    async with speech.transcribe_recording(chunks(1.0, 0.6, 0.4), asked, user="ada") as pieces:
        async for _ in pieces:
            pass
    (counted,) = meter.requests
    assert (counted.kind, counted.user, counted.part) == ("transcription", "ada", False)
    assert counted.seconds_heard == pytest.approx(2.0)


async def test_speech_that_a_key_may_not_have_now_takes_no_seat():
    seats = Seats()
    speech = SpeechService(seats, meter=RecordingMeter(Busy("Not now.", code="rate_limit_exceeded")))
    with pytest.raises(Busy):
        async with speech.speak(SpeechRequest("one", "low"), part=False):
            raise AssertionError
    assert seats.kinds == []
