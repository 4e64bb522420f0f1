"""How long a sentence of Pocket TTS is, which of its frames become sound together, and which voices are kept. Pure.

Called by `pocket` and `pocket_network`. A frame is 80 ms of sound, which the network makes one after the other as a latent; a
second network, the codec, turns latents into sound.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from typing import Generic, TypeVar

from msgspec import Struct

T = TypeVar("T")

SHORT_TEXT = 4
"""Words up to which a text is followed by more frames."""
AFTER_SHORT, AFTER = 4, 2
"""Frames that follow the one in which speech ends, so that its last sound fades."""
BATCHES = (1, 1, 2)
"""Frames turned into sound together at the beginning, when somebody waits for it."""
BATCH = 4
"""And later, when it is made faster than it is heard: the frames before are decoded again with each batch."""
LEAST_CONTEXT = 4
"""Frames before a batch that are decoded with it at least. Alone, its sound would not fit to that of the frames before."""


class EndRule(Struct, frozen=True):
    """When speech ends: the network's own sign of it is above `threshold`, which counts from frame `earliest` on."""

    threshold: float = -4.0
    earliest: int = 6


class SentenceEnd:
    """Counts the frames of one sentence until it is complete."""

    def __init__(self, rule: EndRule, *, words: int, most: int) -> None:
        """`most`: frames after which it ends in any case."""
        self._rule, self._most = rule, most
        self._after = AFTER_SHORT if words <= SHORT_TEXT else AFTER
        self._frames = 0
        self._ended = 0

    def take(self, sign: float) -> bool:
        """The network's sign of the end in the next frame. True: this frame is the last."""
        self._frames += 1
        if not self._ended and sign > self._rule.threshold and self._frames > self._rule.earliest:
            self._ended = self._frames
        complete = self._ended and self._frames >= self._ended + self._after
        return bool(complete) or self._frames >= self._most


def most_frames(tokens: int, rate: float) -> int:
    """The frames that a text of so many tokens can need: the network may miss its end and go on for ever."""
    return math.ceil((tokens / 3 + 2) * rate)


def batch_size(number: int) -> int:
    """How many frames the batch of this number (from 0) has."""
    return BATCHES[number] if number < len(BATCHES) else BATCH


def context_frames(window: int, stride: int) -> int:
    """The frames decoded before a batch: as many as the codec attends to, `window` positions of which a frame has `stride`."""
    return max(LEAST_CONTEXT, math.ceil(window / stride))


class VoiceMemory(Generic[T]):
    """What was computed of the voices used last, at most `size` of them."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._kept: OrderedDict[str, T] = OrderedDict()

    def __len__(self) -> int:
        return len(self._kept)

    def find(self, key: str) -> T | None:
        if key in self._kept:
            self._kept.move_to_end(key)
        return self._kept.get(key)

    def keep(self, key: str, voice: T) -> None:
        self._kept[key] = voice
        self._kept.move_to_end(key)
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)

    def clear(self) -> None:
        self._kept.clear()
