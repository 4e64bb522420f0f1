"""What another server sends as JSON. Used by everything here that reads a body or an event."""

from __future__ import annotations

from typing import Any

import msgspec


def json_of(content: bytes) -> Any:
    """The JSON value in `content`. Raises ValueError for anything else: other text, invalid UTF-8, endless nesting."""
    try:
        return msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise ValueError(str(error)) from error
