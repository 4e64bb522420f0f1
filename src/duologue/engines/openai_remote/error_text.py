"""The error message in another server's response, whatever its shape: shortened, and without our secrets.

Used by the engine, the stream and the speech client. Owns the shapes of such responses, and how much of them is shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import httpx

from duologue.engines.openai_remote.response_json import json_of

LARGEST = 64 * 1024
"""Bytes of an error's body that are read, however long it goes on."""
SHOWN = 400
"""Characters of it that are shown."""


def error_in(response: Mapping[str, Any]) -> str | None:
    """The server's message when `response` is an error."""
    error = response.get("error")
    if isinstance(error, dict):
        return str(error.get("message") or error.get("type") or error.get("code") or "no reason given")
    if error:
        return str(error)
    if response.get("object") == "error":
        return str(response.get("message") or "no reason given")
    return None


async def read_beginning(response: httpx.Response, largest: int = LARGEST) -> bytes:
    """The first bytes of a body. Raises httpx.HTTPError."""
    content = bytearray()
    async for piece in response.aiter_bytes():
        content += piece
        if len(content) >= largest:
            break
    return bytes(content[:largest])


def error_message(content: bytes, secrets: Iterable[str] = ()) -> str:
    """The message in an error's body, whatever its shape; some servers repeat the key they were sent."""
    message: object = None
    try:
        body = json_of(content)
    except ValueError:
        message = content.decode("utf-8", "replace")
    else:
        if isinstance(body, dict):
            message = error_in(body) or body.get("message") or body.get("detail")
        message = message or body
    text = mask(" ".join(str(message).split()), secrets)
    return (text[:SHOWN] + " ..." if len(text) > SHOWN else text) or "no reason given"


def mask(text: str, secrets: Iterable[str]) -> str:
    """The text with stars in place of secrets."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return text
