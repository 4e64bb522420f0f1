"""Whisper's engine without its library: a stand-in gives the segments. The library itself is tried by make test-engines."""

import sys
from types import SimpleNamespace

import anyio
import pytest

from duologue.engines.asr.whisper import FILES, code_of, find_weights, repository_of, transcript_of
from duologue.engines.registry import load_recogniser
from duologue.errors import EngineFailed, StartFailed, Unsupported
from duologue.values.audio import HEARD_RATE
from duologue.values.speech import TimedWord

pytestmark = pytest.mark.anyio
NEEDED = "these tests need numpy: pip install 'duologue[voice]'"
SECOND = bytes(2 * HEARD_RATE)


def segment(text: str, sure: float = -0.1, silence: float = 0.0, words=None) -> SimpleNamespace:
    return SimpleNamespace(text=text, avg_logprob=sure, no_speech_prob=silence, words=words)


class Model:
    """What of the library's model is used."""

    supported_languages = ("en", "de", "no", "yue")

    def __init__(self, folder: str, **how) -> None:
        self.folder, self.how = folder, how
        self.asked: list[dict] = []
        self.taken = 0
        self.segments = [segment(" Hello"), segment(" there.")]
        self.model = self
        self.unloaded = False

    def transcribe(self, sound, **how):
        self.asked.append(how | {"seconds": len(sound) / HEARD_RATE})

        def told():
            for each in self.segments:
                if isinstance(each, Exception):
                    raise each
                self.taken += 1
                yield each

        return told(), SimpleNamespace(language=how["language"] or "de")

    def unload_model(self) -> None:
        self.unloaded = True


@pytest.fixture
def made(monkeypatch, tmp_path):
    """Loads the engine; gives it and the stand-in."""
    pytest.importorskip("numpy", reason=NEEDED)
    models = []

    def make(*args, **how) -> Model:
        models.append(Model(*args, **how))
        return models[-1]

    monkeypatch.setitem(sys.modules, "faster_whisper", SimpleNamespace(WhisperModel=make))
    monkeypatch.setitem(sys.modules, "ctranslate2", SimpleNamespace(get_cuda_device_count=lambda: 2))
    folder = tmp_path / "faster-whisper-small"
    folder.mkdir()
    for name in FILES:
        (folder / name).write_text("{}")

    async def load(**options):
        engine = await load_recogniser("whisper", {"model": "small", "models": str(tmp_path), **options})
        return engine, models[-1]

    return load


async def test_what_is_set_reaches_the_library_and_nothing_is_downloaded(made):
    engine, model = await made(device="cuda:1", compute="int8", threads=3, parallel=2)
    assert model.folder.endswith("faster-whisper-small")
    assert model.how == {
        "device": "cuda",
        "device_index": 1,
        "compute_type": "int8",
        "cpu_threads": 3,
        "num_workers": 2,
        "local_files_only": True,
    }
    assert (engine.name, engine.languages, engine.partial_results, engine.limitation) == (
        "faster-whisper-small",
        (),
        True,
        "",
    )
    await engine.close()
    assert model.unloaded


async def test_a_card_that_is_not_there_is_refused_with_those_that_are(made):
    with pytest.raises(StartFailed, match=r"no device cuda:2.*It has: cpu, cuda:0, cuda:1\."):
        await made(device="cuda:2")


async def test_a_recording_is_heard_with_its_language_and_hint(made):
    engine, model = await made()
    transcript = await engine.transcribe(SECOND, language="de-AT", prompt="Duologue", word_timestamps=True)
    assert (transcript.text, transcript.language) == ("Hello there.", "de")
    assert model.asked[0]["hotwords"] == "Duologue"
    assert model.asked[0]["word_timestamps"]
    assert model.asked[0]["beam_size"] == 5


async def test_a_language_it_does_not_know_is_found_out(made):
    engine, model = await made()
    await engine.transcribe(SECOND, language="tlh")
    assert model.asked[0]["language"] is None


async def test_a_model_of_english_refuses_others_and_needs_not_be_told(made, monkeypatch):
    monkeypatch.setattr(Model, "supported_languages", ("en",))
    engine, model = await made()
    assert engine.languages == ("en",)
    await engine.transcribe(SECOND)
    assert model.asked[0]["language"] == "en"
    with pytest.raises(Unsupported, match="English only"):
        await engine.transcribe(SECOND, language="de")
    with pytest.raises(Unsupported):
        async with engine.stream(language="de"):
            pass


async def test_words_are_shown_while_they_are_spoken_with_what_was_said_before(made):
    engine, model = await made()
    async with engine.stream(language="en", prompt="Duologue") as listener:
        assert await listener.feed(SECOND[:8000]) == ""
        assert await listener.feed(SECOND[:8000]) == "Hello there."
        assert (await listener.finish()).text == "Hello there."
    assert [each["seconds"] for each in model.asked] == [0.5]
    assert model.asked[0]["initial_prompt"] == "Duologue"
    assert model.asked[0]["beam_size"] == 1


async def test_who_leaves_ends_the_hearing_after_the_segment_that_is_heard(made):
    engine, model = await made()
    model.segments = [segment(f" {number}") for number in range(100_000)]
    with anyio.move_on_after(0.05):
        await engine.transcribe(SECOND)
    assert model.taken < 100_000
    model.segments = [segment(" still here")]
    assert (await engine.transcribe(SECOND)).text == "still here"


async def test_a_failure_of_the_library_is_a_sentence(made):
    engine, model = await made()
    model.segments = [RuntimeError("CUDA out of memory")]
    with pytest.raises(EngineFailed, match="out of memory"):
        await engine.transcribe(SECOND)


async def test_nothing_is_heard_in_nothing(made):
    engine, model = await made()
    assert not (await engine.transcribe(b"")).understood
    assert model.asked == []


async def test_a_broken_model_is_said_to_be_one(made, monkeypatch):
    def broken(*_, **__):
        raise RuntimeError("unexpected end of file")

    monkeypatch.setitem(sys.modules, "faster_whisper", SimpleNamespace(WhisperModel=broken))
    with pytest.raises(StartFailed, match="unexpected end of file"):
        await made()


async def test_without_the_library_the_command_for_it_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "faster_whisper", None)
    with pytest.raises(StartFailed, match=r"pip install 'duologue\[whisper\]'") as caught:
        await load_recogniser("whisper", {})
    assert caught.value.code == "engine_missing"


async def test_impossible_options_are_refused_before_anything_is_loaded():
    with pytest.raises(StartFailed, match="parallel"):
        await load_recogniser("whisper", {"parallel": 0})
    with pytest.raises(StartFailed, match="no option 'url'"):
        await load_recogniser("whisper", {"url": "http://here"})


def test_missing_weights_come_with_the_command_that_fetches_them(tmp_path):
    with pytest.raises(StartFailed) as caught:
        find_weights("turbo", str(tmp_path))
    place = tmp_path / "faster-whisper-large-v3-turbo"
    assert f"hf download mobiuslabsgmbh/faster-whisper-large-v3-turbo --local-dir {place}" in str(
        caught.value
    )
    with pytest.raises(StartFailed, match="Put its folder there"):
        find_weights("my-own", str(tmp_path))


def test_a_model_without_its_tokenizer_is_not_whole(tmp_path):
    (tmp_path / "mine").mkdir()
    for name in FILES[:2]:
        (tmp_path / "mine" / name).write_text("x")
    with pytest.raises(StartFailed, match=r"tokenizer\.json"):
        find_weights("mine", str(tmp_path))


def test_sizes_and_repositories_are_names_of_repositories():
    assert repository_of("base.en") == "Systran/faster-whisper-base.en"
    assert repository_of("someone/their-whisper") == "someone/their-whisper"
    assert [repository_of(name) for name in ("", "mine", "/a/b", "./a/b")] == ["", "", "", ""]


def test_languages_go_by_the_models_codes():
    assert [code_of(tag) for tag in ("en-US", "nb-NO", "fil", "zh_TW", "yue")] == [
        "en",
        "no",
        "tl",
        "zh",
        "yue",
    ]


def test_what_it_makes_up_in_noise_is_not_believed():
    transcript = transcript_of([segment(" Thank you.", sure=-1.2, silence=0.9)], "en")
    assert (transcript.text, transcript.understood) == ("", False)
    assert transcript_of([segment(" Thank you.", sure=-0.2, silence=0.9)], "en").understood
    assert not transcript_of([], "en").understood


def test_words_keep_their_times_and_the_longer_segment_counts_for_more():
    words = [
        SimpleNamespace(word=" Hello", start=0.123456, end=0.5),
        SimpleNamespace(word=" ", start=1, end=1),
    ]
    transcript = transcript_of([segment(" Hello", 0.0, words=words), segment(" you", -100.0)], "en")
    assert transcript.words == (TimedWord("Hello", 0.123, 0.5),)
    assert transcript.confidence == pytest.approx(0.6)
