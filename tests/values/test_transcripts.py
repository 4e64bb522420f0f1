"""Parts of one recording's transcript, put together."""

import pytest

from duologue.values.speech import TimedWord, Transcript
from duologue.values.transcripts import following, joined, joined_text, later


def test_a_parts_words_are_told_where_they_are_in_the_whole():
    part = Transcript("a b", (TimedWord("a", 0.5, 0.7), TimedWord("b", 1, 1.25)), "en", 0.9)
    moved = later(part, 30)
    assert moved.words == (TimedWord("a", 30.5, 30.7), TimedWord("b", 31, 31.25))
    assert (moved.text, moved.language, moved.confidence) == ("a b", "en", 0.9)
    assert later(part, 0) is part


def test_parts_are_joined_with_the_weight_of_their_length():
    parts = [
        Transcript("a b", (TimedWord("a", 0, 1),), "en", 0.9),
        Transcript("", understood=False),
        Transcript("c", (TimedWord("c", 2, 3),), "de", 0.5),
    ]
    found = joined(parts)
    assert (found.text, len(found.words), found.language, found.understood) == ("a b c", 2, "en", True)
    assert found.confidence == pytest.approx((0.9 * 3 + 0.5) / 4)
    assert joined(parts[:1]) is parts[0]


def test_a_part_without_a_figure_does_not_count_in_how_sure_it_is():
    assert joined([Transcript("aa", confidence=0.5), Transcript("bb")]).confidence == 0.5
    assert joined([Transcript("aa"), Transcript("bb")]).confidence is None


def test_where_nothing_was_understood_the_surest_doubt_is_told():
    doubted = [Transcript("", (), "en", sure, understood=False) for sure in (0.1, 0.3)]
    assert joined(doubted) == Transcript("", (), "en", 0.3, understood=False)


def test_silence_beside_speech_that_was_not_understood_makes_nothing_of_it():
    silence, mumbled = Transcript(""), Transcript("", understood=False)
    assert not joined([silence, mumbled]).understood
    assert joined([silence, silence]).understood
    assert joined([]) == Transcript("")


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        (["Hello ", "", " there"], "Hello there"),
        (["今天", "天气"], "今天天气"),
        (["こんにちは。", "元気"], "こんにちは。元気"),
        (["안녕", "하세요"], "안녕 하세요"),
        (["привет", "мир"], "привет мир"),
        (["été", "à Paris"], "été à Paris"),
        (["用 GPU", "运行"], "用 GPU 运行"),
        (["สวัสดี", "ครับ"], "สวัสดีครับ"),
        ([], ""),
    ],
)
def test_texts_are_joined_as_their_script_is_written(parts, whole):
    assert joined_text(parts) == whole


def test_a_space_that_is_there_is_enough():
    assert following("one ", "two") == "two"
    assert following("one", " two") == " two"
    assert following("", "two") == "two"
