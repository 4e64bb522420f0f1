"""Constraints under all their names: each is kept or refused."""

from typing import Any

import pytest

from duologue.errors import Problem
from duologue.values.requests import OutputFormat
from duologue.wire.fields.constraints import FormatFields
from duologue.wire.validation import validate

SCHEMA: dict[str, object] = {"type": "object", "properties": {"a": {"type": "integer"}}}
GBNF = 'root ::= "a"'


def kept(**fields: Any) -> OutputFormat | None:
    return validate(FormatFields, fields).output_format()


@pytest.mark.parametrize(
    ("fields", "format"),
    [
        ({"json_schema": SCHEMA}, OutputFormat("json_schema", SCHEMA, param="json_schema")),
        (
            {"guided_json": '{"type": "string"}'},
            OutputFormat("json_schema", {"type": "string"}, param="guided_json"),
        ),
        ({"regex_pattern": "a+"}, OutputFormat("regex", pattern="a+", param="regex_pattern")),
        ({"guided_regex": "a+"}, OutputFormat("regex", pattern="a+", param="guided_regex")),
        ({"grammar_string": GBNF}, OutputFormat("grammar", grammar=GBNF, param="grammar_string")),
        ({"guided_grammar": GBNF}, OutputFormat("grammar", grammar=GBNF, param="guided_grammar")),
        ({"guided_choice": ["a", "b"]}, OutputFormat("choice", choices=("a", "b"), param="guided_choice")),
        (
            {"structured_outputs": {"json": SCHEMA}},
            OutputFormat("json_schema", SCHEMA, param="structured_outputs.json"),
        ),
        (
            {"structured_outputs": {"choice": ["a"]}},
            OutputFormat("choice", choices=("a",), param="structured_outputs.choice"),
        ),
        (
            {"structured_outputs": {"regex": "a"}},
            OutputFormat("regex", pattern="a", param="structured_outputs.regex"),
        ),
        (
            {"structured_outputs": {"grammar": GBNF}},
            OutputFormat("grammar", grammar=GBNF, param="structured_outputs.grammar"),
        ),
        (
            {"structured_outputs": {"json_object": True}},
            OutputFormat("json_object", param="structured_outputs.json_object"),
        ),
        ({"response_format": {"type": "json"}}, OutputFormat("json_object")),
        ({"response_format": {"type": "json", "value": SCHEMA}}, OutputFormat("json_schema", SCHEMA)),
        ({"response_format": {"type": "regex", "pattern": "a"}}, OutputFormat("regex", pattern="a")),
        ({"response_format": {"type": "regex", "value": "a"}}, OutputFormat("regex", pattern="a")),
        ({"response_format": {"type": "grammar", "grammar": GBNF}}, OutputFormat("grammar", grammar=GBNF)),
        ({"response_format": {"type": "json_schema", "schema": {}}}, OutputFormat("json_schema", {})),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"schema": {}}}},
            OutputFormat("json_schema", {}),
        ),
        ({"response_format": {"type": "text"}}, None),
        ({}, None),
    ],
    ids=str,
)
def test_every_spelling_of_a_constraint_is_kept(fields: dict[str, Any], format: OutputFormat | None) -> None:
    assert kept(**fields) == format


@pytest.mark.parametrize(
    ("fields", "param", "says"),
    [
        ({"grammar_string": "start: A"}, "grammar_string", "is not GBNF.*write the grammar in GBNF"),
        ({"response_format": {"type": "grammar", "value": "start: A"}}, "response_format", "is not GBNF"),
        ({"guided_choice": []}, "guided_choice", "none of them empty"),
        ({"guided_choice": ["a"] * 501}, "guided_choice", "at most 500"),
        ({"guided_json": "{"}, "guided_json", "must be a JSON schema"),
        ({"json_schema": {"type": "frog"}}, "json_schema", "'frog'"),
        ({"response_format": {"type": "json", "value": {"type": "frog"}}}, "response_format.value", "'frog'"),
        ({"response_format": {"type": "structural_tag"}}, "response_format.type", "must be one of text"),
        ({"response_format": {"type": "regex"}}, "response_format.pattern", "is missing"),
        (
            {"structured_outputs": {"structural_tag": "x"}},
            "structured_outputs.structural_tag",
            "not supported",
        ),
        ({"guided_regex": "a", "guided_json": {}}, "guided_regex", "mutually exclusive"),
        (
            {"structured_outputs": {"json": {}, "regex": "a"}},
            "structured_outputs.regex",
            "mutually exclusive",
        ),
    ],
    ids=str,
)
def test_what_is_not_kept_is_refused_by_its_name(fields: dict[str, Any], param: str, says: str) -> None:
    with pytest.raises(Problem, match=says) as error:
        kept(**fields)
    assert (error.value.param, error.value.status) == (param, 400)


@pytest.mark.parametrize(
    "name", ["grammar", "grammar_string", "guided_grammar", "regex_pattern", "guided_regex"]
)
def test_an_empty_pattern_or_grammar_is_none(name: str) -> None:
    assert kept(**{name: ""}) is None
