"""A synthetic caller: performs a scenario in a real call, at the pace of time, and records both sides.

Owns the microphone (what is said, the room's noise, the echo of the loudspeaker) and what a wait waits for. Measures
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import anyio
import numpy

from duologue.client.call import CallClient, open_call
from duologue.client.http import Client
from duologue.client.player import Player
from duologue.resampler import Resampler
from duologue.values.audio import HEARD_RATE, SPOKEN_RATE

from .recording import Deed, Message, Recording
from .scenario import Scenario, Step
from .sounds import Clip, Noise, Voices, cough, hum, scaled

RESTS = 3.0
"""Seconds after which a server that only listens will say nothing more."""
PATIENCE = 25.0
"""Longest wait for any event, in seconds; then the scenario continues, and its recording notes the timeout."""


class Microphone:
    """What the caller's microphone hears: what they do, the room, and a little of their loudspeaker."""

    def __init__(self, noise: float | None, echo: tuple[float, float] | None) -> None:
        self.at = 0
        """Samples heard."""
        self._noise = Noise(noise)
        self._clips: list[tuple[int, numpy.ndarray]] = []
        self._echo = echo
        self._resampler = Resampler(SPOKEN_RATE, HEARD_RATE) if echo is not None else None
        self._sounded = numpy.zeros(0, numpy.int16)
        self._sounded_from = 0

    def play(self, sound: numpy.ndarray) -> int:
        """From the next sample on; its first sample's place."""
        self._clips.append((self.at, sound))
        return self.at

    def sounded(self, pcm: bytes) -> None:
        """What the loudspeaker plays meanwhile."""
        if self._resampler is not None:
            more = numpy.frombuffer(self._resampler.feed(pcm), numpy.int16)
            self._sounded = numpy.concatenate([self._sounded, more])
            surplus = len(self._sounded) - HEARD_RATE
            if surplus > 0:
                self._sounded = self._sounded[surplus:]
                self._sounded_from += surplus

    def take(self, count: int) -> bytes:
        mixed = self._noise.take(count).astype(numpy.int32)
        for start, sound in self._clips:
            first, last = max(start, self.at), min(start + len(sound), self.at + count)
            if first < last:
                mixed[first - self.at : last - self.at] += sound[first - start : last - start]
        self._clips = [(start, sound) for start, sound in self._clips if start + len(sound) > self.at + count]
        self._hear_itself(mixed, count)
        self.at += count
        return bytes(numpy.clip(mixed, -32768, 32767).astype("<i2").tobytes())

    def _hear_itself(self, mixed: numpy.ndarray, count: int) -> None:
        if self._echo is None:
            return
        gain, delay = self._echo
        start = self.at - round(delay * HEARD_RATE) - self._sounded_from
        first, last = max(0, start), min(len(self._sounded), start + count)
        if first < last:
            mixed[first - start : last - start] += scaled(self._sounded[first:last], gain)


class KeepingPlayer(Player):
    """Also keeps all sound that comes, whatever becomes of it."""

    def __init__(self, *, holds: bool) -> None:
        super().__init__(holds=holds)
        self.came: dict[int, bytearray] = {}

    def receive_audio(self, pcm: bytes) -> bool:
        self.came.setdefault(self.arriving, bytearray()).extend(pcm)
        return super().receive_audio(pcm)


class Performance:
    """One scenario in one call."""

    def __init__(
        self,
        call: CallClient,
        scenario: Scenario,
        voices: Voices,
        recording: Recording,
        marked: Callable[[], None],
    ) -> None:
        self._call, self._scenario, self._voices = call, scenario, voices
        self._marked = marked
        self._recording = recording
        self._microphone = Microphone(scenario.caller.noise, scenario.caller.echo)
        self._done = False
        self._asked = 0.0
        self._stepped = anyio.Event()

    @property
    def now(self) -> float:
        """Seconds of the recording."""
        return self._microphone.at / HEARD_RATE

    def seen(self, message: Mapping[str, Any]) -> None:
        self._recording.messages.append(Message(self.now, dict(message)))

    async def run(self) -> None:
        """All steps, and half a second of quiet behind them."""
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._perform)
            await self._call.run(self._microphone.take, self._ear, lambda: self._done)
            tasks.cancel_scope.cancel()

    def _ear(self, said: bytes, heard: bytes) -> None:
        self._recording.add(said, heard)
        self._microphone.sounded(heard)
        self._stepped.set()
        self._stepped = anyio.Event()

    async def _perform(self) -> None:
        for step in self._scenario.steps:
            await self._step(step)
        await self._until(lambda: False, 0.5)
        self._done = True

    async def _step(self, step: Step) -> None:
        caller = self._scenario.caller
        match step.action:
            case "say" | "murmur":
                clip = await self._voices.say(str(step.value), step.voice or caller.voice, caller.speed)
                await self._sound(step, clip)
            case "cough":
                await self._sound(step, cough(float(step.value), seed=round(self.now * 100)))
            case "hum":
                how = step.value if isinstance(step.value, Mapping) else {"seconds": step.value}
                await self._sound(step, hum(**{key: float(value) for key, value in how.items()}))
            case "mark":
                self._note(step, self.now, self.now, str(step.value))
                self._marked()
            case "type":
                self._note(step, self.now, self.now, str(step.value))
                await self._call.send("text", text=str(step.value))
            case "press":
                self._note(step, self.now, self.now, str(step.value))
                await self._call.interrupt(by_chunk=step.value == "chunk")
            case "wait":
                await self._wait(step.value)

    async def _sound(self, step: Step, clip: Clip) -> None:
        """Say it, to its end."""
        sound = scaled(clip.sound, step.gain) if step.gain else clip.sound
        start = self._microphone.play(sound)
        pauses = tuple(((start + a) / HEARD_RATE, (start + b) / HEARD_RATE) for a, b in clip.pauses)
        begins, ends = (start + clip.onset) / HEARD_RATE, (start + clip.end) / HEARD_RATE
        self._note(step, begins, ends, clip.text, pauses)
        await self._until(lambda: self.now >= ends, len(sound) / HEARD_RATE + PATIENCE)

    def _note(
        self, step: Step, start: float, end: float, text: str, pauses: tuple[tuple[float, float], ...] = ()
    ) -> None:
        self._asked = end
        self._recording.deeds.append(Deed(step.action, start, end, text, pauses, step.tags))

    async def _wait(self, wanted: Any) -> None:
        player = self._call.player
        if isinstance(wanted, Mapping):
            seconds = float(wanted["heard"])
            last = max((m.reply for m in self._recording.of("reply_done")), default=-1)

            def heard() -> bool:
                current = player.current
                return current is not None and current > last and player.position >= seconds * SPOKEN_RATE

            await self._until(heard, PATIENCE)
        elif wanted == "speaking":
            await self._until(lambda: player.current is not None and player.position > 0, PATIENCE)
        elif wanted == "quiet":
            await self._until(lambda: player.silent, PATIENCE)
        elif wanted == "answered":
            await self._until(lambda: self._came("audio_start"), PATIENCE)
        elif wanted == "spoken":
            await self._until(
                lambda: player.silent and (self._came("reply_done") or self._rests(RESTS)), 2 * PATIENCE
            )
        else:
            await self._until(lambda: False, float(wanted))

    def _rests(self, seconds: float) -> bool:
        """Whether the server has only listened for so long: the reply that is waited for was interrupted."""
        states = self._recording.of("status")
        return (
            bool(states)
            and states[-1].body["state"] == "listening"
            and states[-1].at > self._asked
            and self.now - states[-1].at >= seconds
        )

    def _came(self, kind: str) -> bool:
        """Whether such a message came after the caller's last deed, and not of a reply that was interrupted by it."""
        return any(
            each.at >= self._asked and each.body.get("ending", "spoken") in ("spoken", "failed")
            for each in self._recording.of(kind)
        )

    async def _until(self, true: Any, seconds: float) -> None:
        end = self.now + seconds
        while not true() and self.now < end:
            await self._stepped.wait()


async def perform(
    client: Client, scenario: Scenario, voices: Voices, marked: Callable[[], None] = lambda: None
) -> Recording:
    """Call the server and do what the scenario says; `marked` is called at every `mark` of it."""
    recording = Recording(scenario.name, scenario.caller.holds)
    for step in scenario.steps:
        # Synthesised before the call, so that the call does not wait for it.
        if step.action in ("say", "murmur"):
            await voices.say(str(step.value), step.voice or scenario.caller.voice, scenario.caller.speed)
    performance: Performance | None = None

    def seen(message: Mapping[str, Any]) -> None:
        if performance is not None:
            performance.seen(message)

    player = KeepingPlayer(holds=scenario.caller.holds)
    async with open_call(client, player=player, on_message=seen, start=dict(scenario.start)) as call:
        performance = Performance(call, scenario, voices, recording, marked)
        await performance.run()
        recording.late, recording.problem = call.late, call.problem.message if call.problem else ""
        recording.heard, recording.stale = player.played, list(player.stale)
        recording.gaps = [gap.samples / SPOKEN_RATE for gap in player.gaps]
        recording.replies = {reply: bytes(pcm) for reply, pcm in player.came.items()}
    return recording
