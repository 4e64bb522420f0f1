"""sherpa-onnx, really loaded: networks that make a short tone of every letter or phoneme, made here; text becomes phonemes
by the real espeak-ng."""

import shutil
import wave
from array import array
from itertools import pairwise
from pathlib import Path

import anyio
import pytest

from duologue.engines.contracts import CloningSpeaker, SpeakerEngine, SpeechChunk
from duologue.engines.registry import load_speaker
from duologue.engines.tts import sherpa_speaker
from duologue.engines.tts.sherpa_speaker import (
    KEPT_VOICES,
    SherpaCloner,
    SherpaSpeakerOptions,
    find_recordings,
)
from duologue.engines.tts.sherpa_speech_kinds import SpeechModel
from duologue.errors import BadRequest, EngineFailed, NotFound, StartFailed, TooLarge
from duologue.values.audio import SPOKEN_RATE
from duologue.values.speech import VoiceSample

NEEDED = "this test needs sherpa-onnx and onnx: pip install 'duologue[voice]' onnx"
pytest.importorskip("sherpa_onnx", reason=NEEDED)
pytest.importorskip("onnx", reason=NEEDED)
pytest.importorskip("espeakng_loader", reason=NEEDED)
import numpy  # noqa: E402
from tests.support.tiny_cloners import pocket, zipvoice  # noqa: E402
from tests.support.tiny_onnx import FLOAT, LONG, Node, save_network, write_tokens  # noqa: E402

pytestmark = pytest.mark.anyio
RATE = 16_000
EACH = 800
"""Samples of a token: 50 ms."""
TONE = (numpy.sin(numpy.arange(EACH) / 10) * 0.5).astype(numpy.float32).reshape(1, EACH)
LETTERS = [*"_^$ ", *"abcdefghijklmnopqrstuvwxyz", *".,?!'"]
PHONEMES = [*'$;:,.!?—…"() ', *"abcdefghijklmnopqrstuvwxyzæðŋɐɑɒɔəɚɛɜɡɪɹɾʃʊʌʒʔˈˌːᵻθ"]
KOKORO_VOICES = ("af_alloy", "af_heart", "am_adam", "bf_emma", "ef_dora", "jf_alpha")


def tones(quiet: int, shape: list[int]) -> tuple[list[Node], dict[str, object]]:
    """A tone for each token of `x` above `quiet`, silence for the others."""
    nodes: list[Node] = [
        ("Greater", ["x", "quiet"], ["sounds"], {}),
        ("Cast", ["sounds"], ["loud"], {"to": FLOAT}),
        ("Transpose", ["loud"], ["column"], {"perm": [1, 0]}),
        ("Mul", ["column", "tone"], ["all"], {}),
        ("Reshape", ["all", "shape"], ["y"], {}),
    ]
    return nodes, {"quiet": numpy.array(quiet), "tone": TONE, "shape": numpy.array(shape)}


def vits(folder: Path) -> None:
    """Three speakers that spell."""
    write_tokens(folder, LETTERS)
    nodes, numbers = tones(3, [1, 1, -1])
    scales = [(name, FLOAT, [1]) for name in ("noise_scale", "length_scale", "noise_scale_w")]
    save_network(
        folder / "model.onnx",
        nodes,
        [("x", LONG, [1, "T"]), ("x_length", LONG, [1]), *scales, ("sid", LONG, [1])],
        [("y", FLOAT, [1, 1, "S"])],
        numbers,
        sample_rate=RATE,
        n_speakers=3,
        language="German",
        comment="made",
        frontend="characters",
    )


def piper(folder: Path) -> None:
    """One voice of 16 kHz, with its notes and the phonemes of espeak-ng."""
    write_tokens(folder, ["_", "^", *PHONEMES])
    nodes, numbers = tones(14, [1, 1, -1])
    save_network(
        folder / "de_DE-tiny-low.onnx",
        nodes,
        [("x", LONG, [1, "T"]), ("x_length", LONG, [1]), ("scales", FLOAT, [3])],
        [("y", FLOAT, [1, 1, "S"])],
        numbers,
        model_type="vits",
        sample_rate=RATE,
        n_speakers=1,
        language="German",
        voice="de",
        comment="piper",
        has_espeak=1,
    )
    (folder / "de_DE-tiny-low.onnx.json").write_text('{"language": {"code": "de_DE"}}')


def kokoro(folder: Path) -> None:
    write_tokens(folder, PHONEMES)
    nodes, numbers = tones(12, [-1])
    save_network(
        folder / "model.onnx",
        nodes,
        [("x", LONG, [1, "T"]), ("style", FLOAT, [1, 4]), ("speed", FLOAT, [1])],
        [("y", FLOAT, ["S"])],
        numbers,
        model_type="kokoro",
        sample_rate=24_000,
        version=2,
        voice="en-us",
        has_espeak=1,
        n_speakers=len(KOKORO_VOICES),
        speaker_names=",".join(KOKORO_VOICES),
        style_dim="510,1,4",
    )
    (folder / "voices.bin").write_bytes(bytes(4 * 510 * 4 * len(KOKORO_VOICES)))


def kitten(folder: Path) -> None:
    write_tokens(folder, PHONEMES)
    nodes, numbers = tones(12, [-1])
    save_network(
        folder / "model.fp16.onnx",
        nodes,
        [("x", LONG, [1, "T"]), ("style", FLOAT, [1, 4]), ("speed", FLOAT, [1])],
        [("y", FLOAT, ["S"])],
        numbers,
        model_type="kitten-tts",
        sample_rate=24_000,
        voice="en-us",
        has_espeak=1,
        n_speakers=2,
        speaker_names="expr-voice-2-m,expr-voice-2-f",
        style_dim="1,4",
    )
    (folder / "voices.bin").write_bytes(bytes(4 * 4 * 2))


def matcha(folder: Path) -> None:
    """An acoustic model that gives a column for each phoneme, and a vocoder that gives a tone for each column."""
    write_tokens(folder, ["_", "^", *PHONEMES])
    save_network(
        folder / "model-steps-3.onnx",
        [
            ("Greater", ["x", "quiet"], ["sounds"], {}),
            ("Cast", ["sounds"], ["loud"], {"to": FLOAT}),
            ("Unsqueeze", ["loud", "axis"], ["mel"], {}),
        ],
        [
            ("x", LONG, [1, "T"]),
            ("x_length", LONG, [1]),
            ("noise_scale", FLOAT, [1]),
            ("length_scale", FLOAT, [1]),
        ],
        [("mel", FLOAT, [1, 1, "T"])],
        {"quiet": numpy.array(14), "axis": numpy.array([1])},
        model_type="matcha-tts",
        sample_rate=22_050,
        n_speakers=1,
        has_espeak=1,
        use_eos_bos=0,
        pad_id=0,
        language="English",
        voice="en-us",
    )
    save_network(
        folder / "hifigan_v2.onnx",
        [
            ("Reshape", ["mel", "column"], ["columns"], {}),
            ("Mul", ["columns", "tone"], ["all"], {}),
            ("Reshape", ["all", "flat"], ["audio"], {}),
        ],
        [("mel", FLOAT, [1, 1, "T"])],
        [("audio", FLOAT, [1, "S"])],
        {"column": numpy.array([-1, 1]), "tone": TONE, "flat": numpy.array([1, -1])},
        model_type="hifigan",
    )


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    for make in (vits, piper, kokoro, kitten, matcha):
        make(folder / make.__name__)
    return folder


async def loaded(models: Path, name: str, **options) -> SpeakerEngine:
    return await load_speaker("sherpa", {"model": name, "models": str(models), "threads": 1, **options})


async def said(engine: SpeakerEngine, text: str, **how) -> list[SpeechChunk]:
    async with engine.speak(text, **how) as pieces:
        return [piece async for piece in pieces]


def length(pieces: list[SpeechChunk]) -> int:
    return sum(len(piece.pcm) for piece in pieces) // 2


def words(pieces: list[SpeechChunk]) -> list:
    return [word for piece in pieces for word in piece.words]


@pytest.mark.parametrize(
    ("name", "voices", "language"),
    [
        ("vits", ["speaker_1", "speaker_2", "speaker_3"], "de"),
        ("piper", ["piper"], "de-DE"),
        ("kokoro", ["af_heart", "af_alloy", "am_adam", "bf_emma", "ef_dora"], "en-US"),
        ("kitten", ["expr-voice-2-m", "expr-voice-2-f"], "en-US"),
        ("matcha", ["matcha"], "en-US"),
    ],
)
async def test_each_kind_lists_its_voices_and_speaks(models, name, voices, language):
    engine = await loaded(models, name)
    assert [voice.name for voice in engine.voices] == voices
    assert engine.voices[0].language == language
    pieces = await said(engine, "hello there, how are you?", voice=voices[-1])
    assert length(pieces) > SPOKEN_RATE // 2
    assert [word.text for word in words(pieces)] == ["hello", "there,", "how", "are", "you?"] or [
        word.text.strip(",?") for word in words(pieces)
    ] == ["hello", "there", "how", "are", "you"]
    await engine.close()


async def test_words_lie_where_the_sound_is_loud(models):
    engine = await loaded(models, "vits")
    text = "abc defg hij"
    pieces = await said(engine, text)
    told = words(pieces)
    assert [text[word.at : word.to] for word in told] == text.split()
    assert all(one.end <= other.start for one, other in pairwise(told))
    sound = array("h", b"".join(piece.pcm for piece in pieces))
    assert all(max(sound[word.start : word.end]) > 10_000 for word in told)
    assert told[-1].end <= length(pieces)


async def test_the_phonemes_of_a_word_share_its_sound(models):
    engine = await loaded(models, "piper")
    pieces = await said(engine, "Bob may. Papa.")
    phones = [phone for piece in pieces for phone in piece.phones]
    assert [phone.symbol for phone in phones if phone.symbol in "pbm"] == list("bpmpp")  # as German says it
    for word in words(pieces):
        assert any(word.start <= phone.start < phone.end <= word.end for phone in phones)


async def test_words_come_with_the_sound_in_which_they_begin(models):
    engine = await loaded(models, "piper")
    made = 0
    for piece in await said(engine, "one two three four five six seven eight nine ten"):
        assert all(made <= word.start <= made + len(piece.pcm) // 2 for word in piece.words)
        made += len(piece.pcm) // 2


async def test_a_long_clause_goes_on_with_its_words_where_they_are(models):
    engine = await loaded(models, "vits")
    text = "this goes on and on. without any end " * 20
    pieces = await said(engine, text)
    told = words(pieces)
    assert [text[word.at : word.to].strip(". ") for word in told] == text.replace(".", "").split()
    assert all(one.start <= other.start for one, other in pairwise(told))
    assert told[-1].end <= length(pieces)


async def test_the_voice_of_the_settings_comes_first(models):
    engine = await loaded(models, "kokoro", voice="bf_emma")
    assert engine.voices[0].name == "bf_emma"


async def test_a_voice_of_the_language_is_chosen(models):
    engine = await loaded(models, "kokoro")
    assert length(await said(engine, "buenos días", language="es-MX")) > 0


@pytest.mark.parametrize("text", ["", " ", "...", "🙂", "—", "\0"])
async def test_what_has_no_sound_is_no_harm(models, text):
    assert length(await said(await loaded(models, "piper"), text)) == 0


async def test_odd_speeds_and_signs_are_no_harm(models):
    engine = await loaded(models, "piper")
    assert length(await said(engine, "fast 🙂 [x](y) <b>", speed=9.0)) > 0
    assert length(await said(engine, "slow", speed=0.01)) > 0


async def test_who_leaves_early_ends_the_work(models):
    engine = await loaded(models, "vits")
    with anyio.fail_after(60):
        async with engine.speak("one two three. " * 250) as pieces:
            async for _ in pieces:
                break
    assert length(await said(engine, "still here")) > 0


async def test_unknown_voices_and_endless_clauses_are_refused(models):
    engine = await loaded(models, "kokoro")
    with pytest.raises(NotFound, match="af_heart, af_alloy"):
        await said(engine, "hello", voice="jf_alpha")
    with pytest.raises(TooLarge):
        await said(engine, "a " * 3000)


async def test_an_error_in_the_callback_ends_the_clause_with_it(models, monkeypatch):
    engine = await loaded(models, "vits")

    def broken(sound):
        raise EngineFailed("no sound today")

    monkeypatch.setattr(sherpa_speaker, "to_pcm", broken)
    with pytest.raises(EngineFailed, match="no sound today"):
        await said(engine, "hello")


async def test_weights_that_are_missing_come_with_the_command_that_fetches_them(tmp_path):
    with pytest.raises(StartFailed, match=r"releases/download/tts-models/kokoro-multi-lang-v1_0\.tar\.bz2"):
        await load_speaker("sherpa", {"models": str(tmp_path)})


async def test_a_broken_network_is_reported(models):
    shutil.copytree(models / "vits", models / "broken", dirs_exist_ok=True)
    network = (models / "broken" / "model.onnx").read_bytes()
    # The metadata at the end stays whole.
    (models / "broken" / "model.onnx").write_bytes(network.replace(b"Greater", b"Grxxxxx"))
    with pytest.raises(StartFailed, match="cannot be loaded"):
        await loaded(models, "broken")


async def test_files_of_no_known_kind_are_refused_before_the_library_sees_them(tmp_path):
    (tmp_path / "odd").mkdir()
    (tmp_path / "odd" / "tokens.txt").write_text("a 0\n")
    (tmp_path / "odd" / "model.onnx").write_bytes(b"\xff" * 100)
    with pytest.raises(StartFailed, match="not a speech model of a known kind"):
        await loaded(tmp_path, "odd")


@pytest.mark.parametrize("options", [{"precision": "int4"}, {"parallel": 0}, {"device": "tpu"}])
async def test_wrong_options_are_refused(models, options):
    with pytest.raises(StartFailed):
        await loaded(models, "vits", **options)


def record(path: Path, channels: int = 1, width: int = 2) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(RATE)
        file.writeframes(b"\1\2" * (channels * width * RATE // 4))


def test_recordings_are_the_voices_of_a_model_that_clones(tmp_path):
    record(tmp_path / "anna.wav")
    record(tmp_path / "test_wavs" / "ben.wav", channels=2)
    record(tmp_path / "bytes.wav", width=1)
    (tmp_path / "text.wav").write_text("not a sound")
    (tmp_path / "anna.txt").write_text("Good morning.\n")
    found = find_recordings(tmp_path, SpeechModel("pocket", {}))
    assert list(found) == ["anna.wav", "test_wavs/ben.wav"]
    assert len(found["anna.wav"].pcm) == len(found["test_wavs/ben.wav"].pcm)
    told = find_recordings(tmp_path, SpeechModel("zipvoice", {}))
    assert {name: each.text for name, each in told.items()} == {"anna.wav": "Good morning."}
    assert find_recordings(tmp_path, SpeechModel("vits", {})) == {}


class Described:
    """What the library is asked to speak like."""

    sid, speed, num_steps, phoneme_codepoints = 0, 1.0, 0, ()
    reference_audio: list[float]
    reference_sample_rate = 0
    reference_text = ""


class Imitating:
    """The library, where a test looks at what it is asked for: a tone as long as the text."""

    sample_rate = 24_000

    def __init__(self) -> None:
        self.asked: list[Described] = []

    def generate(self, text, config, callback):
        self.asked.append(config)
        callback(numpy.full(240 * len(text), 0.5, numpy.float32), 1.0)


def cloner(family) -> tuple[SherpaCloner, Imitating]:
    library = Imitating()
    model = SpeechModel(family, {})
    return SherpaCloner(library, Described, model, (), {}, family, SherpaSpeakerOptions()), library


@pytest.fixture
async def imitator(tmp_path: Path) -> SherpaCloner:
    """Pocket TTS, really loaded. The voice of its folder is a recording too."""
    folder = tmp_path / "pocket"
    folder.mkdir()
    pocket(folder)
    record(folder / "anna.wav")
    engine = await loaded(tmp_path, "pocket")
    assert isinstance(engine, SherpaCloner)
    return engine


async def imitated(engine: SherpaCloner, level: float, text: str = "hello there.") -> list[SpeechChunk]:
    sample = VoiceSample(array("h", [round(level * 32767)] * (2 * RATE)).tobytes())
    async with engine.speak_like(text, sample=sample) as pieces:
        return [piece async for piece in pieces]


def loudness(pieces: list[SpeechChunk]) -> int:
    return max(map(abs, array("h", b"".join(piece.pcm for piece in pieces))))


async def test_pocket_tts_speaks_like_the_recording_it_is_given(imitator: SherpaCloner):
    assert [voice.name for voice in imitator.voices] == ["anna"]
    assert length(await said(imitator, "hello there.")) > SPOKEN_RATE // 2
    quiet, loud = [await imitated(imitator, level) for level in (0.1, 0.5)]
    assert 0.09 * 32767 < loudness(quiet) < 0.31 * 32767 < 0.49 * 32767 < loudness(loud)
    assert [word.text for word in words(quiet)] == ["hello", "there."]
    assert length(await imitated(imitator, 0.1, "hello there, how are you?")) > length(quiet)


async def test_the_voice_of_a_recording_is_computed_once(imitator: SherpaCloner):
    """A computation adds a little chance, so that two of them differ."""
    once, again = [loudness(await imitated(imitator, 0.3, text)) for text in ("hello. you.", "there.")]
    assert once == again
    kept = [loudness(await imitated(imitator, level / 100)) for level in range(10, 10 + 2 * KEPT_VOICES)]
    anew = [loudness(await imitated(imitator, level / 100)) for level in range(10, 10 + 2 * KEPT_VOICES)]
    assert kept != anew


async def test_zipvoice_speaks_like_the_recording_it_is_given(tmp_path: Path):
    folder = tmp_path / "zipvoice"
    folder.mkdir()
    zipvoice(folder)
    record(folder / "anna.wav")
    (folder / "anna.txt").write_text("one two")
    engine = await loaded(tmp_path, "zipvoice")
    assert isinstance(engine, SherpaCloner)
    assert [voice.name for voice in engine.voices] == ["anna"]
    assert length(await said(engine, "hello there.")) > SPOKEN_RATE // 2

    async def spoken(seconds: int, text: str) -> list[SpeechChunk]:
        sample = VoiceSample(array("h", [1000, -1000] * (seconds * RATE // 2)).tobytes(), text)
        async with engine.speak_like("hello there.", sample=sample) as pieces:
            return [piece async for piece in pieces]

    short, long, wordy = await spoken(1, "one"), await spoken(3, "one"), await spoken(1, "one two one two")
    assert length(long) > length(short) + SPOKEN_RATE
    assert length(wordy) > length(short)
    assert loudness(short) > 3000
    assert [word.text for word in words(short)] == ["hello", "there."]


async def test_a_model_that_clones_is_given_the_recording():
    engine, library = cloner("pocket")
    assert isinstance(engine, CloningSpeaker)
    assert not engine.needs_sample_text
    sample = VoiceSample(b"\0\x40" * RATE * 30, "one two")
    async with engine.speak_like("Hello. You there.", sample=sample, speed=9) as pieces:
        assert [word.text for piece in [piece async for piece in pieces] for word in piece.words] == [
            "Hello.", "You", "there.",
        ]  # fmt: skip
    first, second = library.asked
    assert (first.reference_sample_rate, first.reference_text, first.speed) == (RATE, "one two", 2.0)
    assert len(first.reference_audio) == 10 * RATE == len(second.reference_audio)
    assert first.reference_audio[0] == 0.5


async def test_one_that_must_know_what_is_said_says_so_and_hears_all_of_it():
    engine, library = cloner("zipvoice")
    assert engine.needs_sample_text
    with pytest.raises(BadRequest) as caught:
        async with engine.speak_like("Hello", sample=VoiceSample(bytes(2 * RATE))):
            pass
    assert caught.value.code == "voice_sample_text_missing"
    async with engine.speak_like("Hello", sample=VoiceSample(bytes(40 * RATE), "one two")) as pieces:
        assert [piece async for piece in pieces]
    assert len(library.asked[0].reference_audio) == 20 * RATE
    async with engine.speak_like("...", sample=VoiceSample(bytes(40 * RATE), "one two")) as pieces:
        assert [piece async for piece in pieces] == []


async def test_a_model_with_voices_of_its_own_does_not_clone(models):
    assert not isinstance(await loaded(models, "vits"), CloningSpeaker)


async def test_a_card_that_the_library_would_leave_alone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StartFailed, match="no device cuda:0"):
        await load_speaker("sherpa", {"models": str(tmp_path), "device": "cuda"})
