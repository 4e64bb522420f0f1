"""Many callers at once: some speak, some only listen, one is a probe that tells how late the server hears."""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import anyio
import numpy

from duologue.client.call import open_call
from duologue.client.http import Client
from duologue.values.audio import HEARD_RATE, SPOKEN_RATE

from .caller import Microphone
from .sounds import Clip, Voices

LINES = (
    "what can you do for me today",
    "how do I add another model",
    "tell me about the voice please",
    "can you hear me very well",
)
PATIENCE = 8.0
"""Seconds a probe waits for its words to be written down."""
STORY = (
    "Once there was a server in a small room, and everybody who came by had a question for it. It listened to every one of "
    "them, waited until they had finished, and answered as well as it could."
)


@dataclass
class Crowd:
    """What became of all callers together. Seconds."""

    onsets: list[float] = field(default_factory=list)
    """Delay from the beginning of speech to the server's status `hearing`."""
    transcripts: list[float] = field(default_factory=list)
    """Delay from the end of speech to its final transcript."""
    gaps: list[float] = field(default_factory=list)
    replies: int = 0
    interrupted: int = 0
    crossed: list[str] = field(default_factory=list)
    stale: int = 0
    queued: int = 0
    late: float = 0.0
    problems: list[str] = field(default_factory=list)

    @property
    def median(self) -> float:
        return statistics.median(self.onsets) if self.onsets else float("nan")


async def clips(voices: Voices) -> list[Clip]:
    return [await voices.say(line, voice) for line in LINES for voice in ("en-us", "en-us+f3")]


class Member:
    """One caller of the crowd."""

    def __init__(self, crowd: Crowd, number: int, spoken: list[Clip], *, noise: float | None = 40.0) -> None:
        self.crowd, self.number = crowd, number
        self.chance = random.Random(number)
        self.microphone = Microphone(noise, None)
        self._clips = spoken
        self._onset: float | None = None
        self._end: float | None = None
        self.written = anyio.Event()
        """Set when the latest utterance has its transcript."""
        self._marks: set[str] = set()

    @property
    def now(self) -> float:
        return self.microphone.at / HEARD_RATE

    def seen(self, message: Mapping[str, Any]) -> None:
        match message.get("type"):
            case "status" if message.get("state") in ("hearing", "paused") and self._onset is not None:
                if self.now >= self._onset:
                    self.crowd.onsets.append(self.now - self._onset)
                    self._onset = None
            case "transcript" if message.get("final") and self._end is not None and self.now >= self._end:
                self.crowd.transcripts.append(self.now - self._end)
                self._end = None
                self.written.set()
            case "reply_done":
                self.crowd.replies += 1
                self.crowd.interrupted += message.get("ending") == "interrupted"
            case "queued":
                self.crowd.queued += 1
            case "response_text":
                self._check(str(message.get("text")))

    def _check(self, text: str) -> None:
        """Every caller has its own word, with which its replies begin; another word means another caller's reply."""
        names = [word.strip(".,") for word in text.split() if word.startswith("Caller")]
        if (
            names
            and text.split()[0] == "Caller"
            and f"Caller {self.number}," not in text
            and len(text.split()) > 2
        ):
            self.crowd.crossed.append(f"caller {self.number} heard: {text[:60]}")

    def say(self) -> float:
        """Begin to say something; for how many seconds."""
        clip = self.chance.choice(self._clips)
        start = self.microphone.play(clip.sound)
        self.written = anyio.Event()
        self._onset, self._end = (start + clip.onset) / HEARD_RATE, (start + clip.end) / HEARD_RATE
        return len(clip.sound) / HEARD_RATE

    def script(self) -> str:
        return f"/say Caller {self.number}, {STORY}"

    async def be(self, url: str, seconds: float, deeds: Callable[[Member, Any], Any] | None = None) -> None:
        """Call, and do these deeds in turn until the time is over."""
        async with Client(url) as client, open_call(client, on_message=self.seen) as call:
            async with anyio.create_task_group() as tasks:
                if deeds is not None:
                    tasks.start_soon(deeds, self, call)
                await call.run(self.microphone.take, lambda said, heard: None, lambda: self.now >= seconds)
                tasks.cancel_scope.cancel()
            crowd = self.crowd
            crowd.late = max(crowd.late, call.late)
            crowd.stale += len(call.player.stale)
            crowd.gaps += [gap.samples / SPOKEN_RATE for gap in call.player.gaps]
            if call.problem is not None:
                crowd.problems.append(f"caller {self.number}: {call.problem.message}")


async def probe(member: Member, call: Any) -> None:
    """Say something, wait for its transcript, and be silent for a while; whatever is answered is interrupted."""
    while True:
        await anyio.sleep(0.8 + member.chance.random())
        await anyio.sleep(member.say())
        with anyio.move_on_after(PATIENCE):
            await member.written.wait()
        await call.interrupt()


async def speak_all_the_time(member: Member, call: Any) -> None:
    for _ in range(1_000_000):
        await anyio.sleep(member.say() + member.chance.uniform(0.1, 0.4))


async def converse(member: Member, call: Any) -> None:
    """A call of the soak test: replies are heard to the end, talked over, ended by button and by text."""
    while True:
        await call.send("text", text=member.script())
        await anyio.sleep(member.chance.uniform(1.0, 6.0))
        match member.chance.choice(["voice", "button", "text", "hear it out", "cough"]):
            case "voice":
                await anyio.sleep(member.say() + 2.0)
            case "button":
                await call.interrupt()
                await anyio.sleep(0.5)
            case "hear it out":
                await anyio.sleep(13.0)
            case "cough":
                member.microphone.play(numpy.asarray([6000, -6000] * 800, numpy.int16))
                await anyio.sleep(3.0)


async def listen_on(member: Member, call: Any) -> None:
    """Hear one long reply after another."""
    while True:
        await call.send("text", text=member.script())
        await anyio.sleep(14.0)
