"""Errors in the shape of Anthropic's API. Used by `http.error_responses`."""

from __future__ import annotations

from typing import Any

from duologue.errors import Problem

TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
}
TOO_LONG = "context_length_exceeded"
RENAMED = {".function.strict": ".strict", ".function.parameters": ".input_schema"}
"""The ends of a tool's fields as an engine names them -> as this API does."""


def anthropic_error(problem: Problem, request_id: str = "") -> dict[str, Any]:
    """The body. Our stable code is in `code`, and where the official clients look for one."""
    kind = "api_error" if problem.status >= 500 else "invalid_request_error"
    error: dict[str, Any] = {
        "type": TYPES.get(problem.status, kind),
        "message": _renamed(problem.message),
        "code": problem.code,
        "details": {"error_code": problem.code},
    }
    if problem.code == TOO_LONG:
        # Agents shorten the conversation when they read these words.
        error["message"] = f"prompt is too long: {problem.message}"
    if problem.param is not None:
        error["param"] = _renamed(problem.param)
    if problem.values:
        error["values"] = dict(problem.values)
    return {"type": "error", "error": error, "request_id": request_id or None}


def _renamed(text: str) -> str:
    for name, here in RENAMED.items():
        text = text.replace(name, here)
    return text
