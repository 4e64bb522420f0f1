"""One call that an omni model holds by itself: it hears the caller's sound, sees the frames, and speaks.

worker/language.py runs it, with the engine's duplex view. Owns the tasks of the call, the way of sound to the model a unit at a time, and
of its answers to playback. When a model that does not decide speaks, and what interrupts one, is decided in `turns/native/unit_decider.py`.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial

import anyio
import anyio.abc
from msgspec import Struct

from duologue.engines.contracts import (
    Decision,
    Detector,
    DetectorEngine,
    DuplexOptions,
    ModelVoice,
    OmniEngine,
    UnitAnswer,
)
from duologue.errors import BadRequest, ContextExceeded, DeviceLost, Problem, Unsupported
from duologue.notifier import Notifier
from duologue.sessions.call.audio_input import AudioInput, ButtonMark
from duologue.sessions.call.clock import Clock
from duologue.sessions.call.latency import Moment, TurnLatency
from duologue.sessions.call.outbox import EventOutbox
from duologue.sessions.call.playback import ClientPlayer, PlayingReply
from duologue.sessions.call.silence_filler import SilenceFiller
from duologue.sessions.call.translation import event_of
from duologue.sessions.omni.answer_event import answer_event, together
from duologue.sessions.omni.caller_sound import CallerSound
from duologue.sessions.omni.native_playback import NativePlayback
from duologue.sessions.omni.native_reply import NativeReply
from duologue.sessions.omni.units import SoundUnit, UnitCutter, UnitQueue
from duologue.sessions.omni.watched_view import WatchedView
from duologue.sessions.speech.speech_task import ControlSource, SendEvent
from duologue.sessions.speech.vad_batcher import VadBatcher
from duologue.turns import decisions, facts
from duologue.turns.facts import Fact
from duologue.turns.native import unit_decisions
from duologue.turns.native.unit_decider import UnitDecider
from duologue.turns.native.unit_decisions import UnitDecision, UnitFact, UnitPassing
from duologue.values import call_events
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, SPOKEN_RATE, samples
from duologue.values.call_events import CallControl, CallSetup, OmniSetup
from duologue.values.messages import ImagePart

log = logging.getLogger(__name__)

EndWorker = Callable[[DeviceLost], None]
"""Ends every lease of this worker with the reason, then its process."""
LEAD = SPOKEN_RATE * 3 // 4
"""Samples of a reply that are to be there before the next unit, where the model says as much as a unit is long: a unit and a reserve."""
MOST_AHEAD = 3
"""Times that it is asked for more at one unit. One that is slower than speech never gets ahead."""


class UnitMark(Struct, frozen=True):
    """A unit ends between two frames, at this sample."""

    end: int


async def native_call(
    engine: OmniEngine,
    detector_engine: DetectorEngine,
    batcher: VadBatcher,
    setup: CallSetup,
    controls: ControlSource,
    send: SendEvent,
    clock: Clock,
    end_worker: EndWorker,
) -> None:
    """Run one call until it is cancelled. Raises the Problem that ends it. The engine is free for chats when this returns or raises.
    `end_worker` is called where the model hangs, in which case this does not return."""
    detector = await batcher.open(detector_engine)
    try:
        async with engine.duplex() as view:
            watched = WatchedView(view, clock)
            await NativeCall(watched, detector, batcher, setup, controls, send, clock, end_worker).run()
    finally:
        batcher.close(detector_engine, detector)


class NativeCall:
    """A running call. Facts and decisions cross here, one at a time; one task uses the model."""

    def __init__(
        self,
        view: WatchedView,
        detector: Detector,
        batcher: VadBatcher,
        setup: CallSetup,
        controls: ControlSource,
        send: SendEvent,
        clock: Clock,
        end_worker: EndWorker,
    ) -> None:
        self._view = view
        self._end_worker = end_worker
        self._setup = setup
        self._controls = controls
        self._send = send
        self._clock = clock
        self._machine = UnitDecider(setup, decides=view.decides)
        self._outbox = EventOutbox()
        client = ClientPlayer(setup.marks, setup.ahead, setup.mouth)
        self._playback = NativePlayback(client, self._outbox, clock, self)
        fewest, most = view.unit_samples
        self._cutter = UnitCutter(fewest, most)
        self._queue = UnitQueue(most)
        self._sound = CallerSound()
        self._input = AudioInput[ButtonMark | UnitMark](detector, batcher)
        self._filler = SilenceFiller(clock, self._hear)
        self._latency = TurnLatency()
        self._facts: deque[UnitFact] = deque()
        self._deciding = False
        self._scored = 0
        """Frames up to this sample were judged."""
        self._pressed = False
        self._work: deque[Callable[[], Awaitable[None]]] = deque()
        """What the model is to do before the next unit."""
        self._changed = Notifier()
        self._passing: UnitPassing | None = None
        self._passed_to = 0
        self._told: int | None = None
        """The reply that the model was told to speak last."""
        self._missed_frames: tuple[ImagePart, ...] = ()
        self._units = 0
        self._cached = 0
        self._turn_ended: tuple[float, float] | None = None
        """When the last turn's speech ended, and when that was decided, by the clock."""
        self._problem: Problem | None = None
        self._tasks: anyio.abc.TaskGroup

    async def run(self) -> None:
        """Run until cancelled. Raises the Problem that ended it."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            works = [self._send_events, self._read_controls, self._judge_sound, self._playback.run]
            for work in (*works, self._use_model, self._watch_model):
                tasks.start_soon(self._guard, work)
            if self._setup.fills:
                tasks.start_soon(self._guard, self._filler.run)
        if self._problem is not None:
            raise self._problem

    # ---- tasks

    async def _guard(self, work: Callable[[], Awaitable[None]]) -> None:
        """A Problem in any of the tasks ends the call. It is raised outside of the task group, which would wrap it."""
        try:
            await work()
        except Problem as problem:
            self._problem = problem
            self._tasks.cancel_scope.cancel()

    async def _send_events(self) -> None:
        await self._outbox.run(self._send)

    async def _read_controls(self) -> None:
        while True:
            for control in await self._controls.take():
                self._apply(control)

    async def _judge_sound(self) -> None:
        """Turn the caller's sound into facts, frame by frame, and let the units go whose frames were judged."""
        while True:
            for item in await self._input.take():
                match item:
                    case ButtonMark(down):
                        self.decide(facts.PushToTalk(down))
                    case UnitMark(end):
                        self._scored = end
                        self._changed.notify()
                    case _:
                        level = self._playback.loudness()
                        self.decide(facts.Frame(item.probability, item.level, item.brightness, level))

    async def _watch_model(self) -> None:
        self._end_worker(await self._view.until_stuck())

    async def _use_model(self) -> None:
        """Everything that the model does, one thing after the other."""
        omni = self._setup.omni or OmniSetup()
        options = DuplexOptions(
            omni.sampling,
            ModelVoice(self._setup.voice, self._setup.sample),
            omni.listen_scale,
            omni.window,
        )
        self._cached = await self._view.prepare(omni.messages, options)
        if self._setup.greeting:
            await self._announce(self._setup.greeting)
        self._outbox.post(call_events.State(self.epoch, "listening"))
        while True:
            changed = self._changed.pending()
            if self._work:
                await self._work.popleft()()
            elif (unit := self._queue.first) is not None and unit.end <= self._scored:
                self._passing = None
                self.decide(unit_decisions.UnitDue(unit.end, unit.force_listen))
                # A decision may have been to cut a reply first.
                while self._work and self._passing is not None:
                    await self._work.popleft()()
                if self._passing is None:
                    await self._wait(changed)
                else:
                    await self._pass(self._queue.take(self._scored), self._passing)
            else:
                await self._wait(changed)

    async def _wait(self, changed: anyio.Event) -> None:
        if not self._work:
            await changed.wait()

    # ---- controls

    def _apply(self, control: CallControl) -> None:
        """Do what a control asks for, and decide on the facts that it states."""
        match control:
            case call_events.MicrophoneAudio(pcm):
                self._filler.note_sound()
                self._hear(pcm)
            case call_events.CallChunk(pcm, frames, force_listen, max_slices):
                self._filler.note_sound()
                pcm = self._admit(pcm)
                self._ready(
                    self._cutter.add_chunk(
                        pcm,
                        self._clock.now(),
                        frames=frames,
                        force_listen=force_listen,
                        max_slices=max_slices,
                    )
                )
            case call_events.CallFrame(frame):
                self._cutter.add_frame(frame)
            case call_events.Played(reply, position):
                self._playback.set_played(reply, position)
            case call_events.Pressed(down):
                # Sound from before the button moved still counts as before, even if it is not judged yet.
                self._pressed = down
                self._input.mark(ButtonMark(down))
            case call_events.Interrupt(reply, position):
                self.decide(facts.InterruptRequested(reply, position))
            case call_events.Typed(text):
                self.decide(facts.TextTyped(text))
            case call_events.Speak(text):
                self._work.append(partial(self._announce, text))
                self._changed.notify()
            case _:
                pass

    def _admit(self, pcm: bytes) -> bytes:
        """The sound that the caller lets us hear: silence while the button of push to talk is up."""
        pcm = pcm[: samples(pcm) * SAMPLE_BYTES]
        if not self._setup.listens and not self._pressed:
            pcm = bytes(len(pcm))
        self._sound.add(pcm)
        self._input.add(pcm)
        return pcm

    def _hear(self, pcm: bytes) -> None:
        self._ready(self._cutter.add(self._admit(pcm), self._clock.now()))

    def _ready(self, units: list[SoundUnit]) -> None:
        """These units wait for their frames to be judged, and for the model."""
        for unit in units:
            dropped = self._queue.dropped
            self._queue.put(unit)
            if self._queue.dropped and not dropped:
                log.warning(
                    "a model is too slow for its call; what is more than three seconds behind is dropped"
                )
            self._input.mark(UnitMark(unit.end))

    # ---- facts and decisions

    def decide(self, fact: Fact | UnitFact) -> None:
        """Pass a fact to the machine and carry out its decisions. Facts that arise meanwhile are queued: all decisions on one
        fact are carried out before the next fact is decided on."""
        self._facts.append(fact)  # type: ignore[arg-type]
        if self._deciding:
            return
        self._deciding = True
        try:
            while self._facts:
                for decision in self._machine.take(self._facts.popleft()):
                    self._carry_out(decision)
        finally:
            self._deciding = False
        self._changed.notify()

    def _carry_out(self, decision: UnitDecision) -> None:
        """Do what a decision asks for, and tell the gateway of it."""
        playback = self._playback
        match decision:
            case unit_decisions.PassUnit(passing):
                self._passing = passing
            case unit_decisions.CutUnit(anyway):
                if self._cutter.waiting or (anyway and self._queue.first is None):
                    self._ready([self._cutter.flush(self._clock.now())])
            case unit_decisions.HearAgain(since):
                self._sound.forget(since)
            case unit_decisions.BeginReply(reply, turn):
                playback.begin(reply, self._setup.language)
                self._begin_figures(reply, turn)
                self._outbox.post(call_events.ReplyBegun(self.epoch, reply, turn))
            case unit_decisions.EndTurn(turn, since, until):
                now = self._clock.now()
                self._turn_ended = (now - (self._sound.end - self._machine.speech_end) / HEARD_RATE, now)
                pcm = self._sound.between(since, until)
                self._outbox.post(call_events.UserSound(self.epoch, turn, pcm))
            case unit_decisions.SilenceModel():
                self._work.append(self._silence)
            case decisions.HoldReply(reply):
                if playback.hold(reply) and self._setup.pauses:
                    self._post(decision)
            case decisions.ResumeReply(reply):
                if playback.resume(reply) and self._setup.pauses:
                    self._post(decision)
                # Not before the client knows: it would take the sound for a reply on hold.
                playback.send_due()
            case decisions.CutReply(reply):
                self.note(reply, "interrupted")
                playback.cut(reply)
                self._post(decision)
            case decisions.CommitReply(reply, position, ending):
                self._commit_reply(reply, position, ending)
            case decisions.CommitTurn(_, text):
                self._turn_ended = (self._clock.now(), self._clock.now())
                self._work.append(partial(self._type, text))
                self._post(decision)
            case _:
                self._post(decision)

    def _post(self, decision: UnitDecision) -> None:
        if (event := event_of(decision, self.epoch)) is not None:  # type: ignore[arg-type]
            self._outbox.post(event)

    def _begin_figures(self, reply: int, turn: int) -> None:
        if self._turn_ended is not None:
            ended, decided = self._turn_ended
            self._turn_ended = None
            self._latency.begin(reply, turn, ended)
            self._latency.note(reply, "endpoint", decided)

    def _commit_reply(self, reply: int, position: int, ending: call_events.Ending) -> None:
        """The reply is over. How much of an interrupted one was heard is the model's to say: its cache holds that."""
        playing = self._playback.end(reply)
        if playing is None:
            return
        if ending == "interrupted":
            self._work.append(partial(self._cut, playing, position))
        else:
            self._tell_said(playing, *playing.playout.heard(position), ending)

    def _tell_said(self, playing: PlayingReply, heard: str, unheard: str, ending: call_events.Ending) -> None:
        number = playing.reply.number
        self._outbox.post(call_events.AssistantSaid(self.epoch, number, heard, unheard, ending))
        if (figures := self._latency.end(number, self.epoch, playing.playout.gaps)) is not None:
            self._outbox.post(figures)

    # ---- the model's work

    async def _cut(self, playing: PlayingReply, position: int) -> None:
        """Let the model forget what was not heard of the reply, and tell what was."""
        kept = (await self._view.cut(position)).strip()
        heard, unheard = playing.playout.heard(position)
        written = playing.playout.written
        start = len(written) - len(written.lstrip())
        if written.startswith(kept, start):
            heard, unheard = written[: start + len(kept)], written[start + len(kept) :]
        else:
            log.warning("a model kept other words of an interrupted reply than it had said")
        self._tell_said(playing, heard, unheard, "interrupted")

    async def _type(self, text: str) -> None:
        try:
            await self._view.type(text)
        except Unsupported as problem:
            self.report_problem(problem)

    async def _announce(self, text: str) -> None:
        """Have the model say a sentence of the session as soon as neither side speaks."""
        try:
            await self._view.recite(text)
        except Unsupported as problem:
            self.report_problem(problem)
        else:
            self.decide(unit_decisions.Announced())

    async def _silence(self) -> None:
        await self._view.cut(0)

    async def _hear_again(self) -> None:
        """Pass what the model missed while it spoke."""
        for pcm in self._sound.again(*self._view.unit_samples):
            self._cached = (await self._view.unit(pcm, decision="listen")).cached
            await self._view.finalize()

    async def _pass(self, unit: SoundUnit, passing: UnitPassing) -> None:
        """Pass a unit to the model, and its answer to playback and the gateway."""
        since, self._passed_to = self._passed_to, unit.end
        reply = self._machine.reply
        answer = UnitAnswer(cached=self._cached)
        frames = unit.frames or self._missed_frames
        if passing == "withhold" or (passing == "speak" and reply == self._told):
            self._sound.miss(since, unit.end)
            self._missed_frames = frames
        else:
            self._missed_frames = ()
            if not self._view.decides:
                await self._hear_again()
        if passing == "speak":
            self._told = reply
        if passing != "withhold":
            answer = await self._unit(unit, frames, passing)
        self._cached = answer.cached
        late = max(0.0, self._clock.now() - unit.arrived) * 1000
        self.decide(unit_decisions.UnitSpoke(not answer.listens))
        # One that was cut meanwhile is not spoken on.
        expected = reply if passing == "speak" else self._machine.reply
        number = self._add(expected, answer) if expected == self._machine.reply else None
        if number is not None and passing == "speak":
            answer = await self._speak_ahead(number, answer)
        self._units += 1
        event = answer_event(self.epoch, self._units, unit.answers, answer, number, late)
        self._playback.answer(event, number)
        if passing != "withhold":
            await self._view.finalize()

    async def _unit(self, unit: SoundUnit, frames: tuple[ImagePart, ...], passing: Decision) -> UnitAnswer:
        """The model's answer. A frame that it cannot read is left out."""
        slices = unit.max_slices
        try:
            return await self._view.unit(unit.pcm, frames, decision=passing, max_slices=slices)
        except BadRequest as problem:
            if not frames or isinstance(problem, ContextExceeded):
                raise
            self.report_problem(problem)
        return await self._view.unit(unit.pcm, decision=passing, max_slices=slices)

    async def _speak_ahead(self, number: int, answer: UnitAnswer) -> UnitAnswer:
        """Let a model that was told to speak say more, until there is enough to play while the next unit comes: it says as much as a unit is
        long, and the first one may be short. All that it said, as one answer."""
        playing = self._playback.replies[number]
        silence = bytes(self._cutter.target * SAMPLE_BYTES)
        for _ in range(MOST_AHEAD):
            going_on = self._machine.reply == number and not playing.reply.finished
            if not going_on or playing.reply.length - playing.played >= LEAD:
                break
            await self._view.finalize()
            more = await self._view.unit(silence, decision="speak")
            answer = together(answer, more)
            if self._machine.reply == number:
                self._add(number, more)
        self._cached = answer.cached
        return answer

    def _add(self, number: int | None, answer: UnitAnswer) -> int | None:
        """Add what the model said to this reply. None if it said nothing of it."""
        playing = None if number is None else self._playback.replies.get(number)
        if playing is None or not isinstance(reply := playing.reply, NativeReply) or reply.finished:
            return None
        if answer.text:
            self.note(reply.number, "first_text")
            playing.playout.write(answer.text)
        words = reply.add(answer.text, answer.pcm, last=answer.end_of_turn or answer.listens)
        self._playback.sounded(reply, words)
        return reply.number

    # ---- figures and problems

    @property
    def epoch(self) -> int:
        """How often a reply of this call was cut."""
        return self._machine.epoch

    def note(self, reply: int, moment: Moment) -> None:
        """Record for the latency figures that this happened to the reply now."""
        self._latency.note(reply, moment, self._clock.now())

    def report_problem(self, problem: Problem) -> None:
        """Tell the client of a problem that does not end the call."""
        log.warning("a call continues after %s: %s", problem.code, problem.message)
        self._outbox.post(call_events.CallProblem(self.epoch, problem.code, problem.message))
