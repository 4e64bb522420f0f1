"""Objects: which properties are written, and which others."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.support.gbnf import admits

from duologue.text.grammars.schema_grammar import JsonGrammar

STRING, INTEGER = {"type": "string"}, {"type": "integer"}


def held(schema: dict[str, Any]) -> str | None:
    grammar = JsonGrammar()
    root = grammar.schema({"type": "object", **schema}, "it")
    return None if grammar.loose else f"root ::= {root}\n{grammar}"


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        (
            {"properties": {"id": INTEGER, "ids": STRING}, "additionalProperties": STRING},
            [{"id": 1, "i": ""}, {"ids": "", "idx": ""}, {"": "a"}, {"xid": "a"}, {"id": 1, "idsx": ""}],
            [{"id": "a"}, {"x": 1}, {"ids": 1}, {"x": "", "id": 1}],
        ),
        (
            {"properties": {"id": INTEGER}, "required": ["token"], "additionalProperties": False},
            [],
            [{"id": 1}, {"id": 1, "token": 1}, {}],
        ),
        ({"required": ["b"]}, [{"b": 1}, {"b": [None]}], [{}, {"a": 1}]),
        ({"required": ["b"], "additionalProperties": INTEGER}, [{"b": 1}, {"b": 1, "c": 2}], [{"b": ""}, {"c": 1}]),
        ({"properties": {"a": STRING, "b": False}}, [{}, {"a": ""}], [{"b": 1}, {"a": "", "b": 1}]),
        ({"patternProperties": {"^x-": INTEGER}}, [{}, {"x-a": 1, "x-b": 2}], [{"a": 1}, {"x-a": "1"}]),
        ({"additionalProperties": INTEGER, "minProperties": 1, "maxProperties": 2}, [{"a": 1}, {"a": 1, "b": 2}],
         [{}, {"a": 1, "b": 2, "c": 3}]),
        ({"maxProperties": 0}, [{}], [{"a": 1}]),
        ({"properties": {"a": STRING}, "minProperties": 1, "required": ["a"]}, [{"a": ""}], [{}]),
    ],
    ids=str,
)  # fmt: skip
def test_properties_are_kept(schema: dict[str, Any], good: list[Any], bad: list[Any]) -> None:
    grammar = held(schema)
    if not good:
        assert grammar is None  # there is no such object
        return
    assert grammar is not None
    assert all(admits(grammar, json.dumps(value)) for value in good)
    assert not any(admits(grammar, json.dumps(value)) for value in bad)


def test_a_listed_name_cannot_come_again_in_another_spelling() -> None:
    grammar = held({"properties": {"id": INTEGER}, "additionalProperties": STRING})
    assert grammar is not None
    assert not admits(grammar, r'{"\u0069d": "a"}')
    assert admits(grammar, r'{"i\n": "a"}') is False
    assert admits(grammar, r'{"x\u0069d": "a"}')


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"é": INTEGER}, "additionalProperties": STRING},
        {"patternProperties": {"a": {}, "b": {}}},
        {"patternProperties": {"a": {}}, "additionalProperties": True},
        {"patternProperties": {"(?=a)": {}}},
        {"propertyNames": {"maxLength": 3}},
        {"minProperties": 2},
        {"maxProperties": 10**9},
        {"properties": {"a": {}, "b": {}}, "maxProperties": 1},
        {"properties": {"a": {}}, "minProperties": 1},
        {"properties": {"a": False}, "required": ["a"]},
    ],
    ids=str,
)
def test_what_is_not_kept_is_not_promised(schema: dict[str, Any]) -> None:
    assert held(schema) is None
