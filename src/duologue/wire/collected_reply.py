"""A reply collected from its events: text, reasoning, tool calls and counts, as the last message of every dialect repeats them.

Used by the encoders of `wire`, by `CallReplies`, and wherever a reply is needed as a whole.
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
        self._tool_calls: dict[int, tuple[str, str, list[str]]] = {}
        self._deltas = 0
        self._sound: list[bytes] = []
        self.logprobs: list[TokenLogprob] = []
        self.prefilled: Prefilled | None = None
        self.done: Done | None = None

    def add(self, event: Event) -> None:
        """Add an event. Raises Problem for `Failed`."""
        self._deltas += isinstance(event, Delta)
        match event:
            case TextDelta():
                self._text.append(event.text)
                self.logprobs.extend(event.logprobs)
            case ReasoningDelta():
                self._reasoning.append(event.text)
            case ToolCallDelta():
                _, _, pieces = self._tool_calls.setdefault(
                    event.index, (event.id or "", event.name or "", [])
                )
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
        """The audio: 16-bit mono, 24 kHz."""
        return b"".join(self._sound)

    @property
    def reasoning(self) -> str:
        return "".join(self._reasoning)

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tool calls in order of their index; arguments are the model's own JSON text."""
        return tuple(
            ToolCall(id, name, "".join(pieces)) for _, (id, name, pieces) in sorted(self._tool_calls.items())
        )

    @property
    def usage(self) -> Usage:
        """The counts of `Done`; before it, those of the prefill, and one output token for each delta as an estimate."""
        if self.done is not None:
            return self.done.usage
        prefilled = self.prefilled or Prefilled(None)
        return Usage(prefilled.input or 0, self._deltas, prefilled.cached, estimated=self._deltas > 0)

    @property
    def ignored(self) -> tuple[str, ...]:
        return self.prefilled.ignored if self.prefilled else ()


def problem(failed: Failed) -> Problem:
    """A `Failed` as a Problem."""
    return Problem(
        failed.message,
        code=failed.code,
        status=failed.status,
        param=failed.param,
        retry_after=failed.retry_after,
    )


def broken_off() -> EngineFailed:
    """The error for a stream that ended without `Done` or `Failed`."""
    return EngineFailed("The reply broke off before its end. Try again.", code="reply_incomplete")


def check_complete(failed: Failed | None, ended: bool) -> None:
    """For the end of a stream. Raises the problem of a reply that failed, or EngineFailed for one that has not ended."""
    if failed is not None:
        raise problem(failed)
    if not ended:
        raise broken_off()
