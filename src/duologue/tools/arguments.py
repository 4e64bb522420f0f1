"""Parses and validates the arguments of a tool call; errors are sentences the model can act on.

The toolbox validates against the tool's own schema before it sends the call.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from duologue.errors import BadRequest
from duologue.tools.bounded_validator import find_faults

PROBLEMS = 5
"""Faults named in one error; the rest are only counted."""
LONGEST = 1_000_000
"""Maximum characters of one tool call's arguments."""


def parse_arguments(text: str) -> dict[str, object]:
    """Parse a JSON object; empty text means no arguments. Raises BadRequest (bad_arguments)."""
    if not text.strip():
        return {}
    if len(text) > LONGEST:
        raise BadRequest(f"The arguments are longer than {LONGEST:,} characters.", code="bad_arguments")
    try:
        value = json.loads(text)
    except ValueError as error:
        where = (
            f"line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else ""
        )
        reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise BadRequest(
            f"The arguments are not valid JSON ({reason}{', ' + where if where else ''}). Call the tool again with "
            "one JSON object.",
            code="bad_arguments",
        ) from None
    except RecursionError:
        raise BadRequest("The arguments are nested too deeply.", code="bad_arguments") from None
    if not isinstance(value, dict):
        raise BadRequest(
            "The arguments must be one JSON object with the parameters as its fields.", code="bad_arguments"
        )
    return value


def check(schema: Mapping[str, object], arguments: Mapping[str, object]) -> None:
    """Validate `arguments` against a tool's schema. Raises BadRequest (bad_arguments) naming each fault.

    A schema that is invalid or takes too long validates nothing: the server that sent it checks the arguments itself.
    """
    faults = find_faults(schema, dict(arguments))
    if faults:
        sentences = [_sentence(fault) for fault in faults[:PROBLEMS]]
        if len(faults) > PROBLEMS:
            sentences.append(f"{len(faults) - PROBLEMS} more.")
        raise BadRequest(
            "The arguments do not match the tool's schema: " + " ".join(sentences), code="bad_arguments"
        )


def _sentence(fault: Any) -> str:
    where = ".".join(str(step) for step in fault.absolute_path)
    what = fault.message if len(fault.message) <= 300 else fault.message[:299] + "…"
    return f"{where}: {what}." if where else f"{what}."
