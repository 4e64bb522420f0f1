"""Scenarios in which recordings of people are played into the call, instead of espeak. Used by `bench_duplex.py --people`.

Every short recording is a turn; and, said over a reply, those that begin with a word that stops one.
"""

from __future__ import annotations

from pathlib import Path

import numpy

from recogniser.recordings import PersonRecording, recordings

from .scenario import Scenario, variations
from .sounds import Clip, Voices, audible

LONGEST = 7.5
"""Seconds of a recording that is a turn."""
QUIET = 600
"""A sample louder than this is no room: these recordings have one, and no truth but their loudness."""
STOPS = {"stop", "no", "wait"}
LONG = (
    "/say Once there was a server in a small room, and everybody who came by had a question for it. It listened to every one"
    " of them, waited until they had finished, and answered as well as it could. Some of them went on talking while it spoke,"
    " and then it was quiet at once."
)


class People(Voices):
    """Says a line by playing the recording of that name."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.recordings = {
            each.name: each for each in recordings(folder) if each.said and each.seconds <= LONGEST
        }

    async def say(self, line: str, voice: str = "en-us", speed: float = 1.0) -> Clip:
        return clip(self.recordings[line])

    def scenarios(self) -> list[Scenario]:
        """One for each recording."""
        found: list[Scenario] = []
        for name, recording in self.recordings.items():
            found += _turn(name)
            if recording.said[0] in STOPS:
                found += _interruption(name)
        return found


def clip(recording: PersonRecording) -> Clip:
    sound = numpy.frombuffer(recording.pcm, numpy.int16)
    first, last = audible(sound, QUIET)
    return Clip(sound, text=" ".join(recording.said), onset=first, end=last or len(sound))


def _turn(name: str) -> list[Scenario]:
    steps = [{"wait": 0.6}, {"say": name, "tag": "turn"}, {"wait": "answered"}, {"wait": 0.5}]
    return list(variations(f"people turn {name}", {"about": "A turn.", "server": "scripted", "steps": steps}))


def _interruption(name: str) -> list[Scenario]:
    steps = [
        {"type": LONG},
        {"wait": {"heard": 1.5}},
        {"say": name, "tag": "interruption"},
        {"wait": 2.5},
    ]
    body = {"about": "An interruption.", "server": "scripted", "steps": steps}
    return list(variations(f"people interruption {name}", body))
