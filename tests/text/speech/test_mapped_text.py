import re
from typing import Any

from duologue.text.speech.mapped_text import MappedText, Span


def mapped(text: str, *steps: tuple[str, Any]) -> MappedText:
    made = MappedText(text)
    for pattern, become in steps:
        made.rewrite(re.compile(pattern), become)
    return made


def test_text_that_is_left_alone_says_itself():
    assert mapped("one two").spans() == (Span(0, 7, 0, 7),)
    assert mapped("").spans() == ()


def test_what_was_dropped_leaves_a_gap():
    made = mapped("**bold** text", (r"\*\*", ""))
    assert made.text == "bold text"
    assert made.spans() == (Span(0, 4, 2, 6), Span(4, 9, 8, 13))


def test_what_was_replaced_says_all_of_it_and_is_whole():
    made = mapped("at $3 now", (r"\$3", "three dollars"))
    assert made.text == "at three dollars now"
    assert made.spans() == (Span(0, 3, 0, 3), Span(3, 16, 3, 5, whole=True), Span(16, 20, 5, 9))


def test_kept_groups_keep_their_places_and_what_is_between_says_the_rest():
    made = mapped("see [here](url).", (r"\[(\w+)\]\((\w+)\)", (1,)))
    assert made.text == "see here."
    assert made.spans()[1] == Span(4, 8, 5, 9)
    made = mapped("3*4", (r"(\d)\*(\d)", (1, " times ", 2)))
    assert made.text == "3 times 4"
    assert made.spans() == (Span(0, 1, 0, 1), Span(2, 7, 1, 2, whole=True), Span(8, 9, 2, 3))


def test_what_was_rewritten_twice_says_what_it_said_first():
    made = mapped("a 5% b", (r"%", " percent"), (r"5 percent", "five percent"))
    assert made.text == "a five percent b"
    assert made.spans()[1] == Span(2, 14, 2, 4, whole=True)


def test_what_was_only_put_in_says_nothing():
    made = mapped("end", (r"(d)", (1, ".")))
    assert made.text == "end."
    assert made.spans() == (Span(0, 3, 0, 3),)


def test_a_group_that_did_not_match_is_left_out_and_none_changes_nothing():
    assert mapped("ab", (r"(a)|(z)", (1, 2))).text == "ab"
    assert mapped("ab", (r"a", lambda match: None)).text == "ab"


def test_a_range_can_be_replaced():
    made = MappedText("0123456789")
    made.rewrite_range(2, 8, "x")
    assert made.text == "01x89"
    assert made.spans()[1] == Span(2, 3, 2, 8, whole=True)
