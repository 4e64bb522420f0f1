"""JSON that somebody else wrote, read without trust: what is not what it should be counts as absent.

Owns the readers of single values and of whole files of JSON or JSON lines. Pure. Knows no program's format.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import msgspec

Record = dict[str, Any]

TITLE = 200
"""Characters of a title that are kept; some programs take the whole first message for one."""
SECONDS = 100_000_000_000
"""A time below it is in seconds since 1970, another in milliseconds: it is the year 5138, or the year 1973."""
LEADING = 64
"""Bytes in which a list must open."""
LARGEST_TIME = 253_402_300_799_000
"""The last millisecond of the year 9999."""


def parsed(data: bytes | str | msgspec.Raw) -> object:
    """The value of a JSON text. Raises ValueError when it is none."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        # Python's own reader takes what others write: NaN, half a surrogate pair, a byte order mark.
        if not isinstance(data, str):
            data = bytes(data).decode("utf-8-sig", "replace")
        try:
            return json.loads(data)
        except RecursionError:
            raise ValueError("it is nested too deeply") from None


def elements(data: bytes) -> list[object]:
    """The elements of a JSON list, each read only when `parsed` is asked to: a history of years is read in pieces, for
    the interpreter stands still while one is read. One element, where it is no list. Raises ValueError as `parsed`."""
    if data[:LEADING].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"["):
        try:
            return list(msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"), type=list[msgspec.Raw]))
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            pass
    value = parsed(data)
    return value if isinstance(value, list) else [value]


def element(value: object) -> object:
    """One of `elements` as it is; an empty object where it is damaged."""
    try:
        return parsed(value) if isinstance(value, msgspec.Raw) else value
    except ValueError:
        return {}


def each(value: object) -> Iterable[object]:
    """What is in a list, or a value that is none."""
    return [value] if isinstance(value, dict) or not isinstance(value, Iterable) else value


def lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, each with its number from 1."""
    for place, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        if line.strip():
            yield place, line


def record(value: object) -> Record:
    """An object, or an empty one."""
    return value if isinstance(value, dict) else {}


def records(value: object) -> list[Record]:
    """The objects of a list; of a mapping, those of its values."""
    if isinstance(value, dict):
        value = list(value.values())
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(value: object) -> str:
    """A string that can be kept: no half surrogate pair, no NUL. Numbers as they are written; else empty."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        return ""
    try:
        value.encode()
    except UnicodeEncodeError:
        value = value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return value.replace("\0", "") if "\0" in value else value


def count(value: object) -> int:
    """A whole number that is not negative, or 0."""
    found = number(value)
    return int(found) if found > 0 else 0


def number(value: object) -> float:
    """A duration or another finite number, or 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return float(value) if abs(value) < 1e15 and math.isfinite(value) else 0.0


def time(value: object) -> int:
    """A moment as ms since 1970, given in seconds or milliseconds; 0 where it is none."""
    found = number(value)
    found = found * 1000 if found < SECONDS else found
    return int(found) if 0 < found <= LARGEST_TIME else 0


def title(value: object) -> str:
    """A title on one line."""
    return " ".join(text(value).split())[:TITLE]


def tags(*values: object) -> tuple[str, ...]:
    """The names of tags, each once: strings, or objects with a name."""
    found: dict[str, None] = {}
    for value in chain.from_iterable(value if isinstance(value, list) else () for value in values):
        name = text(value.get("name") if isinstance(value, Mapping) else value).strip()[:100]
        if name:
            found[name] = None
    return tuple(found)
