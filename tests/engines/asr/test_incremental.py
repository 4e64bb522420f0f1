"""The listener for engines that hear whole recordings, with one whose words are the tenths of a second it is given."""

import math
from array import array

import pytest

from duologue.engines.asr.incremental import LONGEST, IncrementalTranscriber, transcribe_in_chunks
from duologue.threads import ThreadLane
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, samples
from duologue.values.speech import TimedWord, Transcript

pytestmark = pytest.mark.anyio
TENTH = HEARD_RATE // 10


class Clock:
    """Time that passes while something is heard."""

    def __init__(self, takes: float = 0.0) -> None:
        self.now = 0.0
        self.takes = takes

    def __call__(self) -> float:
        return self.now


class Ear:
    """Hears a word for each whole second."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.heard: list[tuple[float, str]] = []

    def __call__(self, pcm: bytes, before: str) -> Transcript:
        self.clock.now += self.clock.takes
        self.heard.append((samples(pcm) / HEARD_RATE, before))
        words = [f"word{number}" for number in range(samples(pcm) // HEARD_RATE)]
        times = tuple(TimedWord(word, at, at + 0.5) for at, word in enumerate(words))
        return Transcript(" ".join(words), times, "en", 0.5, bool(words))


def voice(tenths: int) -> bytes:
    return array("h", [round(9000 * math.sin(at / 4)) for at in range(tenths * TENTH)]).tobytes()


async def fed(listener: IncrementalTranscriber, pcm: bytes) -> list[str]:
    size = TENTH * SAMPLE_BYTES
    return [await listener.feed(pcm[at : at + size]) for at in range(0, len(pcm), size)]


def listening(takes: float = 0.0, **how) -> tuple[IncrementalTranscriber, Ear]:
    clock = Clock(takes)
    ear = Ear(clock)
    return IncrementalTranscriber(ear, ThreadLane(1), clock=clock, **how), ear


async def test_words_are_shown_while_they_are_spoken():
    listener, ear = listening()
    shown = await fed(listener, voice(32))
    assert shown[0] == ""
    assert shown[-1] == "word0 word1 word2"
    assert [length for length, _ in ear.heard] == [0.5, 1.0, 1.5, 2.0, 2.5, 3.0]
    assert (await listener.finish()).text == "word0 word1 word2"


async def test_a_slow_engine_hears_less_often_and_never_more_than_half_the_time():
    listener, ear = listening(takes=1.0)
    await fed(listener, voice(100))
    assert [length for length, _ in ear.heard] == [0.5, 2.5, 4.5, 6.5, 8.5]


async def test_after_silence_the_last_hearing_stands():
    listener, ear = listening()
    await fed(listener, voice(20) + bytes(4 * TENTH * SAMPLE_BYTES))
    hearings = len(ear.heard)
    assert (await listener.finish()).text == "word0 word1"
    assert len(ear.heard) == hearings


async def test_after_one_more_sound_all_of_it_is_heard_again():
    listener, ear = listening()
    await fed(listener, voice(22) + bytes(TENTH * SAMPLE_BYTES) + voice(1))
    await listener.finish()
    assert ear.heard[-1][0] == pytest.approx(2.4)


async def test_without_partials_it_hears_once():
    listener, ear = listening(partials=False)
    assert set(await fed(listener, voice(30))) == {""}
    assert (await listener.finish()).text == "word0 word1 word2"
    assert len(ear.heard) == 1


async def test_an_utterance_that_grows_too_long_is_heard_in_parts_and_told_as_one():
    listener, ear = listening()
    seconds = LONGEST // HEARD_RATE + 12
    shown = (await fed(listener, voice(seconds * 10)))[-1]
    transcript = await listener.finish()
    assert len(transcript.text.split()) in (seconds - 1, seconds)
    assert shown.split()[:10] == transcript.text.split()[:10]
    assert max(length for length, _ in ear.heard) <= LONGEST / HEARD_RATE + 0.1
    assert ear.heard[-1][1].startswith("word0 word1")
    starts = [word.start for word in transcript.words]
    assert starts == sorted(starts)
    assert starts[-1] > LONGEST / HEARD_RATE


async def test_nothing_is_nothing_that_was_understood():
    listener, ear = listening()
    assert await listener.finish() == Transcript("", understood=False)
    assert ear.heard == []


async def test_a_recording_is_heard_in_pieces_cut_where_it_is_quiet():
    _, ear = listening()
    pcm = voice(25) + bytes(4 * TENTH * SAMPLE_BYTES) + voice(25)
    found = await transcribe_in_chunks(
        lambda piece: ear(piece, ""), ThreadLane(1), pcm, longest=4 * HEARD_RATE, searched=2 * HEARD_RATE
    )
    assert found.text == "word0 word1 word0 word1"
    assert [round(word.start, 1) for word in found.words] == [0, 1, 2.6, 3.6]
    assert (
        await transcribe_in_chunks(lambda piece: ear(piece, ""), ThreadLane(1), b"", longest=99, searched=9)
    ) == Transcript("", understood=False)
