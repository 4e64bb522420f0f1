"""The reply pipeline that both chat dialects run."""

from array import array

import pytest
from tests.gateway.fake_seats import FakeGenerate, words
from tests.gateway.fake_voice_worker import CARD, Seats

from duologue.errors import NotFound, Unsupported
from duologue.gateway.dialects.reply import ReplyPipeline
from duologue.gateway.speech.service import SpeechService
from duologue.values.events import AudioDelta, Done, TextDelta
from duologue.values.messages import AudioPart, ImagePart, Message, TextPart, user
from duologue.values.requests import ChatRequest, ModelCard
from duologue.values.speech import SpeechRequest, TranscribedPart

pytestmark = pytest.mark.anyio

MINI = ModelCard("mini", "scripted", 2048)
HELLO = ChatRequest((user("Hello"),))
RECORDING = AudioPart(array("f", [0.5] * 1600).tobytes(), 16_000)


async def test_the_request_goes_to_the_model_of_the_card_as_it_is() -> None:
    generate = FakeGenerate(words("Hi."))
    pipeline = ReplyPipeline(generate, SpeechService(None))
    plan = pipeline.plan(MINI, HELLO, None)
    transcripts: list[tuple[TranscribedPart, ...]] = []
    async with pipeline.run(plan, transcripts.append) as batches:
        events = [event async for batch in batches for _, event in batch]
    assert events == words("Hi.")
    assert [(request.model, request.messages) for request in generate.requests] == [("mini", HELLO.messages)]
    assert transcripts == []


async def test_audio_is_transcribed_before_the_model_is_asked() -> None:
    generate = FakeGenerate(words("Hi."))
    pipeline = ReplyPipeline(generate, SpeechService(Seats("good morning")))
    plan = pipeline.plan(MINI, ChatRequest((Message("user", (RECORDING,)),)), None)
    assert plan.transcribe
    transcripts: list[tuple[TranscribedPart, ...]] = []
    async with pipeline.run(plan, transcripts.append) as batches:
        assert transcripts == [(TranscribedPart(0, 0, "good morning"),)]
        assert [event async for batch in batches for _, event in batch] == words("Hi.")
    assert generate.requests[0].messages[0].parts == (TextPart("good morning"),)


async def test_a_spoken_reply_has_its_sound_before_its_end() -> None:
    pipeline = ReplyPipeline(FakeGenerate(words("Hi there.")), SpeechService(Seats()))
    speech = pipeline.resolve_voice(SpeechRequest(open=True))
    assert speech is not None
    assert pipeline.voice_for(speech) == CARD.default_voice
    async with pipeline.run(pipeline.plan(MINI, HELLO, speech), print) as batches:
        events = [event async for batch in batches for _, event in batch]
    assert [type(event) for event in events] == [TextDelta, AudioDelta, AudioDelta, Done]


async def test_what_the_model_or_the_voice_cannot_do_is_refused_before_anything_runs() -> None:
    generate = FakeGenerate(words("Hi."))
    pipeline = ReplyPipeline(generate, SpeechService(Seats()))
    with pytest.raises(Unsupported, match="image"):
        pipeline.plan(MINI, ChatRequest((Message("user", (ImagePart(b""),)),)), None)
    with pytest.raises(NotFound):
        pipeline.resolve_voice(SpeechRequest(voice="hal", open=True))
    with pytest.raises(Unsupported, match=r"duologue\[voice\]"):
        ReplyPipeline(generate, SpeechService(None)).resolve_voice(SpeechRequest(open=True))
    assert ReplyPipeline(generate, SpeechService(None)).resolve_voice(None) is None
    assert generate.requests == []
