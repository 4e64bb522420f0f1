"""Learns when the recogniser should stand for what it wrote down: sentences it knows, others, and noises, through the engine.

Owns what it is learned from. The arithmetic is in `judging.py`.
"""

import math
from array import array
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from duologue.engines.audio.silence import peak
from duologue.engines.sphinx.confidence import Judgement, signs
from duologue.engines.sphinx.decoder import PIECE, Decoder, opened
from duologue.values.audio import HEARD_RATE
from recogniser.tuning.judging import RIGHT, judged
from recogniser.tuning.lines import BENCH, listed
from recogniser.tuning.voices import Speak, speaking

VOICES = ("en-us", "en-us+f3", "en-us+m1", "en-us+f4")
OTHERS = "# And then"
"""The line of the file after which come the sentences it should not stand for."""
NOISES = 240


class _Told:
    """In place of a judgement: keeps what it would judge."""

    def __init__(self) -> None:
        self.signs: tuple[float, ...] | None = None

    def confidence(self, words: Any, ending: float, whole: float) -> float:
        self.signs = signs(words, ending, whole) if words else None
        return 1.0


async def learned(out: Path) -> dict[str, Any]:
    """The judgement for the model in this folder."""
    known, others = (BENCH / "development.txt").read_text(encoding="utf-8").split(OTHERS)
    wanted = [line for line in known.splitlines() if line and line[0] != "#"] + listed(BENCH / "answers.txt")
    unwanted = [line for line in others.splitlines()[1:] if line]
    with TemporaryDirectory() as folder:
        ear, told = opened(Path(folder), out), _Told()
        ear._knowledge = msgspec.structs.replace(ear._knowledge, judgement=told)
        speak = await speaking()
        found: list[tuple[tuple[float, ...], str]] = []
        for voice in VOICES:
            for text in (*wanted, *unwanted):
                if heard := _signs(ear, told, await _spoken(speak, text, voice)):
                    found.append((heard, RIGHT if text in wanted else "other"))
        for number in range(NOISES):
            if heard := _signs(ear, told, (noise if number % 2 else hum)(Random(number))):
                found.append((heard, "noise"))
    judgement: Judgement = judged([each for each, _ in found], [kind for _, kind in found])
    print(f"judged {len(found)}: {judgement}")
    return dict(msgspec.to_builtins(judgement))


async def _spoken(speak: Speak, text: str, voice: str) -> bytes:
    return await speak(text, voice, 1.0)


def _signs(ear: Decoder, told: _Told, pcm: bytes) -> tuple[float, ...] | None:
    ear.begin(peak(pcm))
    for at in range(0, len(pcm), PIECE):
        ear.hear(pcm[at : at + PIECE])
    ear.end()
    return told.signs


def noise(random: Random) -> bytes:
    """A bump or two of coloured noise, as a cough or a knock is."""
    values: list[int] = [0] * (HEARD_RATE // 5)
    for _ in range(random.choice([1, 1, 2, 3])):
        length, loud, colour, last = (
            random.randint(800, 6000),
            random.uniform(1000, 9000),
            random.uniform(0, 0.95),
            0.0,
        )
        for at in range(length):
            last = colour * last + random.gauss(0, 1) * (1 - colour)
            values.append(round(max(-32000, min(32000, loud * last * (1 - at / length)))))
        values += [0] * random.randint(1000, 3000)
    return array("h", values + [0] * (HEARD_RATE // 5)).tobytes()


def hum(random: Random) -> bytes:
    """One to three bumps of a voice that says no word."""
    values: list[int] = [0] * (HEARD_RATE // 5)
    for _ in range(random.choice([1, 2, 2, 3])):
        length, loud, turn = random.randint(2000, 7000), random.uniform(1000, 6000), 0.0
        pitch, rise, parts = random.uniform(85, 260), random.uniform(-0.2, 0.3), random.randint(3, 10)
        for at in range(length):
            turn += 2 * math.pi * pitch * (1 + rise * at / length) / HEARD_RATE
            tone = sum(math.sin(part * turn) / part**2 for part in range(1, parts))
            values.append(round(max(-32000, min(32000, loud * tone * math.sin(math.pi * at / length)))))
        values += [0] * random.randint(0, 1500)
    return array("h", values + [0] * (HEARD_RATE // 5)).tobytes()
