"""How many tokens a sound takes, by the family of the model: a prompt is measured before its media are read by the network. Pure.

The rules are those of the encoders' convolutions: Qwen2.5-Omni halves twice (25 tokens a second), Qwen3-Omni three times within
each second (13 tokens a second).
"""

from __future__ import annotations

from collections.abc import Callable

HOP = 160
"""Samples (16 kHz) of one frame of the spectrogram."""
LEAST_FRAMES = 3
"""Frames of the shortest sound that is a token in either family; a shorter one is read with silence behind it."""
LEAST_SAMPLES = LEAST_FRAMES * HOP

SoundSize = Callable[[int], int]
"""Tokens of a sound of so many samples (16 kHz)."""


def qwen2_5_tokens(samples: int) -> int:
    """Tokens of a sound for Qwen2.5-Omni."""
    frames = max(samples, LEAST_SAMPLES) // HOP
    return ((frames - 1) // 2 + 1 - 2) // 2 + 1


def qwen3_tokens(samples: int) -> int:
    """Tokens of a sound for Qwen3-Omni."""
    seconds, rest = divmod(max(samples, LEAST_SAMPLES) // HOP, 100)
    for _ in range(3):
        rest = (rest + 1) // 2
    return 13 * seconds + rest
