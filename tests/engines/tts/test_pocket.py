"""Pocket TTS's engine without transformers and PyTorch: a stand-in makes its sound. The library is tried by make test-engines."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from duologue.engines.contracts import CloningSpeaker, SpeechChunk
from duologue.engines.registry import load_speaker, weights_of
from duologue.engines.tts.pocket import (
    CODEC,
    FILES,
    KEPT,
    RECORDED,
    TOKENIZER,
    PocketCloner,
    PocketOptions,
    PocketSpeaker,
    find_voices,
)
from duologue.errors import BadRequest, EngineFailed, NotFound, StartFailed, TooLarge
from duologue.values.audio import HEARD_RATE
from duologue.values.speech import Voice, VoiceSample

pytestmark = pytest.mark.anyio
pytest.importorskip("av", reason="these tests need the resampler: pip install 'duologue[voice]'")
LOUD = VoiceSample(b"\0\x40" * HEARD_RATE * 2)


class Network:
    """The voice is its recording, and each sentence sounds like the first byte of its text, in two chunks."""

    width = 8
    clones = True

    def __init__(self) -> None:
        self.read: list[bytes] = []
        self.said: list[tuple[str, bytes]] = []

    def read_recording(self, pcm: bytes) -> bytes:
        self.read.append(pcm)
        return pcm[:2]

    def say(self, text: str, voice: bytes) -> Iterator[bytes]:
        self.said.append((text, voice))
        if "break" in text:
            raise RuntimeError("out of memory")
        yield from (text[:1].encode() * 4, text[1:2].encode() * 4)


def cloner(**options) -> tuple[PocketCloner, Network]:
    network = Network()
    files = {"anna": Path("voices/anna.wav"), "ben": Path("voices/ben.wav")}
    return PocketCloner(network, files, "pocket-tts", PocketOptions(**options)), network  # type: ignore[arg-type]


def complete(folder: Path) -> Path:
    """A folder with the names of all files of the weights."""
    (folder / CODEC).mkdir(parents=True)
    for name in (*FILES, TOKENIZER, *(f"{CODEC}/{file}" for file in FILES)):
        (folder / name).write_text("{}")
    return folder


async def imitated(engine: CloningSpeaker, text: str, sample: VoiceSample = LOUD) -> list[SpeechChunk]:
    async with engine.speak_like(text, sample=sample) as pieces:
        return [piece async for piece in pieces]


async def test_each_sentence_is_said_in_the_voice_of_the_recording_which_is_read_once():
    engine, network = cloner()
    assert isinstance(engine, CloningSpeaker)
    assert [piece.pcm for piece in await imitated(engine, "One two. Three")] == [
        b"OOOO",
        b"nnnn",
        b"TTTT",
        b"hhhh",
    ]
    assert await imitated(engine, "Four")
    assert [text.strip() for text, _ in network.said] == ["One two.", "Three", "Four"]
    assert [len(pcm) for pcm in network.read] == [2 * 2 * 24_000]


async def test_no_more_of_a_recording_is_read_than_its_longest():
    engine, network = cloner()
    long = b"\0\x40" * HEARD_RATE * (RECORDED + 9)
    await imitated(engine, "Hi", VoiceSample(long))
    await imitated(engine, "Hi", VoiceSample(long[: 2 * HEARD_RATE * RECORDED]))
    assert [len(pcm) for pcm in network.read] == [2 * 24_000 * RECORDED]


async def test_the_memory_of_voices_is_bounded():
    engine, network = cloner()
    for number in range(KEPT + 1):
        await imitated(engine, "Hi", VoiceSample(bytes([number + 1]) * 2 * HEARD_RATE))
    assert (len(engine.memory), len(network.read)) == (KEPT, KEPT + 1)
    await imitated(engine, "Hi", VoiceSample(b"\1" * 2 * HEARD_RATE))
    assert len(network.read) == KEPT + 2


@pytest.mark.parametrize(
    ("pcm", "code"), [(b"\0\x40" * 9, "voice_sample_short"), (bytes(4 * HEARD_RATE), "voice_sample_silent")]
)
async def test_a_recording_without_a_voice_is_refused(pcm, code):
    engine, _ = cloner()
    with pytest.raises(BadRequest) as caught:
        await imitated(engine, "Hi", VoiceSample(pcm))
    assert caught.value.code == code


async def test_what_has_no_sound_is_not_said_and_a_clause_has_a_longest_length():
    engine, network = cloner()
    assert await imitated(engine, "...") == []
    assert network.read == []
    with pytest.raises(TooLarge):
        await imitated(engine, "a" * 4001)


async def test_a_failure_of_the_library_is_one_of_the_engine():
    engine, _ = cloner()
    with pytest.raises(EngineFailed, match="out of memory"):
        await imitated(engine, "break")
    await engine.close()
    with pytest.raises(EngineFailed, match="closed"):
        await imitated(engine, "Hi")


async def test_a_voice_is_chosen_by_its_name():
    engine, _ = cloner(language="fr")
    assert engine.voices == (Voice("anna", "fr"), Voice("ben", "fr"))
    with pytest.raises(NotFound, match="anna, ben"):
        async with engine.speak("Hi", voice="carl"):
            pass


def test_weights_without_the_half_that_reads_recordings_do_not_clone():
    assert not issubclass(PocketSpeaker, CloningSpeaker)


def test_the_default_voice_is_the_first_and_unusable_ones_are_left_out(tmp_path):
    (tmp_path / "voices").mkdir()
    for name in ("b.wav", "a.safetensors", "c.wav", "notes.txt"):
        (tmp_path / "voices" / name).write_text("x")
    assert list(find_voices(tmp_path, "", lambda _: True)) == ["a", "b", "c"]
    assert list(find_voices(tmp_path, "c", lambda path: path.suffix == ".wav")) == ["c", "b"]
    assert find_voices(tmp_path, "c", lambda _: False) == {}
    with pytest.raises(StartFailed, match="a, b, c"):
        find_voices(tmp_path, "d", lambda _: True)


@pytest.mark.parametrize(
    ("options", "param"),
    [
        ({"steps": 0}, "steps"),
        ({"temperature": -1}, "temperature"),
        ({"parallel": 0}, "parallel"),
        ({"device": "tpu"}, "device"),
    ],
)
async def test_options_are_checked_before_anything_is_loaded(options, param):
    with pytest.raises(StartFailed) as caught:
        await load_speaker("pocket", options)
    assert caught.value.param == param


def test_the_weights_are_the_folder_with_the_codec_in_it_or_beside_it(tmp_path):
    folder = complete(tmp_path / "pocket-tts")
    assert weights_of("speaker", "pocket", {"models": str(tmp_path)}) == folder
    (folder / CODEC).rename(tmp_path / "pocket-tts-audio-tokenizer")
    assert weights_of("speaker", "pocket", {"models": str(tmp_path)}) == folder
    (tmp_path / "pocket-tts-audio-tokenizer" / FILES[1]).unlink()
    with pytest.raises(StartFailed, match=r"model\.safetensors is missing"):
        weights_of("speaker", "pocket", {"models": str(tmp_path)})


def test_missing_weights_come_with_the_commands_that_fetch_them(tmp_path):
    with pytest.raises(
        StartFailed,
        match=r"hf download eustlb/pocket-tts .* && hf download eustlb/pocket-tts-audio-tokenizer",
    ):
        weights_of("speaker", "pocket", {"models": str(tmp_path)})
    folder = complete(tmp_path / "pocket-tts")
    (folder / CODEC).rename(tmp_path / "elsewhere")
    with pytest.raises(StartFailed, match="hf download eustlb/pocket-tts-audio-tokenizer"):
        weights_of("speaker", "pocket", {"models": str(tmp_path)})
    options = {"models": str(tmp_path), "codec": str(tmp_path / "elsewhere")}
    assert weights_of("speaker", "pocket", options) == folder


@pytest.mark.skipif(importlib.util.find_spec("transformers") is not None, reason="transformers is installed")
async def test_without_the_library_it_says_what_to_install(tmp_path):
    complete(tmp_path / "pocket-tts")
    with pytest.raises(StartFailed, match=r"pip install 'duologue\[pocket\]'"):
        await load_speaker("pocket", {"models": str(tmp_path)})
