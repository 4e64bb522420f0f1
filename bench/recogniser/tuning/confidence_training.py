"""Trains the confidence judgement: runs known sentences, other sentences and noises through the decoder.

The regression itself is in `logistic_regression.py`.
"""

import math
from array import array
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

import msgspec

from duologue.engines.audio.silence import peak
from duologue.engines.sphinx.confidence import ConfidenceModel, features
from duologue.engines.sphinx.decoder import PIECE, Decoder, load_decoder
from duologue.values.audio import HEARD_RATE
from recogniser.tuning.logistic_regression import RIGHT, fit
from recogniser.tuning.sentences import BENCH, read_sentences
from recogniser.tuning.voices import Speak, load_voices

VOICES = ("en-us", "en-us+f3", "en-us+m1", "en-us+f4")
OTHERS = "# And then"
"""The line of the file after which the sentences to be rejected begin."""
NOISES = 240


class SignRecorder:
    """Stands in for a judgement and records the signs it is given."""

    def __init__(self) -> None:
        self.signs: tuple[float, ...] | None = None

    def confidence(self, words: Any, ending: float, whole: float) -> float:
        self.signs = features(words, ending, whole) if words else None
        return 1.0


async def train_judgement(out: Path) -> dict[str, Any]:
    """The judgement for the model in this folder, as JSON-ready values."""
    accepted_part, others = (BENCH / "development.txt").read_text(encoding="utf-8").split(OTHERS)
    accepted = [line for line in accepted_part.splitlines() if line and line[0] != "#"] + read_sentences(
        BENCH / "answers.txt"
    )
    rejected = [line for line in others.splitlines()[1:] if line]
    with TemporaryDirectory() as folder:
        decoder, recorder = load_decoder(Path(folder), out), SignRecorder()
        decoder._parameters = msgspec.structs.replace(decoder._parameters, judgement=recorder)
        speak = await load_voices()
        examples: list[tuple[tuple[float, ...], str]] = []
        for voice in VOICES:
            for text in (*accepted, *rejected):
                if sign_values := signs_of(decoder, recorder, await _speak(speak, text, voice)):
                    examples.append((sign_values, RIGHT if text in accepted else "other"))
        for number in range(NOISES):
            if sign_values := signs_of(decoder, recorder, (noise if number % 2 else hum)(Random(number))):
                examples.append((sign_values, "noise"))
    judgement: ConfidenceModel = fit([each for each, _ in examples], [kind for _, kind in examples])
    print(f"judged {len(examples)}: {judgement}")
    return dict(msgspec.to_builtins(judgement))


async def _speak(speak: Speak, text: str, voice: str) -> bytes:
    return await speak(text, voice, 1.0)


def signs_of(decoder: Decoder, recorder: SignRecorder, pcm: bytes) -> tuple[float, ...] | None:
    decoder.begin(peak(pcm))
    for at in range(0, len(pcm), PIECE):
        decoder.decode(pcm[at : at + PIECE])
    decoder.end()
    return recorder.signs


def noise(random: Random) -> bytes:
    """One to three bursts of coloured noise, like a cough or a knock."""
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
    """One to three bursts of voiced sound without words."""
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
