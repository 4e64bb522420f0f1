"""The number of values in a JSON text, judged before it is decoded."""

from __future__ import annotations

import json

import pytest

from duologue.errors import TooLarge
from duologue.wire import json_size
from duologue.wire.json_size import MAX_VALUES, has_more_values
from duologue.wire.validation import decode_json

LIMIT = 100


@pytest.mark.parametrize("both", [str, str.encode])
@pytest.mark.parametrize(
    "text",
    [
        "[" + "1," * 300 + "1]",
        "[" + "[[1],[2]]," * 80 + "1]",
        "[" + "{}," * 200 + "{}]",
        '{"x": {' + ",".join(f'"k{at}": {{}}' for at in range(200)) + "}}",
        "[" + ",".join(['"a,b"'] * 300) + "]",
        "[" + ",".join(['"\\""'] * 300) + "]",
        "[" * 300 + "]" * 300,
    ],
)
def test_many_values_of_any_kind_are_too_many(text: str, both: type) -> None:
    assert has_more_values(both(text), LIMIT)


@pytest.mark.parametrize("both", [str, str.encode])
@pytest.mark.parametrize(
    "text",
    [
        "a table, with, many, commas, " * 100,
        "[[[{{{,,," * 100,
        'she said "yes, no", ' * 100,
        "a\\,\\\\,[" * 100,
        'ends with \\"' * 100,
        "héllo, 👋, " * 100,
    ],
)
def test_commas_and_brackets_in_a_text_are_not_values(text: str, both: type) -> None:
    assert not has_more_values(both(json.dumps({"content": text})), LIMIT)
    assert not has_more_values(both(json.dumps({"content": text}, ensure_ascii=False)), LIMIT)


def test_as_many_values_as_allowed_pass() -> None:
    assert not has_more_values(json.dumps([1] * LIMIT).encode(), LIMIT)
    assert has_more_values(json.dumps([1] * (LIMIT + 101)).encode(), LIMIT)


@pytest.mark.parametrize(
    "body",
    [
        b'{"messages": [], "nobody_knows": [' + b"[[1],[2]]," * MAX_VALUES + b"1]}",
        '{"messages": [' + "{}," * MAX_VALUES + "{}]}",
        b'{"tools": {"a": [' + b"1," * 2 * MAX_VALUES + b"1]}}",
    ],
)
def test_a_request_of_too_many_values_is_refused_before_it_is_decoded(
    body: str | bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("duologue.wire.validation.msgspec.json.decode", None)
    with pytest.raises(TooLarge, match="more than 150,000 JSON values"):
        decode_json(body)


def test_broken_json_of_any_size_is_no_failure() -> None:
    for text in ('"' * 1000, "\\" * 1000, "," * 1000, '[",' * 1000, '\\"' * 1000):
        has_more_values(text, LIMIT)
        has_more_values(text.encode(), LIMIT)


@pytest.mark.parametrize("both", [str, str.encode])
@pytest.mark.parametrize("piece", [1, 2, 3, 5, 64, 1000])
def test_the_pieces_in_which_a_text_is_read_do_not_change_the_figure(both: type, piece: int) -> None:
    strings = ['a,"[', "\\", '\\"', "\\\\", '"', ",,", 'ends with \\"', "héllo, 👋"]
    text = json.dumps([{"k,": part} for part in strings] * 10, ensure_ascii=False)
    values = sum(1 for _ in strings) * 3 * 10  # a bracket, a comma, and the list's own
    whole = len(text) + 1
    for limit in (values - 40, values - 20, values, values + 1):
        assert has_more_values(both(text), limit, piece) == has_more_values(both(text), limit, whole)


def test_reading_stops_where_the_figure_is_exceeded(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    separators = json_size._separators

    def counted(text: bytes) -> int:
        read.append(len(text))
        return separators(text)

    monkeypatch.setattr(json_size, "_separators", counted)
    assert has_more_values(b"[[1],[2]]," * 1_000_000, LIMIT, 1000)
    assert sum(read) < 10_000
