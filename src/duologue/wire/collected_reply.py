"""One whole reply, gathered from its events.

Owns what every dialect's last message repeats: the text, the reasoning, the calls, the counts. Knows no field name
of any dialect.
"""

from __future__ import annotations

from duologue.errors import EngineFailed, Problem
from duologue.values.events import (
    AudioDelta,
    Delta,
    Done,
    Event,
    Failed,
    Prefilled,
    ReasoningDelta,
    TextDelta,
    TokenLogprob,
    ToolCallDelta,
    Usage,
)
from duologue.values.messages import ToolCall


class CollectedReply:
    """Feed it a choice's events with `add`; read it at any time."""

    def __init__(self) -> None:
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._calls: dict[int, tuple[str, str, list[str]]] = {}
        self._pieces = 0
        self._sound: list[bytes] = []
        self.logprobs: list[TokenLogprob] = []
        self.prefilled: Prefilled | None = None
        self.done: Done | None = None

    def add(self, event: Event) -> None:
        """Take one event in. Raises Problem for `Failed`."""
        self._pieces += isinstance(event, Delta)
        match event:
            case TextDelta():
                self._text.append(event.text)
                self.logprobs.extend(event.logprobs)
            case ReasoningDelta():
                self._reasoning.append(event.text)
            case ToolCallDelta():
                _, _, pieces = self._calls.setdefault(event.index, (event.id or "", event.name or "", []))
                pieces.append(event.arguments)
            case AudioDelta():
                self._sound.append(event.pcm)
            case Prefilled():
                self.prefilled = event
            case Done():
                self.done = event
            case Failed():
                raise problem(event)

    @property
    def text(self) -> str:
        return "".join(self._text)

    @property
    def sound(self) -> bytes:
        """The sound that came: 16-bit mono, 24 kHz."""
        return b"".join(self._sound)

    @property
    def reasoning(self) -> str:
        return "".join(self._reasoning)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The calls in order of their index; arguments are the model's own JSON text."""
        return tuple(
            ToolCall(id, name, "".join(pieces)) for _, (id, name, pieces) in sorted(self._calls.items())
        )

    @property
    def usage(self) -> Usage:
        """The counts of `Done`; before it, what prefill told, and an estimate of what was written: a token a piece."""
        if self.done is not None:
            return self.done.usage
        known = self.prefilled or Prefilled(None)
        return Usage(known.input or 0, self._pieces, known.cached, estimated=self._pieces > 0)

    @property
    def ignored(self) -> tuple[str, ...]:
        return self.prefilled.ignored if self.prefilled else ()


def problem(failed: Failed) -> Problem:
    """The problem a `Failed` tells of."""
    return Problem(failed.message, code=failed.code, status=failed.status, param=failed.param)


def broken_off() -> EngineFailed:
    """A stream ended without saying how: never passed on as a whole reply."""
    return EngineFailed("The reply broke off before its end. Try again.", code="reply_incomplete")
