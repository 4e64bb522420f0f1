"""Which model answers in a conversation, from what was chosen and what became of it.

Pure; `conversations/runs/service.py` decides with it, and `web/src/chat/model_choice.ts` shows the same decision.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

ModelState = Literal["usable", "unloaded", "failed", "gone"]
"""What became of a chosen model: it can answer, now or when it is loaded; it is on the disk; it is, but its last load failed; it is
not there at all."""


class ModelChoice(Struct, frozen=True):
    """The model that answers, "" for the default. `load`: it must be loaded first. `wanted`: the chosen model that cannot answer,
    where the default answers instead, and `reason` why."""

    model: str = ""
    load: bool = False
    wanted: str = ""
    reason: Literal["", "unloaded", "failed", "gone"] = ""


def choose_model(
    own: str, own_state: ModelState, preferred: str, preferred_state: ModelState, *, may_load: bool
) -> ModelChoice:
    """`own`: the choice of the message or its conversation, `preferred` that of the user for new chats, "" for none.

    A model is loaded only for a conversation that chose it: loading takes minutes and memory, and a preference for new chats may be
    months old. One whose last load failed is not loaded by sending a message; that would repeat the failure with each.
    """
    if own:
        if own_state == "usable":
            return ModelChoice(own)
        if own_state == "unloaded" and may_load:
            return ModelChoice(own, load=True)
        return ModelChoice(wanted=own, reason=own_state)
    if preferred and preferred_state == "usable":
        return ModelChoice(preferred)
    return ModelChoice()
