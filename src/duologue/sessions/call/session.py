"""One call: what the caller says is heard and written down, and what is answered is spoken.

Owns the tasks of a call, and the way of every fact to the machine that decides and of every decision to whoever carries
it out, in order. Decides nothing itself (`turns/machine.py` does), makes no reply (it asks for one by `Wanted`),
and knows no socket.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import anyio
import anyio.abc
import msgspec

from duologue.engines.contracts import Detector, RecogniserEngine, SpeakerEngine
from duologue.errors import Problem
from duologue.sessions.call.audio_input import AudioInput, Mark
from duologue.sessions.call.clock import Clock
from duologue.sessions.call.latency import Moment, TurnLatency
from duologue.sessions.call.outbox import EventOutbox, Tell
from duologue.sessions.call.playback import Playback, PlayingReply
from duologue.sessions.call.renumber import Renumbered, TurnDecider
from duologue.sessions.call.transcription import Transcription
from duologue.sessions.speech.clip_cache import ClipCache
from duologue.sessions.speech.controls import Controls
from duologue.sessions.speech.speech_engines import SpeechEngines
from duologue.sessions.speech.synthesis import VoiceStyle, voice_style
from duologue.sessions.speech.vad_batcher import VadBatcher
from duologue.turns import decisions, facts
from duologue.turns.decisions import Decision
from duologue.turns.facts import Fact, Frame
from duologue.turns.machine import TurnMachine
from duologue.turns.settings import TurnSettings
from duologue.values import call_events
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES
from duologue.values.call_events import CallControl, CallSetup

log = logging.getLogger(__name__)

STALLED = 0.5
"""Seconds without sound from the caller after which silence is heard instead, so that time goes on."""
SUPPLIED = 0.032
"""Seconds of silence heard at a time then."""
SPEECH = 0.5
"""A probability from which a frame counts as speech in the figures."""


async def call(
    engines: SpeechEngines,
    setup: CallSetup,
    controls: Controls,
    tell: Tell,
    clock: Clock,
    machine: TurnDecider | None = None,
) -> None:
    """One call, until it is cancelled. Raises Problems, which end it."""
    recogniser, speaker = engines.recognises(), engines.speaks()
    detects = engines.detects()
    detector = await engines.judge.open(detects)
    voicing = voice_style(speaker, setup.voice, setup.speed, setup.language)
    settings = msgspec.structs.replace(TurnSettings.of(setup), language=voicing.language)
    machine = Renumbered(machine or TurnMachine(settings), setup)
    parts = Parts(detector, engines.judge, recogniser, speaker, engines.clips, voicing)
    try:
        await CallSession(parts, setup, controls, tell, clock, machine).run()
    finally:
        engines.judge.close(detects, detector)


class Parts(NamedTuple):
    """What one call is made of."""

    detector: Detector
    judge: VadBatcher
    recogniser: RecogniserEngine
    speaker: SpeakerEngine
    clips: ClipCache
    voicing: VoiceStyle


class CallSession:
    """A call that is running. Facts and decisions cross here, one at a time; whatever waits for something is a task."""

    def __init__(
        self,
        parts: Parts,
        setup: CallSetup,
        controls: Controls,
        tell: Tell,
        clock: Clock,
        machine: TurnDecider,
    ) -> None:
        self._parts = parts
        self._setup = setup
        self._controls = controls
        self._tell = tell
        self._clock = clock
        self._machine = machine
        self._outbox = EventOutbox()
        self._hearing = AudioInput(parts.detector, parts.judge)
        self._times = TurnLatency()
        self._facts: deque[Fact] = deque()
        self._deciding = False
        self._sound_at = clock.now()
        self._spoken_until = 0
        self._shown: set[int] = set()
        self._transcribed = (0, "")
        self._problem: Problem | None = None
        self._tasks: anyio.abc.TaskGroup
        self._listening: Transcription
        self._mouth: Playback

    async def run(self) -> None:
        """All of it, until cancelled. Raises the Problem that ended it."""
        try:
            await self._run()
        finally:
            self._listening.close()
        if self._problem is not None:
            raise self._problem

    async def _run(self) -> None:
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            setup, parts = self._setup, self._parts
            self._listening = Transcription(
                parts.recogniser,
                tasks,
                language=setup.language,
                hint=setup.hint,
                said=self._written,
                failed=self._trouble,
            )
            self._mouth = Playback(
                parts.speaker,
                parts.voicing,
                tasks,
                self._outbox,
                self._clock,
                marks=setup.marks,
                ahead=setup.ahead,
                clips=parts.clips,
                epoch=self._epoch,
                decide=self._decide,
                note=self._note,
                failed=self._trouble,
            )
            for work in (self._say, self._obey, self._hear, self._mouth.run):
                tasks.start_soon(self._guard, work)
            if setup.fills:
                tasks.start_soon(self._guard, self._fill)
            if setup.greeting:
                self._decide(facts.AnnouncementRequested(setup.greeting))

    # ---- tasks

    async def _guard(self, work: Callable[[], Awaitable[None]]) -> None:
        """A Problem in any of the tasks ends the call, with its sentence."""
        try:
            await work()
        except Problem as problem:
            self._problem = problem
            self._tasks.cancel_scope.cancel()

    async def _say(self) -> None:
        await self._outbox.run(self._tell)

    async def _obey(self) -> None:
        """What the call is told."""
        while True:
            for control in await self._controls.take():
                self._control(control)

    async def _hear(self) -> None:
        """What the caller says, frame by frame."""
        while True:
            for heard in await self._hearing.heard():
                if isinstance(heard, Mark):
                    self._decide(facts.PushToTalk(bool(heard.happened)))
                    continue
                self._listening.add(heard.pcm)
                if heard.probability >= SPEECH:
                    self._spoken_until = self._listening.heard
                sounding = self._mouth.loudness()
                self._decide(Frame(heard.probability, heard.level, heard.brightness, sounding))

    async def _fill(self) -> None:
        """Silence where nothing comes from the caller, at the pace of time."""
        silence = bytes(round(SUPPLIED * HEARD_RATE) * SAMPLE_BYTES)
        while True:
            await self._clock.sleep(max(SUPPLIED, self._sound_at + STALLED - self._clock.now()))
            supplied_to = self._sound_at + STALLED
            while self._clock.now() - self._sound_at >= STALLED:
                # Sound that came while this process was kept from running is taken before silence is.
                await self._clock.sleep(SUPPLIED)
                now = self._clock.now()
                while now - self._sound_at >= STALLED and supplied_to + SUPPLIED <= now:
                    supplied_to += SUPPLIED
                    self._hearing.add(silence)

    # ---- facts

    def _control(self, control: CallControl) -> None:
        match control:
            case call_events.MicrophoneAudio(pcm):
                self._sound_at = self._clock.now()
                self._hearing.add(pcm)
            case call_events.Text(reply, text, last):
                self._write(reply, text, last)
            case call_events.Played(reply, samples):
                self._mouth.played(reply, samples)
            case call_events.Interrupt(reply, samples):
                self._decide(facts.InterruptRequested(reply, samples))
            case call_events.ToolsRunning(reply, busy, question):
                if (speaking := self._mouth.replies.get(reply)) is not None and busy:
                    speaking.reply.pause()
                self._decide(facts.ReplyWaiting(reply, busy, asks=bool(question)))
                if question:
                    self._decide(facts.AnnouncementRequested(question))
            case call_events.ReplyFailed(reply, apology):
                self._decide(facts.ReplyBroken(reply, apology))
                self._mouth.write(reply, "", last=True)
            case call_events.Typed(text):
                self._spoken_until = self._listening.heard
                self._decide(facts.TextTyped(text))
            case call_events.Pressed(down):
                # What was said before the button went up belongs to the turn, judged or not.
                self._hearing.mark(Mark(down))
            case call_events.Speak(text, interruptible):
                self._decide(facts.AnnouncementRequested(text, interruptible))

    def _write(self, number: int, text: str, last: bool) -> None:
        """Text of a reply; of one nobody waits for any more it is stale."""
        speaking = self._mouth.replies.get(number)
        if speaking is None or speaking.own:
            return
        first = not speaking.reply.written
        self._mouth.write(number, text, last=last)
        if first and text:
            self._decide(facts.ReplyTextStarted(number))

    def _written(self, fact: facts.PartialTranscript | facts.FinalTranscript) -> None:
        """Words of a turn."""
        if isinstance(fact, facts.PartialTranscript):
            self._shown.add(fact.turn)
            if (fact.turn, fact.text) != self._transcribed:
                self._transcribed = (fact.turn, fact.text)
                self._outbox.post(call_events.Transcribed(self._epoch(), fact.turn, fact.text))
        self._decide(fact)

    def _decide(self, fact: Fact) -> None:
        """Have a fact decided on and carried out. What follows from carrying it out comes after all of that."""
        self._facts.append(fact)
        if self._deciding:
            return
        self._deciding = True
        try:
            while self._facts:
                for decision in self._machine.take(self._facts.popleft()):
                    self._carry_out(decision)
        finally:
            self._deciding = False

    # ---- decisions

    def _carry_out(self, decision: Decision) -> None:
        mouth, listening, post = self._mouth, self._listening, self._outbox.post
        match decision:
            case decisions.TranscribeTurn(turn, since):
                listening.listen(turn, since)
            case decisions.FinishTranscript(turn, until):
                listening.conclude(turn, until)
            case decisions.DiscardTurn(turn, reason):
                self._discard(turn, reason)
            case decisions.PreviewTurn(turn, text):
                post(call_events.PartialTurn(self._epoch(), turn, text))
            case decisions.RequestReply(reply, turn, revision, text):
                self._times.begin(reply, turn, self._speech_ended())
                self._note(reply, "transcript")
                mouth.begin(reply)
                post(call_events.ReplyRequested(self._epoch(), reply, turn, revision, text))
            case decisions.ReleaseReply(reply):
                self._note(reply, "endpoint")
                post(call_events.TurnConfirmed(self._epoch(), reply))
                mouth.release(reply)
            case decisions.SaySentence(reply, text, kind):
                mouth.begin(reply, own=True, kind=kind)
                mouth.write(reply, text, last=True)
            case decisions.DropReply(reply):
                self._times.forget(reply)
                self._unwanted(mouth.drop(reply))
            case decisions.HoldReply(reply):
                if mouth.hold(reply) and self._setup.pauses:
                    post(call_events.Hold(self._epoch(), reply))
            case decisions.ResumeReply(reply):
                if mouth.resume(reply) and self._setup.pauses:
                    post(call_events.Resume(self._epoch(), reply))
                mouth.look()
            case decisions.CutReply(reply):
                self._note(reply, "interrupted")
                speaking = mouth.cut(reply)
                post(call_events.Cut(self._epoch(), reply))
                self._unwanted(speaking)
            case decisions.CommitTurn(turn, text, typed):
                self._keep_user(turn, text, typed)
            case decisions.CommitReply(reply, samples, ending):
                self._keep_reply(reply, samples, ending)
            case decisions.ShowState(state):
                post(call_events.State(self._epoch(), state))

    def _discard(self, turn: int, reason: str) -> None:
        self._listening.discard(turn)
        missed = reason == "not_understood"
        if turn in self._shown or missed:
            self._shown.discard(turn)
            self._outbox.post(
                call_events.Transcribed(self._epoch(), turn, "", final=True, understood=not missed)
            )

    def _unwanted(self, speaking: PlayingReply | None) -> None:
        """Whoever makes this reply may stop, unless it is made already."""
        if speaking is not None and not speaking.own and not speaking.reply.finished:
            self._outbox.post(call_events.CancelReply(self._epoch(), speaking.reply.number))

    def _keep_user(self, turn: int, text: str, typed: bool) -> None:
        self._shown.discard(turn)
        if not typed:
            self._outbox.post(call_events.Transcribed(self._epoch(), turn, text, final=True))
        self._outbox.post(call_events.UserSaid(self._epoch(), turn, text, typed))

    def _keep_reply(self, reply: int, samples: int, ending: call_events.Ending) -> None:
        """The reply is over: the conversation keeps what was heard of it. The session's own asides are no part of it."""
        speaking = self._mouth.end(reply)
        figures = self._times.end(reply, self._epoch())
        if speaking is not None and (not speaking.own or speaking.kind == "announcement"):
            heard, unheard = speaking.playout.heard(samples)
            self._outbox.post(call_events.AssistantSaid(self._epoch(), reply, heard, unheard, ending))
        if figures is not None:
            self._outbox.post(figures)

    # ---- figures and trouble

    def _epoch(self) -> int:
        return self._machine.epoch

    def _note(self, reply: int, moment: Moment) -> None:
        self._times.note(reply, moment, self._clock.now())

    def _speech_ended(self) -> float:
        """The moment at which the caller's last speech ended, by the clock."""
        return self._clock.now() - (self._listening.heard - self._spoken_until) / HEARD_RATE

    def _trouble(self, problem: Problem) -> None:
        log.warning("a call goes on after %s: %s", problem.code, problem.message)
        self._outbox.post(call_events.CallProblem(self._epoch(), problem.code, problem.message))
