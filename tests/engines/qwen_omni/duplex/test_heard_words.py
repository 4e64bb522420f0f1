"""Whole words of what was heard."""

import pytest

from duologue.engines.qwen_omni.duplex.heard_words import heard_tokens

WORDS = ["Hel", "lo", " there", ", my", " fri", "end", "."]


@pytest.mark.parametrize(
    ("count", "kept"), [(0, 0), (1, 0), (2, 2), (3, 3), (4, 4), (5, 4), (6, 6), (7, 7), (99, 7)]
)
def test_a_word_is_kept_whole_or_not_at_all(count: int, kept: int) -> None:
    assert heard_tokens(WORDS, count, whole=True) == kept


def test_a_letter_of_chinese_is_a_word() -> None:
    assert heard_tokens(["你", "好", "吗"], 2, whole=False) == 2


def test_half_a_character_is_not_kept() -> None:
    assert heard_tokens(["a", " ", "", "你", "b"], 3, whole=True) == 2


def test_of_nothing_nothing_was_heard() -> None:
    assert heard_tokens([], 5, whole=True) == 0


def test_a_word_that_may_go_on_is_not_whole() -> None:
    assert heard_tokens(["so", " be", " it"], 3, whole=False) == 2
    assert heard_tokens(["so", " be", " it"], 3, whole=True) == 3
    assert heard_tokens(["so", " be", "."], 3, whole=False) == 3
    assert heard_tokens(["so"], 1, whole=False) == 0
