"""Answers to clients whose request never reaches the application, as bytes of HTTP/1.1."""

from __future__ import annotations

import json
import re
from http import HTTPStatus

from duologue.config.sections.connections import ConnectionSettings
from duologue.errors import BadRequest, Busy, Problem, TooLarge, Unavailable
from duologue.gateway.connections.bounds import Bound
from duologue.http.error_responses import problem_body

RETRY_SECONDS = 10

_HOST = re.compile(rb"\r\nhost:[ \t]*([A-Za-z0-9._\-\[\]:]{1,255})[ \t]*\r\n", re.IGNORECASE)
_TARGET = re.compile(rb"[A-Z]{3,8} (/[!-~]{0,1000}) HTTP/1\.[01]\r\n")


def problem_of(bound: Bound, settings: ConnectionSettings) -> Problem | None:
    """The error sent to the client; None if the connection is closed without an answer."""
    match bound:
        case "request_line":
            return TooLarge(
                f"The address is longer than {settings.request_line_kb} KB; the setting connections.request_line_kb "
                "raises the limit.",
                code="request_line_too_long",
                status=414,
            )
        case "headers":
            return TooLarge(
                f"The request has more than {settings.headers} headers, or more than {settings.header_kb} KB of them; "
                "the settings connections.headers and connections.header_kb raise the limits.",
                code="headers_too_large",
                status=431,
            )
        case "header_time":
            return Problem(
                f"The headers did not arrive within {settings.header_s:g} seconds (connections.header_s).",
                code="request_timeout",
                status=408,
            )
        case "body_time" | "body_rate":
            return Problem(
                f"The body arrived too slowly: at least {settings.body_rate_kb:g} KB a second over "
                f"{settings.body_window_s:g} seconds, and all of it within {settings.body_s:g} "
                "(connections.body_rate_kb, body_window_s, body_s).",
                code="request_timeout",
                status=408,
            )
        case "pipeline":
            return Busy("Too many requests were sent before their predecessors were answered.")
        case "invalid":
            return BadRequest("This is not a valid HTTP request.", code="invalid_http")
        case "per_address":
            return Busy(
                f"Your address already has {settings.per_address} connections to this server; the setting "
                "connections.per_address raises the limit.",
                code="too_many_connections",
            )
        case "total":
            return Unavailable(
                "This server has as many connections as it can; try again in a moment.",
                code="too_many_connections",
            )
        case _:
            return None


def answer(problem: Problem, path: str = "/", *, has_body: bool = True) -> bytes:
    """A whole response that closes the connection. `path` decides the shape of the error."""
    body = json.dumps(problem_body(problem, path), ensure_ascii=False).encode()
    try:
        phrase = HTTPStatus(problem.status).phrase
    except ValueError:
        phrase = ""
    fields = [
        f"HTTP/1.1 {problem.status} {phrase}",
        "content-type: application/json",
        f"content-length: {len(body)}",
        "cache-control: no-store",
        "x-content-type-options: nosniff",
        "connection: close",
    ]
    if problem.status in (429, 503):
        fields.append(f"retry-after: {RETRY_SECONDS}")
    head = ("\r\n".join(fields) + "\r\n\r\n").encode("latin-1")
    return head + body if has_body else head


def plain_http_answer(request: bytes, port: int) -> bytes:
    """The answer to plain HTTP on the TLS port: it names the address that the client meant, if it can be read."""
    host, target = _HOST.search(request), _TARGET.match(request)
    name = host[1].decode() if host else f"localhost:{port}"
    path = target[1].decode() if target else "/"
    sentence = f"This port speaks HTTPS only. Use https://{name}{path} instead."
    return answer(BadRequest(sentence, code="https_needed"), path)
