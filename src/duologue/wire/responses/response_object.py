"""The response object of OpenAI's Responses API: what it repeats of its request, and its state at a moment.

Pure; ids and times are arguments. Used by `response_stream` and `gateway.responses`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from duologue.values.events import Usage
from duologue.values.requests import ModelCard
from duologue.wire.responses.response_body import ResponseBody
from duologue.wire.responses.response_tools import shown_tools
from duologue.wire.validation import ALLOWED

ResponseStatus = Literal["queued", "in_progress", "completed", "incomplete", "failed", "cancelled"]
RUNNING = ("queued", "in_progress")
"""The states of a response that has not ended."""


def fixed_fields(body: ResponseBody, card: ModelCard, id: str, created: int) -> dict[str, Any]:
    """What stays the same from the first event to the last."""
    reasoning = body.reasoning
    return {
        "id": id,
        "object": "response",
        "created_at": created,
        "background": body.background,
        "conversation": None if body.conversation is None else {"id": body.conversation.id},
        "instructions": body.instructions,
        "max_output_tokens": body.max_output_tokens,
        "max_tool_calls": body.max_tool_calls,
        "metadata": dict(body.metadata),
        "model": card.name,
        "parallel_tool_calls": body.parallel_tool_calls,
        "previous_response_id": body.previous_response_id,
        "prompt_cache_key": body.prompt_cache_key,
        "reasoning": {
            "effort": (reasoning and reasoning.effort) or body.reasoning_effort,
            "summary": reasoning and (reasoning.summary or reasoning.generate_summary),
        },
        "safety_identifier": body.safety_identifier,
        "service_tier": "default",
        "store": body.store,
        "temperature": _sampled(body, card, "temperature"),
        "text": {"format": _shown_format(body), "verbosity": body.text.verbosity or "medium"},
        "tool_choice": _shown_choice(body),
        "tools": shown_tools(body.tools),
        "top_logprobs": body.top_logprobs or 0,
        "top_p": _sampled(body, card, "top_p"),
        "presence_penalty": body.presence_penalty or 0.0,
        "frequency_penalty": body.frequency_penalty or 0.0,
        "truncation": body.truncation,
        "user": body.user,
    }


def snapshot(
    fixed: Mapping[str, Any],
    status: ResponseStatus,
    output: Sequence[Mapping[str, Any]] = (),
    *,
    usage: Usage | None = None,
    error: tuple[str, str] | None = None,
    incomplete: str | None = None,
    completed: int | None = None,
    extras: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The response at a moment. `error`: a code and a sentence; `extras`: fields beyond OpenAI's."""
    return {
        **fixed,
        "status": status,
        "completed_at": completed,
        "error": None if error is None else {"code": error[0], "message": error[1]},
        "incomplete_details": None if incomplete is None else {"reason": incomplete},
        "output": list(output),
        "usage": None if usage is None else shown_usage(usage),
        **(extras or {}),
    }


def shown_usage(usage: Usage) -> dict[str, Any]:
    """The token counts in this API's names."""
    counts: dict[str, Any] = {
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": 0},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    }
    return counts | {"estimated": True} if usage.estimated else counts


def failed_after(response: Mapping[str, Any], code: str, message: str) -> dict[str, Any]:
    """A response that was running and cannot end any more."""
    return {**response, "status": "failed", "error": {"code": code, "message": message}}


def _sampled(body: ResponseBody, card: ModelCard, name: str) -> float:
    """The value of a sampler: the request's, else the model's, else OpenAI's default."""
    asked = getattr(body, name)
    known = card.defaults.get(name) if asked is None else asked
    return float(known) if isinstance(known, int | float) else 1.0


def _shown_format(body: ResponseBody) -> dict[str, Any]:
    asked = body.text.format
    if asked.type != "json_schema":
        return {"type": asked.type}
    shown = {"type": asked.type, "name": asked.name, "schema": asked.schema_, "strict": asked.strict}
    return shown if asked.description is None else shown | {"description": asked.description}


def _shown_choice(body: ResponseBody) -> object:
    choice = body.tool_choice or "auto"
    name = choice.removeprefix("function:")
    if name != choice:
        called = body.called_tools.get(name)
        return {"type": "custom" if called is not None and called.custom else "function", "name": name}
    if choice.startswith(ALLOWED):
        mode, _, names = choice.removeprefix(ALLOWED).partition(":")
        tools = [{"type": "function", "name": name} for name in msgspec.json.decode(names)]
        return {"type": "allowed_tools", "mode": mode, "tools": tools}
    return choice
