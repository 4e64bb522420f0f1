"""Conversion between a message and the columns of its table, and the files that a message names.

Structured columns are JSON, written by msgspec; all others are plain text or numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from sys import intern
from typing import Any

import msgspec

from duologue.store.schema.tables import messages
from duologue.values.conversations import (
    AudioContent,
    Content,
    DocumentContent,
    ImageContent,
    ResourceContent,
    RowError,
    StoredMessage,
    StoredToolCall,
    TextContent,
    ToolCallRecord,
    VideoContent,
)
from duologue.values.events import Fitted, Timings, Usage

COLUMNS = (
    *(messages.c.id, messages.c.conversation, messages.c.parent, messages.c.role, messages.c.content),
    *(messages.c.sequence, messages.c.created, messages.c.status, messages.c.kind, messages.c.active),
    *(
        messages.c.reasoning,
        messages.c.tool_calls,
        messages.c.tool_call_id,
        messages.c.call,
        messages.c.model,
    ),
    *(messages.c.finish, messages.c.usage, messages.c.timings, messages.c.error, messages.c.run),
    *(messages.c.edited, messages.c.fitted),
)
"""In the order of StoredMessage's fields; `message` reads by it."""

_EMPTY_LIST = "[]"
_EMPTY_TEXT = '""'
_encode = msgspec.json.Encoder().encode
_content = msgspec.json.Decoder(tuple[Content, ...]).decode
_calls = msgspec.json.Decoder(tuple[StoredToolCall, ...]).decode
_call = msgspec.json.Decoder(ToolCallRecord).decode
_usage = msgspec.json.Decoder(Usage).decode
_timings = msgspec.json.Decoder(Timings).decode
_error = msgspec.json.Decoder(RowError).decode
_fitted = msgspec.json.Decoder(Fitted).decode
_text = msgspec.json.Decoder(str).decode


def message(row: Sequence[Any]) -> StoredMessage:
    """The message of a row of COLUMNS."""
    (id_, conversation, parent, role, content, sequence, created, status, kind, active, *rest) = row
    reasoning, calls, call_id, call, model, finish, usage, timings, error, run, edited, fitted = rest
    return StoredMessage(
        id=id_,
        conversation=conversation,
        parent=parent,
        role=role,
        content=_content(content),
        sequence=sequence,
        created=created,
        status=one_of_its_kind(status),
        kind=one_of_its_kind(kind),
        active=active,
        # Text a model wrote may hold a NUL, which PostgreSQL keeps only as JSON.
        reasoning="" if reasoning == _EMPTY_TEXT else _text(reasoning),
        tool_calls=() if calls == _EMPTY_LIST else _calls(calls),
        tool_call_id=call_id,
        call=None if call is None else _call(call),
        model=model,
        finish=finish,
        usage=None if usage is None else _usage(usage),
        timings=None if timings is None else _timings(timings),
        error=None if error is None else _error(error),
        run=run,
        edited=edited,
        fitted=None if fitted is None else _fitted(fitted),
    )


def one_of_its_kind(word: Any) -> Any:
    """The word as the sources hold it: fields at their default are left out of JSON, and msgspec knows a default by its
    identity alone."""
    return intern(word)


def columns(message: StoredMessage) -> dict[str, object]:
    """What a save of a message writes: all but its place (conversation, id, parent, sequence) and when it was made."""
    return {
        "role": message.role,
        "kind": message.kind,
        "status": message.status,
        "active": message.active,
        "edited": message.edited,
        "run": message.run,
        "model": message.model,
        "finish": message.finish,
        "tool_call_id": message.tool_call_id,
        "content": json(message.content),
        "reasoning": json(message.reasoning),
        "tool_calls": json(message.tool_calls),
        "call": optional_json(message.call),
        "usage": optional_json(message.usage),
        "timings": optional_json(message.timings),
        "error": optional_json(message.error),
        "fitted": optional_json(message.fitted),
    }


def json(value: object) -> str:
    return _encode(value).decode()


def optional_json(value: object | None) -> str | None:
    return None if value is None else _encode(value).decode()


def files(content: tuple[Content, ...]) -> frozenset[str]:
    """The hashes of every file that content names, made ones included."""
    hashes: set[str] = set()
    for part in content:
        if isinstance(part, ImageContent):
            hashes.update((part.blob, part.shown))
        elif isinstance(part, DocumentContent):
            hashes.update((part.blob, part.text, *part.pages))
        elif isinstance(part, AudioContent | VideoContent | ResourceContent):
            hashes.add(part.blob)
    return frozenset(hashes - {""})


def searched(message: StoredMessage) -> str:
    """What a search finds a message by: its text and the names of its files. What a tool answered is not searched."""
    if message.role == "tool":
        return ""
    names = [part.name for part in message.content if not isinstance(part, TextContent) and part.name]
    return "\n".join((message.text, *names)) if names else message.text
