"""Values and what a schema says of them."""

from __future__ import annotations

import pytest

from duologue.text.grammars.schema_values import (
    choices_of,
    for_kind,
    implied_kind,
    json_text,
    kind_of,
    kinds_of,
)


@pytest.mark.parametrize(
    ("schema", "choices"),
    [
        ({"type": "string", "enum": ["a", None, 3]}, ["a"]),
        ({"type": ["integer", "null"], "enum": ["a", None, 3, 3.0, 3.5, True]}, [None, 3, 3.0]),
        ({"type": "number", "enum": [1, 1.5, True]}, [1, 1.5]),
        ({"const": 1, "enum": [1.0, 2]}, [1]),
        ({"const": 3, "enum": [1, 2]}, []),
        ({"enum": []}, None),
        ({"type": "string"}, None),
    ],
    ids=str,
)
def test_choices_are_those_of_the_type(schema: dict[str, object], choices: list[object] | None) -> None:
    assert choices_of(schema) == choices


def test_values_are_of_a_kind() -> None:
    values: list[object] = [True, None, 1, 1.5, "a", [], {}]
    assert [kind_of(value) for value in values] == [
        "boolean",
        "null",
        "number",
        "number",
        "string",
        "array",
        "object",
    ]
    assert json_text(1) == json_text(1.0) != json_text(True)
    assert kinds_of({"type": ["integer", "null"]}) == {"number", "null"}
    assert kinds_of({"const": 1.5}) == {"number"}
    assert len(kinds_of({})) == 6


def test_keywords_belong_to_a_kind() -> None:
    schema = {"type": ["string", "integer"], "minLength": 1, "minimum": 2, "title": "It"}
    assert for_kind(schema, "integer") == {"type": ["string", "integer"], "minimum": 2, "title": "It"}
    assert for_kind(schema, "null") == {"type": ["string", "integer"], "title": "It"}
    assert implied_kind({"minLength": 1}) == "string"
    assert implied_kind({"minLength": 1, "minimum": 1}) is None
    assert implied_kind({"title": "It"}) is None
