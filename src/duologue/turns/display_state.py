"""The one word for where a call is.

Owns which of the things that are true at once is shown. Decides nothing.
"""

from __future__ import annotations

from duologue.turns.caller_turn import CallerTurn
from duologue.turns.reply_state import ReplyState
from duologue.values.call_events import CallState


def state_of(turn: CallerTurn | None, mouth: ReplyState, *, ended: bool) -> CallState:
    """What is shown of a call with this open turn. `ended`: the caller's turn is over, and only its words are waited for."""
    saying, main = mouth.foremost, mouth.main
    if saying is not None and saying.sounds:
        return "paused" if saying.held is not None else "speaking"
    if turn is not None and not turn.doubtful:
        return "thinking" if ended else "hearing"
    if main is not None and main.waiting is not None:
        return "waiting"
    return "thinking" if saying is not None or main is not None else "listening"
