"""The context of a conversation: which rows a model gets, how many tokens they take, and which to fold when there are too many.

Pure; used by `compaction.py`. All figures are tokens. The engine counts the whole prompt; the shares of its parts are estimated
from the length of their text.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Literal

from msgspec import Struct

from duologue.values.conversations import (
    Content,
    DocumentContent,
    ResourceContent,
    StoredMessage,
    TextContent,
)

PartKind = Literal["system", "tools", "summary", "user", "assistant", "tool", "files"]

BYTES_PER_TOKEN = 3.6
ROW_TOKENS = 4
"""Tokens around a message: its role and its end marks."""
MEDIA_TOKENS = 300
"""Rough estimate for a picture or a recording; models differ widely."""
DOCUMENT_TOKENS = 1500
"""Estimate for a document whose text is not read here."""


class ContextPart(Struct, frozen=True):
    """The share of one kind of content in the prompt."""

    what: PartKind
    tokens: int


class ContextGauge(Struct, frozen=True):
    """How full the context is: `tokens` of `context` are the prompt, `reply_room` is left for the reply. `estimated`: the
    model could not count. The parts are always estimated, and add up to `tokens`."""

    tokens: int
    context: int
    estimated: bool
    reply_room: int
    parts: tuple[ContextPart, ...]


class Fold(Struct, frozen=True):
    """Rows to fold into a summary: whole turns, oldest first, with an earlier summary among them. The summary goes below
    the last of them, and `kept` follows the summary."""

    folded: tuple[StoredMessage, ...]
    kept: tuple[StoredMessage, ...]

    @property
    def last(self) -> StoredMessage:
        return self.folded[-1]


def sent(path: Sequence[StoredMessage]) -> tuple[StoredMessage, ...]:
    """The rows of a path that a model gets: the system message, and everything from the last active summary on."""
    start = last_summary(path)
    if start is None:
        return tuple(path)
    return tuple(row for row in path[:start] if is_system(row)) + tuple(path[start:])


def last_summary(path: Sequence[StoredMessage]) -> int | None:
    """The index of the last active summary on the path; None without one."""
    return next((index for index in reversed(range(len(path))) if is_summary(path[index])), None)


def is_system(row: StoredMessage) -> bool:
    return row.role == "system" and row.kind == "message"


def is_summary(row: StoredMessage) -> bool:
    return row.kind == "summary" and row.active


def size(row: StoredMessage) -> int:
    """The estimated tokens of a row in a prompt. Reasoning is not sent again."""
    return ROW_TOKENS + _text(row.text) + _files(row.content) + _calls(row)


def gauge(
    path: Sequence[StoredMessage], *, tokens: int, context: int, estimated: bool, tools: int = 0
) -> ContextGauge:
    """The gauge of a path whose prompt takes `tokens`. `tools`: estimated tokens of the offered tools."""
    shares: dict[PartKind, float] = {"tools": tools * _scales(sent(path), tokens, tools)[0]}
    for row, (words, files) in zip(sent(path), _sizes(sent(path), tokens, tools), strict=True):
        what: PartKind = "summary" if row.kind == "summary" else row.role
        shares[what] = shares.get(what, 0) + words
        shares["files"] = shares.get("files", 0) + files
    parts = _scaled({what: share for what, share in shares.items() if share}, tokens)
    room = max(0, context - tokens)
    return ContextGauge(tokens, context, estimated, room, parts)


def estimate(path: Sequence[StoredMessage], tools: int = 0) -> int:
    """The estimated tokens of the prompt of a path."""
    return tools + sum(size(row) for row in sent(path))


def fold(
    path: Sequence[StoredMessage], *, tokens: int, room: int, least: int = 0, tools: int = 0
) -> Fold | None:
    """The oldest whole turns to fold, so that the rest fits in `room`; if it cannot fit, all turns but the last.

    `tokens`: the counted size of the prompt, to which the estimates of the rows are scaled; `tools`: the estimated share of
    the offered tools. None when there is no whole turn before the last, or when folding would save no more than `least`.
    """
    sizes = zip(sent(path), _sizes(sent(path), tokens, tools), strict=True)
    sized = [(row, words + files) for row, (words, files) in sizes if not is_system(row)]
    rows = [row for row, _ in sized]
    starts = [index for index, row in enumerate(rows) if _starts_turn(row)]
    cuts = [index for index in starts if any(row.kind == "message" for row in rows[:index])]
    if not cuts:
        return None
    above = [0.0, *accumulate(tokens for _, tokens in sized)]
    cut = next((index for index in cuts if above[-1] - above[index] <= room), cuts[-1])
    if above[cut] <= least:
        return None
    return Fold(tuple(rows[:cut]), tuple(rows[cut:]))


def turns(rows: Iterable[StoredMessage]) -> list[list[StoredMessage]]:
    """The rows grouped into turns: each starts with a message of the user."""
    groups: list[list[StoredMessage]] = []
    for row in rows:
        if not groups or _starts_turn(row):
            groups.append([])
        groups[-1].append(row)
    return groups


def _sizes(rows: Sequence[StoredMessage], tokens: int, tools: int) -> list[tuple[float, float]]:
    """The tokens of the text and of the files of each row, in a prompt of `tokens`."""
    words, files = _scales(rows, tokens, tools)
    return [(words * (size(row) - _files(row.content)), files * _files(row.content)) for row in rows]


def _scales(rows: Sequence[StoredMessage], tokens: int, tools: int) -> tuple[float, float]:
    """The correction factors for the estimates of text and of files. The size of a file is hardly known, so whatever the
    text does not account for is attributed to the files."""
    words = tools + sum(size(row) - _files(row.content) for row in rows)
    files = sum(_files(row.content) for row in rows)
    if files and tokens > words:
        return 1.0, (tokens - words) / files
    scale = tokens / max(1, words + files)
    return scale, scale


def _starts_turn(row: StoredMessage) -> bool:
    return row.role == "user" and row.kind == "message"


def _text(text: str) -> int:
    return int(len(text.encode("utf-8", "surrogatepass")) / BYTES_PER_TOKEN)


def _calls(row: StoredMessage) -> int:
    return sum(ROW_TOKENS + _text(call.name + call.arguments) for call in row.tool_calls)


def _files(content: Iterable[Content]) -> int:
    return sum(_file(part) for part in content if not isinstance(part, TextContent))


def _file(part: Content) -> int:
    match part:
        case DocumentContent():
            return MEDIA_TOKENS * len(part.pages) if part.given == "pages" else DOCUMENT_TOKENS
        case ResourceContent():
            return ROW_TOKENS + _text(part.text) if part.text else MEDIA_TOKENS
        case _:
            return MEDIA_TOKENS


def _scaled(shares: dict[PartKind, float], tokens: int) -> tuple[ContextPart, ...]:
    """The shares as whole tokens that add up to `tokens`; the largest absorbs the rounding."""
    total = sum(shares.values())
    if total <= 0 or tokens <= 0:
        return ()
    scaled = {what: int(share * tokens / total) for what, share in shares.items()}
    largest = max(scaled, key=scaled.__getitem__)
    scaled[largest] += tokens - sum(scaled.values())
    return tuple(ContextPart(what, count) for what, count in scaled.items() if count)
