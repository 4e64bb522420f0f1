"""The types of schemas: a wrong one is named."""

from __future__ import annotations

import pytest

from duologue.wire.fields.schema_types import known_types


def test_schemas_keep_their_types_and_what_is_no_type_is_left_alone() -> None:
    schema = {
        "type": ["string", "null"],
        "properties": {"type": {"type": "integer"}},
        "enum": [{"type": "frog"}],
        "default": {"type": "frog"},
        "items": True,
    }
    assert known_types(schema) is schema


@pytest.mark.parametrize(
    ("schema", "where"),
    [
        ({"type": "frog"}, "'frog';"),
        ({"type": ["string", "any"]}, "'any';"),
        ({"type": 3}, "'3';"),
        ({"properties": {"a": {"items": {"type": "frog"}}}}, r"at properties\.a\.items;"),
        ({"anyOf": [{}, {"type": "frog"}]}, r"at anyOf\[1\];"),
        ({"$defs": {"x": {"type": "frog"}}}, r"at \$defs\.x;"),
    ],
)
def test_another_type_is_named_with_its_place(schema: dict[str, object], where: str) -> None:
    with pytest.raises(ValueError, match=where):
        known_types(schema)
