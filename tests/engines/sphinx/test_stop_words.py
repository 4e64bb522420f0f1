"""Words that ask to stop, spotted by the real library. No recording of a person is part of the project, so a synthetic voice
says them; people were measured (bench/LOG.md)."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from duologue.engines.sphinx.stop_words import STOP_WORDS, StopWordSpotter, load_spotter
from duologue.engines.tts import espeak
from duologue.resampler import resampled
from duologue.values.audio import HEARD_RATE, SPOKEN_RATE

pytestmark = pytest.mark.anyio
MEAN = "41.00,-5.29,-0.12,5.09,2.48,-4.07,-1.37,-1.78,-5.08,-2.05,-6.45,-1.42,1.17"
SILENCE = bytes(2 * 4800)


@pytest.fixture(scope="module")
def spotter(tmp_path_factory):
    library = pytest.importorskip(
        "pocketsphinx", reason="the recogniser needs: pip install 'duologue[voice]'"
    )
    folder = tmp_path_factory.mktemp("words")
    yield load_spotter(library.Decoder, Path(library.get_model_path("en-us")), folder)
    assert list(folder.iterdir()) == []


def spotted(spotter: StopWordSpotter, pcm: bytes) -> str:
    spotter.begin(MEAN)
    for at in range(0, len(pcm), 3200):
        spotter.feed(pcm[at : at + 3200])
    return spotter.end()


def test_there_is_none_in_silence(spotter):
    assert spotted(spotter, SILENCE) == ""
    assert spotted(spotter, b"") == ""


def test_the_first_of_several_counts():
    library = SimpleNamespace(end_utt=lambda: None, hyp=lambda: SimpleNamespace(hypstr="shut up no "))
    assert StopWordSpotter(library).end() == "shut up"
    assert all(word == word.lower() for word in STOP_WORDS)


async def said(line: str, voice: str) -> bytes:
    pytest.importorskip("espeakng_loader", reason="synthetic voices need: pip install 'duologue[voice]'")
    speaker = await espeak.load({})
    async with speaker.speak(line, voice=voice) as chunks:
        pcm = b"".join([chunk.pcm async for chunk in chunks])
    await speaker.close()
    return resampled(pcm, SPOKEN_RATE, HEARD_RATE) + SILENCE


@pytest.mark.parametrize(("line", "word"), [("no", "no"), ("yeah", ""), ("okay", ""), ("tell me more", "")])
async def test_a_word_that_asks_to_stop_is_told_from_one_that_encourages(spotter, line, word):
    assert spotted(spotter, await said(line, "en-us+f3")) == word
