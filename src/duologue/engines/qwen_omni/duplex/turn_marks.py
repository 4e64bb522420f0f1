"""The marks between turns, read out of the model's own chat template: a conversation with words in the places of its turns is rendered and
cut at these words.

Used by `held_call` when a call begins. So a call is written as the model's chats are, without a second table of templates. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from duologue.errors import Unsupported
from duologue.text.templates.prompt_request import TEMPLATE_ERROR, RenderedPrompt
from duologue.values.messages import Message, assistant, user


class TurnMarks(Struct, frozen=True):
    """`prompt`: everything up to the open turn of the caller. `reply`: ends that turn and begins the model's; `caller`: ends the model's
    and begins the caller's next one."""

    prompt: str
    reply: str
    caller: str


def with_turns(messages: Sequence[Message], mark: str) -> tuple[Message, ...]:
    """The messages, and behind them a turn of the caller, a reply and another turn of the caller, each of one word that begins with
    `mark`."""
    return (*messages, user(f"{mark}a"), assistant(f"{mark}b"), user(f"{mark}c"))


def cut_turns(rendered: RenderedPrompt, mark: str) -> TurnMarks:
    """The marks in such a conversation, rendered with its generation prompt. Raises Unsupported for a template that leaves out or repeats a
    turn."""
    parts: list[str] = []
    rest = rendered.text
    for letter in "abc":
        before, found, rest = rest.partition(f"{mark}{letter}")
        if not found:
            raise _unusable()
        parts.append(before)
    if mark in rest:
        raise _unusable()
    return TurnMarks(parts[0], rest, parts[2])


def _unusable() -> Unsupported:
    return Unsupported(
        "The model's chat template does not write the turns of a conversation one after the other, so it cannot hold a call.",
        code=TEMPLATE_ERROR,
    )
