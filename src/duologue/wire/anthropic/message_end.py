"""How a message of Anthropic's API ends: its stop reason and its counts. Used by `message_stream` and `whole_message`."""

from __future__ import annotations

from msgspec import Struct

from duologue.errors import EngineFailed
from duologue.values.events import Done, Fitted, Prefilled, Usage
from duologue.wire.fitting_notes import fitted_fields

NEAR = 8
"""Tokens by which a full context may be short of its size."""
IGNORED_NAMES = {
    "enable_thinking": "thinking",
    "reasoning_effort": "output_config.effort",
    "reasoning_budget_tokens": "thinking.budget_tokens",
    "max_slices": "",
}
"""This API's names of what engines name as ignored, where they differ; "" for what its requests cannot ask for."""


class MessageHead(Struct, frozen=True):
    """What is known of a message before its first word. `stops` and `max_tokens` are those of the request, `asks_for_thoughts` whether
    it says anything about thinking."""

    id: str
    model: str
    max_tokens: int = 0
    stops: tuple[str, ...] = ()
    asks_for_thoughts: bool = False

    def fields(self) -> dict[str, object]:
        return {"id": self.id, "type": "message", "role": "assistant", "model": self.model}

    def notes(self, prefilled: Prefilled | None, fitted: Fitted | None) -> dict[str, object]:
        """Extensions: fields that were ignored, and what was made of media."""
        names = [IGNORED_NAMES.get(name, name) for name in (prefilled.ignored if prefilled else ())]
        if not self.asks_for_thoughts:
            names = [name for name in names if name != "thinking"]
        notes: dict[str, object] = {"ignored": ignored} if (ignored := list(filter(None, names))) else {}
        return notes | (fitted_fields(fitted) if fitted else {})


def end_fields(head: MessageHead, done: Done, context: int) -> dict[str, object]:
    """`stop_reason` and `stop_sequence`. `context`: the tokens that a chat of the model has room for, 0 where that is unknown. Raises
    EngineFailed for a reply that was cancelled."""
    if done.finish == "cancelled":
        raise EngineFailed("The reply was cancelled on the server.", code="cancelled", status=503)
    stop = done.stop if done.stop in head.stops else None
    return {"stop_reason": _reason(head, done, context, stop), "stop_sequence": stop}


def _reason(head: MessageHead, done: Done, context: int, stop: str | None) -> str:
    if done.finish == "tool_calls":
        return "tool_use"
    if head.max_tokens == 0:
        return "max_tokens"
    if done.finish == "stop":
        return "end_turn" if stop is None else "stop_sequence"
    usage = done.usage
    is_full = context > 0 and usage.input + usage.output >= context - NEAR
    return "model_context_window_exceeded" if is_full and usage.output < head.max_tokens else "max_tokens"


def usage_fields(usage: Usage) -> dict[str, object]:
    """The counts. `input_tokens` are those that did not come from the cache; the cache fills by itself, so nothing counts as written
    to it."""
    counts: dict[str, object] = {
        "input_tokens": max(0, usage.input - usage.cached),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
        "output_tokens_details": {"thinking_tokens": usage.reasoning},
    }
    return counts | {"estimated": True} if usage.estimated else counts
