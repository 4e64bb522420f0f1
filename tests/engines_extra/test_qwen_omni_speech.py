"""The speech of Qwen2.5-Omni and Qwen3-Omni, really run: the library's own networks, tiny and with random weights. What they say is noise;
that it is the noise which the library would make of the same text is tested here, and that it comes earlier."""

import gc
import inspect
import weakref
from array import array
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("transformers", reason="the omni models are tried by make test-engines")
import numpy
import torch
from msgspec.structs import replace
from tests.support.tiny_omni import FAMILIES, MEDIA, VOICES, Family, make_omni, make_tokenizer
from transformers import Qwen2_5OmniForConditionalGeneration, Qwen3OmniMoeForConditionalGeneration

from duologue.engines.contracts import ModelVoice
from duologue.engines.qwen_omni.speech import qwen25_vocoder, reply_speech
from duologue.engines.qwen_omni.speech.grouped_sound import GroupedSound
from duologue.engines.qwen_omni.speech.reply_speech import ReplySpeech, Speech, open_speech
from duologue.engines.qwen_omni.talker import Talker
from duologue.engines.qwen_omni.thinker_trace import ThinkerTrace
from duologue.errors import EngineFailed, NotFound

CLASSES = {"qwen2_5": Qwen2_5OmniForConditionalGeneration, "qwen3": Qwen3OmniMoeForConditionalGeneration}
RATE = 24_000
SECONDS = 2.0
"""Of a reply that does not end by itself."""


class Spoken:
    """A model, its speech, and what its thinker makes of a sequence."""

    def __init__(self, family: Family, folder: Path) -> None:
        self.family = family
        self.tokenizer = make_tokenizer(family)
        self.model: Any = CLASSES[family].from_pretrained(make_omni(folder, family)).eval()
        speech = open_speech(self.model, SimpleNamespace(tokenizer=self.tokenizer))
        assert speech is not None
        self.speech: Speech = speech
        self.vocoder_rule = speech.vocoder.reply(speech.voices[0], 0).rule  # type: ignore[attr-defined]

    def ids(self, *tokens: str) -> list[int]:
        """Ids of control tokens, and of each letter of texts."""
        found: list[int] = []
        for token in tokens:
            number = self.tokenizer.convert_tokens_to_ids(token)
            found += self.tokenizer.encode(token) if number is None else [number]
        return found

    @property
    def prompt(self) -> list[int]:
        """A prompt whose roles are a token each, as they are for the real models."""
        system = ["<|im_start|>", "s", "Ċ", "Be kind.", "<|im_end|>"]
        return self.ids(
            *system, "<|im_start|>", "u", "Ċ", "How are you?", "<|im_end|>", "<|im_start|>", "a", "Ċ"
        )

    def trace(self, ids: list[int], **media: Any) -> ThinkerTrace:
        """What the thinker sees in these tokens, all read at once."""
        thinker = self.model.thinker
        sequence = torch.tensor([ids])
        with torch.inference_mode():
            read = thinker(
                input_ids=sequence,
                attention_mask=torch.ones_like(sequence),
                output_hidden_states=True,
                **media,
            )
            grids = {name: value for name, value in media.items() if name == "image_grid_thw"}
            if "feature_attention_mask" in media:
                grids["audio_seqlens"] = media["feature_attention_mask"].sum(1)
            positions, _ = thinker.model.get_rope_index(
                sequence, attention_mask=torch.ones_like(sequence), **grids
            )
        places = self.ids(MEDIA[self.family]["image_token"], MEDIA[self.family]["audio_token"])
        trace = ThinkerTrace()
        trace.append(
            sequence[0],
            read.hidden_states[0][0],
            read.hidden_states[self.speech.layer][0],
            torch.isin(sequence[0], torch.tensor(places)),
            positions[:, 0].T,
        )
        return trace

    def reply(self, text: str = "Quite well, thanks for asking.", **choices: Any) -> "Reply":
        prompt = self.prompt
        return Reply(self, self.trace([*prompt, *self.ids(text)]), len(prompt), **choices)


class Reply:
    """A reply that is fed to the speech token by token."""

    def __init__(
        self, spoken: Spoken, whole: ThinkerTrace, prompt: int, *, voice: str = "", seed: int = 0
    ) -> None:
        self.whole, self.prompt = whole, prompt
        self.trace = ThinkerTrace()
        self._append(0, prompt)
        self.speech: ReplySpeech = spoken.speech.begin(self.trace, ModelVoice(voice), seed=seed)

    def steps(self) -> Iterator[bytes]:
        """The sound of each token, then that of the end."""
        for at in range(self.prompt, len(self.whole)):
            self._append(at, at + 1)
            yield self.speech.feed(self.trace)
        yield from self.speech.finish(self.trace)

    def _append(self, start: int, end: int) -> None:
        whole = self.whole
        parts = (whole.ids, whole.embeddings, whole.hidden, whole.media, whole.positions)
        self.trace.append(*(None if part is None else part[start:end] for part in parts))


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Several threads wait for each other longer than such small networks take."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(scope="module", params=FAMILIES)
def spoken(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Spoken:
    return Spoken(request.param, tmp_path_factory.mktemp(request.param))


@pytest.fixture
def quick(spoken: Spoken, monkeypatch: pytest.MonkeyPatch) -> Spoken:
    """Speech that ends after SECONDS, from a coarse flow."""
    monkeypatch.setattr(qwen25_vocoder, "STEPS", 3)
    monkeypatch.setattr(reply_speech, "longest_seconds", lambda tokens: SECONDS)
    talker: Any = spoken.speech.talker
    monkeypatch.setattr(talker, "banned", torch.cat([talker.banned, torch.tensor(ends_of(talker))]))
    return spoken


def ends_of(talker: Any) -> list[int]:
    return sorted(getattr(talker, "ends", None) or [talker.end])


@pytest.fixture
def greedy(spoken: Spoken, monkeypatch: pytest.MonkeyPatch) -> Iterator[Spoken]:
    """The likeliest code each time, but never that of the end: its score is always nought."""
    talker: Any = spoken.speech.talker
    weight = talker.model.codec_head.weight.detach().clone()
    weight[ends_of(talker)] = 0.0
    monkeypatch.setitem(talker.model.codec_head._parameters, "weight", torch.nn.Parameter(weight))
    monkeypatch.setattr(talker, "sampling", replace(talker.sampling, temperature=0))
    if spoken.family == "qwen3":
        monkeypatch.setattr(talker, "predictor_sampling", replace(talker.predictor_sampling, temperature=0))
        # Without it the library fails where there is sound in the prompt.
        heard = spoken.model.config.thinker_config.audio_config
        monkeypatch.setattr(spoken.model.config.talker_config, "audio_config", heard, raising=False)
    hook = talker.model.register_forward_pre_hook(with_mask, with_kwargs=True)
    yield spoken
    hook.remove()


def with_mask(module: Any, positional: Any, named: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The library passes a mask to the talker no more where nothing is masked, and then that of Qwen2.5-Omni leaves out what the mask stood
    for: the marks of the first codes, and the positions."""
    if named.get("attention_mask") is None:
        read = named["inputs_embeds"] if named.get("inputs_embeds") is not None else named["input_ids"]
        length = read.shape[1] + named["past_key_values"].get_seq_length()
        named = {**named, "attention_mask": torch.ones(1, length, dtype=torch.long)}
    return positional, named


def library_codes(
    spoken: Spoken, prompt: list[int], monkeypatch: pytest.MonkeyPatch, most: int, **media: Any
) -> tuple[list[int], Any]:
    """What the library writes after a prompt, and the codes that it makes of it, without chance."""
    model, made = spoken.model, []

    def keep(codes: Any, **_: object) -> Any:
        made.append(codes)
        return torch.zeros(1, 1, 8)

    choices: dict[str, Any] = {
        "talker_do_sample": False,
        "thinker_do_sample": False,
        "talker_max_new_tokens": most,
    }
    if spoken.family == "qwen2_5":
        monkeypatch.setattr(model.token2wav, "forward", keep)
        media = {
            f"thinker_{name}" if name == "pixel_values" else name: value for name, value in media.items()
        }
    else:
        monkeypatch.setattr(model.code2wav, "chunked_decode", keep)
        choices["thinker_eos_token_id"] = spoken.tokenizer.eos_token_id
        # The library takes for granted how many marks there are beside the codes.
        choices["talker_suppress_tokens"] = spoken.speech.talker.banned.tolist()  # type: ignore[attr-defined]
    sequence = torch.tensor([prompt])
    written, _ = model.generate(
        input_ids=sequence,
        attention_mask=torch.ones_like(sequence),
        speaker=VOICES[spoken.family][0],
        thinker_max_new_tokens=12,
        **choices,
        **media,
    )
    # The last token is the end, or would have been one too many: the library does not say it.
    return written[0].tolist()[:-1], made[0].reshape(-1, made[0].shape[-1]).T.tolist()


def our_codes(spoken: Spoken, whole: ThinkerTrace, prompt: int, most: int) -> list[list[int]]:
    codes: list[list[int]] = []

    class Kept(GroupedSound):
        def add(self, code: tuple[int, ...]) -> bytes:
            codes.append(list(code))
            return b""

        codes = property(lambda self: len(codes))  # type: ignore[assignment]

    reply = Reply(spoken, whole, prompt, voice=VOICES[spoken.family][0])
    reply.speech._sound = Kept(SimpleNamespace(rule=spoken.vocoder_rule))  # type: ignore[arg-type]
    for _ in reply.steps():
        if len(codes) >= most:
            break
    return codes[:most]


def test_it_is_what_the_thinker_asks_for(spoken: Spoken) -> None:
    talker: Talker = spoken.speech
    assert talker.voices[0].lower() == VOICES[spoken.family][0].lower()
    assert set(talker.voices) == set(VOICES[spoken.family])
    assert not talker.clones


def test_the_codes_are_those_that_the_library_makes_of_the_whole_reply(
    greedy: Spoken, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoken = greedy
    prompt = spoken.prompt
    written, codes = library_codes(spoken, prompt, monkeypatch, 60)
    assert len(codes) > 20
    assert our_codes(spoken, spoken.trace(written), len(prompt), len(codes)) == codes
    # Not because they would be the same for any text.
    other = [*prompt, *reversed(written[len(prompt) :])]
    assert our_codes(spoken, spoken.trace(other), len(prompt), len(codes)) != codes


def test_the_codes_are_those_of_the_library_after_a_picture_and_a_sound(
    greedy: Spoken, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoken = greedy
    names = MEDIA[spoken.family]
    size = {"qwen2_5": 14, "qwen3": 16}[spoken.family]
    grid = torch.tensor([[1, 4, 6]])
    picture = ["vision_bos_token", *["image_token"] * 6, "vision_eos_token"]
    sounds = {"qwen2_5": 25, "qwen3": 13}[spoken.family]
    sound = ["audio_bos_token", *["audio_token"] * sounds, "audio_eos_token"]
    prompt = spoken.ids(
        "<|im_start|>", "u", "Ċ", *(names[name] for name in (*picture, *sound)), "And now?", "<|im_end|>"
    )
    prompt += spoken.ids("<|im_start|>", "a", "Ċ")
    torch.manual_seed(1)
    media = {
        "pixel_values": torch.randn(24, 3 * 2 * size * size),
        "image_grid_thw": grid,
        "input_features": torch.randn(1, 128, 100),
        "feature_attention_mask": torch.ones(1, 100, dtype=torch.long),
    }
    written, codes = library_codes(spoken, prompt, monkeypatch, 40, **media)
    whole = spoken.trace(written, **media)
    assert our_codes(spoken, whole, len(prompt), len(codes)) == codes
    # Not because a picture would be read as text is.
    flat = ThinkerTrace()
    flat.append(whole.ids, whole.embeddings, whole.hidden, whole.media)
    assert our_codes(spoken, flat, len(prompt), len(codes)) != codes


def test_the_sampling_is_the_librarys(spoken: Spoken) -> None:
    known = inspect.signature(type(spoken.model).generate).parameters
    talker: Any = spoken.speech.talker
    for name in ("temperature", "top_k", "top_p", "repetition_penalty"):
        assert getattr(talker.sampling, name) == known[f"talker_{name}"].default


def test_the_flow_is_the_librarys_where_both_begin_with_the_same_noise(
    spoken: Spoken, monkeypatch: pytest.MonkeyPatch
) -> None:
    if spoken.family != "qwen2_5":
        pytest.skip("Qwen3-Omni has no flow")
    vocoder: Any = spoken.speech.vocoder
    codes = [(number * 7 % 60,) for number in range(24)]
    with torch.inference_mode():
        ours = vocoder.reply("Chelsie", 3).sound(codes, 0)
        noise = vocoder.reply("Chelsie", 3)._noise_of(0, len(codes))
        voice = spoken.model.speaker_map["Chelsie"]
        monkeypatch.setattr(torch, "randn", lambda *_, **__: noise)
        theirs = spoken.model.token2wav(
            torch.tensor([[code for (code,) in codes]]),
            conditioning=voice["cond"],
            reference_mel=voice["ref_mel"],
        )
    assert numpy.abs(ours).max() > 0.02
    assert numpy.abs(ours - theirs.numpy()).max() < 1e-4


def test_sound_begins_before_the_last_text_and_goes_on_until_the_speech_ends(quick: Spoken) -> None:
    reply = quick.reply("Quite well, thanks for asking. And how are you today?")
    pieces = list(reply.steps())
    tokens = len(reply.whole) - reply.prompt
    first = next(number for number, piece in enumerate(pieces, 1) if piece)
    assert first == {"qwen2_5": 12, "qwen3": 4}[quick.family]
    assert first < tokens / 2
    rule = quick.vocoder_rule
    assert reply.speech.codes == max(SECONDS * quick.speech.talker.code_rate, tokens)
    assert sum(map(len, pieces)) // 2 == reply.speech.codes * rule.samples - rule.missing
    # It is sound, not silence and not clipped.
    loud = numpy.abs(numpy.array(array("h", b"".join(pieces)), dtype=float))
    assert 100 < loud.mean() < 20_000
    assert quick.speech.talker.code_rate * rule.samples == RATE


def test_a_speech_that_ends_by_itself_is_as_long_as_its_codes(
    spoken: Spoken, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qwen25_vocoder, "STEPS", 2)
    # So hot that every code is nearly as likely as any other, that of the end among them.
    talker: Any = spoken.speech.talker
    monkeypatch.setattr(talker, "sampling", replace(talker.sampling, temperature=1e6, top_k=0, top_p=1.0))
    lengths = set()
    for seed in range(4):
        reply = spoken.reply("Hm.", seed=seed)
        sound = b"".join(reply.steps())
        expected = max(0, reply.speech.codes * spoken.vocoder_rule.samples - spoken.vocoder_rule.missing)
        assert len(sound) // 2 == (expected if reply.speech.codes else 0)
        assert reply.speech.spoken_tokens(len(sound) // 2) == len(reply.whole) - reply.prompt
        lengths.add(reply.speech.codes)
    assert len(lengths) > 1


def test_two_replies_by_turns_are_bit_for_bit_those_alone(quick: Spoken) -> None:
    texts = ("First of all, good morning.", "Elsewhere it is evening by now.")
    alone = [b"".join(quick.reply(text, seed=number).steps()) for number, text in enumerate(texts)]
    assert alone[0] != alone[1]
    running = [quick.reply(text, seed=number).steps() for number, text in enumerate(texts)]
    heard = [b"", b""]
    going = {0, 1}
    while going:
        for number in sorted(going):
            piece = next(running[number], None)
            if piece is None:
                going.discard(number)
            else:
                heard[number] += piece
    assert heard == alone


def test_the_seed_and_the_voice_are_heard(quick: Spoken) -> None:
    first, second = quick.speech.voices[:2]
    sound = b"".join(quick.reply(voice=first).steps())
    assert b"".join(quick.reply(voice=first.upper()).steps()) == sound
    assert b"".join(quick.reply(voice=first, seed=1).steps()) != sound
    assert b"".join(quick.reply(voice=second).steps()) != sound
    with pytest.raises(NotFound, match="There is no voice 'nobody'"):
        quick.reply(voice="nobody")


def test_a_reply_that_is_dropped_leaves_nothing_behind(quick: Spoken) -> None:
    def state() -> list[tuple[str, Any]]:
        """All that modules of speech hold beside their weights."""
        return [
            (f"{name}.{key}", value)
            for name, module in quick.model.named_modules()
            if not name.startswith("thinker")
            for key, value in vars(module).items()
            if not key.startswith("_")
            and isinstance(value, int | float | str | torch.Tensor | type(None) | list | dict)
        ]

    def tensors() -> int:
        gc.collect()
        return sum(isinstance(thing, torch.Tensor) for thing in gc.get_objects())

    def speak(pieces: int) -> weakref.ref[ReplySpeech]:
        reply = quick.reply()
        steps = reply.steps()
        for _ in range(pieces):
            next(steps)
        return weakref.ref(reply.speech)

    speak(20)
    before, chance = state(), torch.get_rng_state()
    held = tensors()
    gone = speak(20)
    assert tensors() == held
    assert gone() is None
    assert all(
        name == old and value is now for (name, value), (old, now) in zip(before, state(), strict=True)
    )
    assert torch.equal(torch.get_rng_state(), chance)


def test_what_nobody_would_say_is_suppressed(spoken: Spoken) -> None:
    suppressed = spoken.speech.suppressed(spoken.tokenizer)
    written = {
        spoken.tokenizer.decode([number])
        for number in range(len(spoken.tokenizer))
        if number not in suppressed
    }
    assert not written & set("*#`_~|<>[]{}()\\=$@&/\t")
    assert not any(token in suppressed for token in spoken.ids("abcxyzABC0189.,!?'", "<|im_end|>"))
    assert {spoken.ids(token)[0] for token in ("<|im_start|>", "<|endoftext|>", "<tts_pad>")} <= suppressed
    assert {spoken.ids(token)[0] for token in MEDIA[spoken.family].values()} <= suppressed


def test_what_is_no_number_ends_the_reply_with_a_sentence_and_never_sounds(quick: Spoken) -> None:
    reply = quick.reply()
    reply.whole.embeddings[reply.prompt + 3] = torch.nan
    with pytest.raises(EngineFailed, match="not a number"):
        list(reply.steps())
    assert reply.speech.codes == 3
    assert b"".join(quick.reply().steps())


def difference(spoken: Spoken, codes: list[tuple[int, ...]], rule: Any) -> tuple[Any, Any]:
    """How far the sound in groups is from that made at once, and that."""
    vocoder: Any = spoken.speech.vocoder
    with torch.inference_mode():
        whole = vocoder.reply(spoken.speech.voices[0], 0).sound(codes, 0)
        grouped = vocoder.reply(spoken.speech.voices[0], 0)
        sound = GroupedSound(SimpleNamespace(rule=rule, sound=grouped.sound))  # type: ignore[arg-type]
        pcm = b"".join([*(sound.add(code) for code in codes), sound.finish()])
    return numpy.frombuffer(pcm, "<i2") / 32767 - whole, whole


def decibels(part: Any, of: Any) -> float:
    return float(10 * numpy.log10((part**2).mean() / of.var()))


def test_sound_in_groups_is_that_of_the_whole(spoken: Spoken) -> None:
    chance = numpy.random.default_rng(1)
    if spoken.family == "qwen3":
        # Longer than the vocoder looks back.
        codes = [tuple(map(int, chance.integers(0, 64, 4))) for _ in range(110)]
        error, whole = difference(spoken, codes, spoken.vocoder_rule)
        assert len(error) == 110 * 1920 - 555
        assert numpy.abs(error).max() < 1e-4
        return
    codes = [(int(code),) for code in chance.integers(0, 64, 110)]
    error, whole = difference(spoken, codes, spoken.vocoder_rule)
    assert len(error) == 110 * 480
    early = 20 * 480
    assert decibels(error[early:], whole) < -30
    # Groups that know nothing of the flow's blocks are much further from it.
    unaligned = replace(
        spoken.vocoder_rule,
        block=1,
        left=5,
        first=(),
        later=replace(spoken.vocoder_rule.later, codes=10, ahead=2),
    )
    assert (
        decibels(difference(spoken, codes, unaligned)[0][early:], whole) > decibels(error[early:], whole) + 10
    )
