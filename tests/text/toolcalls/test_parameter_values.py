"""Text of a parameter as JSON, by its schema."""

from __future__ import annotations

import pytest

from duologue.text.toolcalls.parameter_values import is_text, parameter_json, parameters_of, types_of
from duologue.values.messages import Tool


@pytest.mark.parametrize(
    ("schema", "types"),
    [
        ({"type": "string"}, {"string"}),
        ({"type": ["string", "null"]}, {"string", "null"}),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, {"integer", "null"}),
        ({"anyOf": [{"type": "integer"}, {"$ref": "#/x"}]}, set()),
        (
            {"enum": ["a", 1, None, 1.5, True, [], {}]},
            {"string", "integer", "null", "number", "boolean", "array", "object"},
        ),
        ({"const": "a"}, {"string"}),
        *(({}, set()), (True, set()), (None, set()), ({"type": 5}, set()), ({"enum": []}, set())),
    ],
)
def test_the_types_that_a_schema_names(schema: object, types: set[str]) -> None:
    assert types_of(schema) == types


def test_a_schema_without_an_end_names_none() -> None:
    schema: dict[str, object] = {"type": "string"}
    for _ in range(50):
        schema = {"anyOf": [schema]}
    assert types_of(schema) == set()


@pytest.mark.parametrize(
    ("text", "schema", "json"),
    [
        *((" 5 ", {"type": "integer"}, "5"), ("5", {"type": "number"}, "5"), ("5", {}, "5")),
        *(("5", {"type": ["string", "null"]}, '"5"'), ("TRUE", {"type": "boolean"}, "true")),
        *(("1_000", {"type": "integer"}, '"1_000"'), ("[1,]", {"type": "array"}, '"[1,]"')),
        *(
            ("[1]", {"type": "object"}, "[1]"),
            ("", {"type": "integer"}, '""'),
            ("NaN", {"type": "number"}, '"NaN"'),
        ),
    ],
)
def test_what_is_json_of_the_right_type_is_kept_and_the_rest_is_a_string(
    text: str, schema: object, json: str
) -> None:
    assert parameter_json(text, schema) == json


def test_parameters_of_unknown_tools_and_odd_schemas_are_text() -> None:
    odd = Tool("odd", "", {"properties": 5})
    assert parameters_of("odd", (odd,)) == parameters_of("other", (odd,)) == {}
    assert is_text("anything", {})
    assert not is_text("n", {"n": {"type": "integer"}})
