from typing import Any

import pytest

from duologue.conversations.importing.json_readers import (
    count,
    each,
    element,
    elements,
    lines,
    parsed,
    record,
    records,
    tags,
    text,
    time,
    title,
)


@pytest.mark.parametrize(
    ("value", "moment"),
    [
        (1_740_000_000, 1_740_000_000_000),
        (1_740_000_000.25, 1_740_000_000_250),
        (1_740_000_000_123, 1_740_000_000_123),
        (0, 0),
        (-5, 0),
        (None, 0),
        ("soon", 0),
        (True, 0),
        (float("nan"), 0),
        (float("inf"), 0),
        (10**30, 0),
    ],
)
def test_a_moment_is_in_seconds_or_milliseconds_or_none(value, moment):
    assert time(value) == moment


@pytest.mark.parametrize(
    ("value", "kept"),
    [("a\0b", "ab"), ("half \ud83d pair", "half \ufffd pair"), (7, "7"), (None, ""), (True, ""), ([1], "")],
)
def test_a_text_can_be_kept_or_is_empty(value, kept):
    assert text(value) == kept


def test_a_title_is_one_short_line():
    assert title("  one\n two ") == "one two"
    assert len(title("x" * 1000)) == 200


def test_what_is_no_object_is_an_empty_one():
    assert record([1]) == {}
    assert records({"a": {"b": 1}, "c": 2}) == [{"b": 1}]
    assert records("no") == []


def test_a_count_is_whole_and_not_negative():
    assert [count(value) for value in (3, 3.7, -1, "3", None)] == [3, 3, 0, 0, 0]


def test_tags_are_named_once():
    assert tags(["a", {"name": "b"}, "a", 3, " ", {}], None, ["c"]) == ("a", "b", "3", "c")


def test_what_others_write_for_json_is_read_too():
    value: Any = parsed(b'\xef\xbb\xbf{"a": NaN}')
    assert value["a"] != 1
    assert parsed('"\\ud83d"') == "\ud83d"
    for broken in (b"{", b"", b"[" * 100_000):
        with pytest.raises(ValueError):
            parsed(broken)


def test_lines_are_numbered_and_blank_ones_left_out():
    assert list(lines(b"\xef\xbb\xbfa\r\n\n b\n")) == [(1, b"a"), (3, b" b")]


def test_a_list_is_read_element_by_element():
    found = elements(b'\xef\xbb\xbf [{"a": 1}, "x", {"b": "\\ud83d"}]')
    assert [element(one) for one in found] == [{"a": 1}, "x", {"b": "\ud83d"}]
    assert [element(one) for one in elements(b'{"a": 1}')] == [{"a": 1}]
    assert [element(one) for one in elements(b"[NaN, 2]")][1] == 2
    with pytest.raises(ValueError):
        elements(b"[1, ")


def test_what_is_no_list_is_one_of_its_own():
    assert list(each([1, 2])) == [1, 2]
    assert list(each({"a": 1})) == [{"a": 1}]
    assert list(each(None)) == [None]
