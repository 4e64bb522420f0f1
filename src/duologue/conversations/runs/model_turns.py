"""The model turns of one run: each writes one row, in a task of its own.

Used by `run.py`. Owns which turn is the current one; events of any other turn are dropped. A slot of the model is held only
inside the task of a turn, never while tools run.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import aclosing

import anyio

from duologue.conversations.agent.dependencies import RunDependencies
from duologue.conversations.agent.turn import INTERNAL_ERROR, ModelTurn, row_error
from duologue.conversations.runs.prompt import PromptBuilder
from duologue.conversations.runs.record import RunRecord
from duologue.errors import Problem
from duologue.values.conversations import RowError, Status, StoredMessage
from duologue.values.events import Done, Event, Failed, Usage
from duologue.values.requests import ChatRequest
from duologue.values.runs import MessageDone, RunEvent

log = logging.getLogger(__name__)

QUEUE_SILENCE = 30.0
"""Seconds without an event that are normal in the queue. Positions are sent every few seconds there, and the length of the
wait itself is not limited."""
BROKEN_OFF = Failed("worker_lost", "The reply broke off. Continue it, or make it again.", 503)


class ModelTurns:
    """`spawn` starts a task of the run. `on_end` is called with each turn that has ended, `on_events` after events of the
    current turn. `loads`: load the model if it is not loaded. `silence_s`: seconds without an event after which a turn fails."""

    def __init__(
        self,
        run: str,
        user: str,
        record: RunRecord,
        prompts: PromptBuilder,
        dependencies: RunDependencies,
        *,
        loads: bool = False,
        silence_s: float,
        spawn: Callable[..., None],
        on_end: Callable[[ModelTurn], None],
        on_events: Callable[[], None],
    ) -> None:
        self._run = run
        self._user = user
        self._record = record
        self._prompts = prompts
        self._dependencies = dependencies
        self._loads = loads
        self._silence_s = silence_s
        self._spawn = spawn
        self._on_end = on_end
        self._on_events = on_events
        self._scope = anyio.CancelScope()
        self._cut_turn: ModelTurn | None = None
        self.usage = Usage()
        """The sum over all turns that the model ended."""

    def begin(self, turn: ModelTurn) -> None:
        """Start a turn. Its row is in the record already."""
        self._record.turn = turn
        self._scope = anyio.CancelScope()
        self._spawn(self._take, turn, self._scope)

    def cut(self) -> None:
        """Cut off the current turn: its later events are dropped and its slot is released."""
        self._scope.cancel()
        if self._record.turn is not None:
            self._cut_turn, self._record.turn = self._record.turn, None

    def end_cut(self, status: Status, error: RowError | None) -> None:
        """Store and publish the row of the turn that was cut, if there is one."""
        self.cut()
        if self._cut_turn is not None:
            self._end(self._cut_turn.cut(status, error))
            self._cut_turn = None

    def finish(self, turn: ModelTurn) -> StoredMessage | None:
        """Store and publish the row of a turn that has ended. None for one that was cut, or that starts again with room made
        in the context."""
        if self._record.turn is not turn:
            return None
        ended = turn.ended or BROKEN_OFF
        if isinstance(ended, Done):
            self.usage = _sum(self.usage, ended.usage)
            return self._end(turn.done(ended))
        too_long = ended.code == "context_length_exceeded" and turn.silent
        if too_long and not turn.make_room and self._prompts.can_make_room:
            self.begin(ModelTurn(turn.row(), continues=turn.continues, make_room=True))
            return None
        return self._end(turn.cut("failed", row_error(ended.code, ended.message)))

    def _end(self, row: StoredMessage) -> StoredMessage:
        self._record.turn = None
        self._record.put(row)
        self._record.publish(MessageDone(row))
        return row

    async def _take(self, turn: ModelTurn, scope: anyio.CancelScope) -> None:
        """The task of one turn. `on_end` comes last, so that the next turn starts after this one has released its slot."""
        with scope:
            try:
                await self._wait_for_model(turn)
                row = self._record.rows[turn.id]
                request = await self._prompts.request(
                    row, self._record.rows, continues=turn.continues, make_room=turn.make_room
                )
                turn.above = self._prompts.path
                await self._generate(turn, request)
            except Problem as problem:
                turn.feed(Failed(problem.code, problem.message, problem.status))
            except Exception:
                log.exception("a turn of run %s broke", self._run)
                turn.feed(Failed(INTERNAL_ERROR.code, INTERNAL_ERROR.message))
        self._on_end(turn)

    async def _wait_for_model(self, turn: ModelTurn) -> None:
        """Return when the run's model is loaded, or nothing loads it. Raises what loading raises."""
        if (models := self._dependencies.models) is None:
            return
        async with aclosing(models.ready(self._prompts.model, self._user, load=self._loads)) as steps:
            async for loaded in steps:
                self._report(turn, turn.loading(loaded))

    async def _generate(self, turn: ModelTurn, request: ChatRequest) -> None:
        """Take the model's events until the turn has ended or is cut, or the model is silent for too long."""
        generate = self._dependencies.generate
        async with generate(request, request_id=self._run, user=self._user) as batches:
            while turn.ended is None:
                limit = max(self._silence_s, QUEUE_SILENCE) if turn.queued else self._silence_s
                batch = None
                with anyio.move_on_after(limit) as silence:
                    batch = await anext(batches, None)
                if batch is None:
                    self._feed(turn, [_silent(self._silence_s) if silence.cancelled_caught else BROKEN_OFF])
                    return
                if not self._feed(turn, [event for _, event in batch]):
                    return

    def _feed(self, turn: ModelTurn, events: Sequence[Event]) -> bool:
        """Add events to a turn. False when it is no longer the current one, and they are dropped."""
        if self._record.turn is not turn:
            return False
        self._report(turn, [run_event for event in events for run_event in turn.feed(event)])
        return True

    def _report(self, turn: ModelTurn, events: Sequence[RunEvent]) -> None:
        if self._record.turn is turn:
            self._record.grow(turn, events)
            self._on_events()


def _silent(seconds: float) -> Failed:
    return Failed(
        "model_silent",
        f"The model wrote nothing for {seconds:g} seconds, so the reply was ended. Continue it, or try again.",
        504,
    )


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        one.input + other.input,
        one.output + other.output,
        one.cached + other.cached,
        one.reasoning + other.reasoning,
        one.estimated or other.estimated,
    )
