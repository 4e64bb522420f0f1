"""Whose turn it is to draw: one drawing at a time for each video engine, in turns between the calls that share it.

`SpeechEngines` has one. A drawing is a second of video at most, so that a clip of a minute does not keep the lips of another call waiting.
"""

from __future__ import annotations

from duologue.fair_lane import FairLane
from duologue.threads import Refusal

WAITING = 64
"""Drawings that may wait, of all calls,"""
WAITING_PER_CALL = 4
"""and of one: its replies, and the avatar at rest."""
PATIENCE = 60.0
"""Seconds a drawing waits for its turn."""


def drawing_lane() -> FairLane:
    """The lane of one video engine. A turn that is refused raises Busy (`video_busy`)."""
    return FairLane(
        1,
        1,
        waiting=WAITING,
        waiting_per_user=WAITING_PER_CALL,
        patience=PATIENCE,
        refusal=Refusal(
            "Too many calls are waiting for their video at the moment; this reply is only spoken.",
            "Drawing this reply would have taken too long; it is only spoken.",
            "video_busy",
        ),
    )
