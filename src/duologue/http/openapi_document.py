"""Completes the OpenAPI document that the framework makes: what generators of clients and testers of APIs expect of one.

Owns the names of operations, the answers that every operation may give (its errors, in the shape of its dialect), and the schemas
with names of their own. The gateway calls it once, when the document is first requested. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from duologue.http.error_responses import is_anthropic, is_openai
from duologue.wire.api import ID_SCHEMA

ERRORS = ("Error", "OpenAIError")
"""The names of the schemas of errors: ours, and that of OpenAI's dialect."""
ANTHROPIC_ERROR = "AnthropicError"
DESCRIPTION = "An error: a stable code, and a sentence that says what to do."
WITH_IDS = frozenset({"conversations", "runs", "approvals", "folders", "drafts"})
"""What follows `/api/` in the paths whose ids `json_api.checked_id` reads."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*\Z")
_REFERENCE = "#/components/schemas/"


def operation_id(route: APIRoute) -> str:
    """The method and the words of the path: `get_v1_models`. It stays what it is whatever else the server serves."""
    words = re.findall(r"[A-Za-z0-9]+", route.path_format)
    return "_".join((*sorted(route.methods or ()), *words)).lower()


def describe_completely(app: FastAPI) -> None:
    """Have `app.openapi` give the completed document, which is made when it is first requested: routes may be added until then."""
    describe = app.openapi

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            app.openapi_schema = completed(describe())
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]


def completed(document: dict[str, Any]) -> dict[str, Any]:
    """The document with described errors, and each schema of a name once. Changes `document`."""
    operations = list(_operations(document))
    for path, operation in operations:
        _describe_errors(path, operation)
        _describe_ids(path, operation)
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    lifted = _Schemas(schemas)
    for _, operation in operations:
        for key in ("requestBody", "responses", "parameters"):
            if key in operation:
                operation[key] = lifted.lift(operation[key])
    schemas.update(lifted.found)
    schemas.update(_error_schemas())
    document["components"]["schemas"] = dict(sorted(schemas.items()))
    return document


def _operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for operation in methods.values():
            yield path, operation


def _describe_errors(path: str, operation: dict[str, Any]) -> None:
    """Bodies that do not fit are answered with 400 here, not with the framework's 422."""
    responses = operation["responses"]
    responses.pop("422", None)
    # The framework describes the status that a route answers with by default, although the route says another one itself.
    successes = [status for status in responses if status.startswith("2")]
    if len(successes) > 1 and responses.get("200", {}).get("description") == "Successful Response":
        del responses["200"]
    name = ERRORS[1] if is_openai(path) else ERRORS[0]
    if is_anthropic(path):
        name = ANTHROPIC_ERROR
    responses.setdefault(
        "default",
        {
            "description": DESCRIPTION,
            "content": {"application/json": {"schema": {"$ref": _REFERENCE + name}}},
        },
    )


def _describe_ids(path: str, operation: dict[str, Any]) -> None:
    """Ids in paths of the conversations have the shape of those in bodies."""
    if path.removeprefix("/api/").partition("/")[0] in WITH_IDS:
        for parameter in operation.get("parameters", ()):
            if parameter["in"] == "path":
                parameter["schema"] = dict(ID_SCHEMA)


def _error_schemas() -> dict[str, Any]:
    text, nothing = {"type": "string"}, {"type": "null"}
    param = {"anyOf": [text, nothing], "description": "The field at fault."}
    error: dict[str, Any] = {
        "type": "object",
        "properties": {
            "message": text,
            "code": text,
            "param": param,
            "values": {"type": "object", "description": "The numbers and names in the message."},
            "request_id": text,
        },
        "required": ["message", "code"],
    }
    with_type = {
        **error,
        "properties": {**error["properties"], "type": text},
        "required": [*error["required"], "type", "param"],
    }
    schemas: dict[str, Any] = {
        name: {"title": name, "type": "object", "properties": {"error": body}, "required": ["error"]}
        for name, body in zip(ERRORS, (error, with_type), strict=True)
    }
    schemas[ANTHROPIC_ERROR] = _anthropic_error_schema(error)
    return schemas


def _anthropic_error_schema(error: dict[str, Any]) -> dict[str, Any]:
    text = {"type": "string"}
    details = {"type": "object", "properties": {"error_code": text}, "required": ["error_code"]}
    properties = {name: schema for name, schema in error["properties"].items() if name != "request_id"}
    body = {
        "type": "object",
        "properties": properties | {"type": text, "details": details},
        "required": ["type", "message", "code", "details"],
    }
    return {
        "title": ANTHROPIC_ERROR,
        "type": "object",
        "properties": {
            "type": {"type": "string", "const": "error"},
            "error": body,
            "request_id": {"anyOf": [text, {"type": "null"}]},
        },
        "required": ["type", "error"],
    }


class _Schemas:
    """Replaces every object schema that has a title by a reference to one with its name; the first schema of a name has it."""

    def __init__(self, known: dict[str, Any]) -> None:
        self.found: dict[str, Any] = {}
        self._known = known
        self._names: dict[str, str] = {}

    def lift(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self.lift(entry) for entry in node]
        if isinstance(node, float) and node.is_integer():
            return int(node)  # The framework writes some of the same numbers as one, some as the other.
        if not isinstance(node, dict):
            return node
        lifted = {key: self.lift(value) for key, value in node.items()}
        if lifted.get("items") is False:  # What the length says too, and what few generators read.
            lifted["items"] = {"anyOf": lifted["prefixItems"]} if lifted.get("prefixItems") else {}
        title = lifted.get("title")
        if not isinstance(title, str) or lifted.get("type") != "object" or "properties" not in lifted:
            return lifted
        return {"$ref": _REFERENCE + self._name(title, lifted)}

    def _name(self, title: str, schema: dict[str, Any]) -> str:
        content = json.dumps(schema, sort_keys=True)
        if content not in self._names:
            stem = title if _NAME.match(title) else re.sub(r"[^A-Za-z0-9]", "", title) or "Schema"
            name, number = stem, 1
            while name in self.found or (name in self._known and self._known[name] != schema):
                number += 1
                name = f"{stem}{number}"
            self._names[content] = name
            self.found[name] = {**schema, "title": name}
        return self._names[content]
