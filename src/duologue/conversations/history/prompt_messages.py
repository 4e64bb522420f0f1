"""The rows of a path as a history that any model's chat template accepts.

Pure; `files/attachments.py` turns the entries into messages. Owns which rows a model gets, placeholder results for tool calls
that have none, and the order of roles.
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
    """A message whose files are not opened yet. `name`: the tool's name, in a result."""

    role: Role
    content: tuple[Content, ...] = ()
    reasoning: str = ""
    tool_calls: tuple[StoredToolCall, ...] = ()
    tool_call_id: str | None = None
    name: str | None = None


def history(rows: Sequence[StoredMessage]) -> tuple[PromptMessage, ...]:
    """The history of a path, from its root to its leaf.

    Starts with at most one system entry, which includes the active summary; rows without content are left out. Every tool
    call is followed by its result, in the order of the calls, and there is no result without its call.
    """
    rows = sent(rows)
    messages = [row for row in rows if not is_system(row) and row.kind == "message"]
    return (*_head(rows), *_merge_user_entries(_entries(messages)))


def _head(rows: Sequence[StoredMessage]) -> Iterator[PromptMessage]:
    """The system message and the summary as one entry: templates accept one system message, followed by alternating users
    and assistants. The text of a summary says what it is."""
    texts = [row.text for row in rows if is_system(row) and row.text.strip()]
    summaries = [row.text for row in rows if row.kind == "summary" and row.active]
    texts += summaries[-1:]
    if texts:
        yield PromptMessage("system", (TextContent("\n\n".join(texts)),))


def _entries(rows: Sequence[StoredMessage]) -> Iterator[PromptMessage]:
    index = 0
    while index < len(rows):
        row = rows[index]
        index += 1
        if row.role == "assistant":
            end = index
            while end < len(rows) and rows[end].role == "tool":
                end += 1
            if row.text or row.tool_calls or (row.reasoning and index == len(rows)):
                yield PromptMessage("assistant", row.content, row.reasoning, row.tool_calls)
                yield from _results(row.tool_calls, rows[index:end])
            index = end
        elif row.role == "user":
            yield PromptMessage("user", row.content)
        # A tool row that gets here has no tool call, for example because the reply was edited. It is dropped.


def _results(tool_calls: Sequence[StoredToolCall], rows: Sequence[StoredMessage]) -> Iterator[PromptMessage]:
    """A result for each tool call. Some models repeat an id within a turn, so each row is used once."""
    remaining = list(rows)
    for tool_call in tool_calls:
        row = next((row for row in remaining if row.tool_call_id == tool_call.id), None)
        if row is None:
            yield PromptMessage(
                "tool", (TextContent(_NEVER_RAN),), tool_call_id=tool_call.id, name=tool_call.name
            )
            continue
        remaining.remove(row)
        yield PromptMessage(
            "tool",
            row.content or (TextContent(_placeholder(row)),),
            tool_call_id=tool_call.id,
            name=tool_call.name,
        )


def _placeholder(row: StoredMessage) -> str:
    return _WITHOUT_OUTPUT.get(row.call.state, _NEVER_RAN) if row.call else _NEVER_RAN


def _merge_user_entries(entries: Iterator[PromptMessage]) -> Iterator[PromptMessage]:
    """Merge consecutive user entries: many templates refuse two in a row. They occur when a reply failed before its first
    word."""
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
