"""A model with a sound projector, really loaded by llama.cpp: tiny and random, so what it writes is noise, and how it is
asked is real."""

from __future__ import annotations

import math
from array import array
from pathlib import Path

import pytest
from tests.support.tiny_model import TinyModel, write_tiny_model
from tests.support.tiny_projectors import write_projector

from duologue.engines.contracts import RecogniserEngine
from duologue.engines.llama import sound_recogniser
from duologue.engines.llama.http_client import LlamaHttpClient
from duologue.engines.llama.sound_recogniser import transcript_of
from duologue.engines.registry import load_recogniser, weights_of
from duologue.errors import StartFailed
from duologue.values.audio import HEARD_RATE

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    (folder / "tiny-asr").mkdir()
    write_tiny_model(folder / "tiny-asr" / "tiny.gguf", TinyModel(context=4096))
    write_projector(folder / "tiny-asr" / "mmproj-tiny.gguf", sees=False, hears=True)
    return folder


async def loaded(models: Path, **options: object) -> RecogniserEngine:
    return await load_recogniser(
        "llama", {"model": "tiny-asr", "models": str(models), "device": "cpu", "threads": 1, **options}
    )


def voice(seconds: float) -> bytes:
    return array("h", [round(9000 * math.sin(at / 7)) for at in range(int(seconds * HEARD_RATE))]).tobytes()


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, dict[str, str]]]:
    """The length of each recording that is sent, and the fields beside it."""
    requests: list[tuple[int, dict[str, str]]] = []
    send = LlamaHttpClient.transcribe

    def transcribe(client: LlamaHttpClient, wav: bytes, fields: dict[str, str]) -> str:
        requests.append((len(wav), fields))
        return send(client, wav, fields)

    monkeypatch.setattr(LlamaHttpClient, "transcribe", transcribe)
    return requests


async def test_it_writes_down_what_it_takes_the_sound_for(models, asked):
    engine = await loaded(models)
    try:
        assert engine.name == "tiny-asr"
        assert not engine.word_timestamps
        transcript = await engine.transcribe(voice(1), language="de-DE")
        assert transcript.understood == any(map(str.isalnum, transcript.text))
        assert asked == [
            (
                44 + 2 * HEARD_RATE,
                {"response_format": "json", "temperature": "0", "max_tokens": "44", "language": "German"},
            )
        ]
    finally:
        await engine.close()


async def test_an_utterance_is_transcribed_while_it_grows(models, asked):
    engine = await loaded(models)
    try:
        assert engine.partial_results
        async with engine.stream() as transcriber:
            for _ in range(8):
                await transcriber.feed(voice(0.25))
            final = await transcriber.finish()
        assert len(asked) >= 2
        assert asked[0][0] < asked[-1][0] == 44 + 4 * HEARD_RATE
        assert final.words == ()
    finally:
        await engine.close()


async def test_a_long_recording_is_sent_in_parts(models, asked):
    engine = await loaded(models)
    try:
        await engine.transcribe(voice(40))
        assert len(asked) == 2
        assert all(length <= 44 + 2 * sound_recogniser.LONGEST for length, _ in asked)
    finally:
        await engine.close()


async def test_without_a_projector_the_model_has_no_ear(models):
    (models / "deaf").mkdir(exist_ok=True)
    write_tiny_model(models / "deaf" / "deaf.gguf")
    with pytest.raises(StartFailed, match="no sound projector beside it"):
        await loaded(models, model="deaf")
    with pytest.raises(StartFailed, match="is not a projector"):
        await loaded(models, model="deaf", projector=str(models / "deaf" / "deaf.gguf"))


async def test_a_projector_of_another_width_is_refused(models):
    (models / "odd").mkdir(exist_ok=True)
    write_tiny_model(models / "odd" / "odd.gguf", TinyModel(context=4096))
    write_projector(models / "odd" / "mmproj-odd.gguf", embedding=32, sees=False, hears=True)
    with pytest.raises(StartFailed, match="could not load"):
        await loaded(models, model="odd")


async def test_what_is_missing_is_named(models, tmp_path):
    with pytest.raises(StartFailed, match="needs a model"):
        await loaded(models, model="")
    with pytest.raises(StartFailed, match="are not at"):
        await loaded(models, model="nowhere")
    (models / "empty").mkdir(exist_ok=True)
    with pytest.raises(StartFailed, match="no GGUF model in"):
        await loaded(models, model="empty")


def test_the_doctor_finds_the_file_without_loading_it(models):
    assert weights_of("recogniser", "llama", {"model": "tiny-asr", "models": str(models)}) == (
        models / "tiny-asr" / "tiny.gguf"
    )


@pytest.mark.parametrize(
    ("answer", "text", "language"),
    [
        ("Hello there.", "Hello there.", ""),
        ("language German<asr_text>Guten Tag.", "Guten Tag.", "de"),
        ("language None<asr_text>", "", ""),
        ("  <|im_end|>\n", "", ""),
        ("one <unk> two", "one two", ""),
    ],
)
def test_only_the_words_of_an_answer_are_the_transcript(answer, text, language):
    transcript = transcript_of(answer)
    assert (transcript.text, transcript.language) == (text, language)
    assert transcript.understood == bool(text)
