"""What the routes of a JSON API have in common: the user, the body, ids and query parameters, the answer.

Used by every router of the conversations. Each function raises BadRequest with a sentence that names the field.
"""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from duologue.errors import BadRequest, Unsupported
from duologue.request_parsing import parsing
from duologue.wire import api
from duologue.wire.validation import decode_json
from duologue.wire.validation_errors import shortened

MAX_LIMIT = 1000


def user_of(request: Request) -> str:
    """The id of the user who sent the request, as authentication set it."""
    return str(request.scope.get("state", {}).get("user") or "local")


async def body_of(request: Request) -> dict[str, Any]:
    """The JSON object of the body, {} for an empty body. Raises BadRequest; Unsupported for a compressed body."""
    body = await raw_body(request)
    return await parsing(len(body), decode_json, body, user=user_of(request)) if body else {}


async def raw_body(request: Request) -> bytes:
    """The bytes of the body. Raises BadRequest; Unsupported for a compressed body: a few bytes of one may become gigabytes."""
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("", "identity"):
        raise Unsupported(
            f"The body has Content-Encoding {shortened(coding)}. Send it uncompressed.", status=415
        )
    try:
        return await request.body()
    except ClientDisconnect:
        raise BadRequest("The request ended before its body was complete.") from None


async def read_body(request: Request, model: type[api.A]) -> api.A:
    """The body as `model`. Raises BadRequest that names the field."""
    return api.read(model, await body_of(request))


def checked_id(value: str, name: str = "id") -> str:
    """An id from the URL. Raises BadRequest if it is malformed; whether it exists is the caller's question."""
    try:
        return api.checked_id(value)
    except ValueError as error:
        raise BadRequest(f"{name} {error}.", param=name) from None


def whole_number(request: Request, name: str, default: int, *, most: int = MAX_LIMIT) -> int:
    """A query parameter from 1 to `most`. Raises BadRequest."""
    text = request.query_params.get(name, "")
    if not text:
        return default
    if text.isascii() and text.isdigit() and len(text) < 10 and 1 <= int(text) <= most:
        return int(text)
    raise BadRequest(f"{name} must be a whole number from 1 to {most:,}.", param=name)


def flag(request: Request, name: str, *, default: bool = False) -> bool:
    """A query parameter that is true or false. Raises BadRequest."""
    text = request.query_params.get(name, "").lower()
    if text in ("1", "true"):
        return True
    if text in ("0", "false"):
        return False
    if not text:
        return default
    raise BadRequest(f"{name} must be true or false.", param=name)


def answer(value: object, status: int = 200) -> Response:
    """A value as JSON. It is personal data, so no cache may store it."""
    return Response(
        msgspec.json.encode(value),
        status,
        media_type="application/json",
        headers={"Cache-Control": "no-store"},
    )


def nothing() -> Response:
    return Response(status_code=204)
