"""Phones that are guessed: where the words are, or where there is sound."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from duologue.engines.scripted.speaker import tone
from duologue.sessions.speech.guessed_phones import phones_in_sound, phones_of_words
from duologue.values.events import ReplyWord

SECOND = 24_000
WORDS = (
    ReplyWord("Bob", 1000, 1000 + SECOND, 0, 3),
    ReplyWord("may", 1000 + SECOND, 1000 + 2 * SECOND, 4, 7),
)


def test_the_phones_of_timed_words_fill_them():
    phones = phones_of_words(WORDS, "en")
    assert [phone.symbol for phone in phones] == ["b", "ɑ", "b", "m", "eɪ"]
    assert (phones[0].start, phones[2].end, phones[4].end) == (1000, 1000 + SECOND, 1000 + 2 * SECOND)


def test_words_without_times_sound_where_there_is_sound():
    silent = bytes(SECOND)
    pcm = silent + tone(300, SECOND // 2) + silent + tone(200, SECOND // 2) + silent
    half = SECOND // 2
    words = (
        ReplyWord("Bob", 1000, 1000 + 5 * half // 2, 0, 3),
        ReplyWord("may", 1000 + 5 * half // 2, 1000 + 5 * half, 4, 7),
    )
    first, *_, last = phones = phones_in_sound(words, pcm, 1000, "en")
    assert [phone.symbol for phone in phones] == ["b", "ɑ", "b", "m", "eɪ"]
    assert abs(first.start - 1000 - half) < 500
    assert abs(phones[2].end - 1000 - 2 * half) < 500
    assert abs(phones[3].start - 1000 - 3 * half) < 500
    assert abs(last.end - 1000 - 4 * half) < 500


def test_in_silence_nothing_is_said():
    assert phones_in_sound(WORDS, bytes(4 * SECOND), 1000, "en") == []
    assert phones_in_sound(WORDS, b"", 1000, "en") == []


@given(st.lists(st.tuples(st.booleans(), st.integers(100, 6000)), max_size=6))
def test_phones_are_in_order_and_within_the_sound(parts: list[tuple[bool, int]]):
    pcm = b"".join(tone(220, count) if loud else bytes(2 * count) for loud, count in parts)
    length = len(pcm) // 2
    words = (
        ReplyWord("mama", 50, 50 + length // 3, 0, 4),
        ReplyWord("papa", 50 + length // 3, 50 + length, 5, 9),
    )
    phones = phones_in_sound(words, pcm, 50, "en")
    assert all(50 <= phone.start < phone.end <= 50 + length for phone in phones)
    assert all(one.end <= other.start for one, other in pairwise(phones))
