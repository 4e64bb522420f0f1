"""What a schema cannot say of requests, applied to those that schemathesis makes, so that they reach what lies behind.

Loaded by schemathesis through $SCHEMATHESIS_HOOKS; see `check_schemathesis`. Requests that are meant to be wrong stay as they are.
"""

from __future__ import annotations

from typing import Any

import schemathesis
from schemathesis.generation import GenerationMode

CONSTRAINTS = (
    *("response_format", "json_schema", "regex_pattern", "grammar", "grammar_string"),
    *("guided_json", "guided_regex", "guided_choice", "guided_grammar", "structured_outputs"),
)
"""A request has at most one of these."""
SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
VALID = {
    **dict.fromkeys(("grammar", "grammar_string", "guided_grammar"), 'root ::= "a" | "b"'),
    **dict.fromkeys(("regex_pattern", "guided_regex"), "a|b"),
    **dict.fromkeys(("json_schema", "guided_json"), SCHEMA),
    "structured_outputs": {"choice": ["a", "b"]},
}
"""Fields with a language of their own -> something in it."""
FORMATS: dict[str, Any] = {
    "json_schema": {"type": "json_schema", "json_schema": {"name": "a", "schema": SCHEMA}},
    "json_object": {"type": "json_object"},
    "json": {"type": "json"},
    "regex": {"type": "regex", "pattern": "a|b"},
    "grammar": {"type": "grammar", "grammar": 'root ::= "a" | "b"'},
}


def possible(body: dict[str, Any]) -> dict[str, Any]:
    """The body with one constraint at most, with what such fields can have, and without a choice of tools that it does not offer."""
    found = [name for name in CONSTRAINTS if body.get(name) is not None]
    # Which one stays differs between requests, and is the same for the same request.
    kept = found[len(str(body)) % len(found)] if found else ""
    body = {name: value for name, value in body.items() if name not in found or name == kept}
    if kept in VALID and body[kept]:
        body[kept] = VALID[kept]
    if kept == "response_format" and isinstance(body[kept], dict):
        body[kept] = FORMATS.get(body[kept].get("type", ""), body[kept])
    if body.get("tools") or not body.get("functions"):
        body.pop("function_call", None)
        body.pop("functions", None)
    if isinstance(body.get("function_call"), dict):
        body["function_call"] = {"name": body["functions"][0]["name"]}
    if isinstance(body.get("tool_choice"), dict) or not body.get("tools"):
        body.pop("tool_choice", None)
    # Folders, messages and earlier sound have to exist.
    for name in ("folder", "leaf"):
        body.pop(name, None)
    if isinstance(messages := body.get("messages"), list):
        body["messages"] = [_without_sound(message) for message in messages]
    return body


def _without_sound(message: Any) -> Any:
    if isinstance(message, dict) and message.get("audio"):
        return {name: value for name, value in message.items() if name != "audio"} | {
            "content": message.get("content") or "Hello"
        }
    return message


def whole(value: Any) -> Any:
    """Numbers like 1.0, which JSON schema counts as whole numbers, as clients write them."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return int(value)
    if isinstance(value, dict):
        return {name: whole(one) for name, one in value.items()}
    return [whole(one) for one in value] if isinstance(value, list) else value


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    meta = case.meta
    is_json = "json" in (case.media_type or "")
    if (
        is_json
        and meta is not None
        and meta.generation.mode == GenerationMode.POSITIVE
        and isinstance(case.body, dict)
    ):
        case.body = whole(possible(case.body))
