"""Descriptions of bodies and answers for /docs, for routes that read and write their JSON without the framework.

The framework cannot describe these routes: they validate with msgspec or pydantic themselves, because its errors have
another shape than ours. Every router of the conversations and of the OpenAI dialects calls this.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from pydantic import BaseModel

ANY_TEXT: Mapping[str, object] = {"type": "string"}
FLAG: Mapping[str, object] = {"type": "boolean"}


def whole_numbers(most: int, least: int = 1) -> Mapping[str, object]:
    """The schema of a query parameter, as `json_api.whole_number` reads it."""
    return {"type": "integer", "minimum": least, "maximum": most}


def json_body(
    model: type[BaseModel],
    *media_types: str,
    description: str = "The answer.",
    status: int = 200,
    answers: object = None,
    chunks: object = None,
) -> dict[str, Any]:
    """A JSON body as `model` has it, answered with one of these media types. `answers` is the type of a JSON answer, and `chunks`
    that of the events of a stream, where they have one."""

    def describe() -> dict[str, Any]:
        found = _with_body("application/json", model_schema(model), media_types, description, status)
        content = found["responses"][str(status)]["content"]
        for media, kind in (("application/json", answers), ("text/event-stream", chunks)):
            if kind is not None:
                content[media] = {"schema": _value_schema(kind)}
        return found

    return _LazyDescription(describe)


def form_body(model: type[BaseModel], *media_types: str, description: str = "The answer.") -> dict[str, Any]:
    """A form with a file and the fields of `model`; without `media_types` it is answered as JSON or as a stream."""
    schema = model_schema(model)
    fields = {name: _never_null(field) for name, field in schema["properties"].items()}
    schema["properties"] = {"file": {"type": "string", "format": "binary"}} | fields
    schema["required"] = ["file", *schema.get("required", ())]
    answers = media_types or ("application/json", "text/event-stream")
    return _with_body("multipart/form-data", schema, answers, description, 200)


def _never_null(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema of a field of a form, where nothing is null: what may be absent is left out."""
    kinds = schema.get("anyOf")
    if not isinstance(kinds, list):
        return schema
    left = [kind for kind in kinds if kind.get("type") != "null"]
    rest = {key: value for key, value in schema.items() if key not in ("anyOf", "default")}
    return rest | (left[0] if len(left) == 1 else {"anyOf": left})


def documented(
    *,
    body: type[BaseModel] | tuple[type[BaseModel], ...] | None = None,
    takes_file: bool = False,
    answers: object = None,
    status: int = 200,
    says: str = "The answer",
    query: Mapping[str, str | tuple[str, Mapping[str, object]]] | None = None,
    also: Mapping[int, str] | None = None,
    media: str | tuple[str, ...] = "application/json",
) -> dict[str, Any]:
    """The description of a route: its body, its answer (a type msgspec knows, or several), its query (name to sentence, and to a
    schema where it takes not any text), and `also` other statuses of success without a body (to sentence)."""

    def describe() -> dict[str, Any]:
        description: dict[str, Any] = {}
        if body is not None:
            models = body if isinstance(body, tuple) else (body,)
            schema = _one_of([model_schema(model) for model in models])
            description["requestBody"] = {
                "required": any(_needs_a_field(model) for model in models),
                "content": {"application/json": {"schema": schema}},
            }
        if takes_file:
            file = {"schema": {"type": "string", "format": "binary"}}
            description["requestBody"] = {"required": True, "content": {"application/octet-stream": file}}
        answer: dict[str, Any] = {"description": says}
        if status != 204:
            content = {"schema": _value_schema(answers)} if answers is not None else {}
            answer["content"] = dict.fromkeys((media,) if isinstance(media, str) else media, content)
        description["responses"] = {str(status): answer}
        for other, meaning in (also or {}).items():
            description["responses"][str(other)] = {"description": meaning}
        if query:
            description["parameters"] = [
                _query_parameter(name, *((said, ANY_TEXT) if isinstance(said, str) else said))
                for name, said in query.items()
            ]
        return description

    return _LazyDescription(describe)


def _query_parameter(name: str, sentence: str, schema: Mapping[str, object]) -> dict[str, Any]:
    return {"name": name, "in": "query", "description": sentence, "schema": dict(schema)}


def _needs_a_field(model: type[BaseModel]) -> bool:
    return any(field.is_required() for field in model.model_fields.values())


def model_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a model without references."""
    schema = model.model_json_schema()
    definitions = schema.pop("$defs", {})
    return dict(_inlined(schema, definitions))


class _LazyDescription(dict[str, Any]):
    """A description that is built when /docs is first requested: building all of them takes a tenth of the start-up time."""

    def __init__(self, describe: Callable[[], dict[str, Any]]) -> None:
        super().__init__()
        self._describe: Callable[[], dict[str, Any]] | None = describe

    def __bool__(self) -> bool:
        # FastAPI leaves out a description that is false, as an empty dict is before it is built.
        return True

    def __or__(self, other: Any) -> Any:
        # Of the plain dict, which is empty before it is built, the other would be all that is left.
        return _LazyDescription(lambda: {**dict(self.items()), **other})

    def items(self) -> Any:
        # The one method FastAPI reads the description with.
        if self._describe is not None:
            describe, self._describe = self._describe, None
            self.update(describe())
        return super().items()


def _with_body(
    media_type: str, schema: dict[str, Any], media_types: tuple[str, ...], description: str, status: int
) -> dict[str, Any]:
    answer = {"description": description, "content": {name: {} for name in media_types}}
    return {
        "requestBody": {"required": True, "content": {media_type: {"schema": schema}}},
        "responses": {str(status): answer},
    }


def _value_schema(kind: object) -> dict[str, Any]:
    kinds = kind if isinstance(kind, tuple) else (kind,)
    schemas, definitions = msgspec.json.schema_components(kinds, schema_hook=_any_json)
    return _one_of([dict(_inlined(schema, definitions)) for schema in schemas])


def _one_of(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    return schemas[0] if len(schemas) == 1 else {"oneOf": schemas}


def _any_json(kind: type) -> dict[str, Any]:
    """The schema of `object`, which stands for any JSON."""
    if kind is object:
        return {"description": "any JSON"}  # an empty schema would be taken for no schema
    raise NotImplementedError


def _inlined(node: Any, definitions: Mapping[str, Any]) -> Any:
    """The schema with each reference replaced by its definition, because this place of the document cannot resolve them.
    No type here contains itself, so this ends."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            return _inlined(definitions[node["$ref"].rpartition("/")[2]], definitions)
        # A discriminator maps to references, which are gone.
        return {key: _inlined(value, definitions) for key, value in node.items() if key != "discriminator"}
    return [_inlined(entry, definitions) for entry in node] if isinstance(node, list) else node
