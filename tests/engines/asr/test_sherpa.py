"""sherpa-onnx's engine without its library: stand-ins hear a word in each second. The library itself is tried by
make test-engines."""

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from duologue.engines import sherpa_folder
from duologue.engines.asr.sherpa import SherpaOptions, find_weights, language_parameters
from duologue.engines.asr.sherpa_model_kinds import SherpaModel
from duologue.engines.registry import load_recogniser
from duologue.errors import EngineFailed, StartFailed
from duologue.values.audio import HEARD_RATE

pytestmark = pytest.mark.anyio
NEEDED = "these tests need numpy: pip install 'duologue[voice]'"
SECOND = bytes(2 * HEARD_RATE)


class Stream:
    def __init__(self) -> None:
        self.heard = 0
        self.options: dict[str, str] = {}
        self.result: Any = None
        self.over = False

    def accept_waveform(self, rate, sound) -> None:
        assert rate == HEARD_RATE
        self.heard += len(sound)

    def input_finished(self) -> None:
        self.over = True

    def set_option(self, key: str, value: str) -> None:
        self.options[key] = value


class Recogniser:
    """Both recognisers of the library."""

    broken = False

    def __init__(self, maker: str, how: dict) -> None:
        self.maker, self.how = maker, how
        self.streams: list[Stream] = []

    def create_stream(self) -> Stream:
        self.streams.append(Stream())
        return self.streams[-1]

    def is_ready(self, stream: Stream) -> bool:
        return self.broken

    def decode_stream(self, stream: Stream) -> None:
        if self.broken:
            raise RuntimeError("the network broke")
        words = self.tokens(stream)
        times = self.timestamps(stream)
        stream.result = SimpleNamespace(
            text="".join(words), tokens=words, timestamps=times, durations=[], lang="<|en|>"
        )

    def get_result(self, stream: Stream) -> str:
        return "".join(self.tokens(stream))

    def tokens(self, stream: Stream) -> list[str]:
        return [f" word{number}" for number in range(stream.heard // HEARD_RATE)]

    def timestamps(self, stream: Stream) -> list[float]:
        return [float(number) for number in range(stream.heard // HEARD_RATE)]


class Kind:
    """A class of the library: `from_x` makes a recogniser that remembers how."""

    def __init__(self) -> None:
        self.made: list[Recogniser] = []

    def __getattr__(self, name: str):
        if not name.startswith("from_") or name == "from_sense_voice":
            raise AttributeError(name)

        def make(**how) -> Recogniser:
            self.made.append(Recogniser(name.removeprefix("from_"), how))
            return self.made[-1]

        return make


@pytest.fixture
def library(monkeypatch):
    pytest.importorskip("numpy", reason=NEEDED)
    library = SimpleNamespace(OnlineRecognizer=Kind(), OfflineRecognizer=Kind())
    monkeypatch.setitem(sys.modules, "sherpa_onnx", library)
    return library


def entry(key: str, value: str) -> bytes:
    """A property, as it stands in an ONNX file."""
    data = b"".join(bytes([head, len(text)]) + text.encode() for head, text in ((10, key), (18, value)))
    return bytes([14 << 3 | 2, len(data)]) + data


def folder(place, files: dict[str, dict[str, str]]):
    """A model's folder, with files that say this of themselves."""
    for name, properties in files.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"\x08\x09" + b"".join(entry(*each) for each in properties.items()))
    return str(place)


TRANSDUCER = {"encoder.int8.onnx": {"model_type": "EncDecRNNTBPEModel"}} | {
    name: {} for name in ("decoder.int8.onnx", "joiner.int8.onnx", "tokens.txt")
}
STREAMING = {"encoder.onnx": {"decode_chunk_len": "32"}} | {
    name: {} for name in ("decoder.onnx", "joiner.onnx", "tokens.txt")
}
QWEN: dict[str, dict[str, Any]] = {
    name: {} for name in ("conv_frontend.onnx", "encoder.onnx", "decoder.onnx", "tokenizer/vocab.json")
}


async def test_a_whole_utterance_is_heard_and_its_words_have_times(library, tmp_path):
    engine = await load_recogniser(
        "sherpa", {"model": folder(tmp_path / "parakeet", TRANSDUCER), "threads": 2}
    )
    (made,) = library.OfflineRecognizer.made
    assert made.maker == "transducer"
    assert made.how["model_type"] == "nemo_transducer"
    assert made.how["encoder"] == str(tmp_path / "parakeet" / "encoder.int8.onnx")
    assert (made.how["num_threads"], made.how["provider"]) == (2, "cpu")
    transcript = await engine.transcribe(SECOND * 3, word_timestamps=True)
    assert (transcript.text, transcript.language) == ("word0 word1 word2", "en")
    assert [word.start for word in transcript.words] == [0.0, 1.0, 2.0]
    assert (engine.name, engine.partial_results, engine.word_timestamps) == ("parakeet", True, True)


async def test_a_long_recording_is_heard_in_parts_whose_times_go_on(library, tmp_path):
    engine = await load_recogniser("sherpa", {"model": folder(tmp_path, TRANSDUCER)})
    transcript = await engine.transcribe(SECOND * 50)
    assert len(library.OfflineRecognizer.made[0].streams) == 3
    starts = [word.start for word in transcript.words]
    assert starts == sorted(starts)
    assert starts[-1] > 40


async def test_a_streaming_model_hears_while_one_speaks(library, tmp_path):
    engine = await load_recogniser("sherpa", {"model": folder(tmp_path, STREAMING)})
    async with engine.stream() as listener:
        assert await listener.feed(SECOND) == "word0"
        assert await listener.feed(SECOND) == "word0 word1"
        transcript = await listener.finish()
    assert transcript.text == "word0 word1"
    assert transcript.words[-1].end <= 2.0
    (stream,) = library.OnlineRecognizer.made[0].streams
    assert stream.over
    assert stream.heard > 2.5 * HEARD_RATE
    assert (await engine.transcribe(SECOND)).text == "word0"


async def test_qwen_is_told_the_language_and_the_hint_each_time(library, tmp_path):
    engine = await load_recogniser("sherpa", {"model": folder(tmp_path, QWEN)})
    made = library.OfflineRecognizer.made[0]
    assert made.how["tokenizer"] == str(tmp_path / "tokenizer")
    assert made.how["max_new_tokens"] > 128
    await engine.transcribe(SECOND, language="de-AT", prompt="Duologue")
    await engine.transcribe(SECOND, language="tlh")
    assert [stream.options for stream in made.streams] == [
        {"language": "German", "hotwords": "Duologue"},
        {},
    ]
    assert not engine.word_timestamps


async def test_a_failure_of_the_library_is_a_sentence(library, tmp_path, monkeypatch):
    whole = await load_recogniser("sherpa", {"model": folder(tmp_path / "a", TRANSDUCER)})
    streaming = await load_recogniser("sherpa", {"model": folder(tmp_path / "b", STREAMING)})
    monkeypatch.setattr(Recogniser, "broken", True)
    for engine in (whole, streaming):
        with pytest.raises(EngineFailed, match="the network broke"):
            await engine.transcribe(SECOND)


async def test_an_old_library_is_said_to_be_old(library, tmp_path):
    model = folder(tmp_path, {"model.onnx": {"model_type": "sense_voice_ctc"}, "tokens.txt": {}})
    with pytest.raises(StartFailed, match="does not know sense_voice: pip install --upgrade"):
        await load_recogniser("sherpa", {"model": model})


async def test_without_the_library_the_command_for_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "sherpa_onnx", None)
    with pytest.raises(StartFailed, match=r"duologue\[voice\]"):
        await load_recogniser("sherpa", {})


async def test_impossible_options_are_refused():
    for options, said in (({"precision": "half"}, "int8 or float"), ({"parallel": 0}, "parallel")):
        with pytest.raises(StartFailed, match=said):
            await load_recogniser("sherpa", options)


def test_missing_weights_come_with_the_command_that_fetches_them(tmp_path):
    with pytest.raises(StartFailed, match=r"parakeet-tdt-0\.6b-v3-int8\.tar\.bz2 \| tar -xj -C"):
        find_weights(SherpaOptions(models=str(tmp_path)), prefer_int8=True)


def test_an_unknown_model_is_refused_before_the_library_sees_it(tmp_path):
    with pytest.raises(StartFailed, match="Known are transducers"):
        find_weights(SherpaOptions(model=folder(tmp_path, {"notes.txt": {}})), prefer_int8=True)


def test_an_empty_file_is_no_network(tmp_path):
    model = folder(tmp_path, TRANSDUCER)
    (tmp_path / "joiner.int8.onnx").write_bytes(b"")
    with pytest.raises(StartFailed, match=r"joiner\.int8\.onnx is missing or empty"):
        find_weights(SherpaOptions(model=model), prefer_int8=True)


def test_models_are_told_their_language_in_their_own_way():
    assert language_parameters(SherpaModel("whisper", False, {}), "de-AT") == {"language": "de"}
    assert language_parameters(SherpaModel("nemo_canary", False, {}), "fr") == {
        "src_lang": "fr",
        "tgt_lang": "fr",
    }
    assert language_parameters(SherpaModel("transducer", False, {}), "fr") == {}
    assert language_parameters(SherpaModel("whisper", False, {}), "") == {}


async def test_a_card_that_the_library_would_leave_alone_is_refused(library, monkeypatch, tmp_path):
    monkeypatch.setattr(sherpa_folder, "version", lambda name: "2.0.1")
    with pytest.raises(StartFailed, match=r"no device cuda:0.*It has: cpu\."):
        await load_recogniser("sherpa", {"models": str(tmp_path), "device": "cuda"})
