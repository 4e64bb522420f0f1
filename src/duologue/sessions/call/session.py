"""One call: listens to the caller, and speaks the replies that the gateway writes.

worker/voice.py runs it. Owns the tasks of a call, the way of every fact to the turn machine, and of every decision to the
part that carries it out, in order. Decisions are made in `turns/machine.py`; replies are requested from the gateway with
`ReplyRequested`.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import NamedTuple

import anyio
import anyio.abc
import msgspec

from duologue.engines.contracts import Detector, RecogniserEngine, TurnEndEstimator
from duologue.errors import Problem
from duologue.sessions.call.audio_input import AudioInput, ButtonMark
from duologue.sessions.call.clock import Clock
from duologue.sessions.call.latency import Moment, TurnLatency
from duologue.sessions.call.outbox import EventOutbox
from duologue.sessions.call.playback import ClientPlayer, PlayingReply
from duologue.sessions.call.renumber import RenumberedMachine, TurnDecider
from duologue.sessions.call.silence_filler import SilenceFiller
from duologue.sessions.call.spoken_playback import ReplyVoice, SpokenPlayback
from duologue.sessions.call.transcription import Transcription
from duologue.sessions.call.translation import event_of, facts_of
from duologue.sessions.call.turn_end import TurnEndQuestions
from duologue.sessions.speech.speech_engines import SpeechEngines
from duologue.sessions.speech.speech_task import ControlSource, SendEvent
from duologue.sessions.speech.synthesis import voice_style
from duologue.sessions.speech.vad_batcher import VadBatcher
from duologue.sessions.video.call_video import CallVideo, VideoParts
from duologue.sessions.video.film_encoder import FilmEncoders
from duologue.sessions.video.muxer import VideoEncoders
from duologue.turns import decisions, facts
from duologue.turns.decisions import Decision
from duologue.turns.facts import Fact
from duologue.turns.machine import TurnMachine
from duologue.turns.settings import TurnSettings
from duologue.values import call_events
from duologue.values.audio import HEARD_RATE
from duologue.values.call_events import CallControl, CallSetup

log = logging.getLogger(__name__)

FACE_WAIT = 2.0
"""Seconds a greeting waits for the avatar that says it."""
SPEECH = 0.5
"""Probability from which a frame counts as speech in the latency figures."""


async def call(
    engines: SpeechEngines,
    setup: CallSetup,
    controls: ControlSource,
    send: SendEvent,
    clock: Clock,
    machine: TurnDecider | None = None,
    encoders: FilmEncoders | None = None,
) -> None:
    """Run one call until it is cancelled. Raises the Problem that ends it."""
    recogniser, speaker = engines.require_recogniser(), engines.require_speaker()
    detector_engine = engines.require_detector()
    detector = await engines.batcher.open(detector_engine)
    style = voice_style(speaker, setup.voice, setup.speed, setup.language, setup.sample)
    settings = msgspec.structs.replace(
        TurnSettings.of(setup),
        language=style.language,
        by_sound=engines.turn_end is not None,
        spots_stop_words=bool(getattr(engines.recogniser, "spots_stop_words", False)),
    )
    machine = RenumberedMachine(machine or TurnMachine(settings), setup)
    parts = CallParts(
        detector,
        engines.batcher,
        recogniser,
        ReplyVoice(speaker, style, engines.clips),
        engines.turn_end,
        _video_parts(engines, setup, encoders),
    )
    try:
        await CallSession(parts, setup, controls, send, clock, machine).run()
    finally:
        engines.batcher.close(detector_engine, detector)


def _video_parts(
    engines: SpeechEngines, setup: CallSetup, encoders: FilmEncoders | None
) -> VideoParts | None:
    if setup.video == "off" or setup.avatar is None:
        return None
    return VideoParts(setup.video, setup.avatar, engines, encoders or VideoEncoders(engines.encoding))


class CallParts(NamedTuple):
    """The engines of one call."""

    detector: Detector
    batcher: VadBatcher
    recogniser: RecogniserEngine
    voice: ReplyVoice
    turn_end: TurnEndEstimator | None = None
    video: VideoParts | None = None
    """For a call that is to have video."""


class CallSession:
    """A running call. Facts and decisions cross here, one at a time; everything that waits for something is a task."""

    def __init__(
        self,
        parts: CallParts,
        setup: CallSetup,
        controls: ControlSource,
        send: SendEvent,
        clock: Clock,
        machine: TurnDecider,
    ) -> None:
        self._parts = parts
        self._setup = setup
        self._controls = controls
        self._send = send
        self._clock = clock
        self._machine = machine
        self._outbox = EventOutbox()
        self._audio_input = AudioInput[ButtonMark](parts.detector, parts.batcher)
        self._latency = TurnLatency()
        self._facts: deque[Fact] = deque()
        self._deciding = False
        self._filler = SilenceFiller(clock, self._audio_input.add)
        self._speech_end = 0
        self._shown_turns: set[int] = set()
        self._last_partial = (0, "")
        self._problem: Problem | None = None
        self._tasks: anyio.abc.TaskGroup
        self._transcription: Transcription
        self._turn_end: TurnEndQuestions
        self._playback: SpokenPlayback

    async def run(self) -> None:
        """Run until cancelled. Raises the Problem that ended it."""
        try:
            await self._run()
        finally:
            self._transcription.close()
        if self._problem is not None:
            raise self._problem

    async def _run(self) -> None:
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            setup, parts = self._setup, self._parts
            self._transcription = Transcription(
                parts.recogniser,
                tasks,
                language=setup.language,
                hint=setup.hint,
                on_transcript=self._transcribed,
                on_failure=self.report_problem,
            )
            self._transcription.mention(setup.mentioned)
            self._turn_end = TurnEndQuestions(
                parts.turn_end, tasks, sound_of=self._transcription.last_sound, on_estimate=self.decide
            )
            client = ClientPlayer(setup.marks, setup.ahead, setup.mouth)
            video = (
                CallVideo(parts.video, tasks, post=self._outbox.post, epoch=lambda: self.epoch)
                if parts.video is not None
                else None
            )
            self._playback = SpokenPlayback(
                parts.voice, client, tasks, self._outbox, self._clock, self, video
            )
            for work in (self._send_events, self._read_controls, self._read_audio, self._playback.run):
                tasks.start_soon(self._guard, work)
            if video is not None:
                tasks.start_soon(video.run)
            if setup.fills:
                tasks.start_soon(self._guard, self._filler.run)
            if setup.greeting:
                tasks.start_soon(self._greet, setup.greeting, video)

    # ---- tasks

    async def _greet(self, greeting: str, video: CallVideo | None) -> None:
        """Say the greeting, with the face that is to say it if that is ready soon."""
        if video is not None:
            with anyio.move_on_after(FACE_WAIT):
                await video.prepared.wait()
        self.decide(facts.AnnouncementRequested(greeting))

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

    async def _read_audio(self) -> None:
        """Turn the caller's sound into facts, frame by frame."""
        while True:
            for item in await self._audio_input.take():
                if isinstance(item, ButtonMark):
                    self.decide(facts.PushToTalk(item.down))
                    continue
                self._transcription.add(item.pcm)
                if item.probability >= SPEECH:
                    self._speech_end = self._transcription.received
                level = self._playback.loudness()
                self.decide(facts.Frame(item.probability, item.level, item.brightness, level))

    # ---- controls become facts

    def _apply(self, control: CallControl) -> None:
        """Do what a control asks for, and decide on the facts that it states."""
        match control:
            case call_events.MicrophoneAudio(pcm):
                self._filler.note_sound()
                self._audio_input.add(pcm)
            case call_events.Pressed(down):
                # Sound from before the button moved still counts as before, even if it is not processed yet.
                self._audio_input.mark(ButtonMark(down))
            case call_events.Text(reply, text, last):
                self._write(reply, text, last)
            case call_events.Played(reply, samples):
                self._playback.set_played(reply, samples)
            case call_events.ToolsRunning(reply, busy=True):
                self._playback.pause_writing(reply)
            case call_events.Typed():
                self._speech_end = self._transcription.received
            case _:
                pass
        for fact in facts_of(control):
            self.decide(fact)
        if isinstance(control, call_events.ReplyFailed):
            self._playback.write(control.reply, "", last=True)

    def _write(self, number: int, text: str, last: bool) -> None:
        """Add text to a reply. Text of a reply that was dropped is ignored."""
        playing = self._playback.replies.get(number)
        if playing is None or playing.own:
            return
        first = not playing.reply.written
        self._transcription.mention(text)
        self._playback.write(number, text, last=last)
        if first and text:
            self.decide(facts.ReplyTextStarted(number))

    def _transcribed(self, fact: facts.PartialTranscript | facts.FinalTranscript) -> None:
        """Show a partial transcript when its text changed, and decide on every one."""
        if isinstance(fact, facts.PartialTranscript):
            self._shown_turns.add(fact.turn)
            if (fact.turn, fact.text) != self._last_partial:
                self._last_partial = (fact.turn, fact.text)
                self._outbox.post(call_events.Transcribed(self.epoch, fact.turn, fact.text))
        self.decide(fact)

    def decide(self, fact: Fact) -> None:
        """Pass a fact to the machine and carry out its decisions. Facts that arise meanwhile are queued: all decisions on one
        fact are carried out before the next fact is decided on."""
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

    # ---- decisions become events

    def _carry_out(self, decision: Decision) -> None:
        """Do what a decision asks for, and tell the gateway of it."""
        playback, transcription = self._playback, self._transcription
        match decision:
            case decisions.TranscribeTurn(turn, since, over_reply):
                transcription.start(turn, since, over_reply=over_reply)
            case decisions.FinishTranscript(turn, until):
                transcription.finish(turn, until)
            case decisions.EstimateTurnEnd(turn, until):
                self._turn_end.ask(turn, until)
            case decisions.DiscardTurn(turn, reason):
                self._discard_turn(turn, reason)
            case decisions.RequestReply(reply, turn):
                self._latency.begin(reply, turn, self._speech_ended_at())
                self.note(reply, "transcript")
                playback.begin(reply)
                self._post(decision)
            case decisions.ReleaseReply(reply):
                self.note(reply, "endpoint")
                self._post(decision)
                playback.release(reply)
            case decisions.SaySentence(reply, text, kind):
                playback.begin(reply, own=True, kind=kind)
                playback.write(reply, text, last=True)
            case decisions.DropReply(reply):
                self._latency.forget(reply)
                self._cancel_writing(playback.drop(reply))
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
                playing = playback.cut(reply)
                self._post(decision)
                self._cancel_writing(playing)
            case decisions.CommitTurn(turn, text, typed):
                self._shown_turns.discard(turn)
                if not typed:
                    self._outbox.post(call_events.Transcribed(self.epoch, turn, text, final=True))
                self._post(decision)
            case decisions.CommitReply(reply, samples, ending):
                self._commit_reply(reply, samples, ending)
            case _:
                self._post(decision)

    def _post(self, decision: Decision) -> None:
        if (event := event_of(decision, self.epoch)) is not None:
            self._outbox.post(event)

    def _discard_turn(self, turn: int, reason: str) -> None:
        """Forget the turn. If words of it were shown, or should have been, the client is told that there are none."""
        self._transcription.discard(turn)
        missed = reason == "not_understood"
        if turn in self._shown_turns or missed:
            self._shown_turns.discard(turn)
            self._outbox.post(
                call_events.Transcribed(self.epoch, turn, "", final=True, understood=not missed)
            )

    def _cancel_writing(self, playing: PlayingReply | None) -> None:
        """Tell the gateway to stop writing this reply, unless it has finished."""
        if playing is not None and not playing.own and not playing.reply.finished:
            self._post(decisions.DropReply(playing.reply.number))

    def _commit_reply(self, reply: int, samples: int, ending: call_events.Ending) -> None:
        """Add what was heard of the reply to the conversation. Fillers and apologies are not part of it."""
        playing = self._playback.end(reply)
        figures = self._latency.end(reply, self.epoch, playing.playout.gaps if playing is not None else ())
        if playing is not None and (not playing.own or playing.kind == "announcement"):
            heard, unheard = playing.playout.heard(samples)
            self._outbox.post(call_events.AssistantSaid(self.epoch, reply, heard, unheard, ending))
        if figures is not None:
            self._outbox.post(figures)

    # ---- figures and problems

    @property
    def epoch(self) -> int:
        """How often a reply of this call was cut."""
        return self._machine.epoch

    def note(self, reply: int, moment: Moment) -> None:
        """Record for the latency figures that this happened to the reply now."""
        self._latency.note(reply, moment, self._clock.now())

    def _speech_ended_at(self) -> float:
        """When the caller's last speech ended, by the clock."""
        return self._clock.now() - (self._transcription.received - self._speech_end) / HEARD_RATE

    def report_problem(self, problem: Problem) -> None:
        """Tell the client of a problem that does not end the call."""
        log.warning("a call continues after %s: %s", problem.code, problem.message)
        self._outbox.post(call_events.CallProblem(self.epoch, problem.code, problem.message))
