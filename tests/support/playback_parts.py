"""Playback of a scripted voice, its client, and the session that it reports to, on a clock that tests advance."""

from contextlib import asynccontextmanager

import anyio
from anyio.lowlevel import checkpoint

from duologue.engines.scripted.speaker import ScriptedSpeaker
from duologue.sessions.call.clock import StepClock
from duologue.sessions.call.outbox import EventOutbox
from duologue.sessions.call.playback import ClientPlayer
from duologue.sessions.call.spoken_playback import ReplyVoice, SpokenPlayback
from duologue.sessions.speech.clip_cache import ClipCache, VoiceStyle
from duologue.values.call_events import ReplyAudio


class Client:
    """The reader of a call's events, and the session that playback reports to."""

    epoch = 4

    def __init__(self, clock):
        self.clock = clock
        self.events = []
        self.facts = []
        self.notes = []
        self.problems = []
        self.takes = anyio.Event()
        self.takes.set()

    def decide(self, fact):
        self.facts.append(fact)

    def note(self, reply, moment):
        self.notes.append((reply, moment))

    def report_problem(self, problem):
        self.problems.append(problem)

    async def receive(self, event):
        await self.takes.wait()
        self.events.append(event)

    async def wait(self, seconds=0.0):
        for _ in range(max(1, round(seconds / 0.02))):
            self.clock.advance(0.02 if seconds else 0.0)
            for _ in range(40):
                await checkpoint()

    def sent(self, reply=1):
        return sum(
            len(event.pcm) // 2
            for event in self.events
            if isinstance(event, ReplyAudio) and event.reply == reply
        )


@asynccontextmanager
async def playing(marks=True):
    clock = StepClock()
    client, outbox = Client(clock), EventOutbox()
    async with anyio.create_task_group() as tasks:
        playback = SpokenPlayback(
            ReplyVoice(ScriptedSpeaker(), VoiceStyle(), ClipCache()),
            ClientPlayer(marks),
            tasks,
            outbox,
            clock,
            client,
        )
        tasks.start_soon(playback.run)
        tasks.start_soon(outbox.run, client.receive)
        yield playback, client
        tasks.cancel_scope.cancel()
