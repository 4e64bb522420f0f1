"""Sentences spoken by espeak-ng, as the recogniser receives them.

`en-us+m3` and `en-us+f2` are not among the training voices: the benchmark uses them as voices the model has not met.
"""

from collections.abc import Awaitable, Callable
from random import Random

import numpy as np

from duologue.engines.contracts import SpeakerEngine
from duologue.engines.registry import load_speaker
from duologue.resampler import resampled
from duologue.values.audio import HEARD_RATE, SPOKEN_RATE

TRAINING_VOICES = (
    *("en-us", "en-us+m1", "en-us+m2", "en-us+m4", "en-us+m5", "en-us+m7"),
    *("en-us+f1", "en-us+f3", "en-us+f4", "en-us+f5", "en-us+Andrea"),
    *("en-gb", "en-gb+f3", "en-gb+m4", "en-gb-scotland"),
)
SPEEDS = (0.9, 1.0, 1.0, 1.05, 1.1, 1.2)
SILENCE = HEARD_RATE // 5
NOISES = (8.0, 15.0, 30.0, 60.0)
"""Root mean square of the noise added to a sentence."""

Speak = Callable[[str, str, float], Awaitable[bytes]]


async def load_voices() -> Speak:
    """A function that speaks a text in a voice at a speed: 16-bit samples at 16 kHz, with silence before and after."""
    speaker: SpeakerEngine = await load_speaker("espeak", {})

    async def speak(text: str, voice: str, speed: float) -> bytes:
        async with speaker.speak(text, voice=voice, speed=speed) as sound:
            pcm = b"".join([piece.pcm async for piece in sound])
        silence = bytes(2 * SILENCE)
        return silence + resampled(pcm, SPOKEN_RATE, HEARD_RATE) + silence

    return speak


def add_noise(pcm: bytes, random: Random) -> bytes:
    """The sound with noise of a random level added, as a room would."""
    chance = np.random.default_rng(random.randrange(2**32))
    values = np.frombuffer(pcm, "<i2") + chance.normal(0.0, random.choice(NOISES), len(pcm) // 2)
    return bytes(values.clip(-32768, 32767).astype("<i2").tobytes())
