from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from duologue.text.speech.clause_splitter import LONGEST, Clause, ClauseSplitter


def cut(text: str, *, size: int = 0, language: str = "en") -> list[Clause]:
    machine = ClauseSplitter(language)
    made = []
    for at in range(0, len(text), size or max(1, len(text))):
        made += machine.feed(text[at : at + (size or len(text))])
    return made + machine.finish()


def clauses(text: str, language: str = "en") -> list[str]:
    """The clauses of a text, the same for every way of cutting the input."""
    whole = cut(text, language=language)
    for size in (1, 2, 3, 7):
        assert cut(text, size=size, language=language) == whole
    assert all(text[clause.at : clause.to] == clause.text for clause in whole)
    return [clause.text for clause in whole]


@pytest.mark.parametrize(
    "text",
    [
        "It works.",
        "Hello there.",
        "Dr. Smith and Mrs. Jones met J. R. R. Tolkien, e.g. here.",
        "It costs $3.50 or 3,50 EUR.",
        "Version 1.2.3 is at https://example.com/a.b?c=d today.",
        "Write to anna.b@example.com now.",
        "Call at 5 p.m. or later.",
        "Wait... no, go on.",
        '"Really?" she asked.',
        "The U.S. army came.",
        "See Fig. 3 and No. 5 there.",
        "Use `a. B` there.",
        "A [link. It goes](https://a.b) there.",
        "The node.js and foo.py files.",
        "10-12 of well-known ones.",
    ],
)
def test_what_looks_like_an_end_and_is_none(text):
    machine = ClauseSplitter()
    first = machine.feed("Yes. ")
    assert [clause.text for clause in first] == ["Yes."]
    assert " ".join(clauses("Yes. " + text)) == f"Yes. {text}"
    ending = [clause.text for clause in cut("Yes. " + text) if clause.ends]
    assert len(ending) == 2


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("I am here. You are there! Is it so? Yes.", ["I am here.", "You are there!", "Is it so?", "Yes."]),
        ("So do I. Then we go.", ["So do I.", "Then we go."]),
        ("It ended at 5 p.m. Then we left.", ["It ended at 5 p.m.", "Then we left."]),
        ("He said “no.” Then he left.", ["He said “no.”", "Then he left."]),
        ("**It works.** Good.", ["**It works.**", "Good."]),
        ("(It works.) Good.", ["(It works.)", "Good."]),
        ("What?! Never!!! Well… Then go.", ["What?!", "Never!!!", "Well…", "Then go."]),
        ("It was 2024. Then it was 5. Good.", ["It was 2024.", "Then it was 5.", "Good."]),
        ("No. I do not.", ["No.", "I do not."]),
        ("it is late. go home now.", ["it is late.", "go home now."]),
        ("See https://example.com/f. Good.", ["See https://example.com/f.", "Good."]),
        ("one\ntwo\n\nthree", ["one", "two", "three"]),
        ("# Title\nText", ["# Title", "Text"]),
        ("- one\n- two. Three\n* four", ["- one", "- two.", "Three", "* four"]),
        ("1. one\n2. two\n10) ten", ["1. one", "2. two", "10) ten"]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", ["| a | b |", "|---|---|", "| 1 | 2 |"]),
        ("你好，世界。我很高兴见到你！你好吗？", ["你好，世界。", "我很高兴见到你！", "你好吗？"]),
        ("「行く。」と言った。", ["「行く。」", "と言った。"]),
    ],
)
def test_sentences_and_lines_are_clauses(text, parts):
    assert clauses(text) == parts


def test_german_dates_and_abbreviations_end_nothing():
    text = "Gut. Am 3. Mai kam z. B. Herr Dr. Müller bzw. sein Chef, d. h. der 2. Mann. Das war 2024. Schön."
    found = clauses(text, "de")
    assert found[0] == "Gut."
    assert found[-2:] == ["Das war 2024.", "Schön."]
    assert " ".join(found[1:-2]) == text[5:-21]


def test_the_first_clause_ends_at_a_comma_and_the_next_does_not():
    found = clauses("Of course, I can, if you like, help you. Well then, let us go.")
    assert found == ["Of course,", "I can, if you like, help you.", "Well then, let us go."]


def test_a_first_word_is_too_little_for_a_clause():
    assert clauses("Oh, I can do that, of course.") == ["Oh, I can do that,", "of course."]


def test_a_long_first_clause_ends_before_a_joining_word():
    found = clauses("The quick brown fox jumped over the lazy dog and then it ran away.")
    assert found == ["The quick brown fox jumped over the lazy dog", "and then it ran away."]


def test_a_first_clause_without_any_breath_is_cut_after_some_words():
    assert len(clauses("word " * 40)[0].split()) == 16


def test_a_long_sentence_is_cut_at_its_commas():
    found = clauses("Yes. " + "this is a part of it, " * 20)
    assert all(part.endswith(",") for part in found[1:])
    assert all(len(part) < LONGEST for part in found)


def test_a_sentence_without_commas_is_cut_between_words_and_a_word_somewhere():
    assert all(len(part) <= LONGEST + 10 for part in clauses("words and " * 200))
    assert [len(part) for part in clauses("a" * 2500)] == [1000, 1000, 500]


def test_a_line_that_its_writer_wrapped_goes_on():
    line = "This is a line that was wrapped by whoever wrote it at some place"
    assert clauses(f"Yes. {line}\nand goes on here.")[1] == f"{line}\nand goes on here."


def test_a_code_block_is_its_first_line():
    found = cut("Look:\n```python\nprint('a. B')\n``\n```\nDone. ~~~ is not one.\n~~~\nx\n~~~\n")
    assert [clause.text for clause in found] == ["Look:", "```python", "Done.", "~~~ is not one.", "~~~"]


def test_a_code_block_is_given_when_it_begins():
    machine = ClauseSplitter()
    assert [clause.text for clause in machine.feed("```c\nint")] == ["```c"]
    assert machine.feed(" a;\nint b;\n" * 100) == []
    assert [clause.text for clause in machine.feed("```\nDone. ")] == ["Done."]


def test_ticks_in_a_line_open_no_block():
    assert clauses("```x``` is code. Yes.") == ["```x``` is code.", "Yes."]


@pytest.mark.parametrize(
    ("text", "given"),
    [
        ("Hello there.", []),
        ("Hello there. ", ["Hello there."]),
        ("Hello there! ", ["Hello there!"]),
        ("Hello there.\n", ["Hello there."]),
        ("Hello etc. ", []),
        ("Hello etc. A", ["Hello etc."]),
        ("Of course, ", ["Of course,"]),
        ("A title\n", ["A title"]),
        ("你好吗？是", ["你好吗？"]),
    ],
)
def test_a_clause_is_given_as_soon_as_it_stands(text, given):
    assert [clause.text for clause in ClauseSplitter().feed(text)] == given


def test_a_pause_of_the_writer_gives_what_there_is_and_what_follows_begins_anew():
    machine = ClauseSplitter()
    assert machine.feed("One. Let me look") == [Clause("One.", 0, 4)]
    assert machine.flush() == [Clause("Let me look", 5, 16)]
    assert machine.feed("Of course, it is") == [Clause("Of course,", 16, 26, ends=False)]
    assert machine.finish() == [Clause("it is", 27, 32)]


def test_whether_a_sentence_ends_is_told():
    assert [clause.ends for clause in cut("Of course, yes. And")] == [False, True, True]


def test_nothing_but_space_is_nothing():
    assert clauses("") == clauses(" \n\t \n\n") == []


_WRITTEN = (
    'Hello¦ ¦ ¦\n¦. ¦.¦, ¦! ¦e.g.¦3.5¦```¦~~~¦`¦[¦](¦)¦—¦ - ¦# ¦- ¦1. ¦。¦，¦你¦"¦and ¦…¦**¦| ¦Dr. ¦I¦'
    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx¦    ¦ß¦🙂¦"
    "> "
)
PIECES = st.sampled_from(_WRITTEN.split("¦"))


@given(st.lists(PIECES, max_size=60).map("".join), st.lists(st.integers(1, 12), max_size=40))
@settings(max_examples=400)
def test_where_the_input_is_cut_changes_no_clause(text, sizes):
    machine, made, at = ClauseSplitter(), [], 0
    for size in sizes:
        made += machine.feed(text[at : at + size])
        at += size
    made += machine.feed(text[at:]) + machine.finish()
    assert made == cut(text) == cut(text, size=1)


@given(st.text(max_size=400) | st.lists(PIECES, max_size=60).map("".join))
def test_clauses_are_in_order_and_leave_out_nothing_but_space_and_code(text):
    found = cut(text)
    assert all(text[clause.at : clause.to] == clause.text == clause.text.strip() for clause in found)
    assert all(one.to <= other.at for one, other in pairwise(found))
    if "```" not in text and "~~~" not in text:
        assert "".join("".join(clause.text.split()) for clause in found) == "".join(text.split())


@pytest.mark.parametrize(
    "text",
    [
        "a",
        ".",
        " ",
        "\n",
        "`",
        "[",
        ", ",
        "a. ",
        "- ",
        "```\n",
        "```",
        "word ",
        "。",
        "~",
        "> ",
        "1. ",
        '"',
        "x, ",
    ],
)
def test_a_flood_costs_no_more_than_its_length(text):
    """Counted in looks at the text, not in seconds: what is kept stays small however much comes."""
    machine = ClauseSplitter()
    for _ in range(2000):
        machine.feed(text * 3)
        assert len(machine._text) <= 1200
