"""Speaking a clause part by part, with a synthesiser that says a fixed number of samples for each part."""

import pytest

from duologue.engines.contracts import SpokenWord
from duologue.engines.tts.kokoro_speech import LONGEST, speak_clause
from duologue.errors import TooLarge
from duologue.threads import ThreadLane
from duologue.values.mouth import Phone

pytestmark = pytest.mark.anyio
LENGTH = 100


async def spoken(clause: str, speed: float = 1.0):
    parts = []

    def synthesise(text, speed):
        parts.append((text, speed))
        yield bytes(2 * LENGTH), (SpokenWord(text[:3], 10, 20, 0, 3),), (Phone("a", 10, 20),)

    async with speak_clause(ThreadLane(1), clause, speed, synthesise) as chunks:
        return parts, [chunk async for chunk in chunks]


async def test_words_of_later_parts_count_from_the_beginning_of_the_clause():
    clause = "abc " * 60 + "xyz " * 10
    parts, chunks = await spoken(clause)
    assert "".join(text for text, _ in parts) == clause
    starts = [len(parts[0][0]) * number for number in range(len(parts))]
    words = [chunk.words[0] for chunk in chunks]
    assert [(word.start, word.at) for word in words[:2]] == [(10, 0), (LENGTH + 10, starts[1])]
    assert [chunk.phones[0].start for chunk in chunks[:2]] == [10, LENGTH + 10]


async def test_the_speed_is_kept_within_what_the_models_can_do():
    assert [(await spoken("hello", speed))[0] for speed in (0.1, 9.0)] == [[("hello", 0.5)], [("hello", 2.0)]]


async def test_a_clause_without_letters_has_no_sound():
    assert await spoken("... !") == ([], [])


async def test_a_clause_that_is_too_long_is_refused():
    with pytest.raises(TooLarge, match=f"{LONGEST:,}"):
        await spoken("a" * (LONGEST + 1))
