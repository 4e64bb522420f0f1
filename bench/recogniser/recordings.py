"""Recordings of people, with what they say, from a folder. Used by `bench_recogniser.py` and the tuning.

A recording is NAME.wav, 16 kHz mono with 16 bits, and NAME.txt beside it: what is said in it, empty where that is nothing in
English. What stands before the first hyphen of the name is its group: a speaker, or a source. None is part of the project.
"""

from __future__ import annotations

import wave
from dataclasses import dataclass
from pathlib import Path

from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES
from recogniser.word_errors import words


@dataclass(frozen=True)
class PersonRecording:
    name: str
    said: list[str]
    pcm: bytes

    @property
    def group(self) -> str:
        return self.name.partition("-")[0]

    @property
    def seconds(self) -> float:
        return len(self.pcm) / SAMPLE_BYTES / HEARD_RATE


def recordings(folder: Path) -> list[PersonRecording]:
    """Those of a folder that have a text, by name. Raises SystemExit where there are none."""
    found = []
    for file in sorted(folder.glob("*.wav")):
        text = file.with_suffix(".txt")
        if not text.exists():
            continue
        with wave.open(str(file)) as sound:
            if (sound.getframerate(), sound.getnchannels(), sound.getsampwidth()) != (
                HEARD_RATE,
                1,
                SAMPLE_BYTES,
            ):
                raise SystemExit(f"{file} is not 16 kHz mono with 16 bits")
            pcm = sound.readframes(sound.getnframes())
        found.append(PersonRecording(file.stem, words(text.read_text(encoding="utf-8")), pcm))
    if not found:
        raise SystemExit(f"{folder} has no recordings with texts")
    return found
