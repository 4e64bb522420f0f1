"""Pocket TTS of transformers, really run: its own networks with tiny random weights, so that it makes noise of the right shape and
length, which depends on the voice."""

import math
import random
import wave
from array import array
from pathlib import Path

import anyio
import pytest

from duologue.engines.contracts import CloningSpeaker, SpeakerEngine, SpeechChunk
from duologue.engines.registry import load_speaker
from duologue.engines.tts.pocket import KEPT, PocketCloner
from duologue.errors import BadRequest, NotFound, StartFailed, TooLarge
from duologue.values.audio import HEARD_RATE
from duologue.values.speech import VoiceSample

pytest.importorskip("transformers", reason="pocket is tried by make test-engines")
import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    PocketTTSAudioTokenizerConfig,
    PocketTTSAudioTokenizerModel,
    PocketTTSConfig,
    PocketTTSForConditionalGeneration,
    PreTrainedTokenizerFast,
)

pytestmark = pytest.mark.anyio
WIDTH = 8
FRAME = 1920
PLACES = {
    "audio_prompt_token": 296,
    "audio_latent_token": 297,
    "audio_prompt_bos_token": 298,
    "audio_bos_token": 299,
}
TEMPLATE = (
    "{{ '<voice>' }}{% for message in messages %}{% for part in message.content %}{{ part.text | upper }}{% endfor %}"
    "{% endfor %}{{ '<bos>' }}"
)


def make_model(folder: Path, *, encoder: bool = True, template: str = "") -> Path:
    """Tiny networks with random weights, and a tokenizer of bytes."""
    torch.manual_seed(5)
    model = PocketTTSForConditionalGeneration(
        PocketTTSConfig(
            vocab_size=300,
            hidden_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            intermediate_size=64,
            latent_dim=WIDTH,
            flow_head_config={
                "hidden_size": 32,
                "num_hidden_layers": 2,
                "latent_dim": WIDTH,
                "condition_dim": 64,
                "frequency_embedding_size": 16,
            },
            **{f"{name}_id": number for name, number in PLACES.items()},
        )
    )
    # Much of a fresh network is zero, and would make the same sound of everything.
    for values in model.parameters():
        torch.nn.init.normal_(values, std=0.2)
    # Not so loud that all of it is clipped, which would hide a difference.
    model.latent_std.fill_(0.01)
    model.save_pretrained(folder)
    codec = PocketTTSAudioTokenizerModel(
        PocketTTSAudioTokenizerConfig(
            hidden_size=32,
            num_filters=4,
            intermediate_size=64,
            num_attention_heads=4,
            num_key_value_heads=4,
            upsample_groups=32,
            latent_dim=WIDTH,
        )
    )
    if not encoder:
        codec = PocketTTSAudioTokenizerModel(
            PocketTTSAudioTokenizerConfig(**(codec.config.to_dict() | {"encoder_config": None}))
        )
    codec.save_pretrained(folder / "audio_tokenizer")
    signs = sorted(pre_tokenizers.ByteLevel.alphabet())
    text = Tokenizer(models.BPE(vocab={sign: number for number, sign in enumerate(signs)}, merges=[]))
    text.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    text.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=text,
        extra_special_tokens={"audio_prompt_token": "<voice>", "audio_bos_token": "<bos>"},
    )
    if template:
        tokenizer.chat_template = template
    tokenizer.save_pretrained(folder)
    (folder / "voices").mkdir()
    return folder


def sample(seed: int, seconds: float = 1.5) -> VoiceSample:
    """A sound like a voice: a tone with overtones, whose loudness changes, and some noise."""
    chance = random.Random(seed)
    pitch = 90 + 40 * seed
    times = (number / HEARD_RATE for number in range(int(seconds * HEARD_RATE)))
    sound = (
        sum(math.sin(math.tau * pitch * k * at) / k for k in (1, 2, 3)) * (1 + math.sin(9 * at)) * 4000
        + chance.gauss(0, 200)
        for at in times
    )
    return VoiceSample(array("h", (max(-32768, min(32767, int(value))) for value in sound)).tobytes())


def record(path: Path, seed: int) -> None:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(HEARD_RATE)
        file.writeframes(sample(seed).pcm)


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    model = make_model(folder / "pocket-tts")
    record(model / "voices" / "zoe.wav", 1)
    save_file({"voice": torch.randn(1, 9, WIDTH)}, model / "voices" / "adam.safetensors")
    (model / "voices" / "damaged.safetensors").write_bytes(b"x")
    save_file({"keys": torch.randn(4), "values": torch.randn(4)}, model / "voices" / "cache.safetensors")
    return folder


@pytest.fixture(scope="module")
def kept() -> dict[str, PocketCloner]:
    return {}


@pytest.fixture
async def engine(place, kept) -> PocketCloner:
    if "engine" not in kept:
        options = {"models": str(place), "device": "cpu", "temperature": 0.0}
        speaker = await load_speaker("pocket", options)
        assert isinstance(speaker, PocketCloner)
        kept["engine"] = speaker
    kept["engine"].memory.clear()
    return kept["engine"]


async def said(engine: SpeakerEngine, text: str, **how) -> list[SpeechChunk]:
    async with engine.speak(text, **how) as pieces:
        return [piece async for piece in pieces]


async def imitated(engine: CloningSpeaker, text: str, like: VoiceSample, **how) -> list[SpeechChunk]:
    async with engine.speak_like(text, sample=like, **how) as pieces:
        return [piece async for piece in pieces]


def sound(pieces: list[SpeechChunk]) -> bytes:
    return b"".join(piece.pcm for piece in pieces)


def frames(pieces: list[SpeechChunk]) -> list[float]:
    return [len(piece.pcm) / 2 / FRAME for piece in pieces]


@pytest.fixture
def reads(engine, monkeypatch) -> list[int]:
    """How many positions each call of the network read."""
    counted: list[int] = []
    network = engine._network._model
    forward = network.forward

    def counting(*args, **how):
        counted.append(how["input_ids"].shape[1])
        return forward(*args, **how)

    monkeypatch.setattr(network, "forward", counting)
    return counted


async def test_the_voices_are_the_recordings_and_latents_beside_the_weights(engine):
    assert [voice.name for voice in engine.voices] == ["adam", "zoe"]
    assert sound(await said(engine, "Hello there.")) != sound(await said(engine, "Hello there.", voice="zoe"))
    with pytest.raises(NotFound, match="adam, zoe"):
        await said(engine, "Hello", voice="cache")


async def test_a_sentence_is_heard_frame_by_frame_from_its_first_on(engine):
    assert frames(await imitated(engine, "Hello there, how are you today?", sample(1))) == [1, 1, 2, 4, 1]
    assert sum(frames(await imitated(engine, "Hello.", sample(1)))) == 11


async def test_what_is_streamed_is_what_the_library_makes_as_a_whole(engine):
    """Of a text long enough that frames leave the window in which the decoder hears the ones before."""
    text = "This is a sentence that is so long that it does not fit into a window of the codec, nor nearly."
    network = engine._network
    like = sample(2)
    voice = engine.read_recording(like.pcm, HEARD_RATE)
    end, network._end = network._end, type(network._end)(1000.0, 0)
    try:
        streamed = array("h", sound(await imitated(engine, text, like)))
    finally:
        network._end = end
    ids = [*network._tokenizer.encode(text, add_special_tokens=False), PLACES["audio_bos_token"]]
    with torch.inference_mode():
        made = network._model.generate(
            input_ids=torch.tensor([ids]),
            attention_mask=torch.ones(1, len(ids), dtype=torch.long),
            past_key_values=voice,
            do_sample=False,
            eos_threshold=1000.0,
            frames_after_eos=2,
        )[0]
        whole = network._codec.decode(made[None]).audio_values[0, 0]
    assert len(streamed) == len(whole) > 40 * FRAME
    heard = torch.tensor(list(streamed)) / 32767
    # The beginning fades in.
    difference = (heard - whole.clamp(-1, 1))[FRAME:].abs().max().item()
    assert (whole.abs() < 1).float().mean().item() > 0.5
    assert whole.abs().max().item() > 0.01
    assert difference < 1e-3


async def test_two_recordings_speak_differently_and_each_the_same_again(engine):
    one, other = sample(1), sample(3)
    first = sound(await imitated(engine, "Good morning.", one))
    assert first != sound(await imitated(engine, "Good morning.", other))
    assert first == sound(await imitated(engine, "Good morning.", one))


async def test_a_voice_is_read_once_for_all_sentences(engine, reads):
    twice = await imitated(engine, "One two three. One two three.", sample(1))
    assert len([length for length in reads if length > 18]) == 1
    whole = sound(twice)
    # The second sentence continues the voice alone, and not the first one.
    assert whole[: len(whole) // 2] == whole[len(whole) // 2 :]
    reads.clear()
    await imitated(engine, "One two three.", sample(1))
    assert max(reads) == len("One two three.") + 1


async def test_only_the_voices_used_last_are_kept(engine):
    for seed in range(KEPT + 2):
        await imitated(engine, "Hi.", sample(seed, 1.0))
    assert len(engine.memory) == KEPT


async def test_who_leaves_early_ends_the_work(engine, reads):
    with anyio.fail_after(120):
        async with engine.speak("One two three four. " * 100) as pieces:
            async for _ in pieces:
                break
    made = len(reads)
    assert made < 200
    assert sound(await said(engine, "still here"))


async def test_voices_may_speak_at_the_same_time(place):
    options = {"models": str(place), "device": "cpu", "temperature": 0.0, "parallel": 2}
    both = await load_speaker("pocket", options)
    alone = sound(await said(both, "One after the other."))
    heard: list[bytes] = []

    async def speak() -> None:
        heard.append(sound(await said(both, "One after the other.")))

    async with anyio.create_task_group() as group:
        group.start_soon(speak)
        group.start_soon(speak)
    assert heard == [alone, alone]


@pytest.mark.parametrize(
    ("pcm", "code"),
    [
        (b"", "voice_sample_short"),
        (b"\1\0" * 9000, "voice_sample_short"),
        (bytes(64000), "voice_sample_silent"),
    ],
)
async def test_a_recording_that_cannot_be_used_is_refused(engine, pcm, code):
    with pytest.raises(BadRequest) as caught:
        await imitated(engine, "Hello", VoiceSample(pcm))
    assert caught.value.code == code


async def test_odd_recordings_and_texts_do_no_harm(engine):
    assert sound(await imitated(engine, "Hello", VoiceSample(sample(1).pcm + b"\1")))
    loud = VoiceSample(b"\xff\x7f\0\x80" * 20_000)
    assert sound(await imitated(engine, "Hello", loud))
    for text in ("", "...", "🙂", "\n"):
        assert await imitated(engine, text, sample(1)) == []
    assert sound(await said(engine, "¿Qué?\nÄöü 中文 1"))
    with pytest.raises(TooLarge):
        await said(engine, "a" * 4001)


async def test_noise_makes_each_time_another_sound(place):
    lively = await load_speaker(
        "pocket", {"models": str(place), "device": "cpu", "temperature": 0.7, "steps": 3}
    )
    assert sound(await said(lively, "Hello.")) != sound(await said(lively, "Hello."))


async def test_the_text_is_written_as_the_weights_template_says(tmp_path):
    model = make_model(tmp_path / "pocket-tts", template=TEMPLATE)
    record(model / "voices" / "zoe.wav", 1)
    speaker = await load_speaker("pocket", {"models": str(tmp_path), "device": "cpu", "temperature": 0.0})
    assert speaker._network._prompt("hello\n there") == "HELLO THERE"
    assert sound(await said(speaker, "hello"))


async def test_weights_that_cannot_read_a_recording_do_not_clone(tmp_path):
    model = make_model(tmp_path / "pocket-tts", encoder=False)
    record(model / "voices" / "zoe.wav", 1)
    with pytest.raises(StartFailed, match="fetch those for cloning"):
        await load_speaker("pocket", {"models": str(tmp_path), "device": "cpu"})
    save_file({"voice": torch.randn(9, WIDTH)}, model / "voices" / "adam.safetensors")
    speaker = await load_speaker("pocket", {"models": str(tmp_path), "device": "cpu"})
    assert [voice.name for voice in speaker.voices] == ["adam"]
    assert not isinstance(speaker, CloningSpeaker)
    assert sound(await said(speaker, "Hello."))


async def test_without_a_voice_it_says_what_is_missing(tmp_path):
    make_model(tmp_path / "pocket-tts")
    with pytest.raises(StartFailed, match="Put a recording of somebody who agrees"):
        await load_speaker("pocket", {"models": str(tmp_path), "device": "cpu"})


async def test_broken_weights_are_said_to_be_broken(place, tmp_path):
    model = make_model(tmp_path / "pocket-tts")
    (model / "model.safetensors").write_bytes(b"x")
    with pytest.raises(StartFailed, match="cannot be loaded"):
        await load_speaker("pocket", {"models": str(tmp_path), "device": "cpu"})
