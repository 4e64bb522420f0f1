"""What another server says went wrong: its own words out of whatever it answered, short, and without our secrets.

Owns the shapes such answers have, and how much of them is read and shown. Knows no request and no sentence of ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import httpx
import msgspec

LARGEST = 64 * 1024
"""Bytes of an error's body that are read, however long it goes on."""
SHOWN = 400
"""Characters of it that are shown."""


def complaint_in(answer: Mapping[str, Any]) -> str | None:
    """The server's own words when `answer` says that it failed."""
    error = answer.get("error")
    if isinstance(error, dict):
        return str(error.get("message") or error.get("type") or error.get("code") or "no reason given")
    if error:
        return str(error)
    if answer.get("object") == "error":
        return str(answer.get("message") or "no reason given")
    return None


async def beginning(response: httpx.Response) -> bytes:
    """The first bytes of a body. Raises httpx.HTTPError."""
    content = b""
    async for piece in response.aiter_bytes():
        content += piece
        if len(content) >= LARGEST:
            break
    return content[:LARGEST]


def complaint(content: bytes, secrets: Iterable[str] = ()) -> str:
    """The words in an error's body, whatever its shape; some servers repeat the key they were given."""
    words: object = None
    try:
        answer = msgspec.json.decode(content)
    except msgspec.DecodeError:
        words = content.decode("utf-8", "replace")
    else:
        if isinstance(answer, dict):
            words = complaint_in(answer) or answer.get("message") or answer.get("detail")
        words = words or answer
    text = without(" ".join(str(words).split()), secrets)
    return (text[:SHOWN] + " ..." if len(text) > SHOWN else text) or "no reason given"


def without(text: str, secrets: Iterable[str]) -> str:
    """The text with stars in the place of secrets."""
    for secret in secrets:
        text = text.replace(secret, "***")
    return text
