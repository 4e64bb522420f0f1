"""The output items of a response while they are written: their state, and what the stream says of each change.

Each gives pairs of an event's type and its fields; `response_stream` adds the item's place and the number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import msgspec

from duologue.values.events import TokenLogprob
from duologue.wire.completion import LEAST_LOGPROB
from duologue.wire.responses.item_messages import sealed
from duologue.wire.responses.response_tools import CalledTool

Said = list[tuple[str, dict[str, Any]]]
FIRST = {"content_index": 0}


class OutputItem(Protocol):
    """An item: `opened` as it is announced, `shown` as it is now."""

    id: str
    closed: bool

    def opened(self) -> dict[str, Any]: ...

    def begin(self) -> Said: ...

    def close(self, *, complete: bool) -> Said: ...

    def shown(self) -> dict[str, Any]: ...


class Thought:
    """A thought, as its text and, where that was asked for, as its summary."""

    def __init__(self, id: str, *, summary: bool, sealed: bool) -> None:
        self.id, self.closed = id, False
        self._summary, self._sealed = summary, sealed
        self._pieces: list[str] = []
        self._status = "in_progress"

    def opened(self) -> dict[str, Any]:
        return {"id": self.id, "type": "reasoning", "status": self._status, "summary": [], "content": []}

    def begin(self) -> Said:
        said: Said = [("response.content_part.added", FIRST | {"part": _part("reasoning_text", "")})]
        if self._summary:
            part = {"summary_index": 0, "part": _part("summary_text", "")}
            said.append(("response.reasoning_summary_part.added", part))
        return said

    def add(self, text: str) -> Said:
        self._pieces.append(text)
        said: Said = [("response.reasoning_text.delta", FIRST | {"delta": text})]
        if self._summary:
            said.append(("response.reasoning_summary_text.delta", {"summary_index": 0, "delta": text}))
        return said

    def close(self, *, complete: bool) -> Said:
        self.closed, self._status = True, _status(complete)
        text = "".join(self._pieces)
        said: Said = [
            ("response.reasoning_text.done", FIRST | {"text": text}),
            ("response.content_part.done", FIRST | {"part": _part("reasoning_text", text)}),
        ]
        if self._summary:
            part = {"summary_index": 0, "part": _part("summary_text", text)}
            said.append(("response.reasoning_summary_text.done", {"summary_index": 0, "text": text}))
            said.append(("response.reasoning_summary_part.done", part))
        return said

    def shown(self) -> dict[str, Any]:
        text = "".join(self._pieces)
        shown = self.opened() | {"content": [_part("reasoning_text", text)]}
        if self._summary:
            shown["summary"] = [_part("summary_text", text)]
        if self._sealed and self.closed:
            shown["encrypted_content"] = sealed(text)
        return shown


class OutputMessage:
    """What the model answers: one part of text."""

    def __init__(self, id: str) -> None:
        self.id, self.closed = id, False
        self._pieces: list[str] = []
        self._logprobs: list[dict[str, Any]] = []
        self._status = "in_progress"

    def opened(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "type": "message",
            "status": self._status,
            "role": "assistant",
            "content": [],
        }

    def begin(self) -> Said:
        return [("response.content_part.added", FIRST | {"part": self._part()})]

    def add(self, text: str, logprobs: list[dict[str, Any]]) -> Said:
        self._pieces.append(text)
        self._logprobs += logprobs
        return [("response.output_text.delta", FIRST | {"delta": text, "logprobs": logprobs})]

    def close(self, *, complete: bool) -> Said:
        self.closed, self._status = True, _status(complete)
        part = self._part()
        return [
            ("response.output_text.done", FIRST | {"text": part["text"], "logprobs": self._logprobs}),
            ("response.content_part.done", FIRST | {"part": part}),
        ]

    def shown(self) -> dict[str, Any]:
        return self.opened() | {"content": [self._part()]}

    def _part(self) -> dict[str, Any]:
        text = "".join(self._pieces)
        return {"type": "output_text", "text": text, "annotations": [], "logprobs": list(self._logprobs)}


class FunctionItem:
    """A call of a function."""

    def __init__(self, id: str, call_id: str, called: CalledTool) -> None:
        self.id, self.closed = id, False
        self._call_id, self._called = call_id, called
        self._pieces: list[str] = []
        self._status = "in_progress"

    @property
    def arguments(self) -> str:
        return "".join(self._pieces)

    def opened(self) -> dict[str, Any]:
        return self._fields("function_call") | {"arguments": ""}

    def begin(self) -> Said:
        return []

    def add(self, arguments: str) -> Said:
        self._pieces.append(arguments)
        return [("response.function_call_arguments.delta", {"delta": arguments})]

    def close(self, *, complete: bool) -> Said:
        self.closed, self._status = True, _status(complete)
        done = {"name": self._called.name, "arguments": self.arguments}
        return [("response.function_call_arguments.done", done)]

    def shown(self) -> dict[str, Any]:
        return self._fields("function_call") | {"arguments": self.arguments}

    def _fields(self, kind: str) -> dict[str, Any]:
        fields = {
            "id": self.id,
            "type": kind,
            "status": self._status,
            "call_id": self._call_id,
            "name": self._called.name,
        }
        return fields | ({"namespace": self._called.namespace} if self._called.namespace else {})


class CustomCallItem(FunctionItem):
    """A call of a custom tool: its input is the one argument that the model wrote, known at the end."""

    def opened(self) -> dict[str, Any]:
        return self._fields("custom_tool_call") | {"input": ""}

    def add(self, arguments: str) -> Said:
        super().add(arguments)
        return []

    def close(self, *, complete: bool) -> Said:
        super().close(complete=complete)
        text = self._input()
        return [
            ("response.custom_tool_call_input.delta", {"delta": text}),
            ("response.custom_tool_call_input.done", {"input": text}),
        ]

    def shown(self) -> dict[str, Any]:
        return self._fields("custom_tool_call") | {"input": self._input() if self.closed else ""}

    def _input(self) -> str:
        """The text; the arguments as they are where a model wrote something else."""
        try:
            fields = msgspec.json.decode(self.arguments)
        except msgspec.DecodeError:
            return self.arguments
        text = fields.get("input") if isinstance(fields, dict) else None
        return text if isinstance(text, str) else self.arguments


def shown_logprobs(tokens: Sequence[TokenLogprob]) -> list[dict[str, Any]]:
    """Tokens with their alternatives."""
    return [_token(token) | {"top_logprobs": [_token(other) for other in token.top]} for token in tokens]


def _token(token: TokenLogprob) -> dict[str, Any]:
    return {
        "token": token.token,
        "bytes": list(token.data),
        "logprob": max(token.logprob, LEAST_LOGPROB),
    }


def _part(kind: str, text: str) -> dict[str, Any]:
    return {"type": kind, "text": text}


def _status(complete: bool) -> str:
    return "completed" if complete else "incomplete"
