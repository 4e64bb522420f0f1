"""The mouth to a recording, by the words that a recogniser hears in it."""

import pytest

from duologue.engines.scripted.recogniser import ScriptedRecogniser
from duologue.errors import Unsupported
from duologue.sessions.video.recorded_lips import mouth_of, recorded_lips
from duologue.values.audio import SPOKEN_RATE
from duologue.values.mouth import mouth_at
from duologue.values.speech import TimedWord

pytestmark = pytest.mark.anyio


async def test_lips_move_while_words_are_heard():
    keys = await recorded_lips(ScriptedRecogniser(["mama papa"], word_ms=500), bytes(SPOKEN_RATE * 2 * 2))
    assert list(keys) == sorted(keys, key=lambda key: key.at)
    assert max(mouth_at(keys, at).open for at in range(0, SPOKEN_RATE, 480)) > 0.4
    assert mouth_at(keys, SPOKEN_RATE * 1.8).open == 0


async def test_lips_that_must_close_do():
    keys = mouth_of([TimedWord("mama", 0.5, 1.0)], SPOKEN_RATE * 2, "en")
    assert max(mouth_at(keys, at).press for at in range(12_000, 24_000, 240)) > 0.8


def test_words_that_overlap_or_lie_behind_the_end_do_no_harm():
    words = [TimedWord("one", 0.1, 0.6), TimedWord("two", 0.4, 0.9), TimedWord("three", 4.0, 5.0)]
    assert all(key.at <= SPOKEN_RATE * 1.1 for key in mouth_of(words, SPOKEN_RATE, "en"))
    assert mouth_of([], SPOKEN_RATE, "en") == ()


async def test_a_recogniser_without_times_moves_no_lips():
    class Untimed(ScriptedRecogniser):
        word_timestamps = False

    with pytest.raises(Unsupported, match="when a word is spoken"):
        await recorded_lips(Untimed(), bytes(SPOKEN_RATE * 2))
