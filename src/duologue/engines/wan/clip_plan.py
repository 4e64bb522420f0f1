"""What clip is to be rendered, and the key that it is kept under. Pure.

Used by `renderer`. A clip is a function of its plan: the same picture, words, seed, model and LoRAs make the same clip, which is then rendered
once.
"""

from __future__ import annotations

import hashlib

import msgspec
from msgspec import Struct

from duologue.errors import BadRequest

PROMPT = (
    "A person looks into the camera and listens, with a relaxed face and closed lips. The head stays still. They breathe calmly and blink now and "
    "then. The camera does not move, the light does not change."
)
NEGATIVE = "talking, open mouth, turning head, moving camera, cut, zoom, flicker, blurred, deformed face, text, watermark"
SHORTEST, LONGEST = 0.5, 10.0
"""Seconds of a clip. The models were trained on five."""
FRAME_STEP = 4
"""Frames that become one latent: a clip has a multiple of them and one more."""


class ClipPlan(Struct, frozen=True):
    """`picture`: PNG, JPEG or WebP; `seconds` of the clip; `loras`: whether those of the settings are used."""

    picture: bytes
    seconds: float = 5.0
    prompt: str = PROMPT
    negative: str = NEGATIVE
    seed: int = 0
    loras: bool = True


class WanFacts(Struct, frozen=True):
    """What is known of a loaded model. `name`; `rate`: frames a second that it was trained with; `closes`: it can be told how a clip ends,
    so that one ends as it began; `multiple`: of pixels that both sides have; `experts`: one or two transformers."""

    name: str
    rate: int
    closes: bool
    multiple: int
    experts: int


def frame_count(seconds: float, rate: int) -> int:
    """Frames of a clip of about this length, as many as the model can make. Raises BadRequest for a length that it cannot."""
    if not SHORTEST <= seconds <= LONGEST:
        raise BadRequest(
            f"A base clip has {SHORTEST:g} to {LONGEST:g} seconds, not {seconds:g}.", param="seconds"
        )
    return max(1, round(seconds * rate / FRAME_STEP)) * FRAME_STEP + 1


def clip_key(plan: ClipPlan, *model: object) -> str:
    """The key of the clip: it changes with everything in `plan`, and with what is said of the `model`."""
    parts = (hashlib.sha256(plan.picture).hexdigest(), msgspec.structs.replace(plan, picture=b""), *model)
    return hashlib.sha256(msgspec.json.encode(parts)).hexdigest()[:32]
