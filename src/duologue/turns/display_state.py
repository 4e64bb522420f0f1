"""The single state a client shows for a call ("listening", "thinking", ...), when several things are true at once."""

from __future__ import annotations

from duologue.turns.caller_turn import CallerTurn
from duologue.turns.reply_state import ReplyState
from duologue.values.call_events import CallState


def state_of(turn: CallerTurn | None, replies: ReplyState, *, turn_over: bool) -> CallState:
    """The state of a call with this open turn. `turn_over`: the caller has finished, and only the final transcript is
    missing."""
    utterance, main = replies.current, replies.main
    if utterance is not None and utterance.audible_now:
        return "paused" if utterance.held_at is not None else "speaking"
    if turn is not None and not turn.doubtful:
        return "thinking" if turn_over else "hearing"
    if main is not None and main.waiting_since is not None:
        return "waiting"
    return "thinking" if utterance is not None or main is not None else "listening"
