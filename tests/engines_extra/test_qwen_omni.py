"""The engine of Qwen omni models on tiny random models of both families: what it reads, writes, says and forgets. What they say is noise;
that it depends on what they saw and heard is the test."""

import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import anyio
import pytest

torch = pytest.importorskip("torch", reason="these tests need the extra omni")
pytest.importorskip("transformers", reason="these tests need the extra omni")

import numpy
from PIL import Image
from tests.support.engine_device import DEVICE
from tests.support.tiny_omni import FAMILIES, make_omni

from duologue.engines.contracts import (
    DuplexOptions,
    Generation,
    GenerationEnded,
    MediaPromptEngine,
    ModelVoice,
    OmniEngine,
    Piece,
    PromptEngine,
    SpokenSound,
)
from duologue.engines.qwen_omni.engine import QwenOmniEngine
from duologue.engines.qwen_omni.prompt.media_reader import as_sound
from duologue.engines.qwen_omni.prompt.omni_prompt import OmniPrompt, PromptMedium, PromptText, reading_steps
from duologue.engines.registry import load_language_engine
from duologue.errors import BadRequest, Busy, ContextExceeded, NotFound, StartFailed
from duologue.sessions.chat.chat import reply
from duologue.text.templates.prompt_request import PromptRequest
from duologue.values.events import AudioDelta, Done, Prefilled, Progress
from duologue.values.messages import AudioPart, ImagePart, Message, TextPart, system, user
from duologue.values.requests import ChatRequest, Sampling

pytestmark = pytest.mark.anyio
NEAR = 2e-5
"""Logits that are the same but for rounding; those of other content differ by a hundred times as much."""
WORDS = dict.fromkeys(" ,.'abcd", 40.0)
"""A bias by which these models write words, of random letters."""
GREEDY = Sampling(temperature=0.0, max_tokens=24, ignore_eos=True)


@pytest.fixture(scope="module")
def anyio_backend():
    return "asyncio"


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    return {family: make_omni(tmp_path_factory.mktemp(family) / "tiny", family) for family in FAMILIES}


@pytest.fixture(scope="module", params=FAMILIES)
async def engine(request, folders) -> AsyncIterator[QwenOmniEngine]:
    loaded = await load_language_engine(
        "qwen_omni",
        {"model": str(folders[request.param]), "device": DEVICE, "slots": 3, "context": 1024, "name": "omni"},
    )
    yield loaded
    await loaded.close()


def picture(seed: int = 0, width: int = 120, height: int = 84) -> ImagePart:
    pixels = numpy.random.default_rng(seed).integers(0, 255, (height, width, 3), "uint8")
    Image.fromarray(pixels).save(file := io.BytesIO(), "PNG")
    return ImagePart(file.getvalue(), "image/png")


def sound(seed: int = 0, seconds: float = 1.0) -> bytes:
    """A caller's sound: 16-bit, 16 kHz. Each seed has a tone of its own."""
    times = numpy.arange(int(16000 * seconds)) / 16000
    noise = numpy.random.default_rng(seed).standard_normal(len(times))
    tone = numpy.sin(2 * numpy.pi * (150 + 400 * seed) * times * (1 + times / 4))
    return (noise * 300 + tone * 9000).astype("<i2").tobytes()


def said(*parts) -> Message:
    return Message("user", parts)


async def prompt_of(engine: QwenOmniEngine, *parts: str | ImagePart | AudioPart) -> OmniPrompt:
    opening, closing = "<|im_start|>user\n", "<|im_end|>\n<|im_start|>assistant\n"
    return await engine.tokenize_media((opening, *parts, closing))


async def logits_of(engine: QwenOmniEngine, prompt: OmniPrompt, batch: int = 4096):
    """The logits behind a prompt, read by a sequence of its own in steps of `batch` tokens."""

    def read():
        sequence = engine.thinker.sequence()
        for pieces in reading_steps(prompt.after(0), batch):
            logits = engine.thinker.read(sequence, pieces)
        return logits

    return await engine.call(read)


async def next_logits(engine: QwenOmniEngine, sequence):
    """The logits of a line break behind a sequence, which is left as it was."""

    def read():
        length = len(sequence)
        logits = engine.thinker.read(sequence, engine.reader.pieces("\n"))
        sequence.crop(length)
        return logits

    return await engine.call(read)


def differ(one, other) -> float:
    return float((one - other).abs().max())


async def written(engine, slot: int, prompt, generation: Generation) -> list:
    async with engine.generate(slot, prompt, generation) as items:
        return [item async for item in items]


def text_of(items) -> str:
    return "".join(item.text for item in items if isinstance(item, Piece))


def heard_in(items) -> bytes:
    return b"".join(item.pcm for item in items if isinstance(item, SpokenSound))


async def test_it_is_a_prompt_engine_that_takes_media_and_calls(engine):
    assert isinstance(engine, PromptEngine)
    assert isinstance(engine, MediaPromptEngine)
    assert isinstance(engine, OmniEngine)
    card = engine.card
    assert card.modalities == ("text", "image", "audio")
    assert card.outputs == ("text", "audio")
    assert "duplex" in card.verbs
    assert len(card.voices) == 2
    assert (card.slots, card.context) == (3, 1024)
    assert card.device.partition(":")[0] == DEVICE.partition(":")[0]


# What it reads.


async def test_a_prompt_read_in_steps_is_the_prompt_read_at_once(engine):
    prompt = await prompt_of(engine, "Look: ", picture(), " listen: ", as_sound(sound()), " and say.")
    at_once = await logits_of(engine, prompt)
    assert differ(await logits_of(engine, prompt, 7), at_once) < NEAR
    assert differ(await logits_of(engine, prompt, 40), at_once) < NEAR


async def test_it_gives_what_the_library_itself_gives(engine, folders):
    prompt = await prompt_of(engine, "Look: ", picture(), " listen: ", as_sound(sound(seconds=2.6)), " so?")
    ids = [
        number
        for piece in prompt.pieces
        for number in (piece.tokens if isinstance(piece, PromptText) else (piece.placeholder,) * piece.size)
    ]
    media = [piece for piece in prompt.pieces if isinstance(piece, PromptMedium)]

    def ask():
        model = engine.thinker._encoder._thinker
        pixels, grid = engine.reader._media.picture_features(media[0].part)
        mel, mask = engine.reader._media.sound_features(media[1].part)
        tokens = torch.tensor([ids], device=DEVICE)
        output = model(
            input_ids=tokens,
            attention_mask=torch.ones_like(tokens),
            pixel_values=pixels.to(DEVICE),
            image_grid_thw=grid.to(DEVICE),
            input_features=mel.to(DEVICE),
            feature_attention_mask=mask.to(DEVICE),
        )
        model.model.rope_deltas = None
        return output.logits[0, -1]

    assert differ(await engine.call(ask), await logits_of(engine, prompt)) < NEAR


async def test_what_it_sees_and_hears_decides_what_it_would_write(engine):
    async def with_media(one: ImagePart | str, other: AudioPart | str):
        return await logits_of(engine, await prompt_of(engine, "This ", one, " and this ", other, "?"))

    both = await with_media(picture(1), as_sound(sound(1)))
    assert differ(both, await with_media(picture(2), as_sound(sound(1)))) > 100 * NEAR
    assert differ(both, await with_media(picture(1), as_sound(sound(2)))) > 100 * NEAR
    assert differ(both, await with_media("a picture", as_sound(sound(1)))) > 100 * NEAR
    assert differ(both, await with_media(picture(1), "a sound")) > 100 * NEAR
    assert differ(both, await with_media(picture(1), as_sound(sound(1)))) < NEAR


async def test_the_shape_of_a_picture_and_the_length_of_a_sound_are_counted(engine):
    wide, high = await prompt_of(engine, picture(0, 168, 56)), await prompt_of(engine, picture(0, 56, 168))
    assert len(wide) == len(high)
    grids = [next(p.grid for p in prompt.pieces if isinstance(p, PromptMedium)) for prompt in (wide, high)]
    assert grids[0] == grids[1][::-1]
    assert grids[0][0] < grids[0][1]
    short, long = [await prompt_of(engine, as_sound(sound(0, seconds))) for seconds in (1, 3)]
    per_second = (len(long) - len(short)) / 2
    assert per_second in (25, 13)
    for samples in (1, 479, 480, 481, 16001, 47999):
        await logits_of(engine, await prompt_of(engine, as_sound(bytes(2 * samples))))


async def test_sound_of_another_rate_is_resampled(engine):
    wave = numpy.sin(numpy.arange(48000) / 10).astype("<f4")
    prompt = await engine.tokenize_media((AudioPart(wave.tobytes(), 48000),))
    heard = next(piece for piece in prompt.pieces if isinstance(piece, PromptMedium))
    assert heard.part.rate == 16000
    assert abs(len(heard.part.data) // 4 - 16000) < 200


@pytest.mark.parametrize(
    ("part", "code"),
    [
        (ImagePart(b"no picture"), "image_unreadable"),
        (ImagePart(b"\x89PNG\r\n\x1a\n" + bytes(30)), "image_unreadable"),
        (picture(0, 900, 3), "image_unreadable"),
        (AudioPart(b""), "sound_unreadable"),
        (AudioPart(bytes(64), 1), "sound_unreadable"),
    ],
)
async def test_media_that_cannot_be_read_are_refused(engine, part, code):
    with pytest.raises(BadRequest) as caught:
        await engine.tokenize_media(("Look: ", part))
    assert caught.value.code == code


@pytest.mark.parametrize("sample", [numpy.nan, numpy.inf, 1e38])
async def test_a_broken_sample_does_not_spoil_a_sound(engine, sample):
    wave = numpy.full(16000, sample, "<f4")
    wave[::2] = 0
    logits = await logits_of(engine, await prompt_of(engine, AudioPart(wave.tobytes())))
    assert bool(torch.isfinite(logits).all())


# What it writes.


async def test_a_reply_is_the_same_each_time_where_chance_is_told(engine):
    prompt = await prompt_of(engine, "Tell ", as_sound(sound()))
    lively = Sampling(temperature=1.0, top_k=0, top_p=1.0, seed=7, max_tokens=12, ignore_eos=True)
    one = await written(engine, 0, prompt, Generation(lively))
    other = await written(engine, 0, prompt, Generation(lively))
    assert text_of(one) == text_of(other)
    third = await written(engine, 0, prompt, Generation(Sampling(**{**_asked(lively), "seed": 8})))
    assert text_of(one) != text_of(third)
    assert one[-1] == GenerationEnded("length", 12, one[-1].cached)


def _asked(sampling: Sampling) -> dict:
    return {name: getattr(sampling, name) for name in sampling.asked()}


async def test_two_replies_by_turns_are_each_what_they_are_alone(engine):
    prompts = [await prompt_of(engine, f"Number {n} ", picture(n), as_sound(sound(n))) for n in (1, 2)]
    generation = Generation(Sampling(temperature=0.9, seed=3, max_tokens=20, ignore_eos=True, logprobs=0))
    alone = []
    engine._sequences.clear()
    for slot in (0, 1):
        alone.append(await written(engine, slot, prompts[slot], generation))
    engine._sequences.clear()
    together: dict[int, list] = {0: [], 1: []}
    order: list[int] = []

    async def one(slot: int) -> None:
        async with engine.generate(slot, prompts[slot], generation) as items:
            async for item in items:
                together[slot].append(item)
                order.append(slot)

    async with anyio.create_task_group() as group:
        group.start_soon(one, 0)
        group.start_soon(one, 1)

    def written_in(items):
        return [item for item in items if isinstance(item, Piece)]

    # Bit for bit: the logprobs are compared exactly.
    assert written_in(together[0]) == written_in(alone[0])
    assert written_in(together[1]) == written_in(alone[1])
    turns = sum(1 for before, after in pairwise(order) if before != after)
    assert turns > 10, "neither waits for the other's whole reply"


async def test_the_next_turn_reads_only_what_is_new(engine):
    opening = await prompt_of(engine, "Look: ", picture(5))
    first = await written(engine, 0, opening, Generation(GREEDY))
    # Behind a longer prompt of the same beginning everything before is in the cache, the picture too.
    longer = OmniPrompt((*opening.pieces, *engine.reader.pieces("Yes.<|im_end|>\n<|im_start|>user\nAnd?")))
    assert engine.cached_tokens(0, longer) == len(opening)
    async with engine.prefill(0, longer) as progress:
        steps = [step async for step in progress]
    assert steps[-1] == Progress(len(longer), len(longer), len(opening))
    again = await written(engine, 0, longer, Generation(GREEDY))
    assert again[-1].cached == len(longer) - 1
    engine._sequences.clear()
    fresh = await written(engine, 1, longer, Generation(GREEDY))
    assert text_of(fresh) == text_of(again)
    assert fresh[-1].cached == 0
    assert text_of(first) != ""


async def test_another_picture_in_the_same_place_is_read_anew(engine):
    one, other = [await prompt_of(engine, "Look: ", picture(n), " well?") for n in (1, 2)]
    await written(engine, 2, one, Generation(GREEDY))
    kept = engine.cached_tokens(2, other)
    assert 0 < kept < len(other) - next(p.size for p in other.pieces if isinstance(p, PromptMedium))
    after = await written(engine, 2, other, Generation(GREEDY))
    engine._sequences.clear()
    assert text_of(await written(engine, 2, other, Generation(GREEDY))) == text_of(after)


async def test_leaving_ends_the_reply_within_a_token(engine):
    prompt = await prompt_of(engine, "Go on ")
    async with engine.generate(0, prompt, Generation(Sampling(max_tokens=500, ignore_eos=True))) as items:
        async for item in items:
            if isinstance(item, Piece):
                break
    assert len(engine._sequences[0]) <= len(prompt) + 2


async def test_a_cancelled_reply_leaves_a_slot_that_works(engine):
    prompt = await prompt_of(engine, "Go on and on")
    expected = text_of(await written(engine, 1, prompt, Generation(GREEDY)))
    with anyio.move_on_after(0.05):
        await written(engine, 0, prompt, Generation(Sampling(max_tokens=900, ignore_eos=True)))
    assert text_of(await written(engine, 0, prompt, Generation(GREEDY))) == expected


async def test_logprobs_bias_and_limits_are_applied(engine):
    prompt = await prompt_of(engine, "A")
    items = await written(
        engine, 0, prompt, Generation(Sampling(temperature=0.0, max_tokens=3, logprobs=2, ignore_eos=True))
    )
    logprobs = [entry for item in items if isinstance(item, Piece) for entry in item.logprobs]
    assert len(logprobs) == 3
    assert logprobs[0].top[0].logprob == pytest.approx(logprobs[0].logprob, abs=2)
    assert all(entry.logprob <= 0 for entry in logprobs)
    (letter,) = engine.reader.tokens("Q")
    biased = Sampling(temperature=0.0, max_tokens=5, logit_bias={str(letter): 90.0}, repetition_penalty=1.0)
    assert text_of(await written(engine, 0, prompt, Generation(biased))) == "QQQQQ"
    by_text = Sampling(temperature=0.0, max_tokens=2, logit_bias={"Q": 90.0}, repetition_penalty=1.0)
    assert text_of(await written(engine, 0, prompt, Generation(by_text))) == "QQ"
    nothing = await written(engine, 0, prompt, Generation(Sampling(max_tokens=0)))
    assert nothing[-1].generated == 0
    (end,) = engine.reader.tokens("<|im_end|>")
    ending = Sampling(temperature=0.0, max_tokens=9, logit_bias={str(end): 90.0})
    assert (await written(engine, 0, prompt, Generation(ending)))[-1].finish == "stop"
    with pytest.raises(BadRequest):
        await written(engine, 0, prompt, Generation(Sampling(logit_bias={"99999999": 1.0})))


async def test_a_prompt_beyond_the_context_is_refused_and_a_reply_ends_at_it(engine):
    with pytest.raises(ContextExceeded):
        await written(engine, 0, tuple(engine.reader.tokens("x" * 1100)), Generation())
    nearly = tuple(engine.reader.tokens("x" * 1014))
    items = await written(engine, 0, nearly, Generation(Sampling(ignore_eos=True)))
    assert items[-1].finish == "length"
    assert len(nearly) + items[-1].generated == 1024


async def test_a_chat_goes_through_the_session_with_its_pictures_and_sounds(engine):
    events: list = []

    async def emit(event) -> None:
        events.append(event)

    request = ChatRequest(
        (
            system("Be brief."),
            said(TextPart("What is this? "), picture(3), AudioPart(as_sound(sound(3)).data)),
        ),
        sampling=Sampling(max_tokens=30, seed=1, length_penalty=1.1),
        speak_as="",
    )
    await reply(engine, 0, request, emit, now=datetime.now(), clock=anyio.current_time)
    assert isinstance(events[-1], Done), events
    prefilled = next(event for event in events if isinstance(event, Prefilled))
    assert "length_penalty" in prefilled.ignored
    assert any(isinstance(event, AudioDelta) for event in events)


# What it says.


async def test_its_sound_begins_before_its_text_has_ended(engine):
    prompt = await prompt_of(engine, "Speak ", as_sound(sound()))
    sampling = Sampling(temperature=0.9, seed=2, max_tokens=60, ignore_eos=True)
    items = await written(engine, 0, prompt, Generation(sampling, voice=ModelVoice()))
    first_sound = next(at for at, item in enumerate(items) if isinstance(item, SpokenSound))
    last_text = max(at for at, item in enumerate(items) if isinstance(item, Piece))
    assert first_sound < last_text
    assert len(heard_in(items)) > 2 * 24000 // 2


async def test_it_writes_the_same_without_a_voice_unless_it_cannot_be_spoken(engine):
    prompt = await prompt_of(engine, "Speak")
    sampling = Sampling(temperature=1.0, top_k=0, top_p=1.0, seed=5, max_tokens=80, ignore_eos=True)
    silent = await written(engine, 0, prompt, Generation(sampling))
    assert heard_in(silent) == b""
    spoken = await written(engine, 0, prompt, Generation(sampling, voice=ModelVoice()))
    assert not set("*#`|_~<>") & set(text_of(spoken))


async def test_a_voice_that_there_is_not_is_refused(engine):
    prompt = await prompt_of(engine, "Speak")
    with pytest.raises(NotFound):
        await written(engine, 0, prompt, Generation(GREEDY, voice=ModelVoice("Nobody")))


# The calls that it holds.


@asynccontextmanager
async def call_of(engine, *messages: Message, window: int | None = None, **sampling):
    chosen = Sampling(
        **{
            "temperature": 0.9,
            "seed": 4,
            "max_tokens": 40,
            "ignore_eos": True,
            "logit_bias": WORDS,
            **sampling,
        }
    )
    async with engine.duplex() as view:
        await view.prepare(messages or (system("You hold a call."),), DuplexOptions(chosen, window=window))
        yield view


async def spoken_reply(view, most: int = 60) -> list:
    """Units of 0.4 s until the reply is over."""
    answers = [await view.unit(sound(9, 0.4), decision="speak")]
    while not answers[-1].end_of_turn and len(answers) < most:
        answers.append(await view.unit(sound(9, 0.4), decision="speak"))
        await view.finalize()
    return answers


async def test_it_listens_in_silence_and_speaks_when_it_is_told(engine):
    async with call_of(engine) as view:
        assert not view.decides
        heard = await view.unit(sound(1), [picture(1)], decision="listen")
        assert heard.listens
        assert (heard.text, heard.pcm, heard.written, heard.slices) == ("", b"", 0, 1)
        assert heard.vision_tokens > 0
        assert heard.costs.prefill > 0
        again = await view.unit(sound(2), decision="listen")
        assert again.cached > heard.cached
        answers = await spoken_reply(view)
        assert answers[-1].end_of_turn
        assert not any(answer.listens for answer in answers)
        # Each unit has as much sound as it is long, but for the last.
        assert {len(answer.pcm) for answer in answers[:-1]} == {2 * 24000 * 4 // 10}
        assert sum(answer.written for answer in answers) == 40
        assert sum(answer.codes for answer in answers) > 0
        assert answers[0].costs.language > 0
        assert answers[0].costs.speech > 0
        assert sum(answer.costs.vocoder for answer in answers) > 0
        assert "".join(answer.text for answer in answers) != ""
        after = await view.unit(sound(3), decision="listen")
        assert after.listens


async def test_words_that_it_is_given_are_said_in_its_voice_and_cut_like_its_own(engine):
    async with call_of(engine) as view:
        before = (await view.unit(sound(1), decision="listen")).cached
        await view.recite("Good morning. This is the office.")
        answers = await spoken_reply(view)
        assert "".join(answer.text for answer in answers) == "Good morning. This is the office."
        assert any(b"".join(answer.pcm for answer in answers))
        said = answers[-1].cached
        await view.finalize()
        await view.recite("Good morning. This is the office.")
        heard = await view.unit(sound(1, 0.4), decision="speak")
        kept = await view.cut(len(heard.pcm) // 4)
        assert "Good morning. This is the office.".startswith(kept)
        assert kept != "Good morning. This is the office."
        own = await spoken_reply(view)
        assert "".join(answer.text for answer in own) != "Good morning. This is the office."
    assert said > before


async def test_units_are_really_heard_and_seen(engine):
    async def logits_after(*units):
        async with call_of(engine) as view:
            for pcm, frames in units:
                await view.unit(pcm, frames, decision="listen")
            return await next_logits(engine, view.sequence)

    one = await logits_after((sound(1), [picture(1)]), (sound(2), []))
    assert differ(one, await logits_after((sound(1), [picture(1)]), (sound(2), []))) == 0
    assert differ(one, await logits_after((sound(1), [picture(2)]), (sound(2), []))) > 100 * NEAR
    assert differ(one, await logits_after((sound(3), [picture(1)]), (sound(2), []))) > 100 * NEAR
    assert differ(one, await logits_after((sound(1), []), (sound(2), []))) > 100 * NEAR


async def test_a_call_is_written_as_a_chat_would_be(engine):
    """The same content as one prompt through the template gives the same logits."""
    async with call_of(engine) as view:
        await view.unit(sound(1), [picture(1)], decision="listen")
        await view.type("Hm?")
        await view.unit(sound(2), decision="listen")
        in_call = await next_logits(engine, view.sequence)
    begin = await engine.template.render(
        PromptRequest((system("You hold a call."), user("@")), form="full"), datetime.now()
    )
    parts = (begin.text.partition("@")[0], picture(1), as_sound(sound(1)), "Hm?", as_sound(sound(2)), "\n")
    assert differ(in_call, await logits_of(engine, await engine.tokenize_media(parts))) < NEAR


async def test_a_cut_keeps_what_was_heard_and_nothing_else(engine):
    async with call_of(engine, max_tokens=60, repetition_penalty=1.3) as view:
        await view.unit(sound(1), decision="listen")
        start = list(view.sequence.numbers)
        answers = [await view.unit(sound(9, 0.6), decision="speak") for _ in range(2)]
        spoken = "".join(answer.text for answer in answers)
        kept = await view.cut(sum(len(answer.pcm) for answer in answers) * 2 // 3 // 2)
        assert spoken.startswith(kept)
        assert len(kept) < len(spoken)
        numbers = list(view.sequence.numbers)
        marks = view._marks
        await view.unit(sound(2), decision="listen")
        after = await next_logits(engine, view.sequence)
        assert view.sequence.numbers[: len(numbers)] == numbers
    assert kept
    # A fresh sequence of the same content gives the same logits.
    begin = await engine.template.render(
        PromptRequest((system("You hold a call."), user("@")), form="full"), datetime.now()
    )
    parts = [begin.text.partition("@")[0], as_sound(sound(1)), as_sound(sound(9, 0.6))]
    parts += [marks.reply, kept, marks.caller, as_sound(sound(2)), "\n"]
    fresh = await engine.tokenize_media(parts)
    assert list(fresh.tokens[: len(start)]) == start
    assert list(fresh.tokens[: len(numbers)]) == numbers
    assert differ(after, await logits_of(engine, fresh)) < NEAR


async def test_a_cut_before_anything_was_heard_leaves_the_callers_turn_open(engine):
    async with call_of(engine) as view:
        await view.unit(sound(1), decision="listen")
        await view.unit(sound(2), decision="speak")
        assert await view.cut(0) == ""
        both = await next_logits(engine, view.sequence)
        assert await view.cut(0) == "", "there is nothing left to cut"
    async with call_of(engine) as view:
        await view.unit(sound(1), decision="listen")
        await view.unit(sound(2), decision="listen")
        assert differ(both, await next_logits(engine, view.sequence)) < NEAR


async def test_a_reply_that_is_over_can_still_be_cut_while_it_is_heard(engine):
    async with call_of(engine, max_tokens=30) as view:
        await view.unit(sound(1), decision="listen")
        answers = await spoken_reply(view)
        whole = "".join(answer.text for answer in answers)
        await view.finalize()
        heard = sum(len(answer.pcm) for answer in answers) // 2
        length = len(view.sequence)
        assert await view.cut(heard) == whole
        assert len(view.sequence) == length
        answers = await spoken_reply(view)
        await view.finalize()
        whole = "".join(answer.text for answer in answers)
        kept = await view.cut(sum(len(answer.pcm) for answer in answers) // 4)
        assert whole.startswith(kept)
        assert kept != whole


async def test_what_is_typed_during_a_reply_is_read_after_it(engine):
    async with call_of(engine) as view:
        await view.unit(sound(1, 0.4), decision="speak")
        before = len(view.sequence)
        await view.type("Stop!")
        assert len(view.sequence) == before
        await view.cut(0)
        await view.unit(b"", decision="listen")
        tokens = list(engine.reader.tokens("Stop!"))
        assert view.sequence.numbers[-len(tokens) :] == tokens


async def test_the_oldest_units_leave_the_window_and_the_systems_prompt_stays(engine):
    async with call_of(engine, window=400, max_tokens=10) as view:
        prompt = view.sequence.numbers[: view._prompt]
        most = 0
        for number in range(40):
            await view.unit(sound(number), decision="listen")
            if number % 9 == 8:
                await spoken_reply(view)
            most = max(most, len(view.sequence))
            assert view.sequence.numbers[: view._prompt] == prompt
        assert most <= max(400, view._prompt + 256) + 40
        assert len(view.sequence.trace) == len(view.sequence) == view.sequence.cache.get_seq_length()
        # Positions go on: nothing is read anew.
        assert view.sequence.next_position > 3 * len(view.sequence) // 2
        assert bool(torch.isfinite(await next_logits(engine, view.sequence)).all())


async def test_a_call_cannot_be_begun_twice_and_begins_anew_when_it_is_prepared(engine):
    async with call_of(engine) as view:
        with pytest.raises(Busy):
            async with engine.duplex():
                pass
        await view.unit(sound(1), decision="listen")
        tokens = await view.prepare((system("You hold a call."),), DuplexOptions())
        assert tokens == len(view.sequence)
        with pytest.raises(NotFound):
            await view.prepare((system("Hm."),), DuplexOptions(voice=ModelVoice("Nobody")))
        with pytest.raises(ContextExceeded):
            await view.prepare((system("long " * 400),), DuplexOptions())


async def test_fifty_switches_leave_nothing_of_one_view_in_the_other(engine):
    prompt = await prompt_of(engine, "Chat ", picture(7), as_sound(sound(7)))
    chat = text_of(await written(engine, 0, prompt, Generation(GREEDY)))
    async with call_of(engine) as view:
        await view.unit(sound(1), [picture(1)], decision="listen")
        alone = await next_logits(engine, view.sequence)
    for number in range(50):
        async with call_of(engine) as view:
            if number % 5 == 0:
                await view.unit(sound(1, 0.3), decision="speak")
                await view.cut(0)
                await view.prepare((system("You hold a call."),), DuplexOptions())
            await view.unit(sound(1), [picture(1)], decision="listen")
            assert differ(alone, await next_logits(engine, view.sequence)) < NEAR
        # What the slots have cached is still there.
        assert engine.cached_tokens(0, prompt) == len(prompt)
        if number % 5 == 0:
            assert text_of(await written(engine, 0, prompt, Generation(GREEDY))) == chat


# Loading.


async def test_a_model_without_its_talker_writes_only(folders):
    quiet = await load_language_engine(
        "qwen_omni", {"model": str(folders["qwen2_5"]), "device": DEVICE, "speech": False}
    )
    assert quiet.card.outputs == ("text",)
    assert "duplex" not in quiet.card.verbs
    items = await written(quiet, 0, await prompt_of(quiet, "Hi"), Generation(GREEDY, voice=ModelVoice()))
    assert heard_in(items) == b""
    await quiet.close()


async def test_a_closed_engine_says_so(folders):
    engine = await load_language_engine("qwen_omni", {"model": str(folders["qwen3"]), "device": DEVICE})
    prompt = await prompt_of(engine, "Hi")
    await engine.close()
    await engine.close()
    with pytest.raises(Exception, match="unloaded"):
        await written(engine, 0, prompt, Generation(GREEDY))


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"model": "no-such-omni"}, "hf download"),
        ({"device": "cuda:77"}, "no device"),
        ({"dtype": "int3"}, "dtype"),
        ({"slots": 0}, "at least 1"),
        ({"quantisation": "int8"}, "graphics card"),
        ({"contxt": 1}, "Did you mean"),
    ],
)
async def test_options_that_cannot_be_are_refused_with_a_sentence(folders, options, sentence):
    with pytest.raises(StartFailed, match=sentence):
        await load_language_engine(
            "qwen_omni", {"model": str(folders["qwen2_5"]), "device": DEVICE, **options}
        )


async def test_a_folder_of_another_model_is_refused(tmp_path, folders):
    for file in folders["qwen2_5"].iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "config.json").write_text('{"model_type": "llama"}')
    with pytest.raises(StartFailed, match="is a llama"):
        await load_language_engine("qwen_omni", {"model": str(tmp_path)})
    (tmp_path / "spk_dict.pt").unlink()
    (tmp_path / "config.json").write_bytes((folders["qwen2_5"] / "config.json").read_bytes())
    with pytest.raises(StartFailed, match=r"spk_dict\.pt"):
        await load_language_engine("qwen_omni", {"model": str(tmp_path)})
