"""What happens to one reply that is drawn as video, and what is to be done: the input and the output of its machine.

`sessions/video` states the facts and carries the steps out in order; `clip_machine.py` and `stream_machine.py` decide. Positions are
samples at 24 kHz from the reply's first, `now` is the call's time in samples received (16 kHz), frames are counted from the reply's first.
"""

from __future__ import annotations

from msgspec import Struct

from duologue.values.audio import HEARD_RATE, SPOKEN_RATE

LONGEST = 600 * SPOKEN_RATE
"""Samples of one reply that are drawn, ten minutes: its sound is kept for the drawing, and a clip is one message."""


def sample_of(frame: int, rate: int) -> int:
    """The sample that the frame belongs to."""
    return frame * SPOKEN_RATE // rate


def frames_of(samples: int, rate: int) -> int:
    """How many frames this many samples last, the last one begun included."""
    return -(-samples * rate // SPOKEN_RATE)


def clock_frame(now: int, rate: int) -> int:
    """The number of the frame at this time on the avatar's own clock."""
    return now * rate // HEARD_RATE


# ---- facts


class SoundAdded(Struct, frozen=True):
    """`samples` of the reply's sound exist in total."""

    samples: int


class SoundComplete(Struct, frozen=True):
    """All of its sound exists: `samples`."""

    samples: int


class Due(Struct, frozen=True):
    """The reply's turn has come: it is released, and nothing before it plays. May be repeated."""


class Heard(Struct, frozen=True):
    """The caller has heard the reply up to this sample."""

    samples: int


class Held(Struct, frozen=True):
    """The reply is on hold."""


class Resumed(Struct, frozen=True):
    """The reply continues at the sample where it was held."""


class ReplyOver(Struct, frozen=True):
    """The reply is over: interrupted, dropped, or heard to its end."""


class Drawn(Struct, frozen=True):
    """The drawing with this number is done."""

    drawing: int


class DrawingFailed(Struct, frozen=True):
    """The drawing with this number failed, or took too long."""

    drawing: int


FilmFact = SoundAdded | SoundComplete | Due | Heard | Held | Resumed | ReplyOver | Drawn | DrawingFailed

# ---- steps


class Draw(Struct, frozen=True):
    """Draw `count` frames from frame `frame` of the reply on. `first`: the number of that frame on the avatar's own clock. The answer is
    `Drawn` or `DrawingFailed` with the same number. `last`: the reply ends with it."""

    drawing: int
    frame: int
    first: int
    count: int
    last: bool = False


class DrawWhole(Struct, frozen=True):
    """Draw the whole reply of `samples`. `asked_at`: when, on the call's clock, to which the avatar's own is bound."""

    drawing: int
    samples: int
    asked_at: int


class DropDrawing(Struct, frozen=True):
    """Stop drawing this, and forget the pictures: they are not wanted."""

    drawing: int


class SendSegment(Struct, frozen=True):
    """Send the pictures of this drawing."""

    drawing: int


class SendClip(Struct, frozen=True):
    """Send the reply as the clip that this drawing made. None of it was sent before, and nothing follows."""

    drawing: int


class SendSound(Struct, frozen=True):
    """Send the reply as sound, from its first sample on."""


class EndVideo(Struct, frozen=True):
    """There are no more pictures of this reply, although its last segment was not sent."""


class TellProblem(Struct, frozen=True):
    """Tell the client that this reply is not drawn, or not to its end. `code` is empty for the problem of the drawing itself."""

    code: str = ""


FilmStep = Draw | DrawWhole | DropDrawing | SendSegment | SendClip | SendSound | EndVideo | TellProblem

TOO_LONG = "clip_too_long"
"""The `TellProblem` of a reply of more than LONGEST."""
