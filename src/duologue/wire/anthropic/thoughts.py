"""What a request says about thinking, and the signature of a thought.

A signature is opaque to clients, which send it back with the thought. One of this server says where it came from. Of a thought that the client did not
want to see (`display: omitted`) it holds the text, so that the model has it again in the next turn. It proves nothing: a client can
write any thought into its request anyway. Used by `messages_body`, `conversation` and `block_sequence`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from duologue.errors import Problem
from duologue.values.requests import Effort
from duologue.wire.media_parts import from_base64, to_base64
from duologue.wire.validation import MAX_TOKENS, Body

SIGNATURE = "duologue"
HIDDEN = f"{SIGNATURE}:"

Display = Literal["shown", "omitted", "hidden"]
"""`omitted`: a thought is a block without its text. `hidden`: it is no block."""
EFFORTS: dict[str, Effort] = {"low": "low", "medium": "medium", "high": "high"}
"""The levels that limit thinking; `xhigh` and `max` do not."""


class ThinkingBody(Body):
    """How to think. `adaptive`: for as long as `output_config.effort` says. `between_tools` is `disabled`: it is about words that only
    certain models write."""

    type: Literal["enabled", "disabled", "adaptive", "between_tools"]
    budget_tokens: int | None = Field(default=None, ge=1, le=MAX_TOKENS)
    display: Literal["summarized", "omitted", "updates"] | None = None


def thinks(thinking: ThinkingBody | None) -> bool:
    """Whether the model is to think. It is not where nothing is said: such clients read the first block as the answer, and count on
    `max_tokens` for it alone."""
    return thinking is not None and thinking.type in ("enabled", "adaptive")


def display_of(thinking: ThinkingBody | None) -> Display:
    """How thoughts are shown. Some models think although they should not."""
    if thinking is None or not thinks(thinking):
        return "hidden"
    return "omitted" if thinking.display == "omitted" else "shown"


def signature(thought: str, *, hidden: bool) -> str:
    """The signature of a thought."""
    return HIDDEN + to_base64(thought.encode(errors="replace")) if hidden else SIGNATURE


def hidden_thought(signature: str) -> str:
    """The thought in a signature; empty where there is none."""
    if not signature.startswith(HIDDEN):
        return ""
    try:
        return from_base64(signature.removeprefix(HIDDEN), "signature").decode(errors="replace")
    except Problem:
        return ""
