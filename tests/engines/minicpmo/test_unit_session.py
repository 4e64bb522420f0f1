"""The duplex view of MiniCPM-o over stand-ins for the two versions of its code: the model decides, and is cut short."""

import io

import numpy
import pytest
from PIL import Image
from tests.support.minicpmo_stand_in import PatchedModel, StockModel

from duologue.engines.contracts import DuplexOptions, ModelVoice, UnitAnswer
from duologue.engines.minicpmo.engine import MiniCPMEngine
from duologue.engines.minicpmo.model_loading import LoadedModel
from duologue.engines.minicpmo.reference_voice import ReferenceVoice
from duologue.engines.minicpmo.temporary_folder import TemporaryFolder
from duologue.engines.minicpmo.unit_session import UNIT, prompt_text
from duologue.errors import BadRequest, DeviceLost, EngineFailed, Unsupported
from duologue.values.audio import samples
from duologue.values.messages import AudioPart, ImagePart, Message, TextPart, assistant, system, user
from duologue.values.requests import Sampling
from duologue.values.speech import VoiceSample

pytestmark = pytest.mark.anyio
VOICE = ReferenceVoice(b"\0\x20" * 32_000)
SILENCE = bytes(UNIT * 2)


def speech(level: float = 0.3) -> bytes:
    times = numpy.arange(UNIT) / 16_000
    return (numpy.sin(times * 1256) * level * 32767).astype("<i2").tobytes()


def frame(colour: str = "red", width: int = 32) -> ImagePart:
    file = io.BytesIO()
    Image.new("RGB", (width, 32), colour).save(file, "PNG")
    return ImagePart(file.getvalue())


@pytest.fixture(params=[StockModel, PatchedModel])
def model(request):
    return request.param()


@pytest.fixture
def engine(model):
    folder = TemporaryFolder()
    yield MiniCPMEngine(LoadedModel(model, "omni", voices={"ada": VOICE}), folder)
    folder.close()


@pytest.fixture
async def view(engine):
    async with engine.duplex() as opened:
        await opened.prepare((system("Be kind."),), DuplexOptions())
        yield opened


def state_of(model: StockModel):
    """The duplex object of either version."""
    return model.duplex if isinstance(model, PatchedModel) else model.last_wrapper


async def units(view, *sounds: bytes) -> list[UnitAnswer]:
    answers = []
    for sound in sounds:
        answers.append(await view.unit(sound))
        await view.finalize()
    return answers


async def test_the_model_decides_when_it_listens_and_when_it_speaks(view):
    assert view.decides
    assert view.unit_samples == (16_000, 16_000)
    answers = await units(view, SILENCE, speech(), speech(), SILENCE, SILENCE, SILENCE, SILENCE)
    assert [answer.listens for answer in answers] == [True, True, True, False, False, False, True]
    assert [answer.end_of_turn for answer in answers] == [False] * 5 + [True, False]


async def test_silence_alone_never_makes_it_speak(view):
    answers = await units(view, *[SILENCE] * 10)
    assert all(answer.listens for answer in answers)


async def test_while_it_listens_nothing_is_sent(view):
    [answer] = await units(view, SILENCE)
    assert (answer.text, answer.pcm) == ("", b"")


async def test_it_says_text_with_a_second_of_sound_for_each_unit(view):
    *_, answer = await units(view, speech(), SILENCE)
    assert len(answer.text.split()) == 4
    assert samples(answer.pcm) == 24_000
    assert any(answer.pcm)


async def test_what_was_heard_changes_what_is_said(view):
    async def said(level: float) -> str:
        await view.prepare((system("Be kind."),), DuplexOptions())
        return (await units(view, speech(level), SILENCE))[-1].text

    quiet = await said(0.3)
    assert quiet == await said(0.3)
    assert quiet != await said(0.4)


async def test_what_was_seen_changes_what_is_said(view):
    async def said(colour: str) -> str:
        await view.prepare((system("Be kind."),), DuplexOptions())
        await view.unit(speech(), [frame(colour)])
        await view.finalize()
        return (await units(view, SILENCE))[-1].text

    red = await said("red")
    assert red == await said("red")
    assert red != await said("blue")


async def test_each_unit_tells_its_figures(view):
    answer = await view.unit(speech(), [frame(), frame("blue")])
    assert (answer.slices, answer.vision_tokens) == (2, 128)
    before = answer.cached
    await view.finalize()
    answer = await view.unit(SILENCE)
    assert answer.cached > before
    assert (answer.written, answer.codes) == (4, 25)
    costs = answer.costs
    assert (costs.language, costs.speech, costs.vocoder) == pytest.approx((4.0, 3.0, 3.0))
    assert costs.prefill > 0
    assert answer.slices == 0


async def test_a_large_frame_may_be_cut_into_pieces(view):
    answer = await view.unit(speech(), [frame(width=1200)], max_slices=2)
    assert (answer.slices, answer.vision_tokens) == (3, 192)
    await view.finalize()
    answer = await view.unit(speech(), [frame(width=1200)])
    assert answer.slices == 1


async def test_forced_to_listen_it_is_silent_although_it_would_speak(view):
    await units(view, speech())
    answer = await view.unit(SILENCE, decision="listen")
    assert answer.listens
    # Only this unit was forced.
    await view.finalize()
    assert not (await units(view, speech(), SILENCE))[-1].listens


async def test_an_interrupted_turn_is_closed_and_the_next_one_is_new(view, model):
    first, second = (await units(view, speech(), SILENCE, SILENCE))[1:]
    assert not second.end_of_turn
    heard = await view.cut(24_000 + 12_000)
    words = (first.text + second.text).split()
    assert heard.split() == words[: len(heard.split())]
    assert 4 < len(heard.split()) < 8
    answer = await view.unit(speech())
    assert answer.listens
    await view.finalize()
    state = state_of(model)
    assert state.current_turn_ended
    fed = state.decoder.cache.read
    eos = fed.index("<151717>")
    assert fed[eos - 1] == "<sound>"
    assert fed[eos + 1] == "<|listen|>"
    assert state.token2wav_resets >= 1
    # Without the close it would go on with its three units.
    assert [answer.listens for answer in await units(view, speech(), SILENCE)] == [True, False]


async def test_listening_by_force_closes_an_open_turn_too(view, model):
    await units(view, speech(), SILENCE)
    assert not state_of(model).current_turn_ended
    assert (await view.unit(SILENCE, decision="listen")).listens
    await view.finalize()
    assert state_of(model).current_turn_ended
    assert all(answer.listens for answer in await units(view, SILENCE, SILENCE))


async def test_a_reply_that_was_complete_can_still_be_cut_in_its_playback(view, model):
    answers = (await units(view, speech(), SILENCE, SILENCE, SILENCE))[1:]
    assert answers[-1].end_of_turn
    words = "".join(answer.text for answer in answers).split()
    assert (await view.cut(24_000)).split() == words[:4]
    # Nothing is open, so nothing is forced.
    assert [answer.listens for answer in await units(view, speech(), SILENCE)] == [True, False]


async def test_nothing_heard_is_nothing_said(view):
    await units(view, speech(), SILENCE)
    assert await view.cut(0) == ""
    assert await view.cut(24_000) == ""


async def test_the_end_of_a_unit_is_done_before_the_next_even_if_nobody_asked(view, model):
    for sound in (speech(), SILENCE, SILENCE):
        await view.unit(sound)
    if isinstance(model, PatchedModel):
        assert model.names().count("duplex_finalize") == 2
        await view.finalize()
        await view.finalize()
        assert model.names().count("duplex_finalize") == 3


async def test_a_unit_that_is_too_short_is_filled_with_silence_before_it(view):
    answer = await view.unit(speech()[:8000])
    assert answer.listens


async def test_the_session_begins_with_the_conversation_so_far(engine, model):
    messages = (system("Be kind."), user("I am Ada."), assistant("Hello Ada."))
    async with engine.duplex() as view:
        cached = await view.prepare(messages, DuplexOptions())
        assert cached > 0
        told = model.arguments("duplex_prepare" if isinstance(model, PatchedModel) else "prepare")
    prompt = told["prefix_system_prompt"]
    assert "Be kind.\n\nThe conversation so far:\nUser: I am Ada.\nAssistant: Hello Ada." in prompt
    if isinstance(model, PatchedModel):
        assert prompt.startswith("<|im_start|>system\n")
        assert prompt.endswith("<|audio_start|>")
        assert told["suffix_system_prompt"] == "<|audio_end|><|im_end|>"


def test_without_messages_the_prompt_is_empty():
    assert prompt_text(()) == ""
    assert prompt_text((system("Be kind."),)) == "Be kind."


@pytest.mark.parametrize(
    ("options", "messages"),
    [
        (DuplexOptions(voice=ModelVoice(sample=VoiceSample(b"\0\x40" * 32_000))), ()),
        (
            DuplexOptions(),
            (Message("system", (AudioPart(numpy.full(32_000, 0.5, "<f4").tobytes()), TextPart("x"))),),
        ),
    ],
)
async def test_it_speaks_like_the_recording_of_the_caller(engine, model, options, messages):
    async with engine.duplex() as view:
        await view.prepare((), DuplexOptions())
        usual = (await units(view, speech(), SILENCE))[-1].pcm
        await view.prepare(messages, options)
        assert (await units(view, speech(), SILENCE))[-1].pcm != usual
        assert state_of(model).voice == pytest.approx(0.5, abs=0.01)


async def test_sampling_reaches_the_model(engine, model):
    asked = Sampling(
        temperature=0.4, top_k=7, top_p=0.6, repetition_penalty=1.2, repetition_window=64, length_penalty=1.3
    )
    async with engine.duplex() as view:
        await view.prepare((), DuplexOptions(sampling=asked, listen_scale=2.0))
        await view.unit(SILENCE)
        patched = isinstance(model, PatchedModel)
        used = model.arguments("duplex_generate" if patched else "duplex.streaming_generate")
        wanted = {
            "temperature": 0.4,
            "top_k": 7,
            "top_p": 0.6,
            "listen_prob_scale": 2.0,
            "decode_mode": "sampling",
        }
        wanted |= {"text_repetition_penalty": 1.2, "text_repetition_window_size": 64}
        wanted |= {"length_penalty": 1.3} if patched else {}
        assert {name: used[name] for name in wanted} == wanted
        await view.prepare((), DuplexOptions(sampling=Sampling(temperature=0.0)))
        await view.unit(SILENCE)
        used = model.arguments("duplex_generate" if patched else "duplex.streaming_generate")
        assert used["decode_mode"] == "greedy"


async def test_a_large_listen_scale_keeps_it_listening(engine):
    async with engine.duplex() as view:
        await view.prepare((), DuplexOptions(listen_scale=100.0))
        assert all(answer.listens for answer in await units(view, speech(), SILENCE, SILENCE))


async def test_a_window_drops_the_oldest_units(engine, model):
    async with engine.duplex() as view:
        if isinstance(model, PatchedModel):
            with pytest.raises(Unsupported, match="no window"):
                await view.prepare((), DuplexOptions(window=200))
            return
        await view.prepare((), DuplexOptions(window=200))
        answers = await units(view, *[SILENCE] * 60)
    assert max(answer.cached for answer in answers) <= 215
    assert min(answer.cached for answer in answers[30:]) >= 150
    assert model.arguments("as_duplex")["sliding_window_mode"] == "basic"


async def test_typed_words_are_a_unit_of_their_own_where_the_model_takes_them(view, model):
    await units(view, speech())
    if isinstance(model, PatchedModel):
        with pytest.raises(Unsupported, match="typed"):
            await view.type("My name is Ada.")
        return
    await view.type("My name is Ada.")
    assert "My name is Ada." in state_of(model).decoder.cache.read
    assert (await units(view, SILENCE))[-1].cached > 0


async def test_a_unit_that_the_model_refuses_is_a_sentence(view, model, monkeypatch):
    refused = {"success": False, "reason": "the session was stopped"}
    monkeypatch.setattr(state_of(model), "read", lambda *how, **more: refused)
    with pytest.raises(EngineFailed, match=r"omni refused a second of the call: the session was stopped\."):
        await view.unit(SILENCE)


async def test_a_frame_that_is_no_picture_is_refused_before_the_model_reads_anything(view, model):
    before = state_of(model).decoder.cache.tokens
    with pytest.raises(BadRequest, match="A frame is no picture"):
        await view.unit(SILENCE, [ImagePart(b"nothing")])
    assert state_of(model).decoder.cache.tokens == before


async def test_a_card_lost_in_mid_unit_is_a_lost_device(view, model):
    method = "duplex_generate" if isinstance(model, PatchedModel) else "duplex.streaming_generate"
    model.fails[method] = RuntimeError("CUDA error: unspecified launch failure")
    with pytest.raises(DeviceLost, match="unspecified launch failure"):
        await view.unit(SILENCE)


async def test_a_call_that_lost_its_card_ends_for_that_reason_whatever_the_way_back_says(engine, model):
    patched = isinstance(model, PatchedModel)

    async def call() -> None:
        async with engine.duplex() as view:
            await view.prepare((), DuplexOptions())
            method = "duplex_generate" if patched else "duplex.streaming_generate"
            model.fails[method] = RuntimeError("CUDA error: unspecified launch failure")
            model.fails["set_mode" if patched else "as_simplex"] = RuntimeError("nothing works any more")
            await view.unit(SILENCE)

    with pytest.raises(DeviceLost, match="unspecified launch failure"):
        await call()
    # The engine itself can still be asked: whoever keeps the process decides.
    async with engine.duplex() as view:
        await view.prepare((), DuplexOptions())


async def test_six_hundred_units_keep_their_order_and_nothing_piles_up(engine):
    async with engine.duplex() as view:
        await view.prepare((system("Be kind."),), DuplexOptions())
        sounds = [speech() if number % 6 == 1 else SILENCE for number in range(600)]
        answers = await units(view, *sounds)
    spoken = sum(not answer.listens for answer in answers)
    assert spoken == 300
    assert sum(answer.end_of_turn for answer in answers) == 100
