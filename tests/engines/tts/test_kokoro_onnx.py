"""kokoro-onnx's engine without its library. The library itself is tried by make test-engines."""

import sys
from types import SimpleNamespace

import pytest

from duologue.engines.registry import load_speaker
from duologue.engines.tts.kokoro_onnx import VOICES, KokoroOnnxOptions, find_weights
from duologue.errors import EngineFailed, NotFound, StartFailed

pytestmark = pytest.mark.anyio
NEEDED = "these tests need numpy: pip install 'duologue[voice]'"


class Kokoro:
    """What of the library is used: a tenth of a second for each letter."""

    def __init__(self) -> None:
        self.built_for = ["CUDAExecutionProvider", "CPUExecutionProvider"]
        self.providers = self.built_for
        self.asked: list[tuple] = []
        self.rate = 24_000
        self.sessions: list[tuple] = []

    def get_voices(self) -> list[str]:
        return ["af_heart", "ef_dora", "jf_alpha"]

    def create_timed(self, text: str, voice: str, *, speed: float, lang: str):
        self.asked.append((text, voice, speed, lang))
        if text == "phonemeless":
            raise ValueError("Nothing to synthesize, it produced no phonemes")
        if text == "broken":
            raise RuntimeError("bad allocation")
        times = [
            SimpleNamespace(phoneme=letter, start=at / 10, end=(at + 1) / 10)
            for at, letter in enumerate(text)
        ]
        return [0.5] * 2400 * len(text), self.rate, times


@pytest.fixture
def kokoro(monkeypatch):
    pytest.importorskip("numpy", reason=NEEDED)
    kokoro = Kokoro()

    def session(path, how, providers):
        kokoro.sessions.append((path, how.intra_op_num_threads, providers))
        if path.endswith("broken.onnx"):
            raise RuntimeError("protobuf parsing failed")
        used = kokoro.providers if len(providers) > 1 else ["CPUExecutionProvider"]
        return SimpleNamespace(get_providers=lambda: used)

    runtime = SimpleNamespace(
        SessionOptions=SimpleNamespace,
        InferenceSession=session,
        get_available_providers=lambda: kokoro.built_for,
    )
    library = SimpleNamespace(Kokoro=SimpleNamespace(from_session=lambda session, voices: kokoro))
    monkeypatch.setitem(sys.modules, "onnxruntime", runtime)
    monkeypatch.setitem(sys.modules, "kokoro_onnx", library)
    return kokoro


@pytest.fixture
def models(tmp_path):
    (tmp_path / "kokoro-onnx").mkdir()
    for name in ("kokoro-v1.0.int8.onnx", VOICES):
        (tmp_path / "kokoro-onnx" / name).write_bytes(b"x")
    return tmp_path


async def said(engine, text: str, **how) -> list:
    async with engine.speak(text, **how) as pieces:
        return [piece async for piece in pieces]


async def test_a_clause_is_spoken_in_pieces_with_its_words(kokoro, models):
    engine = await load_speaker("kokoro_onnx", {"models": str(models), "threads": 2, "device": "cuda:1"})
    pieces = await said(engine, "Hello you", language="es-MX", speed=0.1)
    assert kokoro.asked == [("Hello you", "ef_dora", 0.5, "es")]
    assert sum(len(piece.pcm) for piece in pieces) == 2 * 9 * 2400
    words = [word for piece in pieces for word in piece.words]
    assert [(word.text, word.start, word.end) for word in words] == [
        ("Hello", 0, 12_000),
        ("you", 14_400, 21_600),
    ]
    assert kokoro.sessions[0][1:] == (
        2,
        [("CUDAExecutionProvider", {"device_id": 1}), "CPUExecutionProvider"],
    )


async def test_a_card_that_the_library_cannot_use_is_refused_and_not_replaced_by_the_processor(
    kokoro, models
):
    options = {"models": str(models), "device": "cuda"}
    kokoro.providers = ["CPUExecutionProvider"]  # it falls back by itself where the card does not open
    with pytest.raises(StartFailed, match="no device cuda:0"):
        await load_speaker("kokoro_onnx", options)
    kokoro.built_for = kokoro.providers
    with pytest.raises(StartFailed, match=r"It has: cpu\."):
        await load_speaker("kokoro_onnx", options)


async def test_a_long_clause_is_made_in_parts(kokoro, models):
    engine = await load_speaker("kokoro_onnx", {"models": str(models)})
    text = "many words " * 60
    pieces = await said(engine, text)
    assert len(kokoro.asked) > 2
    words = [word for piece in pieces for word in piece.words]
    assert [text[word.at : word.to] for word in words] == text.split()
    assert words[-1].end <= sum(len(piece.pcm) for piece in pieces) // 2


async def test_voices_whose_phonemes_espeak_cannot_write_are_not_offered(kokoro, models):
    engine = await load_speaker("kokoro_onnx", {"models": str(models), "voice": "ef_dora"})
    assert [voice.name for voice in engine.voices] == ["ef_dora", "af_heart"]
    with pytest.raises(NotFound):
        await said(engine, "hello", voice="jf_alpha")


async def test_what_has_no_phonemes_is_silence_and_what_breaks_is_a_sentence(kokoro, models):
    engine = await load_speaker("kokoro_onnx", {"models": str(models)})
    assert await said(engine, "phonemeless") == []
    with pytest.raises(EngineFailed, match="bad allocation"):
        await said(engine, "broken")
    kokoro.rate = 22_050
    with pytest.raises(EngineFailed, match="22050 Hz"):
        await said(engine, "hello")


async def test_a_network_that_cannot_be_loaded_is_said_to_be_one(kokoro, models):
    (models / "kokoro-onnx" / "broken.onnx").write_bytes(b"x")
    with pytest.raises(StartFailed, match="protobuf parsing failed"):
        await load_speaker("kokoro_onnx", {"models": str(models), "network": "broken.onnx"})


async def test_without_the_library_the_command_for_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(StartFailed, match=r"duologue\[kokoro-onnx\]"):
        await load_speaker("kokoro_onnx", {})


def test_the_network_that_is_there_is_taken(models):
    assert find_weights(KokoroOnnxOptions(models=str(models)))[1] == "kokoro-v1.0.int8.onnx"
    with pytest.raises(StartFailed, match=r"mine\.onnx is missing"):
        find_weights(KokoroOnnxOptions(models=str(models), network="mine.onnx"))


def test_missing_weights_come_with_the_commands_that_fetch_them(tmp_path):
    with pytest.raises(StartFailed, match=r"kokoro-v1\.0\.onnx && curl .*voices-v1\.0\.bin"):
        find_weights(KokoroOnnxOptions(models=str(tmp_path)))
