"""What a schema says in several places, put together."""

from __future__ import annotations

from typing import Any

import pytest

from duologue.text.grammars.merged_schema import MAX_ALTERNATIVES, SchemaMerger, needs_merging

STRING, NUMBER, INTEGER = {"type": "string"}, {"type": "number"}, {"type": "integer"}


def merger(**targets: object) -> SchemaMerger:
    return SchemaMerger(lambda reference: targets.get(reference.removeprefix("#/$defs/")))


def thing(*required: str, **properties: object) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": list(required)}


def test_what_is_said_in_one_place_needs_no_merging() -> None:
    simple: list[dict[str, Any]] = [STRING, {"anyOf": [STRING]}, {"$ref": "#", "description": "it"}]
    assert not any(map(needs_merging, simple))
    more: list[dict[str, Any]] = [
        {"allOf": [STRING]},
        {"anyOf": [STRING], "minLength": 1},
        {"$ref": "#", "anyOf": []},
    ]
    assert all(map(needs_merging, more))


def test_the_stricter_bound_and_the_common_types_and_choices_stay() -> None:
    one = {"type": ["integer", "string"], "minimum": 1, "maxLength": 9, "enum": [1, 2.0, "a"]}
    other = {"type": ["number", "string"], "minimum": 3, "maxLength": 5, "enum": [2, "a", "b"]}
    [both] = merger().alternatives({"allOf": [one, other]}) or []
    assert both == {"type": ["string", "integer"], "minimum": 3, "maxLength": 5, "enum": [2.0, "a"]}


def test_objects_have_the_properties_of_both() -> None:
    [both] = (
        merger().alternatives({"allOf": [thing("a", a=STRING), thing("b", a={"minLength": 1}, b=NUMBER)]})
        or []
    )
    assert both["required"] == ["a", "b"]
    assert both["properties"] == {"a": {"allOf": [STRING, {"minLength": 1}]}, "b": NUMBER}


def test_what_one_of_them_forbids_is_not_there() -> None:
    closed = thing("a", a=STRING) | {"additionalProperties": False}
    [both] = merger().alternatives({"allOf": [closed, thing(b=NUMBER)]}) or []
    assert (both["properties"], both["additionalProperties"]) == ({"a": STRING}, False)
    assert merger().alternatives({"allOf": [closed, thing("b", b=NUMBER)]}) is None


def test_each_alternative_says_all_of_it() -> None:
    schema = thing("id", id=INTEGER) | {"anyOf": [thing("a", a=STRING), {"$ref": "#/$defs/b"}]}
    found = merger(b=thing("b", b=NUMBER)).alternatives(schema) or []
    assert [one["required"] for one in found] == [["id", "a"], ["id", "b"]]


@pytest.mark.parametrize(
    "schema",
    [
        {"allOf": [{"pattern": "a"}, {"pattern": "b"}]},
        {"allOf": [STRING, NUMBER]},
        {"allOf": [{"enum": [1]}, {"enum": [2]}]},
        {"allOf": [{"const": 1}, {"const": 2}]},
        {"allOf": [{"patternProperties": {"a": {}}}, thing(a=STRING)]},
        {"allOf": [{"$ref": "#/$defs/itself"}]},
        {"allOf": [{"$ref": "#/$defs/nobody"}]},
        {"allOf": []},
        {"allOf": [{"anyOf": [{"const": at} for at in range(20)]}] * 2},
        {"type": "integer", "oneOf": [{"minimum": 1}, {"maximum": 9}]},
    ],
    ids=str,
)
def test_what_cannot_be_put_together_is_none(schema: dict[str, Any]) -> None:
    assert merger(itself={"allOf": [{"$ref": "#/$defs/itself"}] * 2}).alternatives(schema) is None


@pytest.mark.parametrize(
    ("one", "other", "apart"),
    [
        (STRING, NUMBER, True),
        (INTEGER, NUMBER, False),
        ({"const": 1}, {"enum": [2, "a"]}, True),
        ({"const": 1}, {"enum": [1.0]}, False),
        ({"const": "a"}, NUMBER, True),
        (thing("kind", kind={"const": "a"}), thing("kind", kind={"const": "b"}), True),
        (thing(kind={"const": "a"}), thing("kind", kind={"const": "b"}), True),
        (thing(kind={"const": "a"}), thing(kind={"const": "b"}), False),
        (thing("mail", mail=STRING), thing("phone", phone=STRING), True),
        # {"a": .., "b": ..} would be written by the second rule, and follows the first schema as well.
        (thing("a", a=STRING), thing("a", "b", a=STRING, b=STRING), False),
        (thing("a", a=STRING) | {"additionalProperties": False}, thing("a", "b", a=STRING, b=STRING), True),
        (thing("a", a=STRING), thing("b", b=STRING) | {"additionalProperties": True}, False),
        ({}, STRING, False),
    ],
    ids=str,
)
def test_schemas_that_no_value_follows_both_of_are_apart(one: object, other: object, apart: bool) -> None:
    assert merger().apart([one, other]) is apart
    assert merger().apart([other, one]) is apart


def test_too_many_are_not_compared() -> None:
    assert not merger().apart([{"const": at} for at in range(MAX_ALTERNATIVES + 1)])


@pytest.mark.parametrize(
    "parts",
    [
        [{"properties": {f"p{at}": {}}} for at in range(5000)],
        [{"anyOf": [{"enum": list(range(at, 900))} for at in range(8)]}] * 9,
        [{"$ref": "#/$defs/more"}] * 20,
    ],
)
def test_what_would_take_long_is_given_up(parts: list[Any]) -> None:
    """Each part is put together with all before it, while every chat of the model waits."""
    more = {"allOf": [{"$ref": "#/$defs/more"}] * 20}
    assert merger(more=more).alternatives({"allOf": parts}) is None
