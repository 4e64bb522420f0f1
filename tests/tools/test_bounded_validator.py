import json

import pytest

from duologue.tools.bounded_validator import FAULTS, SCHEMA_PARTS, UNIQUE, find_faults

DOUBLING = {f"d{level}": {"allOf": [{"$ref": f"#/$defs/d{level + 1}"}] * 2} for level in range(40)} | {
    "d40": {}
}
SLOW = "^(a+)+$"
TRAP = "a" * 40 + "!"

# Each of these would take longer than anybody waits, or raise what nobody expects.
HOSTILE = {
    "references that double": ({"$defs": DOUBLING, "$ref": "#/$defs/d0"}, {}),
    "a reference to itself": ({"$ref": "#"}, {}),
    "a dynamic one": ({"$dynamicRef": "#x", "$dynamicAnchor": "x"}, {}),
    "references in a circle": (
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"},
        {},
    ),
    "a schema of the web": ({"$ref": "http://127.0.0.1:1/schema"}, {}),
    "a schema of this machine": ({"$ref": "file:///etc/passwd"}, {}),
    "a pattern": ({"properties": {"a": {"pattern": SLOW}}}, {"a": TRAP}),
    "patterns of names": ({"patternProperties": {SLOW: {}}, "additionalProperties": False}, {TRAP: 1}),
    "names with a pattern": ({"propertyNames": {"pattern": SLOW}}, {TRAP: 1}),
    "100,000 properties": (
        {"properties": {f"p{number}": {"type": "string"} for number in range(100_000)}},
        {"p1": 1},
    ),
    "unique objects": (
        {"properties": {"a": {"uniqueItems": True}}},
        {"a": [{"x": 0}] * 20_000},
    ),
    "arrays in arrays": (
        {"properties": {"a": {"contains": {"contains": {"contains": {"type": "string"}}}}}},
        {"a": [[[1] * 50] * 50] * 50},
    ),
    "what was not looked at": (
        {"$defs": DOUBLING, "unevaluatedProperties": False, "$ref": "#/$defs/d0"},
        {"b": 1},
    ),
    "deep nesting": (json.loads('{"not":' * 150 + "{}" + "}" * 150), {}),
    "a number beyond floats": ({"properties": {"a": {"multipleOf": 0.1}}}, {"a": 10**400}),
    "a divisor of nothing": ({"properties": {"a": {"multipleOf": 0}}}, {"a": 1}),
    "a version that is no text": ({"$schema": ["x"], "required": ["a"]}, {"a": 1}),
    "an identity elsewhere": ({"$id": "file:///z", "$ref": "http://x/q"}, {}),
    "an invalid keyword": ({"required": 5}, {}),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_a_hostile_schema_is_not_judged(what):
    schema, value = HOSTILE[what]
    assert find_faults(schema, value) == []


def test_ordinary_faults_are_found():
    schema = {"properties": {"n": {"type": "integer"}}, "required": ["word"], "additionalProperties": False}
    found = [fault.message for fault in find_faults(schema, {"n": "x", "more": 1})]
    assert len(found) == 3
    assert any("'word' is a required property" in message for message in found)
    assert find_faults(schema | {"additionalProperties": True}, {"n": 1, "word": ""}) == []


def test_references_inside_the_schema_are_followed():
    schema = {"properties": {"child": {"$ref": "#"}, "n": {"type": "integer"}}}
    (fault,) = find_faults(schema, {"child": {"child": {"n": "x"}}})
    assert list(fault.absolute_path) == ["child", "child", "n"]


def test_older_versions_of_json_schema_are_known_and_unknown_ones_read_as_the_newest():
    for version in ("http://json-schema.org/draft-04/schema#", "http://127.0.0.1/mine"):
        assert find_faults({"$schema": version, "type": "array"}, {})


def test_faults_are_counted_to_a_bound():
    schema = {"properties": {"a": {"items": {"type": "string"}}}}
    assert len(find_faults(schema, {"a": [1] * 2000})) == FAULTS


def test_a_large_schema_is_not_tried():
    few = {"properties": {f"p{number}": {"type": "string"} for number in range(SCHEMA_PARTS // 3)}}
    many = {"properties": {f"p{number}": {"type": "string"} for number in range(SCHEMA_PARTS)}}
    assert find_faults(few, {"p1": 1})
    assert find_faults(many, {"p1": 1}) == []


def test_short_arrays_are_compared():
    schema = {"properties": {"a": {"uniqueItems": True}}}
    assert find_faults(schema, {"a": [{"x": 1}] * UNIQUE})
