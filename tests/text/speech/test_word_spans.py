from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from duologue.text.speech.normalise import Speakable, speakable
from duologue.text.speech.word_spans import letters_in, spread_words, words_in, written_words
from duologue.values.events import ReplyWord


def spoken(made: Speakable) -> list[ReplyWord]:
    """Words as an engine gives them: a hundred samples each, places in the spoken text."""
    return [
        ReplyWord(made.text[at:to], 100 * index, 100 * index + 90, at, to)
        for index, (at, to) in enumerate(words_in(made.text))
    ]


def test_words_are_what_stands_between_spaces_with_a_letter():
    text = "Well, it's - as said - well-known: 3 … 你好。"
    found = [text[at:to] for at, to in words_in(text)]
    assert found == ["Well,", "it's", "as", "said", "well-known:", "3", "你", "好。"]


def test_letters_are_counted_and_signs_are_not():
    assert letters_in("a, b 3!") == 3


def test_words_are_found_again_in_the_written_text():
    written = "So **we** go, [there](https://a.b)."
    words = written_words(spoken(speakable(written)), speakable(written), at=10, start=5000)
    assert [word.text for word in words] == ["So", "we", "go,", "there."]
    assert [written[word.at - 10 : word.to - 10] for word in words] == [
        "So",
        "we",
        "go,",
        "there](https://a.b).",
    ]
    assert [(word.start, word.end) for word in words] == [
        (5000, 5090),
        (5100, 5190),
        (5200, 5290),
        (5300, 5390),
    ]


def test_a_number_counts_as_heard_with_its_last_word():
    written = "That is $3.50 now"
    words = written_words(spoken(speakable(written)), speakable(written))
    assert [(word.text, written[word.at : word.to]) for word in words] == [
        ("That", "That"),
        ("is", "is"),
        ("three", ""),
        ("dollars", ""),
        ("and", ""),
        ("fifty", ""),
        ("cents", "$3.50"),
        ("now", "now"),
    ]
    assert written[: words[3].to].rstrip() == "That is"
    assert written[: words[6].to] == "That is $3.50"


def test_words_without_times_are_spread_by_their_letters():
    words = spread_words(speakable("a bbb cc"), 900, at=5, start=100)
    assert [(word.text, word.start, word.end, word.at) for word in words] == [
        ("a", 100, 300, 5),
        ("bbb", 300, 700, 7),
        ("cc", 700, 1000, 11),
    ]
    assert spread_words(speakable(""), 0) == ()


def test_a_part_of_a_word_is_found_too():
    made = speakable("hello there")
    assert written_words([ReplyWord("ell", 0, 1, 1, 4)], made)[0].to == 4


def test_a_place_that_says_nothing_is_found_where_it_stands():
    made = speakable("one\ntwo")
    words = written_words([ReplyWord(".", 0, 1, 3, 4), ReplyWord("x", 0, 1, 90, 95)], made)
    assert [(word.at, word.to) for word in words] == [(4, 4), (7, 7)] or words[0].at == words[0].to
    assert written_words([ReplyWord("x", 0, 1, 0, 1)], Speakable("x"))[0].to == 0


WRITTEN = st.lists(
    st.sampled_from(
        [
            "Hello ",
            "**so** ",
            "$3.50 ",
            "14:30, ",
            "`x` ",
            "1/2 ",
            "🙂 ",
            "- ",
            "\n",
            "May 3, 2024 ",
            "GPT-4 ",
        ]
    ),
    max_size=15,
).map("".join)


@given(WRITTEN)
def test_words_go_forward_in_the_written_text_and_reach_its_last_word(written):
    made = speakable(written)
    for words in (written_words(spoken(made), made), spread_words(made, 10_000)):
        assert all(0 <= word.at <= word.to <= len(written) for word in words)
        assert all(one.at <= other.at and one.to <= other.to for one, other in pairwise(words))
        assert all(one.end <= other.start for one, other in pairwise(words))
        if words:
            assert not any(map(str.isalnum, speakable(written[words[-1].to :]).text))
