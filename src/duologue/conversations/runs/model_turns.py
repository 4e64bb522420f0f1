"""The model turns of one run: each a row that is written, a task that listens, and an end.

Owns which turn is the current one: what comes from any other is dropped. Knows no call, and not what follows a turn.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

import anyio

from duologue.conversations.agent.dependencies import RunDependencies
from duologue.conversations.agent.model_stream import BROKEN_OFF, listen
from duologue.conversations.agent.turn import ModelTurn, row_error
from duologue.conversations.runs.prompt import PromptBuilder
from duologue.conversations.runs.record import RunRecord
from duologue.errors import Problem
from duologue.values.conversations import RowError, Status, StoredMessage
from duologue.values.events import Done, Event, Failed, Usage
from duologue.values.runs import MessageDone

log = logging.getLogger(__name__)

BROKEN = RowError(
    "server", "internal_error", "Something went wrong inside the server. Its log says more. Try again."
)
"""A bug of ours, as it is told."""


class ModelTurns:
    """`spawn` starts a task of the run, `over` is told of a turn that has ended, `heard` that the current one goes on."""

    def __init__(
        self,
        run: str,
        user: str,
        record: RunRecord,
        prompting: PromptBuilder,
        provisions: RunDependencies,
        *,
        silence_s: float,
        spawn: Callable[..., None],
        over: Callable[[ModelTurn], None],
        heard: Callable[[], None],
    ) -> None:
        self._run = run
        self._user = user
        self._record = record
        self._prompting = prompting
        self._provisions = provisions
        self._silence_s = silence_s
        self._spawn = spawn
        self._over = over
        self._heard = heard
        self._scope = anyio.CancelScope()
        self._cut: ModelTurn | None = None
        self.usage = Usage()
        """The sum of all turns that were ended by the model."""

    def begin(self, turn: ModelTurn) -> None:
        """Ask the model; its row is there already."""
        self._record.turn = turn
        self._scope = anyio.CancelScope()
        self._spawn(self._take, turn, self._scope)

    def cut(self) -> None:
        """The current turn is over here: nothing of it is heard any more, and its slot goes back."""
        self._scope.cancel()
        if self._record.turn is not None:
            self._cut, self._record.turn = self._record.turn, None

    def end_cut(self, status: Status, error: RowError | None) -> None:
        """Keep and tell the row of the turn that was cut, when one was."""
        self.cut()
        if self._cut is not None:
            self._end(self._cut.cut(status, error))
            self._cut = None

    def settled(self, turn: ModelTurn) -> StoredMessage | None:
        """The row of a turn that has ended, kept and told; None for one that was cut before, or that begins again with
        room made in the context."""
        if self._record.turn is not turn:
            return None
        ended = turn.ended or BROKEN_OFF
        if isinstance(ended, Done):
            self.usage = _sum(self.usage, ended.usage)
            return self._end(turn.done(ended))
        too_long = ended.code == "context_length_exceeded" and turn.silent
        if too_long and not turn.make_room and self._prompting.can_make_room:
            self.begin(ModelTurn(turn.row(), goes_on=turn.goes_on, make_room=True))
            return None
        return self._end(turn.cut("failed", row_error(ended.code, ended.message)))

    def _end(self, row: StoredMessage) -> StoredMessage:
        self._record.turn = None
        self._record.put(row)
        self._record.say(MessageDone(row))
        return row

    async def _take(self, turn: ModelTurn, scope: anyio.CancelScope) -> None:
        """A turn, in a task of its own. A slot is held in here only: the next step comes when it is back."""
        with scope:
            try:
                row = self._record.rows[turn.id]
                request = await self._prompting.request(
                    row, self._record.rows, goes_on=turn.goes_on, make_room=turn.make_room
                )
                await listen(
                    self._provisions.generate,
                    request,
                    turn,
                    run=self._run,
                    user=self._user,
                    silence_s=self._silence_s,
                    heard=self._listened,
                )
            except Problem as problem:
                turn.feed(Failed(problem.code, problem.message, problem.status))
            except Exception:
                log.exception("a turn of run %s broke", self._run)
                turn.feed(Failed(BROKEN.code, BROKEN.message))
        self._over(turn)

    def _listened(self, turn: ModelTurn, events: Sequence[Event]) -> bool:
        """Words of a turn; False when it is not the current one any more, and they are dropped."""
        if self._record.turn is not turn:
            return False
        self._record.grew(turn, [said for event in events for said in turn.feed(event)])
        self._heard()
        return True


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        one.input + other.input,
        one.output + other.output,
        one.cached + other.cached,
        one.reasoning + other.reasoning,
        one.estimated or other.estimated,
    )
