"""Kokoro's engine without its library and PyTorch. The library itself is tried by make test-engines."""

import sys
from array import array
from importlib.machinery import ModuleSpec
from types import SimpleNamespace
from typing import Any

import pytest

from duologue.engines.devices import Device
from duologue.engines.registry import load_speaker
from duologue.engines.tts import kokoro
from duologue.engines.tts.kokoro import (
    CONFIG,
    SPACY,
    VOICES,
    WEIGHTS,
    KokoroOptions,
    find_weights,
    placement,
    unavailable,
)
from duologue.errors import EngineFailed, NotFound, StartFailed

pytestmark = pytest.mark.anyio
NEEDED = "these tests need numpy: pip install 'duologue[voice]'"
SILENCE = 4800


class Pipeline:
    """The library's pipeline for a language: a tone for each word, after a fifth of a second of silence."""

    made: list["Pipeline"]

    def __init__(self, letter: str, *, repo_id: str, model: Any) -> None:
        self.letter, self.model = letter, model
        self.asked: list[dict] = []
        Pipeline.made.append(self)

    def __call__(self, text: str, **how):
        self.asked.append(how | {"text": text})
        if "break" in text:
            raise RuntimeError("out of memory")
        tokens, sound, at = [], [0.0] * SILENCE, SILENCE
        for word in text.split():
            times = {"start_ts": at / 24_000, "end_ts": (at + 2400) / 24_000}
            tokens.append(SimpleNamespace(text=word, phonemes=word.lower(), **times))
            sound += [0.5] * 2400
            at += 2400
        yield SimpleNamespace(audio=sound, tokens=tokens if self.letter in "ab" else None)
        yield SimpleNamespace(audio=None, tokens=None)


class Network:
    def __init__(self, **how) -> None:
        self.how = how
        self.place = ""

    def eval(self) -> "Network":
        return self

    def to(self, place: str) -> "Network":
        self.place = place
        return self


@pytest.fixture
def models(monkeypatch, tmp_path):
    """A folder with a model, its library, and all that English needs."""
    pytest.importorskip("numpy", reason=NEEDED)
    Pipeline.made = []
    cuda = SimpleNamespace(is_available=lambda: False)
    logger = SimpleNamespace(disable=lambda name: None)
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    monkeypatch.setitem(sys.modules, "loguru", SimpleNamespace(logger=logger))
    monkeypatch.setitem(sys.modules, "kokoro", SimpleNamespace(KModel=Network, KPipeline=Pipeline))
    monkeypatch.setattr(kokoro, "find_spec", lambda name: ModuleSpec(name, None) if name == SPACY else None)
    folder = tmp_path / "Kokoro-82M"
    (folder / VOICES).mkdir(parents=True)
    for name in (
        CONFIG,
        WEIGHTS,
        *(f"{VOICES}/{voice}.pt" for voice in ("af_heart", "ff_siwis", "jf_alpha")),
    ):
        (folder / name).write_bytes(b"x")
    return tmp_path


async def said(engine, text: str, **how) -> tuple[array, list]:
    async with engine.speak(text, **how) as pieces:
        told = [piece async for piece in pieces]
    return array("h", b"".join(piece.pcm for piece in told)), [word for piece in told for word in piece.words]


async def test_a_card_that_is_not_there_is_refused(models):
    with pytest.raises(StartFailed, match="no device cuda:0"):
        await load_speaker("kokoro", {"models": str(models), "device": "cuda"})


async def test_a_clause_is_spoken_without_the_silence_before_it_and_its_words_are_where_they_sound(models):
    engine = await load_speaker("kokoro", {"models": str(models)})
    sound, words = await said(engine, "Hello there, you.")
    assert [(word.text, word.at, word.to) for word in words] == [
        ("Hello", 0, 5),
        ("there,", 6, 12),
        ("you.", 13, 17),
    ]
    assert len(sound) == 3 * 2400 + 480
    assert words[0].start == 480
    assert all(min(sound[word.start : word.end]) > 16_000 for word in words)


async def test_the_phones_of_english_lie_within_their_words(models):
    engine = await load_speaker("kokoro", {"models": str(models)})
    async with engine.speak("Hello there, you.") as chunks:
        phones = [phone async for chunk in chunks for phone in chunk.phones]
    assert "".join(phone.symbol for phone in phones) == "hellothereyou"
    assert (phones[0].start, phones[4].end, phones[5].start) == (480, 2880, 2880)


async def test_voices_come_from_the_models_folder_and_the_hub_is_never_asked(models):
    engine = await load_speaker("kokoro", {"models": str(models)})
    await said(engine, "Bonjour", language="fr")
    english, french = Pipeline.made
    assert (english.letter, french.letter) == ("a", "f")
    assert french.asked[0]["voice"] == str(models / "Kokoro-82M" / VOICES / "ff_siwis.pt")
    assert french.model is english.model
    assert french.model.how["model"].endswith(WEIGHTS)
    assert french.model.place == "cpu"


async def test_languages_that_cannot_be_spoken_here_are_not_offered(models):
    engine = await load_speaker("kokoro", {"models": str(models)})
    assert [voice.name for voice in engine.voices] == ["af_heart", "ff_siwis"]
    with pytest.raises(NotFound, match="af_heart, ff_siwis"):
        await said(engine, "hello", voice="jf_alpha")


async def test_without_its_model_of_english_other_languages_are_spoken(models, monkeypatch):
    monkeypatch.setattr(kokoro, "find_spec", lambda name: None)
    engine = await load_speaker("kokoro", {"models": str(models)})
    assert [voice.name for voice in engine.voices] == ["ff_siwis"]
    _, words = await said(engine, "Bonjour à tous")
    assert words == []
    with pytest.raises(StartFailed, match="python -m spacy download en_core_web_sm"):
        await load_speaker("kokoro", {"models": str(models), "voice": "af_heart"})


async def test_a_default_voice_that_is_not_there_is_said_to_be_missing(models):
    with pytest.raises(StartFailed, match="no voice 'af_nobody'"):
        await load_speaker("kokoro", {"models": str(models), "voice": "af_nobody"})


async def test_lines_are_one_text_and_speed_has_bounds(models):
    engine = await load_speaker("kokoro", {"models": str(models)})
    await said(engine, "one\ntwo", speed=9.0)
    assert Pipeline.made[0].asked[0]["text"] == "one two"
    assert Pipeline.made[0].asked[0]["speed"] == 2.0


async def test_a_failure_of_the_library_is_a_sentence(models):
    engine = await load_speaker("kokoro", {"models": str(models)})
    with pytest.raises(EngineFailed, match="out of memory"):
        await said(engine, "break")
    assert len((await said(engine, "still here"))[0]) > 0


async def test_without_the_library_the_command_for_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(StartFailed, match=r"duologue\[kokoro\]"):
        await load_speaker("kokoro", {})


def test_missing_weights_come_with_the_command_that_fetches_them(tmp_path):
    with pytest.raises(
        StartFailed, match=f"hf download hexgrad/Kokoro-82M --local-dir {tmp_path / 'Kokoro-82M'}"
    ):
        find_weights(KokoroOptions(models=str(tmp_path)))


def test_what_a_voice_needs_is_said():
    assert "pyopenjtalk" in unavailable("jf_alpha", True)
    assert "spacy download" in unavailable("af_heart", True)
    assert "no voice 'af_x'" in unavailable("af_x", False)


def test_it_goes_onto_a_card_where_there_is_one():
    assert [placement(Device(), True), placement(Device(), False), placement(Device("cuda", 1), False)] == [
        *("cuda:0", "cpu", "cuda:1")
    ]
