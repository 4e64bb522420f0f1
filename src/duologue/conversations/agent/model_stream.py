"""Listening to a model for one turn: batch by batch, until it ends or says nothing for too long.

Owns the patience. The slot is held in here and nowhere else. Knows no row and no log.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import anyio

from duologue.conversations.agent.turn import ModelTurn
from duologue.values.events import Event, Failed
from duologue.values.generate import Generate
from duologue.values.requests import ChatRequest

QUEUE_SILENCE = 30.0
"""Seconds of silence that are fine while waiting for a slot: places are told every few seconds there, and how long the
wait is does not matter."""
BROKEN_OFF = Failed("worker_lost", "The reply broke off. Continue it, or make it again.", 503)


async def listen(
    generate: Generate,
    request: ChatRequest,
    turn: ModelTurn,
    *,
    run: str,
    user: str,
    silence_s: float,
    heard: Callable[[ModelTurn, Sequence[Event]], bool],
) -> None:
    """Pass on everything the model says until `turn` has ended; `heard` says whether anyone still wants it."""
    async with generate(request, request_id=run, user=user) as batches:
        while turn.ended is None:
            batch = None
            with anyio.move_on_after(max(silence_s, QUEUE_SILENCE) if turn.queued else silence_s) as silence:
                batch = await anext(batches, None)
            if batch is None:
                heard(turn, [_silent(silence_s) if silence.cancelled_caught else BROKEN_OFF])
                return
            if not heard(turn, [event for _, event in batch]):
                return


def _silent(seconds: float) -> Failed:
    return Failed(
        "model_silent",
        f"The model said nothing for {seconds:g} seconds, so the reply was ended. Continue it, or try again.",
        504,
    )
