"""Where a JSON value ends, in pieces."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from duologue.text.stream.markers import Markers
from duologue.text.toolcalls.json_values import ValueScanner, is_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def scan(text: str, size: int) -> tuple[str, str]:
    """The value at the front of `text`, and what is left."""
    scanner, copied, pending, at = ValueScanner(Markers(("</x>",))), "", "", 0
    while at < len(text):
        pending += text[at : at + size]
        at += size
        piece, stop = scanner.scan(pending, 0)
        copied += piece
        pending = pending[stop:]
        if scanner.state != "more":
            break
    return copied, pending + text[at:]


@given(value=VALUES, size=st.integers(1, 9), indent=st.sampled_from([None, 2]), behind=st.sampled_from([",", "}", "\n", "</x>"]))  # fmt: skip
def test_any_value_is_copied_to_its_end(value: object, size: int, indent: int | None, behind: str) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    assert scan(text + behind + "rest", size) == (text, behind + "rest")


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_a_marker_outside_strings_halts_the_scan(size: int) -> None:
    assert scan('{"a": "</x>", </x>', size) == ('{"a": "</x>", ', "</x>")


@pytest.mark.parametrize("size", [1, 2, 3, 100])
def test_what_only_begins_like_a_marker_does_not(size: int) -> None:
    assert scan('{"a": </y>}.', size) == ('{"a": </y>}', ".")


@pytest.mark.parametrize(
    ("text", "valid"),
    [
        ("1" * 6000, True),
        ('{"a": [1.5e9, null]}', True),
        ('{"a": 1,}', False),
        ("{'a': 1}", False),
        ("NaN", False),
        ("", False),
        ("[" * 100_000 + "]" * 100_000, False),
        ('"\ud800"', False),
    ],
)
def test_is_json_is_strict_and_reads_no_number(text: str, valid: bool) -> None:
    assert is_json(text) is valid


@given(
    value=VALUES.map(lambda value: {"a": value}), size=st.integers(1, 9), spaces=st.sampled_from([None, 1])
)
def test_the_short_way_and_the_long_one_end_at_the_same_place(
    value: object, size: int, spaces: int | None
) -> None:
    text = json.dumps(value, indent=spaces, ensure_ascii=False)
    scanner, at = ValueScanner(Markers(("</x>",))), 0
    written = f"{text}, more"
    while scanner.state == "more":
        piece = written[at : at + size]
        if scanner.follow(piece):
            at += len(piece)
        else:
            at += scanner.scan(piece, 0)[1]
    assert written[:at] == text


@pytest.mark.parametrize(
    ("before", "text"),
    [
        ("{", "}"),
        ("{", " </x>"),
        ('{"a": "', "\n"),
        ('{"a": "', "x\\"),
        ('{"a": "\\', '"'),
        ("{", "\\"),
        ("1", "1"),
        ('"', "a"),
    ],
)
def test_what_needs_a_closer_look_is_left_untouched(before: str, text: str) -> None:
    scanner = ValueScanner(Markers(("</x>",)))
    scanner.scan(before, 0)
    assert not scanner.follow(text)
