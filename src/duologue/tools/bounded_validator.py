"""Validates a value against a stranger's JSON Schema, within a bounded number of steps. Pure.

`arguments.py` uses it on the event loop. A schema of 1 KB can take for ever: a regular expression that backtracks, or
references that double at each level. So every keyword counts as a step, patterns are not tried, and what would take too
long is not judged: the server that sent the schema checks the arguments itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from duologue.tools.mcp.message_bounds import count_parts

STEPS = 3000
"""Keywords that are tried before the validation is given up; about a tenth of a second."""
SCHEMA_PARTS = 700
"""Larger schemas are not tried: their own check would take too long."""
FAULTS = 100
"""Faults that are collected."""
UNIQUE = 100
"""Longest array whose items are compared with each other."""
UNTRIED = ("pattern", "patternProperties", "format", "unevaluatedItems", "unevaluatedProperties")
"""Keywords that are not tried: patterns can backtrack for ever, and the last two follow references by themselves."""


class TooManySteps(Exception):
    """The schema cannot be tried within `STEPS`."""


def find_faults(schema: Mapping[str, object], value: Any) -> list[Any]:
    """The faults of `value`, as jsonschema reports them, at most `FAULTS`; none when the schema is invalid, too large or
    takes too many steps."""
    import jsonschema  # type: ignore[import-untyped]
    import msgspec
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    try:
        if count_parts(msgspec.json.encode(schema)) > SCHEMA_PARTS:
            return []
        named = schema.get("$schema", "")
        kind: Any = jsonschema.Draft202012Validator
        if isinstance(named, str):
            kind = jsonschema.validators.validator_for({"$schema": named}, default=kind)
        kind.check_schema(schema, format_checker=None)
        # References resolve inside the schema only: it must not make this machine fetch a URL.
        bounded = _bounded(kind)(schema, registry=Registry())
        faults = list(islice(bounded.iter_errors(value), FAULTS))
    except (
        jsonschema.SchemaError,
        Unresolvable,
        RecursionError,
        TooManySteps,
        ArithmeticError,
        TypeError,
        ValueError,
    ):
        return []
    return sorted(faults, key=lambda fault: list(map(str, fault.path)))


def _bounded(kind: Any) -> Any:
    """A validator class of `kind` that counts its steps. Made for one validation."""
    import jsonschema

    left = STEPS

    def count(keyword: Callable[..., Iterator[Any] | None]) -> Callable[..., Iterator[Any] | None]:
        @functools.wraps(keyword)
        def counted(validator: Any, setting: Any, instance: Any, schema: Any) -> Iterator[Any] | None:
            nonlocal left
            left -= 1
            if left < 0:
                raise TooManySteps
            return keyword(validator, setting, instance, schema)

        return counted

    keywords = {name: count(keyword) for name, keyword in kind.VALIDATORS.items()}
    for name in UNTRIED:
        keywords[name] = _accept
    unique = keywords["uniqueItems"]
    keywords["uniqueItems"] = lambda validator, setting, instance, schema: (
        None
        if isinstance(instance, list) and len(instance) > UNIQUE
        else unique(validator, setting, instance, schema)
    )
    additional = keywords["additionalProperties"]
    # It tries the patterns of its neighbour.
    keywords["additionalProperties"] = lambda validator, setting, instance, schema: (
        None if "patternProperties" in schema else additional(validator, setting, instance, schema)
    )
    return jsonschema.validators.extend(kind, validators=keywords)


def _accept(validator: Any, setting: Any, instance: Any, schema: Any) -> None:
    return None
