"""What /docs says of bodies that are read here and not by the framework, whose errors are not OpenAI's.

Owns the making of such descriptions from the models of `wire`. Knows no endpoint.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel


def json_body(model: type[BaseModel], *answers: str, said: str = "") -> dict[str, Any]:
    """A JSON body as `model` has it, answered with one of these media types."""
    return _described("application/json", inlined(model), answers, said)


def form_body(model: type[BaseModel]) -> dict[str, Any]:
    """A form with a file and the fields of `model`."""
    schema = inlined(model)
    schema["properties"] = {"file": {"type": "string", "format": "binary"}} | schema["properties"]
    schema["required"] = ["file"]
    return _described("multipart/form-data", schema, ("application/json", "text/event-stream"), "")


def inlined(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a model without references, which this place of the document cannot resolve."""
    schema = model.model_json_schema()
    named = schema.pop("$defs", {})

    def replaced(node: Any) -> Any:
        if isinstance(node, dict):
            if "$ref" in node:
                return replaced(named[node["$ref"].rpartition("/")[2]])
            return {key: replaced(value) for key, value in node.items()}
        return [replaced(entry) for entry in node] if isinstance(node, list) else node

    found: dict[str, Any] = replaced(schema)
    return found


def _described(mime: str, schema: dict[str, Any], answers: tuple[str, ...], said: str) -> dict[str, Any]:
    answer = {"description": said or "The answer.", "content": {name: {} for name in answers}}
    return {
        "requestBody": {"required": True, "content": {mime: {"schema": schema}}},
        "responses": {"200": answer},
    }
