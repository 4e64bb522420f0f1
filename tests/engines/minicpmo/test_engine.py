"""MiniCPM-o's engine over stand-ins for the two versions of the model's code: chats, their speech, and the two views."""

import io
from glob import glob

import anyio
import numpy
import pytest
from PIL import Image
from tests.support.minicpmo_stand_in import Cache, PatchedModel, StockModel
from tests.support.omni_suite import CHECKS, run

from duologue.engines.contracts import ChatEngine, DuplexOptions, OmniEngine
from duologue.engines.minicpmo.engine import MiniCPMEngine
from duologue.engines.minicpmo.model_loading import LoadedModel
from duologue.engines.minicpmo.reference_voice import ReferenceVoice
from duologue.engines.minicpmo.temporary_folder import TemporaryFolder
from duologue.errors import BadRequest, Busy, ContextExceeded, DeviceLost, EngineFailed, NotFound, Unsupported
from duologue.values.audio import samples
from duologue.values.events import AudioDelta, Done, Prefilled, ReasoningDelta, Started, TextDelta
from duologue.values.messages import AudioPart, ImagePart, Message, TextPart, assistant, system, user
from duologue.values.requests import ChatRequest, MediaOptions, Sampling, unmet
from duologue.values.speech import VoiceSample

pytestmark = pytest.mark.anyio
VOICE = ReferenceVoice(b"\0\x20" * 32_000)
VERSIONS = (StockModel, PatchedModel)
feed = Cache.feed


def picture(colour: str, size: int = 32) -> ImagePart:
    file = io.BytesIO()
    Image.new("RGB", (size, size), colour).save(file, "PNG")
    return ImagePart(file.getvalue(), "image/png")


def tone(pitch: int, seconds: float = 1.5) -> AudioPart:
    times = numpy.arange(int(16_000 * seconds)) / 16_000
    return AudioPart((numpy.sin(times * pitch * 6.28) * 0.3).astype("<f4").tobytes())


def recording(level: int) -> VoiceSample:
    return VoiceSample(level.to_bytes(2, "little") * 32_000)


@pytest.fixture
def folder():
    made = TemporaryFolder()
    yield made
    made.close()


@pytest.fixture(params=VERSIONS)
def model(request):
    return request.param()


@pytest.fixture
def engine(model, folder) -> MiniCPMEngine:
    return engine_of(model, folder)


def engine_of(model: StockModel, folder: TemporaryFolder, **facts) -> MiniCPMEngine:
    return MiniCPMEngine(LoadedModel(model, "omni", voices={"ada": VOICE}, **facts), folder)


async def events_of(engine: MiniCPMEngine, *messages: Message, **how) -> list:
    with anyio.fail_after(60):
        async with engine.chat(0, ChatRequest(messages, **how)) as events:
            return [event async for event in events]


def text_of(events: list) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def sound_of(events: list) -> bytes:
    return b"".join(event.pcm for event in events if isinstance(event, AudioDelta))


async def reply(engine: MiniCPMEngine, *messages: Message, **how) -> str:
    return text_of(await events_of(engine, *messages, **how))


def test_it_is_a_chat_engine_and_an_omni_engine(engine):
    assert isinstance(engine, ChatEngine)
    assert isinstance(engine, OmniEngine)
    assert engine.card.slots == 1
    assert {"duplex", "thinking"} <= set(engine.card.verbs)
    assert engine.card.outputs == ("text", "audio")
    assert engine.card.voices == ("ada",)
    assert unmet(engine.card, ChatRequest((Message("user", (picture("red"), tone(200))),))) is None


async def test_a_written_reply_is_started_prefilled_streamed_and_done(engine):
    events = await events_of(engine, system("Be kind."), user("Hello"))
    assert isinstance(events[0], Started)
    assert isinstance(events[1], Prefilled)
    assert isinstance(events[-1], Done)
    assert events[-1].finish == "stop"
    texts = [event for event in events if isinstance(event, TextDelta)]
    assert len(texts) > 2
    assert len(text_of(events).split()) == 30
    assert not sound_of(events)
    assert events[-1].usage.output > 0


async def test_text_is_written_by_the_method_that_leaves_markdown_alone(folder):
    stock, patched = StockModel(), PatchedModel()
    await reply(engine_of(stock, folder), user("Hello"))
    assert stock.arguments("chat")["num_beams"] == 1
    assert "streaming_generate" not in stock.names()
    await reply(engine_of(patched, folder), user("Hello"))
    assert patched.arguments("streaming_generate")["generate_audio"] is False
    assert patched.arguments("non_streaming_prefill")["use_tts_template"] is False
    assert "chat" not in patched.names()


async def test_pictures_and_sounds_change_what_is_written(engine):
    question = TextPart("What is this?")
    replies = [
        await reply(engine, Message("user", content))
        for content in (
            (question,),
            (picture("red"), question),
            (picture("blue"), question),
            (tone(200), question),
            (tone(300), question),
        )
    ]
    assert len(set(replies)) == 5
    assert replies[1] == await reply(engine, Message("user", (picture("red"), question)))


async def test_a_spoken_reply_comes_as_text_and_sound_by_turns(engine):
    events = await events_of(engine, system("Be kind."), user("Hello"), speak_as="")
    kinds = [type(event) for event in events if isinstance(event, TextDelta | AudioDelta)]
    assert kinds[:4] == [TextDelta, AudioDelta, TextDelta, AudioDelta]
    last_text = max(number for number, kind in enumerate(kinds) if kind is TextDelta)
    assert kinds.index(AudioDelta) < last_text
    assert samples(sound_of(events)) == 60_000
    assert "<|" not in text_of(events)
    assert isinstance(events[-1], Done)


async def test_each_message_and_each_sound_is_prefilled_by_itself_as_the_stock_method_wants(folder):
    model = StockModel()
    conversation = (
        system("Be kind."),
        Message("user", (tone(200), TextPart("and"), tone(300), TextPart("compare"))),
        assistant("Both are tones."),
        user("Which is higher?"),
    )
    await reply(engine_of(model, folder), *conversation, speak_as="")
    calls = [how for name, how in model.calls if name == "streaming_prefill"]
    roles = [how["msgs"][0]["role"] for how in calls]
    assert roles == ["system", "user", "user", "user", "assistant", "user"]
    assert [how["is_last_chunk"] for how in calls] == [True, False, False, True, True, True]
    # It writes no markers around what the assistant said.
    said = calls[4]["msgs"][0]["content"]
    assert said == ["<|im_end|>\n<|im_start|>assistant\nBoth are tones.<|im_end|>\n"]


async def test_a_spoken_reply_depends_on_every_sound_before_it(engine):
    def conversation(pitch: int) -> tuple[Message, ...]:
        return (Message("user", (tone(pitch), tone(100))), assistant("Yes."), user("And?"))

    once = await reply(engine, *conversation(200), speak_as="")
    assert once == await reply(engine, *conversation(200), speak_as="")
    assert once != await reply(engine, *conversation(300), speak_as="")


async def test_the_voice_is_between_the_sentences_that_the_model_knows(folder):
    model = PatchedModel()
    await reply(engine_of(model, folder), system("Be brief."), user("Hello"), speak_as="")
    prefix, sound, suffix = model.arguments("non_streaming_prefill")["msgs"][0]["content"]
    assert prefix == "Clone the voice in the provided audio prompt."
    assert numpy.array_equal(sound, VOICE.sound)
    assert suffix.endswith("using this voice style. Be brief.")


async def test_a_voice_that_the_request_brings_is_left_where_it_is(folder):
    model = PatchedModel()
    mine = AudioPart(numpy.full(32_000, 0.5, "<f4").tobytes())
    message = Message("system", (TextPart("before"), mine, TextPart("after")))
    await reply(engine_of(model, folder), message, user("Hello"), speak_as="")
    before, sound, after = model.arguments("non_streaming_prefill")["msgs"][0]["content"]
    assert (before, after) == ("before", "after")
    assert numpy.array_equal(sound, numpy.frombuffer(mine.data, "<f4"))
    assert model.token2wav_cache is not None
    assert model.token2wav_cache["voice"] == pytest.approx(0.5, abs=0.001)


async def test_it_speaks_like_a_recording_and_computes_each_voice_once(engine, model):
    heard = {
        level: sound_of(await events_of(engine, user("Hello"), speak_as="", speak_like=recording(level)))
        for level in (1000, 9000)
    }
    assert heard[1000] != heard[9000]
    again = sound_of(await events_of(engine, user("Hello"), speak_as="", speak_like=recording(1000)))
    assert again == heard[1000]
    assert model.voices_computed == 2


async def test_an_unknown_voice_and_a_recording_of_nothing_are_refused(engine):
    with pytest.raises(NotFound, match="ada"):
        await reply(engine, user("Hello"), speak_as="bob")
    with pytest.raises(BadRequest, match="shorter than a second"):
        await reply(engine, user("Hello"), speak_as="", speak_like=VoiceSample(b"\1\0" * 100))
    with pytest.raises(BadRequest, match="Nothing can be heard"):
        await reply(engine, user("Hello"), speak_as="", speak_like=VoiceSample(bytes(64_000)))


async def test_a_model_that_was_loaded_without_its_voice_only_writes(model, folder):
    engine = engine_of(model, folder, speaks=False)
    assert engine.card.outputs == ("text",)
    assert await reply(engine, user("Hello"))
    with pytest.raises(Unsupported, match="without its voice"):
        await reply(engine, user("Hello"), speak_as="")


@pytest.mark.parametrize("speaks", [None, ""])
async def test_sampling_is_applied_as_the_card_says(model, folder, speaks):
    engine = engine_of(model, folder)
    asked = Sampling(
        max_tokens=7, temperature=0.3, top_p=0.9, top_k=5, repetition_penalty=1.3, length_penalty=1.2
    )
    assert set(asked.asked()) <= set(engine.card.sampling)
    events = await events_of(engine, user("Hello"), sampling=asked, speak_as=speaks)
    method = "chat" if type(model) is StockModel and speaks is None else "streaming_generate"
    used = model.arguments(method)
    given = {"max_new_tokens": 7, "temperature": 0.3, "top_p": 0.9, "top_k": 5, "repetition_penalty": 1.3}
    assert {name: used[name] for name in given} == given
    assert len(text_of(events).split()) == 7
    assert events[-1].finish == "length"
    ignored = next(event for event in events if isinstance(event, Prefilled)).ignored
    if method == "chat":
        assert ignored == ("length_penalty",)
    else:
        assert ignored == ()
        assert used["length_penalty"] == 1.2


async def test_a_temperature_of_nothing_takes_the_best_token(engine, model):
    await reply(engine, user("Hello"), sampling=Sampling(temperature=0.0, top_p=0.9), speak_as="")
    used = model.arguments("streaming_generate")
    assert (used["temperature"], used["top_k"], used["top_p"]) == (1.0, 1, 1e-6)


async def test_options_of_pictures_reach_the_model(folder):
    model = StockModel()
    engine = engine_of(model, folder)
    media = MediaOptions(max_slices=4, image_ids=True, interleave=True)
    await reply(engine, Message("user", (picture("red"),)), media=media)
    used = model.arguments("chat")
    assert (used["max_slice_nums"], used["use_image_id"], used["omni_mode"]) == (4, True, True)
    frames = Message("user", (picture("red"), tone(200), picture("blue"), tone(300)))
    await reply(engine, frames)
    assert model.arguments("chat")["omni_mode"] is True
    await reply(engine, Message("user", (picture("red"), TextPart("look"))))
    assert model.arguments("chat")["omni_mode"] is False


async def test_thoughts_are_no_part_of_the_answer(engine, model):
    model.thoughts = "It greets."
    events = await events_of(engine, user("Hello"), thinking=True)
    thoughts = "".join(event.text for event in events if isinstance(event, ReasoningDelta))
    if type(model) is StockModel:
        assert thoughts == "It greets."
        assert events[-1].usage.reasoning > 0
        assert model.arguments("chat")["enable_thinking"] is True
    assert "<think>" not in text_of(events)


async def test_a_stop_string_ends_the_reply_and_its_sound(engine, model):
    whole = (await reply(engine, user("Hello"), speak_as="")).split()
    stop = whole[12]
    events = await events_of(engine, user("Hello"), speak_as="", stop=(stop,))
    assert stop not in text_of(events)
    assert events[-1].stop == stop
    assert samples(sound_of(events)) < 60_000
    # The rest was not generated.
    assert model.generated < 60


@pytest.mark.parametrize("speaks", [None, ""])
async def test_a_reply_that_is_abandoned_leaves_nothing_in_the_next(model, folder, speaks):
    model.words = 400
    engine = engine_of(model, folder)
    with anyio.fail_after(60):
        async with engine.chat(0, ChatRequest((user("Tell me all."),), speak_as=speaks)) as events:
            async for event in events:
                if isinstance(event, TextDelta):
                    break
    made = model.generated
    if type(model) is StockModel and speaks is None:
        # This method cannot be stopped: the slot is free when it has ended.
        assert made == 400
    else:
        assert made < 400
    model.words = 20
    after = await reply(engine, user("Hello"), speak_as=speaks)
    fresh = engine_of(type(model)(20), folder)
    assert after == await reply(fresh, user("Hello"), speak_as=speaks)
    assert model.names()[-1] == "reset_session"


async def test_a_failure_of_the_code_is_a_sentence_and_the_next_reply_works(engine, model):
    method = "chat" if type(model) is StockModel else "streaming_generate"
    model.fails[method] = RuntimeError("shapes do not fit")
    with pytest.raises(EngineFailed, match="omni failed: shapes do not fit"):
        await reply(engine, user("Hello"))
    assert await reply(engine, user("Hello"))


async def test_a_card_that_fails_is_a_lost_device(engine, model):
    method = "chat" if type(model) is StockModel else "streaming_generate"
    model.fails[method] = RuntimeError("CUDA error: an illegal memory access was encountered")
    with pytest.raises(DeviceLost, match="illegal memory access"):
        await reply(engine, user("Hello"))


async def test_what_cannot_be_read_is_told_with_its_place(engine):
    with pytest.raises(BadRequest, match=r"messages\[0\].content\[1\] is no picture") as caught:
        await reply(engine, Message("user", (TextPart("look"), ImagePart(b"nothing"))))
    assert caught.value.code == "image_unreadable"
    with pytest.raises(BadRequest, match="8000 samples a second"):
        await reply(engine, Message("user", (AudioPart(bytes(400), 8000),)))


async def test_a_conversation_far_beyond_the_context_is_refused(engine):
    with pytest.raises(ContextExceeded, match="8192"):
        await reply(engine, user("word " * 40_000))


async def test_the_files_that_the_models_code_leaves_behind_are_removed(engine, folder):
    await reply(engine, user("Hello"), speak_as="")
    assert list(folder.path.iterdir()) == []
    async with engine.duplex() as view:
        await view.prepare((system("Be kind."),), DuplexOptions())
        assert any(folder.path.iterdir())
    assert list(folder.path.iterdir()) == []


async def test_two_views_are_switched_without_anything_of_one_in_the_other(model, folder):
    engine = engine_of(model, folder)
    spoken = await events_of(engine, user("Hello"), speak_as="")
    first: list[tuple] = []
    for _ in range(50):
        async with engine.duplex() as view:
            answers = []
            await view.prepare((system("Be kind."),), DuplexOptions())
            for level in (0.3, 0.0, 0.0):
                pcm = (numpy.full(16_000, level) * 32767).astype("<i2").tobytes()
                answers.append(await view.unit(pcm))
                await view.finalize()
            said = [(answer.listens, answer.text, answer.pcm, answer.cached) for answer in answers]
        first = first or said
        assert said == first
        again = await events_of(engine, user("Hello"), speak_as="")
        assert (text_of(again), sound_of(again)) == (text_of(spoken), sound_of(spoken))
    # The wrapper of the stock code, which loads the vocoder, is made once.
    assert model.wrappers <= 1


async def test_during_a_call_nobody_else_is_answered(engine):
    async with engine.duplex():
        with pytest.raises(Busy, match="in a call"):
            await reply(engine, user("Hello"))
        with pytest.raises(Busy, match="in a call already"):
            async with engine.duplex():
                pass
    assert await reply(engine, user("Hello"))


async def test_a_closed_engine_removes_its_folder(engine, folder):
    await engine.close()
    assert str(folder.path) not in glob(f"{folder.path}*")
    with pytest.raises(EngineFailed, match="closed"):
        await reply(engine, user("Hello"))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_as_every_omni_engine_it(engine, model, check):
    """The suite that `make test-omni` runs on real weights."""
    model.words = 60
    await run(check, engine)


@pytest.mark.parametrize("check", CHECKS[:2], ids=lambda check: check.__name__)
async def test_the_suite_notices_a_model_that_neither_sees_nor_hears(model, folder, check, monkeypatch):
    monkeypatch.setattr(Cache, "feed", lambda cache, item: feed(cache, item if isinstance(item, str) else ""))
    with pytest.raises(AssertionError):
        await run(check, engine_of(model, folder))
