"""Replies whose words are given."""

from duologue.engines.qwen_omni.thinking.recited_text import RecitedText


def test_the_tokens_come_one_after_the_other_and_then_the_end() -> None:
    text = RecitedText([5, 6, 5], 9)
    assert [text.choose(None, []).id for _ in range(5)] == [5, 6, 5, 9, 9]
