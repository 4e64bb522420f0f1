"""faster-whisper, really loaded: a model of some thousand random weights that says "hello there world" to everything.

Made here, without PyTorch. Its decoder follows a chain from one token to the next, whatever it hears; its attention is
random, so that word times come out of the library's own arithmetic.
"""

import json
import math
from array import array
from pathlib import Path

import anyio
import pytest

from duologue.engines.contracts import RecogniserEngine
from duologue.engines.registry import load_recogniser
from duologue.errors import StartFailed, Unsupported
from duologue.values.audio import HEARD_RATE

pytest.importorskip("faster_whisper", reason="faster-whisper is tried by make test-engines")
import itertools

import ctranslate2
import numpy
import tokenizers

pytestmark = pytest.mark.anyio
WIDTH = 32
WORDS = ["Ġhello", "Ġthere", "Ġworld"]


def tokens(multilingual: bool) -> list[str]:
    """All tokens, in order: the bytes, the words, the special ones. The models for many languages are told by having an empty
    one."""
    texts = [*sorted(tokenizers.pre_tokenizers.ByteLevel.alphabet()), *WORDS, *([""] if multilingual else [])]
    from faster_whisper.tokenizer import _LANGUAGE_CODES

    special = ["<|endoftext|>", "<|startoftranscript|>"]
    special += [f"<|{code}|>" for code in _LANGUAGE_CODES]
    special += ["<|translate|>", "<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>"]
    special += ["<|notimestamps|>", *(f"<|{number * 0.02:.2f}|>" for number in range(1501))]
    return texts + special


def save_tokenizer(names: list[str], folder: Path) -> None:
    first = names.index("<|endoftext|>")
    vocabulary = {name: number for number, name in enumerate(names[:first])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.add_special_tokens(names[first:])
    assert tokenizer.token_to_id("<|30.00|>") == len(names) - 1
    tokenizer.save(str(folder / "tokenizer.json"))


def chain(names: list[str]) -> list[tuple[str, str]]:
    """Which token follows which. Word times end with a moment; so does a hearing that is asked for moments."""
    said = [*WORDS, "<|1.00|>", "<|endoftext|>"]
    pairs = list(itertools.pairwise(said))
    pairs += [("<|notimestamps|>", said[0]), ("<|0.00|>", said[0]), ("<|transcribe|>", "<|0.00|>")]
    return [*pairs, ("<|startoftranscript|>", "<|en|>" if "" in names else "<|0.00|>")]


def make(folder: Path, multilingual: bool = True) -> Path:
    """Write the model into `folder`."""
    draw = numpy.random.default_rng(7)

    def some(*shape: int) -> numpy.ndarray:
        return (draw.standard_normal(shape) * 0.3).astype(numpy.float32)

    def none(*shape: int) -> numpy.ndarray:
        return numpy.zeros(shape, numpy.float32)

    def linear(spec: object, rows: int, columns: int, *, random: bool = True) -> None:
        spec.weight, spec.bias = (some if random else none)(rows, columns), none(rows)

    def norm(spec: object) -> None:
        spec.gamma, spec.beta = numpy.ones(WIDTH, numpy.float32), none(WIDTH)

    names = tokens(multilingual)
    spec = ctranslate2.specs.WhisperSpec(1, 2, 1, 2)
    encoder, decoder = spec.encoder, spec.decoder
    for layer, inputs in ((encoder.conv1, 80), (encoder.conv2, WIDTH)):
        layer.weight, layer.bias = some(WIDTH, inputs, 3), none(WIDTH)
    encoder.position_encodings.encodings = some(1500, WIDTH)
    decoder.position_encodings.encodings = none(448, WIDTH)
    for part, random in ((encoder, True), (decoder, False)):
        norm(part.layer_norm)
        layer = part.layer[0]
        norm(layer.self_attention.layer_norm)
        linear(layer.self_attention.linear[0], 3 * WIDTH, WIDTH)
        linear(layer.self_attention.linear[1], WIDTH, WIDTH, random=random)
        norm(layer.ffn.layer_norm)
        linear(layer.ffn.linear_0, 4 * WIDTH, WIDTH)
        linear(layer.ffn.linear_1, WIDTH, 4 * WIDTH, random=random)
    across = decoder.layer[0].attention
    norm(across.layer_norm)
    linear(across.linear[0], WIDTH, WIDTH)
    linear(across.linear[1], 2 * WIDTH, WIDTH)
    linear(across.linear[2], WIDTH, WIDTH, random=False)
    before, after = none(len(names), WIDTH), none(len(names), WIDTH)
    for place, (one, other) in enumerate(chain(names)):
        before[names.index(one), place] = 1.0
        after[names.index(other), place] = 6.0
    decoder.embeddings.weight = before
    decoder.projection.weight = after
    spec.register_vocabulary(names)
    spec.config.suppress_ids, spec.config.suppress_ids_begin = [], []
    spec.config.alignment_heads = [(0, 0), (0, 1)]
    spec.config.lang_ids = [number for number, name in enumerate(names) if name in ("<|en|>", "<|de|>")]
    folder.mkdir(parents=True)
    spec.validate()
    spec.save(str(folder))
    save_tokenizer(names, folder)
    assert json.loads((folder / "config.json").read_text())["alignment_heads"]
    return folder


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    make(folder / "faster-whisper-tiny")
    make(folder / "faster-whisper-tiny.en", multilingual=False)
    return folder


@pytest.fixture
async def engine(models):
    engine = await load_recogniser(
        "whisper",
        {"model": "tiny", "models": str(models), "device": "cpu", "compute": "float32", "threads": 1},
    )
    yield engine
    await engine.close()


def voice(seconds: float) -> bytes:
    return array("h", [round(9000 * math.sin(at / 7)) for at in range(int(seconds * HEARD_RATE))]).tobytes()


async def heard(engine: RecogniserEngine, pcm: bytes, **how) -> tuple[list[str], object]:
    shown = []
    async with engine.stream(**how) as listener:
        for at in range(0, len(pcm), 3200):
            shown.append(await listener.feed(pcm[at : at + 3200]))
        return shown, await listener.finish()


async def test_a_recording_is_written_down(engine):
    transcript = await engine.transcribe(voice(2), language="en-US")
    assert transcript.text == "hello there world"
    assert transcript.language == "en"
    assert transcript.understood
    assert 0 < transcript.confidence <= 1
    assert engine.name == "faster-whisper-tiny"


async def test_words_have_their_times(engine):
    transcript = await engine.transcribe(voice(2), word_timestamps=True, prompt="hello")
    assert [word.text for word in transcript.words] == ["hello", "there", "world"]
    starts = [word.start for word in transcript.words]
    assert starts == sorted(starts)
    assert all(0 <= word.start <= word.end <= 30 for word in transcript.words)


async def test_the_language_is_found_out(engine):
    assert engine.languages == ()
    assert (await engine.transcribe(voice(1))).language in ("en", "de")


async def test_words_are_shown_while_they_are_spoken(engine):
    shown, transcript = await heard(engine, voice(2), language="en", prompt="Duologue")
    assert "hello there world" in shown
    assert shown[0] == ""
    assert transcript.text == "hello there world"


async def test_half_a_minute_and_more_is_heard(engine):
    transcript = await engine.transcribe(voice(40), language="en")
    assert transcript.text.count("hello there world") >= 2


async def test_who_leaves_in_the_middle_waits_for_one_part_only(engine):
    with anyio.move_on_after(0.05):
        await engine.transcribe(voice(600), language="en")
    assert (await engine.transcribe(voice(1), language="en")).text == "hello there world"


async def test_a_model_of_english_says_so(models):
    engine = await load_recogniser("whisper", {"model": "tiny.en", "models": str(models), "device": "cpu"})
    assert engine.languages == ("en",)
    assert (await engine.transcribe(voice(1), language="en-GB")).text == "hello there world"
    with pytest.raises(Unsupported, match="English only"):
        await engine.transcribe(voice(1), language="de")
    await engine.close()


async def test_weights_that_are_missing_come_with_the_command_that_fetches_them(models):
    with pytest.raises(StartFailed, match="hf download Systran/faster-whisper-small") as caught:
        await load_recogniser("whisper", {"model": "small", "models": str(models)})
    assert caught.value.code == "weights_missing"


async def test_a_broken_model_is_said_to_be_one(models):
    folder = models / "broken"
    folder.mkdir()
    for name in ("config.json", "tokenizer.json"):
        (folder / name).write_text("{}")
    (folder / "model.bin").write_bytes(b"\xff" * 100)
    with pytest.raises(StartFailed, match="cannot be loaded"):
        await load_recogniser("whisper", {"model": "broken", "models": str(models)})
