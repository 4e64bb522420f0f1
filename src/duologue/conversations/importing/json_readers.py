"""Readers of untrusted JSON, for single values and for whole files: a value of the wrong type counts as absent.

Pure; used by the readers of all formats.
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
"""Longest title, in characters. Some programs use the whole first message as the title."""
SECONDS = 100_000_000_000
"""A time below this is in seconds since 1970, otherwise in milliseconds: it means the year 5138 or the year 1973."""
LEADING = 64
"""Bytes within which a list must start."""
LARGEST_TIME = 253_402_300_799_000
"""The last millisecond of the year 9999."""


def parsed(data: bytes | str | msgspec.Raw) -> object:
    """The value of a JSON text. Raises ValueError when it is invalid."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        # Python's reader accepts what other programs write: NaN, half a surrogate pair, a byte order mark.
        if not isinstance(data, str):
            data = bytes(data).decode("utf-8-sig", "replace")
        try:
            return json.loads(data)
        except RecursionError:
            raise ValueError("it is nested too deeply") from None


def elements(data: bytes) -> list[object]:
    """The elements of a JSON list, still unparsed: a history of years is parsed in pieces, because parsing blocks the
    interpreter. A single element for any other value. Raises ValueError as `parsed` does."""
    if data[:LEADING].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"["):
        try:
            return list(msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf"), type=list[msgspec.Raw]))
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            pass
    value = parsed(data)
    return value if isinstance(value, list) else [value]


def element(value: object) -> object:
    """The value of one of `elements`; an empty object when it is damaged."""
    try:
        return parsed(value) if isinstance(value, msgspec.Raw) else value
    except ValueError:
        return {}


def each(value: object) -> Iterable[object]:
    """The elements of a list; any other value as the only element."""
    return [value] if isinstance(value, dict) or not isinstance(value, Iterable) else value


def lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, each with its number from 1."""
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").splitlines(), 1):
        if line.strip():
            yield number, line


def record(value: object) -> Record:
    """An object, or an empty one."""
    return value if isinstance(value, dict) else {}


def records(value: object) -> list[Record]:
    """The objects of a list; of a mapping, those of its values."""
    if isinstance(value, dict):
        value = list(value.values())
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def text(value: object) -> str:
    """A string that can be stored: without half surrogate pairs and NUL. A number as text; empty for anything else."""
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
    amount = number(value)
    return int(amount) if amount > 0 else 0


def number(value: object) -> float:
    """A duration or another finite number, or 0."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0.0
    return float(value) if abs(value) < 1e15 and math.isfinite(value) else 0.0


def time(value: object) -> int:
    """A time in ms since 1970, from seconds or milliseconds; 0 when it is not a time."""
    moment = number(value)
    moment = moment * 1000 if moment < SECONDS else moment
    return int(moment) if 0 < moment <= LARGEST_TIME else 0


def title(value: object) -> str:
    """A title on one line."""
    return " ".join(text(value).split())[:TITLE]


def tags(*values: object) -> tuple[str, ...]:
    """The names of tags without duplicates; from strings, or from objects with a name."""
    names: dict[str, None] = {}
    for value in chain.from_iterable(value if isinstance(value, list) else () for value in values):
        name = text(value.get("name") if isinstance(value, Mapping) else value).strip()[:100]
        if name:
            names[name] = None
    return tuple(names)
