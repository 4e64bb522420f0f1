"""The reply pipeline that both chat dialects run."""

from array import array

import msgspec
import pytest
from tests.gateway.fake_seats import FakeGenerate, words
from tests.gateway.fake_voice_worker import CARD, Seats

from duologue.errors import NotFound, Unavailable, Unsupported
from duologue.gateway.dialects.reply import ReplyPipeline
from duologue.gateway.speech.service import SpeechService
from duologue.gateway.speech.voice_choice import VoiceChoice
from duologue.values.events import AudioDelta, Done, Event, TextDelta
from duologue.values.messages import AudioPart, ImagePart, Message, user
from duologue.values.requests import ChatRequest, ModelCard
from duologue.values.speech import SpeechCard, SpeechEngineStatus, SpeechRequest, VoiceSample

pytestmark = pytest.mark.anyio

MINI = ModelCard("mini", "scripted", 2048)
HELLO = ChatRequest((user("Hello"),))
RECORDING = AudioPart(array("f", [0.5] * 1600).tobytes(), 16_000)


async def test_the_request_goes_to_the_model_of_the_card_as_it_is() -> None:
    generate = FakeGenerate(words("Hi."))
    pipeline = ReplyPipeline(generate, SpeechService(None))
    plan = pipeline.plan(MINI, HELLO, None)
    async with pipeline.run(plan) as batches:
        events = [event async for batch in batches for _, event in batch]
    assert events == words("Hi.")
    assert [(request.model, request.messages) for request in generate.requests] == [("mini", HELLO.messages)]


async def test_sound_is_admitted_where_it_will_be_written_down() -> None:
    spoken = ChatRequest((Message("user", (RECORDING,)),))
    ReplyPipeline(FakeGenerate(), SpeechService(Seats())).plan(MINI, spoken, None)
    with pytest.raises(Unsupported) as info:
        ReplyPipeline(FakeGenerate(), SpeechService(None)).plan(MINI, spoken, None)
    assert info.value.code == "modality_unsupported"
    broken = SpeechCard(
        recogniser=SpeechEngineStatus("failed", "some", detail="No model."), speaker=CARD.speaker
    )
    with pytest.raises(Unavailable, match="No model"):
        ReplyPipeline(FakeGenerate(), SpeechService(Seats(card=broken))).plan(MINI, spoken, None)
    hears = ModelCard("omni", "scripted", 2048, modalities=("text", "audio"))
    ReplyPipeline(FakeGenerate(), SpeechService(Seats(card=broken))).plan(hears, spoken, None)


async def test_a_spoken_reply_has_its_sound_before_its_end() -> None:
    pipeline = ReplyPipeline(FakeGenerate(words("Hi there.")), SpeechService(Seats()))
    speech, choice = await pipeline.choose_voice(MINI, SpeechRequest(open=True), (), "anna")
    assert speech is not None
    assert choice == VoiceChoice("", None, CARD.default_voice)
    async with pipeline.run(pipeline.plan(MINI, HELLO, speech)) as batches:
        events = [event async for batch in batches for _, event in batch]
    assert [type(event) for event in events] == [TextDelta, AudioDelta, AudioDelta, Done]


async def test_what_the_model_or_the_voice_cannot_do_is_refused_before_anything_runs() -> None:
    generate = FakeGenerate(words("Hi."))
    pipeline = ReplyPipeline(generate, SpeechService(Seats()))
    with pytest.raises(Unsupported, match="image"):
        pipeline.plan(MINI, ChatRequest((Message("user", (ImagePart(b""),)),)), None)
    with pytest.raises(NotFound):
        await pipeline.choose_voice(MINI, SpeechRequest(voice="hal", open=True), (), "anna")
    with pytest.raises(Unsupported, match=r"duologue\[voice\]"):
        await ReplyPipeline(generate, SpeechService(None)).choose_voice(
            MINI, SpeechRequest(open=True), (), "anna"
        )
    assert await ReplyPipeline(generate, SpeechService(None)).choose_voice(MINI, None, (), "anna") == (
        None,
        None,
    )
    assert generate.requests == []


OMNI = ModelCard("omni", "remote", 0, outputs=("text", "audio"))


async def test_a_model_that_speaks_is_not_spoken_over() -> None:
    own: list[Event] = [TextDelta("Hi."), AudioDelta(b"\1\0" * 9), Done("stop")]
    generate, seats = FakeGenerate(own), Seats()
    pipeline = ReplyPipeline(generate, SpeechService(seats))
    speech, choice = await pipeline.choose_voice(OMNI, SpeechRequest(voice="Cherry", open=True), (), "anna")
    assert choice == VoiceChoice("Cherry", None, "Cherry")
    request = msgspec.structs.replace(HELLO, spoken=True)
    async with pipeline.run(pipeline.plan(OMNI, request, speech)) as batches:
        assert [event async for batch in batches for _, event in batch] == own
    [asked] = generate.requests
    assert (asked.speak_as, asked.spoken) == ("Cherry", False)
    assert seats.requests == []


async def test_it_needs_no_voice_here() -> None:
    pipeline = ReplyPipeline(FakeGenerate(words("Hi.")), SpeechService(None))
    speech, _ = await pipeline.choose_voice(OMNI, SpeechRequest(open=True), (), "anna")
    assert speech == SpeechRequest(open=True)


async def test_who_asks_for_a_voice_of_this_server_gets_that_one() -> None:
    generate, seats = FakeGenerate(words("Hi there.")), Seats()
    pipeline = ReplyPipeline(generate, SpeechService(seats))
    asked = SpeechRequest(voice=CARD.voices[0].name, open=True)
    speech, _ = await pipeline.choose_voice(OMNI, asked, (), "anna")
    async with pipeline.run(pipeline.plan(OMNI, HELLO, speech)) as batches:
        events = [event async for batch in batches for _, event in batch]
    assert any(isinstance(event, AudioDelta) for event in events)
    assert generate.requests[0].speak_as is None
    assert len(seats.requests) == 1


def test_a_recording_is_imitated_here_unless_the_model_can() -> None:
    service = SpeechService(Seats())
    assert service.leaves_speaking_to(SINGER, SpeechRequest(open=True, sample=VoiceSample(b"")))
    assert service.leaves_speaking_to(OMNI, SpeechRequest(open=True))
    assert not service.leaves_speaking_to(OMNI, SpeechRequest(open=True, sample=VoiceSample(b"")))
    assert not service.leaves_speaking_to(MINI, SpeechRequest(open=True))


SINGER = ModelCard(
    "singer",
    "scripted",
    2048,
    outputs=("text", "audio"),
    voices=("clear", "deep"),
    clones=True,
    verbs=("duplex",),
)
SAMPLE = AudioPart(array("f", [0.1, -0.1] * 16000).tobytes())


async def spoken_by(
    card: ModelCard, asked: SpeechRequest, recording: AudioPart | None = None
) -> tuple[ChatRequest, VoiceChoice | None]:
    """The request that the model is sent, and whose voice the client is told of."""
    generate = FakeGenerate(words("Hi."))
    pipeline = ReplyPipeline(generate, SpeechService(Seats()))
    speech, choice = await pipeline.choose_voice(card, asked, (), "anna", recording)
    async with pipeline.run(pipeline.plan(card, HELLO, speech)) as batches:
        async for _ in batches:
            pass
    return generate.requests[0], choice


async def test_a_model_speaks_with_its_own_voices_by_name() -> None:
    request, choice = await spoken_by(SINGER, SpeechRequest(voice="deep", open=True))
    assert (request.speak_as, request.speak_like, choice) == ("deep", None, VoiceChoice("deep", None, "deep"))
    request, choice = await spoken_by(SINGER, SpeechRequest(open=True))
    assert choice is not None
    assert (request.speak_as, choice.name) == ("", "clear")


async def test_a_voice_that_the_model_has_not_is_told_and_its_own_speaks() -> None:
    request, choice = await spoken_by(SINGER, SpeechRequest(voice="alloy", open=True))
    assert choice is not None
    assert (request.speak_as, choice.name) == ("", "clear")
    assert "no voice 'alloy'" in choice.note


async def test_a_model_that_can_imitates_a_recording_itself() -> None:
    request, choice = await spoken_by(SINGER, SpeechRequest(open=True), SAMPLE)
    assert request.speak_like is not None
    assert len(request.speak_like.pcm) == 2 * 2 * 16000
    assert request.speak_as == ""
    assert choice is not None
    assert choice.sample == request.speak_like


async def test_where_only_the_server_can_its_voice_speaks_and_where_nobody_can_the_model_does() -> None:
    mute = msgspec.structs.replace(SINGER, clones=False)
    asked = SpeechRequest(open=True)
    ready = SpeechEngineStatus("ready")
    cloning = Seats(
        card=SpeechCard(detector=ready, recogniser=ready, speaker=ready, voices=CARD.voices, clones=True)
    )
    pipeline = ReplyPipeline(FakeGenerate(words("Hi.")), SpeechService(cloning))
    speech, _ = await pipeline.choose_voice(mute, asked, (), "anna", SAMPLE)
    assert speech is not None
    assert speech.sample is not None
    assert pipeline.plan(mute, HELLO, speech).request.speak_as is None
    request, choice = await spoken_by(mute, asked, SAMPLE)
    assert (request.speak_as, request.speak_like) == ("", None)
    assert choice is not None
    assert "cannot imitate a recording" in choice.note


async def test_a_model_that_speaks_only_writes_where_nobody_asked_for_sound() -> None:
    generate = FakeGenerate(words("Hi."))
    pipeline = ReplyPipeline(generate, SpeechService(None))
    async with pipeline.run(pipeline.plan(OMNI, HELLO, None)) as batches:
        assert [event async for batch in batches for _, event in batch] == words("Hi.")
    assert generate.requests[0].speak_as is None
