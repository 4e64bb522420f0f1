"""Qwen3-ASR's engine without its library and PyTorch. The library itself is tried by make test-engines."""

import sys
from types import SimpleNamespace

import pytest

from duologue.engines.asr.qwen import find_weights, placement, timed_words
from duologue.engines.devices import Device
from duologue.engines.registry import load_recogniser
from duologue.errors import EngineFailed, StartFailed
from duologue.values.audio import HEARD_RATE
from duologue.values.speech import TimedWord

pytestmark = pytest.mark.anyio
NEEDED = "these tests need numpy: pip install 'duologue[voice]'"
SECOND = bytes(2 * HEARD_RATE)


class Model:
    """What of the library's model is used."""

    def __init__(self) -> None:
        self.how: dict = {}
        self.asked: list[dict] = []
        self.broken = False

    def from_pretrained(self, folder: str, **how) -> "Model":
        self.how = how | {"folder": folder}
        return self

    def transcribe(self, **how):
        if self.broken:
            raise RuntimeError("CUDA error")
        sound, rate = how["audio"]
        self.asked.append(how | {"seconds": len(sound) / rate})
        words = [SimpleNamespace(text="Hello", start_time=0.1, end_time=0.5)]
        stamps = SimpleNamespace(items=words) if how["return_time_stamps"] else None
        return [SimpleNamespace(text=" Hello.", language="English", time_stamps=stamps)]


@pytest.fixture
def model(monkeypatch, tmp_path):
    pytest.importorskip("numpy", reason=NEEDED)
    cuda = SimpleNamespace(is_available=lambda: False, device_count=lambda: 0)
    torch = SimpleNamespace(cuda=cuda, float32="float32", bfloat16="bfloat16")
    model = Model()
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setitem(sys.modules, "qwen_asr", SimpleNamespace(Qwen3ASRModel=model))
    for name in ("Qwen3-ASR-0.6B", "Qwen3-ForcedAligner-0.6B"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
    return model


async def test_a_recording_is_heard_with_its_language_and_hint(model, tmp_path):
    engine = await load_recogniser("qwen", {"models": str(tmp_path)})
    transcript = await engine.transcribe(SECOND, language="de-AT", prompt="Duologue", word_timestamps=True)
    assert (transcript.text, transcript.language, transcript.words) == ("Hello.", "en", ())
    assert model.asked[0]["language"] == "German"
    assert model.asked[0]["context"] == "Duologue"
    assert not model.asked[0]["return_time_stamps"]
    assert model.how["device_map"] == "cpu"
    assert model.how["dtype"] == "float32"
    assert model.how["forced_aligner"] is None
    assert not engine.word_timestamps


async def test_a_card_that_is_not_there_is_refused(model, tmp_path):
    with pytest.raises(StartFailed, match="no device cuda:0"):
        await load_recogniser("qwen", {"models": str(tmp_path), "device": "cuda"})


async def test_with_the_aligner_words_have_times(model, tmp_path):
    options = {"models": str(tmp_path), "aligner": "Qwen3-ForcedAligner-0.6B"}
    engine = await load_recogniser("qwen", options)
    assert engine.word_timestamps
    assert (await engine.transcribe(SECOND, word_timestamps=True)).words == (TimedWord("Hello", 0.1, 0.5),)
    assert (await engine.transcribe(SECOND)).words == ()


async def test_words_are_shown_while_they_are_spoken(model, tmp_path):
    engine = await load_recogniser("qwen", {"models": str(tmp_path)})
    async with engine.stream(language="en") as listener:
        assert await listener.feed(SECOND) == "Hello."
        assert (await listener.finish()).text == "Hello."


async def test_a_long_recording_is_heard_a_minute_at_a_time(model, tmp_path):
    engine = await load_recogniser("qwen", {"models": str(tmp_path)})
    await engine.transcribe(SECOND * 150)
    assert sum(each["seconds"] for each in model.asked) == 150
    assert max(each["seconds"] for each in model.asked) <= 60


async def test_a_failure_of_the_library_is_a_sentence(model, tmp_path):
    engine = await load_recogniser("qwen", {"models": str(tmp_path)})
    model.broken = True
    with pytest.raises(EngineFailed, match="CUDA error"):
        await engine.transcribe(SECOND)


async def test_without_the_library_the_command_for_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(StartFailed, match=r"duologue\[qwen\]"):
        await load_recogniser("qwen", {})


def test_missing_weights_come_with_the_command_that_fetches_them(tmp_path):
    place = tmp_path / "Qwen3-ASR-1.7B"
    for name in ("Qwen3-ASR-1.7B", "Qwen/Qwen3-ASR-1.7B"):
        with pytest.raises(StartFailed, match=f"hf download Qwen/Qwen3-ASR-1.7B --local-dir {place}"):
            find_weights(name, str(tmp_path))


def test_it_goes_onto_a_card_where_there_is_one():
    assert placement(Device(), 1) == ("cuda:0", "bfloat16")
    assert placement(Device(), 0) == ("cpu", "float32")
    assert placement(Device("cpu"), 1) == ("cpu", "float32")
    assert placement(Device("cuda", 1), 2) == ("cuda:1", "bfloat16")


def test_words_without_letters_are_left_out():
    assert timed_words([SimpleNamespace(text=" ", start_time=0, end_time=1)]) == ()
