import pytest

from duologue.engines.qwen_omni.speech.speech_pace import (
    DIGIT,
    LEAST,
    LETTER,
    SYLLABLE,
    covered,
    longest_seconds,
    token_seconds,
)


def test_a_token_takes_the_time_of_its_characters() -> None:
    assert token_seconds("hello") == pytest.approx(5 * LETTER)
    assert token_seconds(" hello") > token_seconds("hello")
    assert token_seconds("你好") == pytest.approx(2 * SYLLABLE)
    assert token_seconds("7") == DIGIT
    assert token_seconds("") == token_seconds("\u200b") * 0 + LEAST


def test_the_end_of_a_sentence_is_a_pause() -> None:
    assert token_seconds(".") > token_seconds(",") > token_seconds("'")


def test_ordinary_english_is_said_in_ordinary_time() -> None:
    text = "The train to Lisbon leaves at nine in the evening, from platform four. "
    assert 3.5 < token_seconds(text) < 6.5


def test_without_the_end_of_the_speech_the_pace_alone_tells_what_was_said() -> None:
    tokens = [0.4, 0.2, 0.6]
    assert covered(tokens, 0.0) == 0
    assert covered(tokens, 0.19) == 0
    assert covered(tokens, 0.21) == 1
    assert covered(tokens, 0.55) == 2
    assert covered(tokens, 0.95) == 3
    assert covered(tokens, 99.0) == 3


def test_the_real_length_stretches_the_pace() -> None:
    tokens = [0.5, 0.5]
    assert covered(tokens, 1.0, 4.0) == 1
    assert covered(tokens, 0.9, 4.0) == 0
    assert covered(tokens, 3.1, 4.0) == 2
    assert covered(tokens, 0.2, 0.4) == 1


@pytest.mark.parametrize("whole", [None, 0.3, 1.0, 30.0])
def test_more_sound_never_covers_less(whole: float | None) -> None:
    tokens = [token_seconds(word) for word in ("Well", ",", " three", " 3", "。", "好")]
    counts = [covered(tokens, heard / 50, whole) for heard in range(2000)]
    assert counts == sorted(counts)
    assert counts[-1] == len(tokens)


def test_all_sound_is_all_text_and_none_of_a_reply_without_text() -> None:
    assert covered([0.1] * 7, 2.0, 2.0) == 7
    assert covered([], 1.0) == 0
    assert covered([], 0.0, 0.0) == 0


def test_speech_that_does_not_end_is_stopped_at_some_time() -> None:
    assert longest_seconds([]) > 1
    assert longest_seconds([token_seconds("hello ")] * 100) > 100 * token_seconds("hello ") * 2
