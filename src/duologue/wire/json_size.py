"""How many values a JSON text has, before anything is made of them.

`validation.decode_json` refuses by it. A body of 60 MB in brackets became 18 million objects: 1.8 GB, and a server that
stood still for 26 s, whatever field they were in. It is read in pieces of PIECE bytes: reading stops in the piece in which
the figure is exceeded, and between two pieces other threads may run. Pure.
"""

from __future__ import annotations

MAX_VALUES = 150_000
"""Values in one JSON text. 10,000 messages have about 50,000; decoding this many takes a twentieth of a second."""
PIECE = 256 * 1024
"""Bytes that are read at a time: one or two milliseconds of holding the interpreter's lock."""


def has_more_values(data: str | bytes, limit: int = MAX_VALUES, piece: int = PIECE) -> bool:
    """Whether the text has more than `limit` values, counted by the commas and opening brackets outside of strings.

    An upper bound to the same figure, from all commas and brackets, answers for all texts but those full of commas.
    """
    if len(data) <= 2 * limit:
        return False  # a value takes a character, and a comma or a bracket
    count = 0
    for start in range(0, len(data), piece):
        count += _separators(_bytes(data[start : start + piece]))
        if count > limit:
            return _exact(data, limit, piece)
    return False


def _exact(data: str | bytes, limit: int, piece: int) -> bool:
    count = quotes = 0
    escape = b""
    for start in range(0, len(data), piece):
        text = escape + _bytes(data[start : start + piece])
        text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
        # What the backslash escapes is in the next piece.
        escape = b"\\" if text.endswith(b"\\") else b""
        # Every second part between two quotes is a string, once the escaped quotes are gone.
        parts = text.removesuffix(b"\\").split(b'"')
        count += _separators(b"".join(parts[quotes % 2 :: 2]))
        quotes += len(parts) - 1
        # Each value brings two strings at most, itself and its name, of two quotes each.
        if count > limit or quotes > 4 * limit:
            return True
    return False


def _bytes(text: str | bytes) -> bytes:
    return text.encode("utf-8", "replace") if isinstance(text, str) else text


def _separators(text: bytes) -> int:
    return text.count(b",") + text.count(b"[") + text.count(b"{")
