"""The rows of a path as a history any model's template takes.

Pure. Owns which rows a model sees, the results that calls lack, and the order of roles. Opens no file: content stays
content.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from duologue.conversations.history.context_window import is_system, sent
from duologue.values.conversations import Content, StoredMessage, StoredToolCall, TextContent, ToolCallState
from duologue.values.messages import Role

_WITHOUT_OUTPUT: dict[ToolCallState, str] = {
    "done": "The tool ran and gave no output.",
    "failed": "The call failed.",
    "denied": "The user did not allow this call.",
    "expired": "Nobody allowed this call in time.",
    "skipped": "The call was skipped.",
}
_NEVER_RAN = "The call has no result: the reply ended before it was done."


class PromptMessage(Struct, frozen=True):
    """One message to be. `name` is the tool's in a result."""

    role: Role
    content: tuple[Content, ...] = ()
    reasoning: str = ""
    calls: tuple[StoredToolCall, ...] = ()
    call_id: str | None = None
    name: str | None = None


def history(rows: Sequence[StoredMessage]) -> tuple[PromptMessage, ...]:
    """What a model is told of a path, from its root to its leaf.

    One system entry at most at the head, the active summary in it; then only rows that say something. Every call is
    followed by its result, in call order, and no result stands without its call.
    """
    rows = sent(rows)
    told = [row for row in rows if not is_system(row) and row.kind == "message"]
    return (*_head(rows), *_joined(_entries(told)))


def _head(rows: Sequence[StoredMessage]) -> Iterator[PromptMessage]:
    """The system message and the summary as one: templates take one system message, and users and assistants in
    turns, which a summary of its own would break. A summary says itself what it is."""
    texts = [row.text for row in rows if is_system(row) and row.text.strip()]
    summaries = [row.text for row in rows if row.kind == "summary" and row.active]
    texts += summaries[-1:]
    if texts:
        yield PromptMessage("system", (TextContent("\n\n".join(texts)),))


def _entries(rows: Sequence[StoredMessage]) -> Iterator[PromptMessage]:
    at = 0
    while at < len(rows):
        row = rows[at]
        at += 1
        if row.role == "assistant":
            end = at
            while end < len(rows) and rows[end].role == "tool":
                end += 1
            if row.text or row.tool_calls or (row.reasoning and at == len(rows)):
                yield PromptMessage("assistant", row.content, row.reasoning, row.tool_calls)
                yield from _results(row.tool_calls, rows[at:end])
            at = end
        elif row.role == "user":
            yield PromptMessage("user", row.content)
        # A result here is one whose call is gone: nothing asked for it.


def _results(calls: Sequence[StoredToolCall], rows: Sequence[StoredMessage]) -> Iterator[PromptMessage]:
    """A result for each call. Ids are some models' own and may come twice in a turn: each row answers once."""
    left = list(rows)
    for call in calls:
        row = next((row for row in left if row.tool_call_id == call.id), None)
        if row is None:
            yield PromptMessage("tool", (TextContent(_NEVER_RAN),), call_id=call.id, name=call.name)
            continue
        left.remove(row)
        yield PromptMessage(
            "tool", row.content or (TextContent(_said(row)),), call_id=call.id, name=call.name
        )


def _said(row: StoredMessage) -> str:
    return _WITHOUT_OUTPUT.get(row.call.state, _NEVER_RAN) if row.call else _NEVER_RAN


def _joined(entries: Iterator[PromptMessage]) -> Iterator[PromptMessage]:
    """Users' messages with nothing between them as one: the reply between them failed without a word, and many
    templates refuse two in a row."""
    waiting: PromptMessage | None = None
    for entry in entries:
        if waiting is not None and entry.role == "user" and waiting.role == "user":
            waiting = PromptMessage("user", (*waiting.content, TextContent("\n\n"), *entry.content))
            continue
        if waiting is not None:
            yield waiting
        waiting = entry
    if waiting is not None:
        yield waiting
