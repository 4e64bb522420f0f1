"""Titles: the first words of what was asked, and which of a model's words are one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.conversations.history.title_rules import (
    MOST_CHARACTERS,
    cut,
    extract_title,
    first_words,
    title_request,
    untaken,
)
from duologue.values.conversations import ImageContent, StoredMessage, TextContent


def words(text: str) -> str:
    return first_words((TextContent(text),))


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("How do I bake bread?", "How do I bake bread"),
        ("How do I bake bread? I have flour.", "How do I bake bread"),
        ("Hi! How do I bake bread?", "Hi! How do I bake bread"),
        ("I met Dr. Smith at noon.", "I met Dr. Smith at noon"),
        ("What is 3.5 times 2, e.g. in hex?", "What is 3.5 times 2, e.g. in hex"),
        ("今天天气怎么样，会不会下雨啊？我想去公园。", "今天天气怎么样，会不会下雨啊"),
        ("  two\n\nlines\tand tabs ", "two lines and tabs"),
        ("# Heading\n- **bold** and *thin* with `code`", "Heading bold and thin with code"),
        ("> quoted\n1. first", "quoted first"),
        ("see [the docs](https://example.org/x) now", "see the docs now"),
        ("what is on https://example.org/a?b=c today", "what is on today"),
        ("fix this:\n```python\nimport os\nprint(1)\n```\nplease", "fix this: please"),
        ("<b>loud</b> words", "loud words"),
        ("a * b = snake_case_name", "a * b = snake_case_name"),
        ("你好，世界", "你好，世界"),
        ("👋", "👋"),
    ],
)
def test_the_first_words_are_the_title_without_their_markup(text: str, title: str) -> None:
    assert words(text) == title


def test_a_long_message_is_cut_after_a_word() -> None:
    title = words("word " * 100)
    assert len(title) <= MOST_CHARACTERS
    assert title.endswith(" word")


def test_one_endless_word_is_cut_where_it_must() -> None:
    assert words("x" * 500) == "x" * (MOST_CHARACTERS - 1)


def test_a_message_of_code_alone_is_called_by_its_first_line() -> None:
    assert words("```js\n\nconst a = 1\nmore()\n```") == "const a = 1"


def test_a_message_of_an_address_alone_is_called_by_its_host() -> None:
    assert words("https://example.org/some/long/path") == "example.org"


def test_a_message_of_a_file_alone_is_called_by_the_file() -> None:
    assert first_words((ImageContent("a" * 64, "image/png", name="cat.png"),)) == "cat.png"


def test_nothing_has_no_title() -> None:
    assert first_words(()) == ""
    assert words(" \n --- \n") == ""


@given(st.text(max_size=300))
def test_a_title_is_one_short_line_whatever_was_written(text: str) -> None:
    title = words(text)
    assert len(title) <= MOST_CHARACTERS
    assert "\n" not in title
    assert title == title.strip()


def test_a_megabyte_takes_no_time() -> None:
    for text in ("[" * 1_000_000, "*" * 1_000_000, "`a" * 500_000, "<a" * 500_000, "```\n" * 250_000):
        assert len(words(text)) <= MOST_CHARACTERS  # quadratic patterns would hang here


@pytest.mark.parametrize(
    ("reply", "title"),
    [
        ("Baking bread at home", "Baking bread at home"),
        ('"Baking Bread."', "Baking Bread"),
        ("Title: **Baking bread**\n\nI chose this because", "Baking bread"),
        ("Titel：Brot backen", "Brot backen"),
        ("", ""),
        ("ok", ""),
        ("!!! ???", ""),
        ("I'm sorry, I cannot do that", ""),
        ("the the the the the the", ""),
        ("To bake bread you first need flour and water and then you knead the dough well.", ""),
    ],
)
def test_of_a_models_words_only_a_title_is_taken(reply: str, title: str) -> None:
    assert extract_title(reply) == title


def row(role: str, text: str, **fields: object) -> StoredMessage:
    return StoredMessage(role[0], "c", None, role, (TextContent(text),), **fields)  # type: ignore[arg-type]


def test_a_model_is_shown_the_beginning_of_what_was_said() -> None:
    asked = title_request(
        [row("system", "be kind"), row("user", "hello " * 1000), row("assistant", "hi")], "m"
    )
    assert asked is not None
    shown = asked.messages[1].text
    assert shown.startswith("User: hello hello")
    assert shown.endswith("Assistant: hi")
    assert "be kind" not in shown
    assert len(shown) < 1000
    assert (asked.model, asked.thinking) == ("m", False)


def test_a_model_is_not_asked_about_nothing() -> None:
    assert title_request([row("user", " ")]) is None


def test_a_copy_has_the_lowest_number_that_is_free() -> None:
    assert untaken("Tea", []) == "Tea (2)"
    assert untaken("Tea", ["Tea", "Tea (2)", "Tea (4)"]) == "Tea (3)"
    assert untaken("Tea (2)", ["Tea", "Tea (2)"]) == "Tea (3)"
    assert untaken("", ["Tea"]) == ""


def test_cutting_keeps_what_fits() -> None:
    assert cut("a b", 3) == "a b"
