"""Errors over HTTP: the body that each dialect expects, and the refusal of a request or socket before any endpoint.

Owns the shape of errors, and the sentences for errors that the framework raises. The path decides the dialect, and below `/v1` the header
that only clients of Anthropic's API send. Used by the middleware, the streams and the application's exception handlers.
"""

from __future__ import annotations

import json
import logging
import math
from collections.abc import Iterable, Mapping
from typing import Any

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.routing import Match
from starlette.types import Receive, Scope, Send

from duologue.errors import BadRequest, NotFound, Problem
from duologue.wire.anthropic.error_body import anthropic_error

log = logging.getLogger(__name__)

ANTHROPIC_HEADER = "anthropic-version"
RawHeaders = Iterable[tuple[bytes, bytes]]
OPENAI_TYPES = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}

RETRY_SECONDS = {429: 2, 503: 5}
"""The statuses that say when to try again, and the seconds they say where the problem does not know better."""
MOST_RETRY_SECONDS = 3600
DESCRIPTION_OF_APP = "description"
"""The entry of an application's state that gives its completed description, off the event loop; see `openapi_document`."""
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")

ERROR_CODE = "error_code"
"""The entry of a request's state with the code of the error that it is answered with, for the metrics."""
ERROR_SHAPE = "error_shape"
"""The entry of a request's state by which a port of another API gives errors its own shape: a function of the usual body and the path."""


def problem_body(
    problem: Exception, path: str, request_id: str = "", headers: RawHeaders = ()
) -> dict[str, Any]:
    """The JSON body of an error for a client of `path`. An exception that is not a Problem is a bug: the client gets only the request
    id, and the log has the rest. `headers`: the request's."""
    known = problem if isinstance(problem, Problem) else _bug(request_id)
    if is_anthropic(path, headers):
        return anthropic_error(known, request_id)
    error: dict[str, Any] = {"message": known.message, "code": known.code}
    if is_openai(path):
        kind = "server_error" if known.status >= 500 else "invalid_request_error"
        error |= {"type": OPENAI_TYPES.get(known.status, kind), "param": known.param}
    elif known.param is not None:
        error["param"] = known.param
    if known.values:
        error["values"] = dict(known.values)
    if request_id:
        error["request_id"] = request_id
    return {"error": error}


def body_for(problem: Exception, scope: Scope) -> dict[str, Any]:
    """The JSON body of an error for the client of a request: as `problem_body`, in the shape that its port has for errors, if any."""
    scope.setdefault("state", {})[ERROR_CODE] = problem.code if isinstance(problem, Problem) else Problem.code
    body = problem_body(problem, scope["path"], request_id_of(scope), scope.get("headers", ()))
    shape = scope.get("state", {}).get(ERROR_SHAPE)
    return body if shape is None else dict(shape(body, scope["path"]))


def problem_headers(problem: Exception) -> dict[str, str]:
    """The headers of the error's answer."""
    status = problem_status(problem)
    headers = {"cache-control": "no-store"}
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    if status in RETRY_SECONDS:
        known = problem.retry_after if isinstance(problem, Problem) else None
        seconds = RETRY_SECONDS[status] if known is None else known
        headers["retry-after"] = str(min(MOST_RETRY_SECONDS, max(1, math.ceil(seconds))))
    return headers


def problem_status(problem: Exception) -> int:
    return problem.status if isinstance(problem, Problem) else 500


def is_openai(path: str) -> bool:
    """Whether clients of this path expect errors in OpenAI's shape."""
    return path == "/v1" or path.startswith("/v1/")


def is_anthropic(path: str, headers: RawHeaders = ()) -> bool:
    """Whether a client of this path speaks Anthropic's API."""
    if not is_openai(path):
        return False
    is_message = path == "/v1/messages" or path.startswith("/v1/messages/")
    return is_message or any(name == ANTHROPIC_HEADER.encode() for name, _ in headers)


def request_id_of(scope: Scope) -> str:
    """The request's id, as the middleware set it; "" outside of it."""
    return str(scope.get("state", {}).get("request_id", ""))


async def refuse(
    scope: Scope, receive: Receive, send: Send, problem: Exception, headers: Mapping[str, str] | None = None
) -> None:
    """Answer an HTTP request, or a WebSocket that is not accepted yet, with an error."""
    body = json.dumps(body_for(problem, scope), ensure_ascii=False).encode()
    fields = problem_headers(problem) | dict(headers or {})
    fields |= {"content-type": "application/json", "content-length": str(len(body))}
    raw = [(name.encode(), value.encode("latin-1", "replace")) for name, value in fields.items()]
    kind = "http"
    if scope["type"] == "websocket":
        await receive()  # websocket.connect
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008, "reason": str(problem)[:120]})
            return
        kind = "websocket.http"
    await send({"type": f"{kind}.response.start", "status": problem_status(problem), "headers": raw})
    await send({"type": f"{kind}.response.body", "body": b"" if scope.get("method") == "HEAD" else body})


async def allowed_methods(request: Request) -> list[str]:
    """The methods that the request's path has. The framework's own answer knows those of one route only, and a path has a route for
    each of its methods."""
    describe = getattr(request.app.state, DESCRIPTION_OF_APP, None)
    paths = (await describe())[0]["paths"] if describe is not None else {}
    documented = [path for path in paths if _matches(path, request.url.path)]
    if documented:
        # `/conversations/bulk` is no id, although it could be one.
        closest = min(documented, key=lambda path: path.count("{"))
        return [method for method in METHODS if method.lower() in paths[closest]]
    routes = request.app.router.routes
    return [
        method
        for method in METHODS
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in routes)
    ]


def _matches(template: str, path: str) -> bool:
    """Whether a path of the documentation, with names in braces, is this one."""
    parts, others = template.split("/"), path.split("/")
    return len(parts) == len(others) and all(
        part == other or (part.startswith("{") and bool(other))
        for part, other in zip(parts, others, strict=True)
    )


def exception_handlers() -> dict[Any, Any]:
    """The exception handlers of the application: every exception becomes a sentence in the shape of its dialect."""

    def answer(request: Request, problem: Exception) -> JSONResponse:
        body = body_for(problem, request.scope)
        return JSONResponse(body, problem_status(problem), headers=problem_headers(problem))

    async def known(request: Request, problem: Exception) -> JSONResponse:
        return answer(request, problem)

    async def invalid(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        where = ".".join(str(step) for step in first["loc"] if step != "body")
        return answer(request, BadRequest(f"{where or 'The body'}: {first['msg']}.", param=where or None))

    async def http(request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        if error.status_code == 404:
            return answer(request, NotFound(f"There is nothing at {request.url.path}."))
        if error.status_code == 405:
            allowed = ", ".join(await allowed_methods(request))
            if request.method == "OPTIONS" and allowed:
                return Response(status_code=204, headers={"Allow": allowed, "Cache-Control": "no-store"})
            sentence = f"{request.url.path} does not support {request.method}. It supports {allowed or 'other methods'}."
            refusal = answer(request, Problem(sentence, code="method_not_allowed", status=405))
            refusal.headers["Allow"] = allowed
            return refusal
        return answer(request, Problem(f"{error.detail}.", code="http_error", status=error.status_code))

    async def left(request: Request, error: Exception) -> JSONResponse:
        # Nobody reads this; the client went away while it was sending.
        return answer(request, BadRequest("The request ended before its body was complete."))

    async def unexpected(request: Request, error: Exception) -> JSONResponse:
        log.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return answer(request, error)

    return {
        Problem: known,
        RequestValidationError: invalid,
        HTTPException: http,
        ClientDisconnect: left,
        Exception: unexpected,
    }


def _bug(request_id: str) -> Problem:
    where = f" The log has the details under the request id {request_id}." if request_id else ""
    return Problem(f"An internal error occurred.{where}")
