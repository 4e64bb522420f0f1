"""Whether and how long a model thinks before it answers: the fields of `/v1/chat/completions` that say so.

Clients of different servers say it in different ways; `openai.py` has all of them as fields of its body.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, AliasChoices, Field

from duologue.values.requests import Effort
from duologue.wire.validation import EFFORTS, MAX_TOKENS, Body, JsonObject


def _thinking_tokens(value: int) -> int | None:
    if value == -1:
        return None
    if 0 <= value <= MAX_TOKENS:
        return value
    raise ValueError(f"must be a whole number from 0 to {MAX_TOKENS:,}, or -1 for no limit")


ThinkingTokens = Annotated[int, AfterValidator(_thinking_tokens)] | None


class ReasoningBody(Body):
    """Thinking, as some clients ask for it."""

    effort: str | None = None
    enabled: bool | None = None
    max_tokens: ThinkingTokens = None


class ThinkingFields(Body):
    """The fields of a body."""

    reasoning_effort: str | None = Field(
        default=None,
        description='"none" turns thinking off; "minimal", "low", "medium" and "high" turn it on and limit it.',
    )
    enable_thinking: bool | None = None
    reasoning: ReasoningBody | None = None
    reasoning_budget_tokens: ThinkingTokens = Field(
        default=None,
        validation_alias=AliasChoices(
            "reasoning_budget_tokens",
            "reasoning_budget",
            "thinking_budget",
            "thinking_token_budget",
            "thinking_budget_tokens",
        ),
        description="The most tokens of its reasoning; 0 turns thinking off, -1 is no limit.",
    )
    reasoning_control: bool = Field(
        default=False,
        description="Accepted and without effect: `/v1/chat/completions/control` can end any running thought.",
    )
    chat_template_kwargs: JsonObject = Field(
        default={},
        validation_alias=AliasChoices("chat_template_kwargs", "template_vars"),
        description="Variables for the model's chat template.",
    )

    def thinking_asked(self) -> tuple[bool | None, Effort | None, int | None, dict[str, object]]:
        """Whether to think, for how long (in words and in tokens), and the remaining template variables. Clients have several ways
        to say it: `enable_thinking` wins over a switch among the template variables, that over `reasoning`, and that over
        `reasoning_effort` and a budget of tokens."""
        variables: dict[str, object] = dict(self.chat_template_kwargs)
        asked = self.reasoning or ReasoningBody()
        thinking = self.enable_thinking
        for name in ("enable_thinking", "thinking"):  # the switches that chat templates have
            switch = variables.get(name)
            if isinstance(switch, bool):
                del variables[name]
                thinking = switch if thinking is None else thinking
        if thinking is None:
            thinking = asked.enabled
        tokens = asked.max_tokens if asked.max_tokens is not None else self.reasoning_budget_tokens
        if tokens is not None and thinking is None:
            thinking = tokens > 0
        effort = asked.effort or self.reasoning_effort
        if effort is None:
            return thinking, None, tokens or None, variables
        if (
            effort != "none" and effort not in EFFORTS
        ):  # a value of the model's own, which its template may know
            variables.setdefault("reasoning_effort", effort)
        return (
            (effort != "none") if thinking is None else thinking,
            EFFORTS.get(effort),
            tokens or None,
            variables,
        )
