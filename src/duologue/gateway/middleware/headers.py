"""Reading and adding headers of raw ASGI messages, for the middleware."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.types import Message, Scope


def header_values(scope: Scope, name: bytes) -> list[str]:
    """The values of a header, one for each time it was sent. `name` is in lower case."""
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def with_headers(message: Message, headers: Iterable[tuple[bytes, bytes]]) -> Message:
    """A copy of the message that starts a response, with these headers added."""
    return {**message, "headers": [*message.get("headers", ()), *headers]}
