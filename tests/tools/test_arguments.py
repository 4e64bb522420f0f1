import pytest

from duologue.errors import BadRequest
from duologue.tools.arguments import LONGEST, check, parse_arguments

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
    "required": ["city"],
    "additionalProperties": False,
}


def error_message(function, *arguments):
    with pytest.raises(BadRequest) as refused:
        function(*arguments)
    assert refused.value.code == "bad_arguments"
    return refused.value.message


def test_arguments_that_fit_pass():
    check(SCHEMA, parse_arguments('{"city": "Bonn", "days": 2}'))


def test_no_text_is_no_arguments():
    assert parse_arguments("  ") == {}


def test_broken_json_is_said_with_its_place():
    assert "line 1, column 10" in error_message(parse_arguments, '{"city": Bonn}')


@pytest.mark.parametrize("text", ["[1]", '"x"', "null", "3"])
def test_anything_but_an_object_is_refused(text):
    assert "one JSON object" in error_message(parse_arguments, text)


def test_arguments_without_measure_are_refused():
    assert "longer" in error_message(parse_arguments, "x" * (LONGEST + 1))
    assert "nested" in error_message(parse_arguments, '{"a":' + "[" * 200_000)


def test_each_fault_is_named():
    message = error_message(check, SCHEMA, {"days": 0, "when": "now"})
    assert "'city' is a required property" in message
    assert "days: 0 is less than the minimum of 1" in message
    assert "when" in message


def test_many_faults_are_counted_not_listed():
    schema = {"type": "object", "properties": {str(number): {"type": "string"} for number in range(20)}}
    message = error_message(check, schema, {str(number): number for number in range(20)})
    assert message.endswith("15 more.")


def test_a_schema_that_is_broken_itself_checks_nothing():
    check({"type": "nonsense"}, {"a": 1})
    check({"$ref": "http://127.0.0.1:1/schema.json"}, {"a": 1})
