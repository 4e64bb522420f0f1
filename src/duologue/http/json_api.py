"""One exchange of the conversations API: who asks, what was sent, the answer as JSON, and what /docs says of both.

Owns what the routes have in common. Knows no noun of theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from pydantic import BaseModel
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from duologue.errors import BadRequest, Unsupported
from duologue.wire import api
from duologue.wire.validation import decode_json
from duologue.wire.validation_errors import shortened

MAX_LIMIT = 1000


def user_of(request: Request) -> str:
    """The id of the user who asks; the door has let them in."""
    return str(request.scope.get("state", {}).get("user") or "local")


async def body_of(request: Request) -> dict[str, Any]:
    """The JSON object that was sent, an empty one where nothing was. Raises BadRequest; Unsupported for a compressed
    one."""
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("", "identity"):
        raise Unsupported(
            f"The body comes with Content-Encoding {shortened(coding)}; send it uncompressed.", status=415
        )
    try:
        body = await request.body()
    except ClientDisconnect:
        raise BadRequest("The request broke off.") from None
    return decode_json(body) if body else {}


async def asked(request: Request, model: type[api.A]) -> api.A:
    """What was sent, as `model`. Raises BadRequest that names the field."""
    return api.read(model, await body_of(request))


def checked_id(value: str, name: str = "id") -> str:
    """An id of the address. Raises BadRequest: what cannot be an id is told apart from what is not there."""
    try:
        return api.checked_id(value)
    except ValueError as error:
        raise BadRequest(f"{name} {error}.", param=name) from None


def whole_number(request: Request, name: str, default: int, *, most: int = MAX_LIMIT) -> int:
    """A number from 1 to `most` of the query. Raises BadRequest."""
    said = request.query_params.get(name, "")
    if not said:
        return default
    if said.isascii() and said.isdigit() and len(said) < 10 and 1 <= int(said) <= most:
        return int(said)
    raise BadRequest(f"{name} must be a whole number from 1 to {most:,}.", param=name)


def flag(request: Request, name: str, *, default: bool = False) -> bool:
    """A yes or no of the query. Raises BadRequest."""
    said = request.query_params.get(name, "").lower()
    if said in ("1", "true"):
        return True
    if said in ("0", "false"):
        return False
    if not said:
        return default
    raise BadRequest(f"{name} must be true or false.", param=name)


def answer(value: object, status: int = 200) -> Response:
    """A value as JSON. Nobody stores it: it is a person's."""
    return Response(
        msgspec.json.encode(value),
        status,
        media_type="application/json",
        headers={"Cache-Control": "no-store"},
    )


def nothing() -> Response:
    return Response(status_code=204)


def documented(
    *,
    body: type[BaseModel] | tuple[type[BaseModel], ...] | None = None,
    takes_file: bool = False,
    answers: object = None,
    status: int = 200,
    says: str = "The answer",
    query: Mapping[str, str] | None = None,
    media: str = "application/json",
) -> dict[str, Any]:
    """What /docs says of a route: its body, its answer (a type msgspec knows, or several), its query (name to
    sentence).

    They are read and written here and not by the framework: its errors are not ours.
    """

    def made() -> dict[str, Any]:
        described: dict[str, Any] = {}
        if body is not None:
            models = body if isinstance(body, tuple) else (body,)
            schema = _one_of([_of_model(model) for model in models])
            described["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
        if takes_file:
            file = {"schema": {"type": "string", "format": "binary"}}
            described["requestBody"] = {"required": True, "content": {"application/octet-stream": file}}
        answer: dict[str, Any] = {"description": says}
        if status != 204:
            answer["content"] = {media: {"schema": _of_value(answers)} if answers is not None else {}}
        described["responses"] = {str(status): answer}
        if query:
            described["parameters"] = [
                {"name": name, "in": "query", "description": said, "schema": {"type": "string"}}
                for name, said in query.items()
            ]
        return described

    return _Later(made)


class _Later(dict[str, Any]):
    """A description that is made when /docs is asked for: making all of them would be a tenth of the start."""

    def __init__(self, make: Callable[[], dict[str, Any]]) -> None:
        super().__init__()
        self._make: Callable[[], dict[str, Any]] | None = make

    def __bool__(self) -> bool:
        return True

    def items(self) -> Any:
        if self._make is not None:
            make, self._make = self._make, None
            self.update(make())
        return super().items()


def _of_model(model: type[BaseModel]) -> dict[str, Any]:
    schema = model.model_json_schema()
    named = schema.pop("$defs", {})
    return dict(_inlined(schema, named))


def _of_value(kind: object) -> dict[str, Any]:
    kinds = kind if isinstance(kind, tuple) else (kind,)
    schemas, named = msgspec.json.schema_components(kinds, schema_hook=_anything)
    inlined = [dict(_inlined(schema, named)) for schema in schemas]
    return _one_of(inlined)


def _one_of(schemas: list[dict[str, Any]]) -> dict[str, Any]:
    return schemas[0] if len(schemas) == 1 else {"oneOf": schemas}


def _anything(kind: type) -> dict[str, Any]:
    """`object` is any JSON."""
    if kind is object:
        return {"description": "any JSON"}  # an empty schema would be taken for none
    raise NotImplementedError


def _inlined(node: Any, named: Mapping[str, Any]) -> Any:
    """The schema without references: each route says all of it. None of the values holds itself."""
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            return _inlined(named[node["$ref"].rpartition("/")[2]], named)
        return {key: _inlined(value, named) for key, value in node.items() if key != "discriminator"}
    return [_inlined(entry, named) for entry in node] if isinstance(node, list) else node
