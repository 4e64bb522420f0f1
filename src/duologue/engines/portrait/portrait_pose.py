"""The pose of a frame: the mouth from its keys, the rest of the face from the avatar's own clock.

Pure; `engine.py` asks for each frame. Idle frames and those of a reply are computed alike, so that one follows the other without a jump:
the face moves in a loop of LOOP_S seconds, and only nods and brows that mark words come with the mouth and go with it.
"""

from __future__ import annotations

from collections.abc import Sequence

from duologue.faces.motion import Manner, accent_at, composed
from duologue.faces.pose import PARTS, mouth_pose
from duologue.values.audio import SPOKEN_RATE
from duologue.values.mouth import MouthKey, mouth_at

LOOP_S = 12.0
"""Seconds after which idle motion repeats itself. Each second of it is drawn once for every call that streams video."""
JOIN_S = 1.0
"""Seconds at the loop's end in which it passes over into its beginning."""
TWOS = 2
"""Frames for which head and shoulders stay as they are, as in drawn animation: mouth and eyes move in each frame."""
HEAD = ("turn", "nod", "tilt", "breath")
MANNER = Manner(smile=0.27, tilt=0.05, brow=0.05, spread=0.1, sway=0.8)
SEED = 3
NOD, BROW = 0.4, 0.45
"""How much head and brows mark a word."""
AROUND_S = 0.3
"""Seconds before and after a frame in which the mouth must move for words to be marked."""


def pose_of(frame: int, rate: int, at: float, keys: Sequence[MouthKey]) -> dict[str, float]:
    """The pose of the frame with this number on the avatar's clock, which shows sample `at` of a reply with these keys."""
    seconds = frame / rate
    pose = dict.fromkeys(PARTS, 0.0) | idle_pose(seconds) | _head(idle_pose(frame // TWOS * TWOS / rate))
    if not keys:
        return pose
    press = pose["press"]
    pose |= mouth_pose(mouth_at(keys, at))
    pose["press"] = max(press, pose["press"])
    held = frame % TWOS
    accent = accent_at((frame - held) / rate, SEED) * _liveliness(at - held * SPOKEN_RATE / rate, keys)
    pose["nod"] += NOD * accent
    pose["brow"] += BROW * accent
    return pose


def idle_pose(seconds: float) -> dict[str, float]:
    """What the face does by itself at this time of its clock."""
    into = seconds % LOOP_S
    pose = composed(MANNER, into, SEED)
    share = (into - (LOOP_S - JOIN_S)) / JOIN_S
    if share <= 0:
        return pose
    share = share * share * (3 - 2 * share)
    # The second before the loop's beginning leads into it.
    ahead = composed(MANNER, into - LOOP_S, SEED)
    return {name: value + (ahead[name] - value) * share for name, value in pose.items()}


def _head(pose: dict[str, float]) -> dict[str, float]:
    return {name: pose[name] for name in HEAD}


def _liveliness(at: float, keys: Sequence[MouthKey]) -> float:
    """How much the mouth moves around a sample, 0 to 1; 0 at both ends of a reply."""
    step = AROUND_S * SPOKEN_RATE / 3
    opened = sum(mouth_at(keys, at + number * step).open for number in range(-3, 4)) / 7
    return min(1.0, 4 * opened)
