"""Examples of poses and motion, which the tests of the page compare with its own arithmetic. Run to write them anew."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec

from duologue.faces.catalogue import look
from duologue.faces.motion import MOODS, FaceMotion, Mood, motion_at
from duologue.faces.pose import posed

FILE = Path(__file__).resolve().parent.parent / "faces" / "face_examples.json"
DIGITS = 5
POSES: tuple[dict[str, float], ...] = (
    {},
    {"open": 1.0},
    {"open": 0.4, "round": 0.8, "turn": -0.5, "tilt": 0.3},
    {"press": 1.0, "breath": 0.5, "nod": 0.2},
    {"tuck": 0.7, "smile": 0.3},
)
WALK: tuple[tuple[Mood, float, int], ...] = (
    ("calling", 16.0, 20),
    ("listening", 33.0, 30),
    ("thinking", 16.0, 25),
    ("speaking", 250.0, 6),
    ("speaking", 16.0, 30),
    ("paused", 8.0, 20),
    ("over", 16.0, 20),
)
"""States, milliseconds between steps, and steps."""


def examples() -> dict[str, Any]:
    """Poses of three shapes, motion at moments in every state, and one face that passes through several."""
    shapes = [shape for shape in look("mira").shapes if shape.id in {"mouth", "lid1", "neck"}]
    return {
        "posed": [
            {
                "shape": json.loads(msgspec.json.encode(shape)),
                "pose": pose,
                "points": _rounded(posed(shape, pose)),
            }
            for shape in shapes
            for pose in POSES
        ],
        "motion": [
            {"seconds": seconds, "mood": mood, "seed": seed, "pose": _parts(motion_at(seconds, mood, seed))}
            for mood in MOODS
            for seed, seconds in ((0, 0.0), (1, 1.234), (7, 33.3), (4_000_000_000, 47.99), (7, 100.01))
        ],
        "walks": [
            {"seed": seed, "still": still, "steps": _walk(FaceMotion("calling", seed, still=still))}
            for seed, still in ((3, False), (11, True))
        ],
    }


def _walk(motion: FaceMotion) -> list[dict[str, Any]]:
    """Each stretch with the pose after its last step."""
    steps = []
    for mood, elapsed, count in WALK:
        pose: dict[str, float] = {}
        for _ in range(count):
            pose = motion.step(elapsed, mood)
        steps.append({"mood": mood, "elapsed": elapsed, "count": count, "pose": _parts(pose)})
    return steps


def _rounded(values: list[float]) -> list[float]:
    return [round(value, DIGITS) for value in values]


def _parts(pose: dict[str, float]) -> dict[str, float]:
    return {part: round(value, DIGITS) for part, value in pose.items()}


def written() -> str:
    return json.dumps(examples(), separators=(",", ":")) + "\n"


def stored() -> str:
    return FILE.read_text(encoding="utf-8")


if __name__ == "__main__":
    FILE.write_text(written(), encoding="utf-8")
