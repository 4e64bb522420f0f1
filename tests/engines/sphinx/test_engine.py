"""The embedded recogniser, adapted to synthetic voices, on sentences that espeak speaks."""

import gzip
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import anyio.lowlevel
import pytest
from tests.support.synthetic_voices import ADAPTATION, ADAPTED

from duologue.engines.contracts import RecogniserEngine
from duologue.engines.registry import load_recogniser, load_speaker
from duologue.engines.sphinx.engine import PocketsphinxRecogniser
from duologue.errors import EngineFailed, StartFailed, Unsupported
from duologue.resampler import resampled
from duologue.turns.words import lexicon_of
from duologue.values.audio import HEARD_RATE
from duologue.values.speech import Transcript

pytest.importorskip("pocketsphinx", reason="the recogniser needs: pip install 'duologue[voice]'")
pytestmark = pytest.mark.anyio

TENTH = HEARD_RATE // 10 * 2


def silence(seconds: float) -> bytes:
    return bytes(round(seconds * HEARD_RATE) * 2)


async def speech(text: str, voice: str = "en-us") -> bytes:
    pytest.importorskip("espeakng_loader", reason="the test speaks with: pip install 'duologue[voice]'")
    pytest.importorskip("av", reason="the test changes rates with: pip install 'duologue[voice]'")
    speaker = await load_speaker("espeak", {})
    async with speaker.speak(text, voice=voice) as sound:
        pcm = b"".join([spoken.pcm async for spoken in sound])
    return silence(0.2) + resampled(pcm, 24_000, 16_000) + silence(0.2)


@asynccontextmanager
async def started() -> AsyncIterator[PocketsphinxRecogniser]:
    made = await load_recogniser("pocketsphinx", {"decoders": 2, **ADAPTED})
    assert isinstance(made, PocketsphinxRecogniser)
    yield made
    await made.close()


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """One event loop for all tests: the engine lives in it."""
    return "asyncio"


@pytest.fixture(scope="module")
async def engine() -> AsyncIterator[PocketsphinxRecogniser]:
    """One for all tests: starting it takes longer than most of them."""
    async with started() as made:
        yield made


@pytest.fixture
async def new_engine() -> AsyncIterator[PocketsphinxRecogniser]:
    """One that has heard nobody yet."""
    async with started() as made:
        yield made


async def transcribe(engine: PocketsphinxRecogniser, pcm: bytes) -> tuple[list[str], Transcript]:
    """The partial results, and the transcript."""
    async with engine.stream() as stream:
        partials = [await stream.feed(pcm[at : at + TENTH]) for at in range(0, len(pcm), TENTH)]
        return partials, await stream.finish()


@pytest.mark.parametrize("voice", ["en-us", "en-us+f3"])
@pytest.mark.parametrize(
    "text",
    [
        "Good morning, how are you today?",
        "What is seven times eight?",
        "Tell me a joke about a cat.",
        "How do I start the server?",
        "Stop.",
    ],
)
async def test_what_people_say_to_it_is_understood(engine, text, voice):
    _, transcript = await transcribe(engine, await speech(text, voice))
    assert transcript.text.lower() == text.lower().replace(",", "").rstrip("?.")
    assert transcript.understood
    assert transcript.text[0].isupper()
    assert 0.5 <= (transcript.confidence or 0) <= 1


@pytest.mark.parametrize(
    "text",
    [
        "The surgeon scrubbed his hands with disinfectant.",
        "A herd of buffalo trampled the vineyard behind the monastery.",
    ],
)
async def test_what_it_does_not_know_is_not_made_up(engine, text):
    _, transcript = await transcribe(engine, await speech(text))
    assert (transcript.text, transcript.words, transcript.understood) == ("", (), False)


async def test_words_are_told_while_they_are_spoken(engine):
    partials, transcript = await transcribe(engine, await speech("what is the name of my brother"))
    assert any(0 < len(partial.split()) < 7 for partial in partials)
    assert partials[-1].split()[:4] == transcript.text.split()[:4]


async def test_words_have_their_times(engine):
    _, transcript = await transcribe(engine, silence(1) + await speech("tell me a story"))
    assert [word.text.lower() for word in transcript.words] == ["tell", "me", "a", "story"]
    assert 1.0 < transcript.words[0].start < 1.5
    ends = [word.end for word in transcript.words]
    assert ends == sorted(ends)


async def test_silence_is_no_speech(engine):
    _, transcript = await transcribe(engine, silence(1.5))
    assert (transcript.text, transcript.understood) == ("", False)


async def test_nothing_at_all_is_no_speech(engine):
    async with engine.stream() as stream:
        assert await stream.finish() == Transcript("", language="en", confidence=0.0, understood=False)


async def test_a_recording_is_written_down_utterance_by_utterance(engine):
    pcm = await speech("what time is it") + silence(2) + await speech("tell me a joke") + silence(1)
    transcript = await engine.transcribe(pcm, word_timestamps=True)
    assert transcript.text == "What time is it Tell me a joke"
    assert len(transcript.words) == 8
    first, second = transcript.words[3], transcript.words[4]
    assert second.start - first.end > 2


async def test_a_recording_without_a_voice_is_not_understood(engine):
    assert not (await engine.transcribe(silence(3))).understood


async def test_the_next_speaker_is_heard_as_if_they_were_the_first(new_engine):
    pcm = await speech("do you remember my name")
    _, fresh = await transcribe(new_engine, pcm)
    await transcribe(new_engine, await speech("good night and thank you", "en-us+f3"))
    _, again = await transcribe(new_engine, pcm)
    assert (again.text, again.words) == (fresh.text, fresh.words)
    assert again.confidence == pytest.approx(fresh.confidence, abs=0.01)


async def test_two_speakers_at_once_are_kept_apart(engine):
    sentences = ["what is your name", "tell me a story"]
    sounds = [await speech(text) for text in sentences]
    length = max(map(len, sounds))
    async with engine.stream() as one, engine.stream() as other:
        for at in range(0, length, TENTH):
            await one.feed(sounds[0][at : at + TENTH])
            await other.feed(sounds[1][at : at + TENTH])
        found = [(await one.finish()).text.lower(), (await other.finish()).text.lower()]
    assert found == sentences


async def test_who_comes_when_all_decoders_listen_waits_in_line(engine):
    order, both = [], anyio.Event()

    async def third(name: str) -> None:
        async with engine.stream():
            order.append(name)
        if len(order) == 2:
            both.set()

    async with anyio.create_task_group() as tasks, engine.stream():
        async with engine.stream():
            for name in ("first", "second"):
                tasks.start_soon(third, name)
                await anyio.wait_all_tasks_blocked()
            assert order == []
        await both.wait()
    assert order == ["first", "second"]


async def test_an_utterance_that_is_left_frees_its_decoder(engine):
    pcm = await speech("what time is it")
    for _ in range(3):
        with anyio.CancelScope() as scope:
            async with engine.stream() as stream:
                await stream.feed(pcm[: len(pcm) // 2])
                scope.cancel()
                await anyio.lowlevel.checkpoint()
    assert (await transcribe(engine, pcm))[1].text == "What time is it"


async def test_another_language_is_refused_with_a_way_out(engine):
    with pytest.raises(Unsupported, match=r"duologue\[whisper\]"):
        async with engine.stream(language="de"):
            """Never reached."""
    async with engine.stream(language="en-GB"):
        """English of any country is."""


async def test_it_says_what_it_knows_and_how_to_get_more(engine):
    assert isinstance(engine, RecogniserEngine)
    assert (engine.languages, engine.partial_results, engine.word_timestamps) == (("en",), True, True)
    assert "pip install 'duologue[whisper]'" in engine.limitation


async def test_a_decoder_that_dies_fails_once_and_the_next_speaker_is_understood(new_engine):
    pcm = await speech("what time is it")
    async with new_engine.stream() as stream:
        await stream.feed(pcm[: len(pcm) // 2])
        os.killpg(new_engine.pool.process.pid, signal.SIGKILL)
        with pytest.raises(EngineFailed, match="started again"):
            await stream.feed(pcm[len(pcm) // 2 :])
    assert (await transcribe(new_engine, pcm))[1].text == "What time is it"


async def test_an_option_that_makes_no_sense_is_refused(tmp_path):
    with pytest.raises(StartFailed, match="at least one"):
        await load_recogniser("pocketsphinx", {"decoders": 0})
    with pytest.raises(StartFailed, match=r"hearing\.json is missing"):
        await load_recogniser("pocketsphinx", {"adaptation": str(tmp_path)})


@pytest.mark.parametrize("voice", ["en-us", "en-us+f3"])
@pytest.mark.parametrize(
    "said", ["excuse me", "be quiet", "hang on", "that's enough", "no wait", "never mind", "okay stop"]
)
async def test_what_stops_a_reply_is_understood(engine, said, voice):
    found = await engine.transcribe(await speech(said, voice))
    assert found.text.lower().strip(".!?") == said


async def test_every_word_that_stops_a_reply_is_known():
    listed = gzip.decompress((ADAPTATION / "words.dict.gz").read_bytes()).decode().splitlines()
    known = {line.split()[0].partition("(")[0].lower() for line in listed}
    words = lexicon_of("en")
    assert {word for phrase in words.stop | words.stop_phrases for word in phrase.split()} <= known
