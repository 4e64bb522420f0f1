"""kokoro-onnx, really loaded: a network that makes a short tone of every phoneme, made here; text becomes phonemes by the
real espeak-ng."""

from array import array
from itertools import pairwise
from pathlib import Path

import anyio
import pytest

from duologue.engines.contracts import SpeakerEngine, SpeechChunk
from duologue.engines.registry import load_speaker
from duologue.errors import NotFound, StartFailed, TooLarge
from duologue.values.audio import SPOKEN_RATE

pytest.importorskip("kokoro_onnx", reason="kokoro-onnx is tried by make test-engines")
onnx = pytest.importorskip("onnx", reason="kokoro-onnx is tried by make test-engines")
import numpy
from onnx import TensorProto, helper, numpy_helper

pytestmark = pytest.mark.anyio
EACH = 1200
"""Samples of a phoneme: 50 ms."""
VOICES = ("af_heart", "am_adam", "bf_emma", "ef_dora", "ff_siwis", "jf_alpha")


def network(path: Path, *, timed: bool) -> None:
    """A tone for each phoneme, silence for the two at the ends; `timed`: it tells how long each was."""
    tone = numpy.sin(numpy.arange(EACH) / 10, dtype=numpy.float32).reshape(1, EACH) * 0.5
    nodes = [
        ("Greater", ["tokens", "zero"], ["sounds"], {}),
        ("Cast", ["sounds"], ["loud"], {"to": TensorProto.FLOAT}),
        ("Transpose", ["loud"], ["column"], {"perm": [1, 0]}),
        ("Mul", ["column", "tone"], ["all"], {}),
        ("Reshape", ["all", "flat"], ["audio"], {}),
        ("Mul", ["tokens", "zero"], ["nothing"], {}),
        ("Add", ["nothing", "two"], ["each"], {}),
        ("Reshape", ["each", "flat"], ["duration"], {}),
    ]
    numbers = {
        "zero": numpy.array(0),
        "two": numpy.array(2),
        "flat": numpy.array([-1]),
        "tone": tone,
    }
    outputs = [helper.make_tensor_value_info("audio", TensorProto.FLOAT, ["S"])]
    if timed:
        outputs.append(helper.make_tensor_value_info("duration", TensorProto.INT64, ["T"]))
    graph = helper.make_graph(
        [helper.make_node(kind, using, making, **how) for kind, using, making, how in nodes],
        "made",
        [
            helper.make_tensor_value_info("tokens", TensorProto.INT64, [1, "T"]),
            helper.make_tensor_value_info("style", TensorProto.FLOAT, [1, 256]),
            helper.make_tensor_value_info("speed", TensorProto.FLOAT, [1]),
        ],
        outputs,
        [numpy_helper.from_array(value, name) for name, value in numbers.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    draw = numpy.random.default_rng(3)
    for name, timed in (("kokoro-onnx", True), ("untimed", False)):
        (folder / name).mkdir()
        network(folder / name / "kokoro-v1.0.onnx", timed=timed)
        with (folder / name / "voices-v1.0.bin").open("wb") as file:
            packs = draw.standard_normal((len(VOICES), 510, 1, 256)).astype(numpy.float32)
            numpy.savez(file, **dict(zip(VOICES, packs, strict=True)))
    return folder


@pytest.fixture
async def engine(models):
    engine = await load_speaker("kokoro_onnx", {"models": str(models), "threads": 1})
    yield engine
    await engine.close()


async def said(engine: SpeakerEngine, text: str, **how) -> list[SpeechChunk]:
    async with engine.speak(text, **how) as pieces:
        return [piece async for piece in pieces]


def length(pieces: list[SpeechChunk]) -> int:
    return sum(len(piece.pcm) for piece in pieces) // 2


def words(pieces: list[SpeechChunk]) -> list:
    return [word for piece in pieces for word in piece.words]


async def test_the_voices_are_those_that_can_be_spoken(engine):
    assert [voice.name for voice in engine.voices] == [
        "af_heart",
        "am_adam",
        "bf_emma",
        "ef_dora",
        "ff_siwis",
    ]
    assert engine.voices[4].language == "fr-FR"


async def test_every_word_has_its_place_in_text_and_sound(engine):
    text = "Hello there, how are you today?"
    pieces = await said(engine, text)
    told = words(pieces)
    assert [text[word.at : word.to] for word in told] == text.split()
    assert all(one.end <= other.start for one, other in pairwise(told))
    assert told[-1].end <= length(pieces)
    sound = array("h", b"".join(piece.pcm for piece in pieces))
    assert all(max(sound[word.start : word.end]) > 10_000 for word in told)
    assert length(pieces) > SPOKEN_RATE


async def test_words_come_with_the_sound_in_which_they_begin(engine):
    made = 0
    for piece in await said(engine, "One two three four five six seven eight nine ten."):
        assert all(made <= word.start <= made + len(piece.pcm) // 2 for word in piece.words)
        made += len(piece.pcm) // 2


async def test_a_long_clause_goes_on_with_its_words_where_they_are(engine):
    text = "this goes on and on without any mark " * 20
    pieces = await said(engine, text)
    told = words(pieces)
    assert [text[word.at : word.to] for word in told] == text.split()
    assert all(one.start <= other.start for one, other in pairwise(told))
    assert told[-1].end <= length(pieces)


async def test_without_durations_there_are_no_word_times(models):
    engine = await load_speaker("kokoro_onnx", {"model": "untimed", "models": str(models)})
    pieces = await said(engine, "Hello there.")
    assert length(pieces) > 0
    assert words(pieces) == []


async def test_every_language_is_spoken(engine):
    for voice, text in (("ef_dora", "Buenos días."), ("ff_siwis", "Bonjour, ça va ?"), ("bf_emma", "Tea?")):
        assert length(await said(engine, text, voice=voice)) > 0
    assert length(await said(engine, "Bonjour.", language="fr-CA")) > 0


@pytest.mark.parametrize("text", ["", " ", "...", "🙂", "—", "\0"])
async def test_what_has_no_sound_is_no_harm(engine, text):
    assert length(await said(engine, text)) == 0


async def test_odd_speeds_and_signs_are_no_harm(engine):
    assert length(await said(engine, "fast 🙂 [x](y) <b>", speed=9.0)) > 0
    assert length(await said(engine, "slow", speed=0.01)) > 0


async def test_who_leaves_early_ends_the_work(engine):
    with anyio.fail_after(60):
        async with engine.speak("one two three " * 250) as pieces:
            async for _ in pieces:
                break
    assert length(await said(engine, "still here")) > 0


async def test_unknown_voices_and_endless_clauses_are_refused(engine):
    with pytest.raises(NotFound, match="af_heart, am_adam"):
        await said(engine, "hello", voice="jf_alpha")
    with pytest.raises(TooLarge):
        await said(engine, "a " * 3000)


async def test_weights_that_are_missing_come_with_the_commands_that_fetch_them(tmp_path):
    with pytest.raises(StartFailed) as caught:
        await load_speaker("kokoro_onnx", {"models": str(tmp_path)})
    assert "kokoro-v1.0.onnx https://github.com/" in caught.value.message
    assert "voices-v1.0.bin https://github.com/" in caught.value.message


async def test_a_broken_network_is_said_to_be_one(models):
    folder = models / "broken"
    folder.mkdir()
    (folder / "kokoro-v1.0.onnx").write_bytes(b"\xff" * 50)
    (folder / "voices-v1.0.bin").write_bytes(b"x")
    with pytest.raises(StartFailed, match="cannot be loaded"):
        await load_speaker("kokoro_onnx", {"model": "broken", "models": str(models)})
