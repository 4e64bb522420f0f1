"""How a face moves by itself: blinks, gaze, breath, small motions of the head, and how it holds itself in each state of a call.

The page has the same in TypeScript (`web/src/voice/face/motion.ts`); one file of examples tests both. Chance is a number made of a seed and
of the time, so that everything is a function of the time, and after `PERIOD_S` seconds it begins again.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import cos, floor, pi, sin
from typing import Literal, get_args

from msgspec import Struct

Mood = Literal["calling", "listening", "hearing", "thinking", "speaking", "paused", "waiting", "over"]
"""A state of a call, or "calling" and "over" around it."""

MOODS: tuple[Mood, ...] = get_args(Mood)
PERIOD_S = 48.0
"""All slots and waves below divide it."""

BLINK_SLOT_S = 4.0
"""One blink in each slot, in its first half: two to six seconds from one to the next."""
CLOSING_S, CLOSED_S, OPENING_S = 0.075, 0.035, 0.14
AGAIN_S = 0.3
"""The second blink of two."""
DOUBLE_SHARE = 0.18
GAZE_SLOT_S = 1.6
SACCADE_S = 0.06
ACCENT_SLOT_S = 1.5
ACCENT_S = 0.55
BREATH_S = 4.0
EYES_HALF_MS, HEAD_HALF_MS = 70.0, 190.0
"""Half-lives of a change of state: the eyes go first."""
LONGEST_STEP_MS = 100.0


class Manner(Struct, frozen=True):
    """How a face holds itself. The first nine are the middle of its pose; `spread`: how far the eyes wander; `sway`: how much the head moves;
    `accents`: how much brows and head mark words."""

    look_x: float = 0.0
    look_y: float = 0.0
    turn: float = 0.0
    nod: float = 0.0
    tilt: float = 0.0
    brow: float = 0.0
    smile: float = 0.25
    press: float = 0.0
    blink: float = 0.0
    spread: float = 0.1
    sway: float = 0.6
    accents: float = 0.0


MANNERS: Mapping[Mood, Manner] = {
    "calling": Manner(smile=0.35, brow=0.1, spread=0.2),
    "listening": Manner(smile=0.32, tilt=0.1, brow=0.06, spread=0.08),
    "hearing": Manner(smile=0.26, tilt=0.24, nod=0.08, brow=0.22, spread=0.06, accents=0.35),
    "thinking": Manner(
        look_x=0.6,
        look_y=-0.65,
        turn=0.3,
        nod=-0.22,
        tilt=-0.2,
        brow=0.32,
        smile=0.12,
        press=0.15,
        spread=0.16,
    ),
    "speaking": Manner(smile=0.22, brow=0.04, spread=0.14, sway=1.2, accents=1.0),
    "paused": Manner(smile=0.2, tilt=0.3, brow=0.4, spread=0.05, sway=0.4),
    "waiting": Manner(look_y=0.05, smile=0.18, spread=0.5, sway=0.5),
    "over": Manner(look_y=0.25, nod=0.2, smile=0.3, blink=0.2, spread=0.0, sway=0.3),
}


def motion_at(seconds: float, mood: Mood, seed: int = 0) -> dict[str, float]:
    """The parts of a pose beside those of speech, `seconds` after the beginning, for a face that has been in this state for long."""
    return composed(MANNERS[mood], seconds, seed)


class FaceMotion:
    """The same for a face whose state changes: it passes from one to the other without a jump. `still`: it only blinks."""

    def __init__(self, mood: Mood, seed: int = 0, *, still: bool = False) -> None:
        self._manner = MANNERS[mood]
        self._seed = seed
        self._still = still
        self._seconds = 0.0

    def step(self, elapsed_ms: float, mood: Mood) -> dict[str, float]:
        """The parts of a pose `elapsed_ms` after the last step."""
        elapsed = min(LONGEST_STEP_MS, max(0.0, elapsed_ms))
        self._seconds += elapsed / 1000
        self._manner = _blended(self._manner, MANNERS[mood], elapsed)
        if not self._still:
            return composed(self._manner, self._seconds, self._seed)
        manner = self._manner
        blink = max(manner.blink, blink_at(self._seconds, self._seed))
        return {"blink": blink, "smile": manner.smile, "brow": manner.brow, "press": manner.press}


def composed(manner: Manner, seconds: float, seed: int) -> dict[str, float]:
    """What a face that holds itself like this does at a moment."""
    gaze_x, gaze_y = gaze_at(seconds, seed)
    accent = manner.accents * accent_at(seconds, seed)
    sway = manner.sway
    return {
        "blink": max(manner.blink, blink_at(seconds, seed)),
        "look_x": manner.look_x + manner.spread * gaze_x,
        "look_y": manner.look_y + 0.6 * manner.spread * gaze_y,
        "turn": manner.turn
        + 0.3 * manner.spread * gaze_x
        + sway * (0.2 * _wave(seconds, 12) + 0.1 * _wave(seconds, 16 / 3)),
        "nod": manner.nod + sway * (0.12 * _wave(seconds, 8) + 0.06 * _wave(seconds, 3)) + 0.45 * accent,
        "tilt": manner.tilt + sway * (0.16 * _wave(seconds, 16) + 0.05 * _wave(seconds, 4.8)),
        "brow": manner.brow + 0.5 * accent,
        "smile": manner.smile,
        "press": manner.press,
        "breath": 0.5 - 0.5 * cos(2 * pi * seconds / BREATH_S),
    }


def blink_at(seconds: float, seed: int) -> float:
    """How far the lids are closed, 0 to 1."""
    slot = floor(seconds / BLINK_SLOT_S)
    # A blink at the end of its slot's first half has ended long before the next slot.
    into = seconds - slot * BLINK_SLOT_S - 0.5 * BLINK_SLOT_S * _chance(seed, slot, 1, BLINK_SLOT_S)
    closed = _lid(into)
    if _chance(seed, slot, 2, BLINK_SLOT_S) < DOUBLE_SHARE:
        closed = max(closed, _lid(into - AGAIN_S))
    return closed


def gaze_at(seconds: float, seed: int) -> tuple[float, float]:
    """Where the eyes are between jumps and during them, -1 to 1 each."""
    slot = floor(seconds / GAZE_SLOT_S)
    starts = 0.6 * GAZE_SLOT_S * _chance(seed, slot, 3, GAZE_SLOT_S)
    share = _smooth((seconds - slot * GAZE_SLOT_S - starts) / SACCADE_S)
    before, after = _target(seed, slot - 1), _target(seed, slot)
    return before[0] + (after[0] - before[0]) * share, before[1] + (after[1] - before[1]) * share


def accent_at(seconds: float, seed: int) -> float:
    """How much a word is marked, 0 to 1: about every second slot has one."""
    slot = floor(seconds / ACCENT_SLOT_S)
    if _chance(seed, slot, 6, ACCENT_SLOT_S) < 0.5:
        return 0.0
    starts = (ACCENT_SLOT_S - ACCENT_S) * _chance(seed, slot, 7, ACCENT_SLOT_S)
    share = (seconds - slot * ACCENT_SLOT_S - starts) / ACCENT_S
    return sin(pi * share) ** 2 if 0 < share < 1 else 0.0


def _target(seed: int, slot: int) -> tuple[float, float]:
    """Where the eyes rest in a slot: often at the person in front of them."""
    if _chance(seed, slot, 8, GAZE_SLOT_S) < 0.4:
        return 0.0, 0.0
    return 2 * _chance(seed, slot, 4, GAZE_SLOT_S) - 1, 2 * _chance(seed, slot, 5, GAZE_SLOT_S) - 1


def _lid(into: float) -> float:
    """How far one blink has closed the eye, `into` seconds from its beginning."""
    if into <= 0:
        return 0.0
    if into < CLOSING_S:
        return _smooth(into / CLOSING_S)
    return 1 - _smooth((into - CLOSING_S - CLOSED_S) / OPENING_S)


def _blended(one: Manner, other: Manner, elapsed_ms: float) -> Manner:
    eyes = 1 - 0.5 ** (elapsed_ms / EYES_HALF_MS)
    head = 1 - 0.5 ** (elapsed_ms / HEAD_HALF_MS)
    values = {}
    for name in Manner.__struct_fields__:
        share = eyes if name in ("look_x", "look_y", "blink") else head
        value = getattr(one, name)
        values[name] = value + (getattr(other, name) - value) * share
    return Manner(**values)


def _wave(seconds: float, period: float) -> float:
    return sin(2 * pi * seconds / period)


def _smooth(share: float) -> float:
    """From 0 to 1 with rest at both ends."""
    share = min(1.0, max(0.0, share))
    return share * share * (3 - 2 * share)


def _chance(seed: int, slot: int, channel: int, slot_s: float) -> float:
    """A number of 0 to 1 that a slot of time has for each purpose: an integer hash of 32 bits, which JavaScript computes alike."""
    slot %= round(PERIOD_S / slot_s)
    value = (seed * 0x9E3779B1 + slot * 0x85EBCA6B + channel * 0xC2B2AE35) & 0xFFFFFFFF
    value ^= value >> 16
    value = (value * 0x7FEB352D) & 0xFFFFFFFF
    value ^= value >> 15
    value = (value * 0x846CA68B) & 0xFFFFFFFF
    return (value ^ (value >> 16)) / 2**32
