"""Schemas as grammars: what they admit, and what they do not."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import given, settings
from hypothesis import strategies as draw
from tests.support.gbnf import admits, made

from duologue.text.grammars.gbnf_terms import literal
from duologue.text.grammars.object_grammar import MAX_CHOICES
from duologue.text.grammars.schema_grammar import (
    MAX_RULES,
    JsonGrammar,
)
from duologue.text.grammars.string_formats import FORMATS

ANY: list[Any] = [
    None,
    True,
    0,
    -7,
    3.5,
    1e300,
    "",
    'say "hi"\\',
    "\n\t",
    "é漢😀",
    [],
    [1, "two", [None]],
    {},
    {"a": {"b": []}},
]


def admitted(schema: object, value: object, **dumping: Any) -> bool:
    grammar = JsonGrammar()
    root = grammar.schema(schema, "it")
    return admits(f"root ::= {root}\n{grammar}", json.dumps(value, **dumping))


def thing(*required: str, **properties: object) -> dict[str, object]:
    return {"type": "object", "properties": properties, "required": list(required)}


STRING, NUMBER = {"type": "string"}, {"type": "number"}


@pytest.mark.parametrize("value", ANY)
@pytest.mark.parametrize(
    "schema", [True, {}, {"description": "whatever"}, {"not": STRING}, {"type": "thing"}]
)
def test_where_nothing_is_said_of_the_shape_everything_is_admitted(schema: object, value: object) -> None:
    assert admitted(schema, value)
    assert admitted(schema, value, ensure_ascii=False)
    assert admitted(schema, value, separators=(",", ":"))


VALUES = draw.recursive(
    draw.none() | draw.booleans() | draw.integers(-(10**15), 10**15) | draw.text(max_size=8),
    lambda inner: draw.lists(inner, max_size=3) | draw.dictionaries(draw.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(VALUES)
def test_any_json_is_admitted_by_the_rule_of_any_value(value: object) -> None:
    assert admitted({}, value, ensure_ascii=False)


@pytest.mark.parametrize(
    "text", ["", "{", '{"a" 1}', "[1,]", "'a'", '"a\nb"', "01", "NaN", "tru", '{"a": 1,}', "{} {}"]
)
def test_what_is_no_json_is_not(text: str) -> None:
    assert not admits(f"root ::= value\n{JsonGrammar()}", text)


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        (STRING, "x", 1),
        ({"type": "integer"}, -3, 3.5),
        (NUMBER, 3.5, "3.5"),
        ({"type": "boolean"}, False, 0),
        ({"type": "null"}, None, "null"),
        ({"type": ["string", "null"]}, None, 1),
        ({"const": {"a": [1]}}, {"a": [1]}, {"a": [2]}),
        ({"enum": ["up", "down", 3]}, 3, "left"),
        ({"type": "array", "items": STRING}, ["a", "b"], ["a", 1]),
        ({"type": "array", "items": STRING}, [], [[]]),
        ({"type": "array", "items": STRING, "minItems": 1}, ["a"], []),
        ({"type": "array"}, [1, "a"], {}),
        ({"anyOf": [STRING, NUMBER]}, 1, None),
        ({"oneOf": [STRING, {"type": "array", "items": NUMBER}]}, [1], ["a"]),
        ({"allOf": [STRING]}, "a", 1),
        ({"type": "object", "additionalProperties": NUMBER}, {"a": 1, "b": 2}, {"a": "1"}),
        ({"type": "object", "additionalProperties": False}, {}, {"a": 1}),
        ({"type": "object"}, {"a": 1}, []),
    ],
)
def test_values_are_held_to_their_schema(schema: object, good: object, bad: object) -> None:
    assert admitted(schema, good)
    assert not admitted(schema, bad)


def test_required_properties_are_there_and_the_others_may_be() -> None:
    schema = thing("b", a=STRING, b=NUMBER, c={"type": "boolean"})
    for value in ({"b": 1}, {"a": "x", "b": 1}, {"b": 1, "c": True}, {"a": "x", "b": 1, "c": True}):
        assert admitted(schema, value)
        assert admitted(schema, value, separators=(",", ":"))
        assert admitted(schema, value, indent=2)
    incomplete: tuple[dict[str, object], ...] = (
        {},
        {"a": "x"},
        {"a": 1, "b": 1},
        {"b": 1, "a": "x"},
        {"b": 1, "d": 2},
        {"b": 1, "c": None},
    )
    for value in incomplete:
        assert not admitted(schema, value)


def test_none_of_them_need_be_there() -> None:
    schema = thing(a=STRING, b=STRING)
    assert all(admitted(schema, value) for value in ({}, {"a": ""}, {"b": ""}, {"a": "", "b": ""}))


def test_further_properties_come_last_where_the_schema_asks_for_them() -> None:
    schema = thing("a", a=STRING, b=STRING) | {"additionalProperties": NUMBER}
    for value in ({"a": ""}, {"a": "", "x": 1}, {"a": "", "b": "", "x": 1, "y": 2}):
        assert admitted(schema, value)
    assert not admitted(schema, {"a": "", "x": "1"})
    assert not admitted(schema, {"x": 1})
    assert admitted(thing(a=STRING) | {"additionalProperties": True}, {"x": [None]})


def test_references_are_followed_also_in_circles() -> None:
    tree = thing("name", name=STRING, below={"type": "array", "items": {"$ref": "#/$defs/tree"}})
    schema = thing("tree", tree={"$ref": "#/$defs/tree"}) | {"$defs": {"tree": tree}}
    assert admitted(schema, {"tree": {"name": "a", "below": [{"name": "b", "below": []}, {"name": "c"}]}})
    assert not admitted(schema, {"tree": {"name": "a", "below": [{"below": []}]}})
    itself = thing("value", value=STRING, next={"$ref": "#"})
    assert admitted(itself, {"value": "a", "next": {"value": "b"}})
    assert not admitted(itself, {"value": "a", "next": {"value": 1}})
    assert admitted({"$ref": "#/anyOf/1", "anyOf": [STRING, NUMBER]}, 1)
    assert not admitted({"$ref": "#/x~1y", "x/y": STRING}, 1)


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#/nowhere"},
        {"$ref": "https://example.org/schema"},
        {"$ref": "#"},
        {
            "$ref": "#/$defs/a",
            "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"anyOf": [{"$ref": "#/$defs/a"}, STRING]}},
        },
        {"properties": {"a": STRING}, "anyOf": [{"properties": {"b": STRING}}], "type": "object"},
        {"enum": []},
        {"type": []},
        {"type": "array", "items": STRING, "prefixItems": [NUMBER]},
        {"allOf": [STRING, {"maxLength": 3}]},
    ],
)
def test_what_cannot_be_followed_admits_what_it_might_mean(schema: object) -> None:
    assert any(admitted(schema, value) for value in ([1], {"a": "x", "b": "y"}, "x"))


def test_properties_whose_names_are_alike_keep_apart() -> None:
    schema = thing("a b", **{"a b": STRING, "a-b": NUMBER, "é": NUMBER, "": STRING, "string": NUMBER})
    assert admitted(schema, {"a b": "x", "a-b": 1, "é": 2, "": "y", "string": 3}, ensure_ascii=False)
    assert not admitted(schema, {"a b": 1})


KEYWORDS = draw.sampled_from(
    [
        *("type", "properties", "required", "additionalProperties", "items", "prefixItems", "enum", "const"),
        *("anyOf", "oneOf", "allOf", "$ref", "$defs", "minItems", "title", "a b", "²"),
    ]
)
WORDS = draw.sampled_from(
    ["object", "array", "string", "a b", "#", "#/$defs/a b", "#/anyOf/0", "#/items/²", "#/title/0"]
)
SCHEMAS = draw.recursive(
    draw.none() | draw.booleans() | draw.integers(-2, 2) | WORDS,
    lambda inner: draw.lists(inner, max_size=3) | draw.dictionaries(KEYWORDS, inner, max_size=5),
    max_leaves=20,
)


@given(SCHEMAS, draw.sampled_from(ANY))
def test_whatever_somebody_calls_a_schema_makes_rules_that_can_be_read(schema: object, value: object) -> None:
    admitted(schema, value)


def test_a_schema_makes_no_more_rules_than_there_is_room_for() -> None:
    schema: dict[str, object] = {"type": "string"}
    for _ in range(20):
        schema = {"type": ["string", "number", "null", "boolean"], "anyOf": [schema, {"enum": [1, 2]}]}
    grammar = JsonGrammar()
    grammar.schema(schema, "it")
    assert len(grammar.rules) < 2 * MAX_RULES
    assert grammar.loose


def test_a_text_is_written_so_that_it_means_itself() -> None:
    for text in ('a "b" \\ c', "two\nlines\r", "é"):
        assert admits(f"root ::= {literal(text)}\n", text)


@pytest.mark.parametrize(
    "schema",
    [
        {"enum": [f"c{at}" for at in range(MAX_CHOICES + 1)]},
        {"type": "object", "properties": {f"p{at}": {} for at in range(MAX_CHOICES + 1)}},
        {"anyOf": [{"const": at} for at in range(MAX_CHOICES + 1)]},
        {"type": "array", "items": {"oneOf": [{"const": at} for at in range(MAX_CHOICES + 1)]}},
    ],
)
def test_choices_by_the_thousand_are_not_enforced_one_by_one(schema: dict[str, object]) -> None:
    grammar = JsonGrammar()
    grammar.schema(schema, "content")
    assert grammar.loose
    assert len(str(grammar)) < 2000


def exact(schema: object, value: object) -> bool:
    grammar = JsonGrammar()
    grammar.schema(schema, "it")
    assert not grammar.loose
    return admitted(schema, value)


@pytest.mark.parametrize(
    ("schema", "good", "bad"),
    [
        ({"type": "string", "pattern": "^x[0-9]{2}$"}, ["x12"], ["x1", "x123", "ax12"]),
        ({"type": "string", "pattern": "b+"}, ["b", "abba"], ["a", ""]),
        ({"type": "string", "minLength": 1, "maxLength": 2}, ["a", 'a"'], ["", "abc"]),
        ({"type": "string", "format": "date"}, ["2024-02-29"], ["2024-13-01", "today"]),
        (
            {"type": "array", "items": {"type": "null"}, "minItems": 1, "maxItems": 2},
            [[None], [None] * 2],
            [[], [None] * 3],
        ),
        ({"type": "array", "items": {"type": "null"}, "maxItems": 0}, [[]], [[None]]),
        ({"type": "integer", "minimum": -1, "maximum": 2}, [-1, 0, 2], [-2, 3, 12]),
        ({"type": "integer", "minimum": 0}, [0, 7], [-1]),
        ({"type": "integer", "exclusiveMinimum": 0}, [1, 70], [0, -1]),
    ],
    ids=str,
)
def test_lengths_patterns_and_small_ranges_are_kept(schema: object, good: list[Any], bad: list[Any]) -> None:
    assert all(exact(schema, value) for value in good)
    assert not any(exact(schema, value) for value in bad)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "number", "minimum": 0.5, "multipleOf": 0.1},
        {"type": "integer", "multipleOf": 3},
        {"type": "number", "minimum": 1e300},
        {"type": "string", "maxLength": 10**6},
        {"type": "string", "minLength": 3, "maxLength": 1},
        {"type": "string", "format": "regex"},
        {"type": "string", "pattern": "(?=a)"},
    ],
    ids=str,
)
def test_bounds_that_are_not_written_are_not_promised(schema: object) -> None:
    grammar = JsonGrammar()
    grammar.schema(schema, "it")
    assert grammar.loose


def test_no_number_is_infinite() -> None:
    for text in ("9.09e549", "1e308", "1e999", "9999999999999999e299"):
        assert not admits(f"root ::= number\n{JsonGrammar()}", text)
    for text in ("9.9e307", "9999999999999999.9e289", "5e-300", "1E+5", "0", "-0.5"):
        assert admits(f"root ::= number\n{JsonGrammar()}", text)


def parts(depth: int) -> draw.SearchStrategy[Any]:
    """Schemas of the keywords that the rules know, most of which can be held."""
    numbers: draw.SearchStrategy[Any] = draw.integers(-30, 30) | draw.sampled_from([0.5, -2.25, 9.99])
    strings: draw.SearchStrategy[Any] = draw.fixed_dictionaries(
        {"type": draw.just("string")},
        optional={"minLength": draw.integers(0, 3), "maxLength": draw.integers(3, 6)},
    ) | draw.sampled_from([{"type": "string", "format": name} for name in FORMATS if name != "time"])
    ranges: draw.SearchStrategy[Any] = draw.fixed_dictionaries(
        {"type": draw.sampled_from(["number", "integer", ["integer", "null"]])},
        optional={"minimum": numbers, "exclusiveMaximum": numbers, "maximum": numbers},
    )
    small = (
        strings
        | ranges
        | draw.sampled_from([{"type": "boolean"}, {"enum": ["a", 1, None]}, {"const": "b"}, {}])
    )
    if depth == 0:
        return small
    inner = parts(depth - 1)
    names = draw.sampled_from(["a", "ab", "b", "kind"])
    objects = draw.fixed_dictionaries(
        {"type": draw.just("object")},
        optional={
            "properties": draw.dictionaries(names, inner, max_size=3),
            "required": draw.lists(names, max_size=2, unique=True),
            "additionalProperties": draw.booleans() | inner,
            "maxProperties": draw.integers(2, 3),
        },
    )
    arrays = draw.fixed_dictionaries(
        {"type": draw.just("array")},
        optional={
            "items": inner | draw.just(False),
            "prefixItems": draw.lists(inner, min_size=1, max_size=2),
            "minItems": draw.integers(0, 2),
            "maxItems": draw.integers(1, 4),
        },
    )
    lists = draw.lists(small | objects, min_size=1, max_size=3)
    several = draw.fixed_dictionaries(
        {},
        optional={
            "allOf": lists,
            "anyOf": lists,
            "oneOf": lists,
            "type": draw.sampled_from(["string", "object"]),
        },
    )
    return (
        small
        | objects
        | arrays
        | several
        | draw.tuples(objects, several).map(lambda two: {**two[1], **two[0]})
    )


@settings(max_examples=60, deadline=None)
@given(parts(2), draw.randoms(use_true_random=False))
def test_whatever_is_written_of_a_schema_that_is_held_follows_it(
    schema: dict[str, Any], random: Random
) -> None:
    grammar = JsonGrammar()
    root = grammar.schema(schema, "it")
    if grammar.loose:
        return
    value = json.loads(made(f"root ::= {root}\n{grammar}", random))
    checked = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    assert not [error.message for error in checked.iter_errors(value)], value
