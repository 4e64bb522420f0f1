import pytest
from tests.support.call_parts import Inline, engines, silence, speech

from duologue.errors import BadRequest, Unavailable
from duologue.sessions.speech.speech_engines import SpeechEngines
from duologue.sessions.speech.transcription_task import transcribe
from duologue.sessions.speech.vad_batcher import VadBatcher
from duologue.values.call_events import TranscriptText
from duologue.values.speech import TimedWord, TranscriptionRequest

pytestmark = pytest.mark.anyio


async def controls(parts, request):
    events = []

    async def tell(event):
        events.append(event)

    await transcribe(parts, request, tell)
    return events


async def test_a_short_recording_is_one_piece_and_its_transcript():
    text, whole = await controls(engines(["hello there"]), TranscriptionRequest(speech(1)))
    assert text == TranscriptText("hello there")
    assert whole.transcript.text == "hello there"


async def test_a_long_recording_is_told_piece_by_piece_with_its_words_where_they_are():
    pcm = speech(24) + silence(0.5) + speech(24)
    events = await controls(engines(["first", "second"]), TranscriptionRequest(pcm, words=True))
    assert [event.text for event in events] == ["first", " second", ""]
    whole = events[-1].transcript
    assert whole.text == "first second"
    assert [word.text for word in whole.words] == ["first", "second"]
    assert isinstance(whole.words[1], TimedWord)
    assert 24 < whole.words[1].start < 24.5


async def test_where_nothing_is_understood_the_transcript_says_so():
    [event] = await controls(engines(), TranscriptionRequest(speech(1)))
    assert event.transcript.text == ""
    assert not event.transcript.understood


async def test_no_sound_is_refused_and_no_recogniser_is_a_sentence():
    with pytest.raises(BadRequest):
        await controls(engines(), TranscriptionRequest(b""))
    with pytest.raises(Unavailable):
        await controls(SpeechEngines(VadBatcher(Inline())), TranscriptionRequest(speech(1)))
