"""What of a conversation a model reads, how much of its context that takes, and what to fold when it is too much.

Pure: rows of a path in, figures and plans out. Counting is the engine's; where a share of a count is told it is
estimated from the length of the text. Tokens throughout.
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

What = Literal["system", "tools", "summary", "user", "assistant", "tool", "files"]

BYTES_A_TOKEN = 3.6
ROW = 4
"""Tokens around a message: its role, its ends."""
MEDIA = 300
"""Tokens of a picture or a sound, roughly; models differ widely."""
DOCUMENT = 1500
"""Tokens of a document whose text is not at hand."""


class ContextPart(Struct, frozen=True):
    """What a kind of content takes of the prompt."""

    what: What
    tokens: int


class ContextGauge(Struct, frozen=True):
    """How full the context is. `tokens` of `context` are the prompt's, `reply_room` are left for the reply.
    `estimated`: the model could not count; the parts always are shares of the whole by the length of their text."""

    tokens: int
    context: int
    estimated: bool
    reply_room: int
    parts: tuple[ContextPart, ...]


class Fold(Struct, frozen=True):
    """Rows to fold into a summary: whole turns, the oldest first, an earlier summary among them. The summary goes
    under the last of them. `kept` goes on below it."""

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
    """Where on the path the summary stands that counts; None without one."""
    return next((place for place in reversed(range(len(path))) if is_summary(path[place])), None)


def is_system(row: StoredMessage) -> bool:
    return row.role == "system" and row.kind == "message"


def is_summary(row: StoredMessage) -> bool:
    return row.kind == "summary" and row.active


def size(row: StoredMessage) -> int:
    """About how many tokens a row takes in a prompt. Reasoning is not sent again."""
    return ROW + _text(row.text) + _files(row.content) + _calls(row)


def gauge(
    path: Sequence[StoredMessage], *, tokens: int, context: int, estimated: bool, tools: int = 0
) -> ContextGauge:
    """The gauge of a path whose whole prompt was counted; `tools` is about what the offered tools take."""
    shares: dict[What, float] = {"tools": tools * _scales(sent(path), tokens, tools)[0]}
    for row, (words, files) in zip(sent(path), _sizes(sent(path), tokens, tools), strict=True):
        what: What = "summary" if row.kind == "summary" else row.role
        shares[what] = shares.get(what, 0) + words
        shares["files"] = shares.get("files", 0) + files
    parts = _scaled({what: share for what, share in shares.items() if share}, tokens)
    room = max(0, context - tokens)
    return ContextGauge(tokens, context, estimated, room, parts)


def estimate(path: Sequence[StoredMessage], tools: int = 0) -> int:
    """About how many tokens the prompt of a path takes."""
    return tools + sum(size(row) for row in sent(path))


def fold(
    path: Sequence[StoredMessage], *, tokens: int, room: int, least: int = 0, tools: int = 0
) -> Fold | None:
    """The oldest whole turns to fold, so that what is kept fits in `room`; of what cannot fit, all but the last turn.

    `tokens` is what the prompt of the path really takes, `tools` about what the offered tools take of it: estimates
    of the rows are scaled to it. None where there is no whole turn before the last, or where all there is to fold
    takes no more than `least`.
    """
    sizes = zip(sent(path), _sizes(sent(path), tokens, tools), strict=True)
    sized = [(row, words + files) for row, (words, files) in sizes if not is_system(row)]
    rows = [row for row, _ in sized]
    starts = [place for place, row in enumerate(rows) if _begins_turn(row)]
    cuts = [place for place in starts if any(row.kind == "message" for row in rows[:place])]
    if not cuts:
        return None
    above = [0.0, *accumulate(taken for _, taken in sized)]
    cut = next((place for place in cuts if above[-1] - above[place] <= room), cuts[-1])
    if above[cut] <= least:
        return None
    return Fold(tuple(rows[:cut]), tuple(rows[cut:]))


def turns(rows: Iterable[StoredMessage]) -> list[list[StoredMessage]]:
    """The rows in turns: each begins with what a user said and has all that followed."""
    found: list[list[StoredMessage]] = []
    for row in rows:
        if not found or _begins_turn(row):
            found.append([])
        found[-1].append(row)
    return found


def _sizes(rows: Sequence[StoredMessage], tokens: int, tools: int) -> list[tuple[float, float]]:
    """What the words and the files of each row take of a prompt of `tokens`."""
    words, files = _scales(rows, tokens, tools)
    return [(words * (size(row) - _files(row.content)), files * _files(row.content)) for row in rows]


def _scales(rows: Sequence[StoredMessage], tokens: int, tools: int) -> tuple[float, float]:
    """By how much the estimates of words and of files are off. What a file takes is hardly known, so whatever words do
    not take is the files'."""
    words = tools + sum(size(row) - _files(row.content) for row in rows)
    files = sum(_files(row.content) for row in rows)
    if files and tokens > words:
        return 1.0, (tokens - words) / files
    scale = tokens / max(1, words + files)
    return scale, scale


def _begins_turn(row: StoredMessage) -> bool:
    return row.role == "user" and row.kind == "message"


def _text(text: str) -> int:
    return int(len(text.encode("utf-8", "surrogatepass")) / BYTES_A_TOKEN)


def _calls(row: StoredMessage) -> int:
    return sum(ROW + _text(call.name + call.arguments) for call in row.tool_calls)


def _files(content: Iterable[Content]) -> int:
    return sum(_file(part) for part in content if not isinstance(part, TextContent))


def _file(part: Content) -> int:
    match part:
        case DocumentContent():
            return MEDIA * len(part.pages) if part.given == "pages" else DOCUMENT
        case ResourceContent():
            return ROW + _text(part.text) if part.text else MEDIA
        case _:
            return MEDIA


def _scaled(shares: dict[What, float], tokens: int) -> tuple[ContextPart, ...]:
    """The shares of a whole, in whole tokens that add up to it; the largest takes what rounding left."""
    total = sum(shares.values())
    if total <= 0 or tokens <= 0:
        return ()
    scaled = {what: int(share * tokens / total) for what, share in shares.items()}
    largest = max(scaled, key=scaled.__getitem__)
    scaled[largest] += tokens - sum(scaled.values())
    return tuple(ContextPart(what, count) for what, count in scaled.items() if count)
