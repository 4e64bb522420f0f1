"""Which sound moves the lips of which frame: MuseTalk's arithmetic. Pure.

Whisper's encoder makes 50 steps of a second of sound, and a frame sees ten of them: at 25 frames a second its own two, four before and four
after. The official scripts encode a recording in pieces of half a minute. Here a reply is encoded in blocks of a second, each with the sound
around it, because a reply is drawn while it is spoken: what a frame shows depends on its block's sound alone, and not on how the frames were cut
into stretches. A stretch that ends at a block's edge needs LOOK_AHEAD of the sound behind it, or its last two frames see silence there.

Used by `engine` and `musetalk_network`.
"""

from __future__ import annotations

from msgspec import Struct

from duologue.values.audio import SPOKEN_RATE

STEPS = 50
"""Steps of the encoder for a second of sound."""
WINDOW = 10
"""Steps that a frame sees."""
BEFORE = 2
"""By how many frames' steps, rounded up, its window begins before it."""
LEFT = 2
"""Seconds of sound before a block that are encoded with it: the encoder looks both ways."""
LOOK_AHEAD = SPOKEN_RATE // 5
"""Samples (24 kHz) after a block that are encoded with it. The windows of its last frames reach 80 ms beyond them."""


class SoundBlock(Struct, frozen=True):
    """Consecutive frames of a reply whose windows are cut from one encoding. `first` and `count`: the frames; `begin` and `end`: the
    samples of the reply (24 kHz) to be encoded; `step`: the number of the encoding's first step in the reply."""

    first: int
    count: int
    begin: int
    end: int
    step: int


def frames_of(samples: int, rate: int) -> int:
    """How many frames at `rate` a second so much sound (24 kHz) has: those that end within it."""
    return samples * rate // SPOKEN_RATE


def steps_of(samples: int) -> int:
    """How many steps of an encoding so much sound (24 kHz) fills; the rest of half a minute is silence."""
    return samples * STEPS // SPOKEN_RATE


def frame_at(sample: int, rate: int) -> int:
    """The frame of a reply that shows this sample (24 kHz), by the nearest edge between two frames."""
    return (2 * sample * rate + SPOKEN_RATE) // (2 * SPOKEN_RATE)


def sound_blocks(first: int, count: int, rate: int) -> list[SoundBlock]:
    """The blocks that the frames of a reply from `first` on lie in, in order."""
    blocks = []
    end = first + count
    while first < end:
        second = first // rate
        until = min(end, (second + 1) * rate)
        begin = max(0, second - LEFT)
        blocks.append(
            SoundBlock(
                first,
                until - first,
                begin * SPOKEN_RATE,
                (second + 1) * SPOKEN_RATE + LOOK_AHEAD,
                begin * STEPS,
            )
        )
        first = until
    return blocks


def first_step(frame: int, rate: int) -> int:
    """The first step of the reply that a frame sees; negative near its beginning. A rate that does not divide 50 does not drift."""
    return frame * STEPS // rate - BEFORE * -(-STEPS // rate)


def window(frame: int, rate: int, block_step: int, steps: int) -> list[int | None]:
    """The steps of a block's encoding (`steps` of them, the first one being `block_step` of the reply) that a frame sees. None: there is no sound."""
    begin = first_step(frame, rate) - block_step
    return [step if 0 <= step < steps else None for step in range(begin, begin + WINDOW)]


def batches(first: int, count: int, size: int) -> list[range]:
    """The frames in groups of at most `size`."""
    return [range(start, min(start + size, first + count)) for start in range(first, first + count, size)]
