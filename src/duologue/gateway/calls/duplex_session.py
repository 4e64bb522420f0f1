"""One duplex session: a call whose sound goes back and forth in units, and the client it has at the moment.

Owns what the session is told and in which order it answers, its pauses, and its end. It outlives its socket for a while.
Which sound is due, `duplex_units.py` knows; what a call does, `calls.py`. Knows no socket.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import anyio
from msgspec.structs import replace

from duologue.errors import BadRequest, Busy, Problem, Unavailable, Unsupported
from duologue.gateway.calls.call import Call, CallEnded
from duologue.gateway.calls.duplex_frames import DuplexBuffer
from duologue.gateway.calls.history import EphemeralHistory
from duologue.gateway.calls.voice_socket import LAST_WORDS, CallServices
from duologue.gateway.models.registry import admit
from duologue.gateway.scheduling.voice_seats import NO_VOICE
from duologue.http.error_responses import problem_body
from duologue.values import call_events
from duologue.values.audio import samples
from duologue.values.call_events import CallEvent, CallSetup
from duologue.values.conversations import Approval, Decision, StoredMessage
from duologue.values.duplex import Unit
from duologue.values.events import Queued
from duologue.values.messages import ToolCall
from duologue.values.requests import ModelCard
from duologue.wire import duplex

log = logging.getLogger(__name__)

NORMAL, REFUSED = 1000, 1013
LOOKED_AT = 0.25
"""Seconds between two looks at the limits of a session."""
KEPT = 30.0
"""Seconds for which a session waits for a client that was lost."""
SILENT = 5.0
"""Seconds without a message after which another socket may take over a session: its client is as good as lost."""
UNPREPARED = 120.0
"""Seconds a client has to say how the session is to be."""
MARKED = 0.2
"""Seconds between two marks of what was played."""
AHEAD = 3.0
"""Seconds of sound the session may be ahead of the ear: what the client has, what is kept for the next piece, and some more."""
MOST_WAITING = 16
"""Pieces that may wait for their answers. Whoever sends more does not read them."""
BLIND = (
    "No model that is loaded sees pictures, so there can be no session with pictures here. Load a model that sees, or begin "
    "the session's id with adx_ for sound alone."
)


class DuplexClient(Protocol):
    """The socket a session has at the moment."""

    async def write(self, messages: Sequence[str]) -> None:
        """Send these, if it is still there."""
        ...

    def end(self, code: int, reason: str) -> None:
        """Nothing more will be sent; close."""
        ...


class DuplexSession:
    """One session, from its queue to its end. `run` lasts as long; the rest is told by whoever reads its socket."""

    def __init__(
        self,
        id: str,
        user: str,
        board: CallServices,
        *,
        request_id: str = "",
        wall: Callable[[], float] = time.time,
    ) -> None:
        if board.seats is None:
            raise Unsupported(NO_VOICE, code="voice_unavailable")
        self.id, self.user = id, user
        self.sees = not id.startswith(duplex.SOUND_ALONE)
        self.client: DuplexClient | None = None
        self.lost_at = math.inf
        """When its client was lost, in the event loop's seconds."""
        self.units = DuplexBuffer()
        self._board, self._request_id, self._wall = board, request_id, wall
        self._card = card_for(board.models.cards(), "", sees=self.sees) if self.sees else None
        self._history = EphemeralHistory("", "", ())
        self._asked: duplex.Prepare | None = None
        self._came = anyio.Event()
        self._prepared = False
        self._again = False
        self._paused = math.inf
        self._patience = 0.0
        self._news = anyio.Event()
        self._marked_at = -math.inf
        self._scope = anyio.CancelScope()
        self._ending = (NORMAL, "")
        self._active = anyio.current_time()
        self._call = Call(
            board.seats,
            board.generate,
            self._history,
            _Face(self),
            self._write,
            user=user,
            request_id=request_id,
            kind="omni_duplex" if self.sees else "audio_duplex",
            prepare=self._begin,
            observe=board.observe,
            read_ahead=board.read_ahead,
            context_of=board.context_of,
        )

    # ---- its client

    @property
    def taken(self) -> bool:
        """Whether its client is still there, as far as anybody knows."""
        if self.client is None:
            return self._scope.cancel_called  # it is ending at this moment
        quiet = anyio.current_time() - self._active
        return not (self._prepared and self._paused == math.inf and quiet > SILENT)

    async def attach(self, client: DuplexClient) -> None:
        """This socket has the session now."""
        before, self.client = self.client, client
        if before is not None:
            before.end(1008, "another socket has taken over")
        self.lost_at, self._active = math.inf, anyio.current_time()
        if self._prepared:
            self._again = True
            self.units.pause()
            await client.write([duplex.queue_done_message()])

    def detach(self, client: DuplexClient) -> None:
        """This socket has gone. A session that had begun waits for another one."""
        if self.client is not client:
            return
        self.client, self.lost_at = None, anyio.current_time()
        if not self._prepared:
            self._scope.cancel()

    async def _write(self, messages: Sequence[str | bytes]) -> None:
        if self.client is not None:
            await self.client.write([message for message in messages if isinstance(message, str)])

    # ---- its life

    async def run(self) -> None:
        """Until it is over; its client's socket is then to be closed."""
        try:
            async with anyio.create_task_group() as tasks:
                self._scope = tasks.cancel_scope
                for work in (self._talk, self._answer, self._watch):
                    tasks.start_soon(work)
        except Exception as error:
            log.exception("duplex session %s failed", self._request_id)
            said = problem_body(error, "/ws/duplex", self._request_id)["error"]
            problem = Problem(said["message"], code=said["code"])
            await self.end(REFUSED, problem.code, duplex.error_message(problem))
        finally:
            if self.client is not None:
                self.client.end(*self._ending)

    async def end(self, code: int, reason: str, *messages: str) -> None:
        """Say these last, and be over."""
        self._ending = (code, reason)
        with anyio.move_on_after(LAST_WORDS):
            await self._write(messages)
        self._scope.cancel()

    async def _talk(self) -> None:
        settings = self._board.settings
        setup = CallSetup(
            voice=settings.voice,
            language=settings.language,
            pauses=True,
            marks=True,
            fills=False,
            ahead=AHEAD,
        )
        try:
            await self._call.run(setup)
        except CallEnded as ended:
            if ended.problem is not None:
                await self.end(REFUSED, ended.problem.code, duplex.error_message(ended.problem))
        self._scope.cancel()

    async def _begin(self, setup: CallSetup) -> CallSetup:
        """There is a seat: wait for how the session is to be."""
        await self._came.wait()
        asked = self._asked
        assert asked is not None
        assert self._card is not None
        self._prepared = True
        await self._write([duplex.prepared_message(self.id, asked, self._card.name)])
        return replace(
            setup,
            voice=asked.voice or setup.voice,
            speed=asked.speed,
            language=asked.language or setup.language,
        )

    async def _watch(self) -> None:
        """End a session that is paused or lost for too long, and one that has outlasted a call's limits."""
        settings = self._board.settings
        while True:
            await anyio.sleep(LOOKED_AT)
            now = anyio.current_time()
            if now - self._paused > self._patience:
                reason = f"Pause timeout ({self._patience:g}s)"
                await self.end(NORMAL, "pause timeout", duplex.timeout_message(reason))
            elif now - self.lost_at > KEPT:
                log.info("duplex session %s was not taken over", self._request_id)
                await self.end(NORMAL, "lost")
            elif not self._prepared and now - self._call.seated_at > UNPREPARED:
                await self._limit("session_unprepared", "The session was never prepared. Send prepare first.")
            elif self._paused == math.inf and now - self._call.active > settings.idle_s:
                await self._limit(
                    "call_idle",
                    f"Nobody has said anything for {settings.idle_s:.0f} seconds (setting voice.idle_s). Begin again.",
                )
            elif now - self._call.seated_at > settings.session_s:
                await self._limit(
                    "call_too_long",
                    f"A session may last {settings.session_s:.0f} seconds (setting voice.session_s). Begin again.",
                )

    async def _limit(self, code: str, sentence: str) -> None:
        await self.end(NORMAL, code, duplex.error_message(Problem(sentence, code=code, status=408)))

    # ---- what its client says

    async def take(self, said: duplex.Said) -> None:
        """One message. Raises Problems; the session goes on after them."""
        self._active = anyio.current_time()
        match said:
            case duplex.Prepare():
                await self._prepare(said)
            case duplex.DuplexChunk():
                self._hear(said)
            case duplex.DuplexPicture():
                if not self.sees:
                    raise Unsupported(
                        "A session whose id begins with adx_ takes no pictures.", code="modality_unsupported"
                    )
                self._call.see(said.image)
            case duplex.Pause():
                self._expect_prepared()
                self._paused, self._patience = self._active, said.timeout
                self.units.pause()
                await self._results(self.units.due(self._active, now=True))
                await self._write([duplex.paused_message(said.timeout)])
            case duplex.DuplexResume():
                self._paused = math.inf
                await self._write([duplex.resumed_message()])
            case duplex.DuplexInterrupt():
                self._cut(self._active)
                await self._write([duplex.interrupted_message()])
            case duplex.DuplexStop():
                await self.end(NORMAL, "", duplex.stopped_message(self.id))
            case duplex.Diagnostic():
                log.debug("duplex session %s: %d diagnostic fields", self._request_id, len(said.fields))

    async def _prepare(self, asked: duplex.Prepare) -> None:
        """How the session is to be. Again: its prompt anew, and nothing said; after a lost connection, as it was."""
        if self._again and self._asked is not None and self._card is not None:
            self._again = False
            await self._write([duplex.prepared_message(self.id, self._asked, self._card.name, again=True)])
            return
        card = card_for(self._board.models.cards(), self._name(asked.model), sees=self.sees)
        self._history.restart(asked.prompt, card.name, asked.sampling)
        admit(card, self._history.request("?"))
        fixed = [
            name
            for name in ("voice", "speed", "language")
            if self._prepared and self._asked and getattr(asked, name) != getattr(self._asked, name)
        ]
        self._asked, self._card = replace(asked, ignored=(*asked.ignored, *fixed)), card
        if self._prepared:
            self._cut(self._active)
            await self._write([duplex.prepared_message(self.id, self._asked, card.name)])
        self._came.set()

    def _name(self, model: str) -> str:
        return self._board.models.resolve(model).name if model or not self.sees else ""

    def _expect_prepared(self) -> None:
        if not self._prepared:
            raise Problem(
                "The session is not prepared yet: send prepare and wait for prepared.",
                code="session_unprepared",
                status=409,
            )

    def _hear(self, chunk: duplex.DuplexChunk) -> None:
        self._expect_prepared()
        if self._paused != math.inf:
            raise Problem("The session is paused; send resume first.", code="session_paused", status=409)
        if self.units.unanswered >= MOST_WAITING:
            raise Busy("Results are not read as fast as sound is sent.", code="too_slow")
        frames = chunk.frames if self.sees else ()
        arrival = self.units.piece(
            samples(chunk.pcm), self._active, forced=chunk.force_listen, frames=len(frames)
        )
        if frames:
            self._call.see(frames[-1])
        if arrival.heard:
            self._call.tell(call_events.MicrophoneAudio(chunk.pcm))
        if chunk.force_listen:
            self._cut(self._active)
        self.wake()

    def _cut(self, at: float) -> None:
        """The client wants silence."""
        if (interrupt := self.units.interrupt(at)) is not None:
            self._call.tell(interrupt)
        self.wake()

    # ---- what it is answered

    def wake(self) -> None:
        """There may be something to answer."""
        self._news.set()

    def mark(self) -> None:
        """Tell the call how far its client is."""
        now = self._marked_at = anyio.current_time()
        if (played := self.units.played(now)) is not None:
            self._call.tell(played)

    async def _answer(self) -> None:
        """Answer every piece, in order, and tell the call what was played of it."""
        while True:
            news = self._news = anyio.Event()
            now = anyio.current_time()
            await self._results(self.units.due(now))
            if self.units.sounds and now >= self._marked_at + MARKED:
                self.mark()
            due = [] if self.units.next is None else [self.units.next]
            if self.units.sounds:
                due.append(self._marked_at + MARKED)
            with anyio.CancelScope(deadline=min(due, default=math.inf)):
                await news.wait()

    async def _results(self, units: Iterable[Unit]) -> None:
        for unit in units:
            took = anyio.current_time() - unit.at
            await self._write([duplex.result_message(unit, took, self._wall())])


class _Face:
    """What the call says of itself, in this dialect: mostly by the next results."""

    def __init__(self, session: DuplexSession) -> None:
        self._session = session
        self._seated = False

    @property
    def epoch(self) -> int:
        return self._session.units.epoch

    def encode(self, events: Iterable[CallEvent]) -> list[str]:
        events = list(events)
        self._session.units.take(events)
        if any(isinstance(event, call_events.Hold) for event in events):
            self._session.mark()
        self._session.wake()
        return [
            duplex.error_message(Problem(event.message, code=event.code))
            for event in events
            if isinstance(event, call_events.CallProblem)
        ]

    def queued(self, event: Queued, again: bool) -> list[str]:
        # Once it was seated, the client has a session; that its voice is started again is no queue to it.
        return [] if self._seated else [duplex.queue_message(event, again)]

    def seated(self, waited: bool) -> list[str]:
        if self._seated:
            return []
        self._seated = True
        return [duplex.queue_done_message()]

    def waiting(self, epoch: int) -> list[str]:
        return self.encode([call_events.State(epoch, "waiting")])

    def trouble(self, problem: Problem) -> list[str]:
        return [duplex.error_message(problem)]

    # This protocol has no tools, and its sessions belong to no conversation.

    def tool_calls(self, reply: int, asked: Iterable[ToolCall]) -> list[str]:
        return []

    def tool(self, reply: int, row: StoredMessage) -> list[str]:
        return []

    def asked(self, reply: int, approval: Approval, aloud: str) -> list[str]:
        return []

    def answered(self, reply: int, id: str, decision: Decision | None) -> list[str]:
        return []

    def rewritten(self, conversation: str, leaf: str | None, path: Sequence[StoredMessage]) -> list[str]:
        return []


def card_for(cards: Sequence[ModelCard], name: str, *, sees: bool) -> ModelCard:
    """The model of a session: the one that is named, or the first that can do it. Raises Problems."""
    named = [card for card in cards if not name or card.name == name]
    able = [card for card in named if not sees or "image" in card.modalities]
    if able:
        return able[0]
    if loading := next((card for card in named if not card.context), None):
        raise Unavailable(
            f"The model {loading.name} is loading. Try again in a moment.", code="model_loading"
        )
    if name:
        raise BadRequest(
            f"The model {name} sees no pictures. {BLIND}", code="modality_unsupported", param="model"
        )
    raise Unsupported(BLIND, code="modality_unsupported")
