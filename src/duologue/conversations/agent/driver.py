"""The driver of the agent loop: takes facts one at a time, feeds the pure machine in `loop.py`, carries out its actions.

Used by a typed run (`runs/run.py`) and by the tool calls of a spoken reply (`call_agent.py`). Owns the queue of facts and the
tool calls of the current turn. Everything in which the two differ (where rows go, who runs the model, when a question may be
asked) is an `AgentHost`.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Protocol

from anyio.abc import TaskGroup
from msgspec import Struct

from duologue.conversations.agent import loop
from duologue.conversations.agent.loop import (
    Action,
    Agent,
    ApprovalOutcome,
    ToolCallVerdict,
    judge_tool_call,
)
from duologue.conversations.agent.tool_calls import ToolCallBatch
from duologue.conversations.agent.turn import INTERNAL_ERROR, row_error
from duologue.errors import Problem
from duologue.notifier import Notifier
from duologue.values.conversations import RowError, StoredToolCall
from duologue.values.runs import Outcome

log = logging.getLogger(__name__)


class AgentStarted(Struct, frozen=True):
    """The first fact. `tool_calls` are those that an earlier turn left without results; usually none."""

    tool_calls: tuple[StoredToolCall, ...] = ()


class ModelTurnEnded(Struct, frozen=True):
    """The model has ended the turn whose row is `message`."""

    message: str


class ApprovalDecided(Struct, frozen=True):
    """The question about tool call `number` of model turn `turn` has its outcome."""

    turn: int
    number: int
    outcome: ApprovalOutcome


class ToolCallEnded(Struct, frozen=True):
    """Tool call `number` of model turn `turn` has its result."""

    turn: int
    number: int


class SteeringRequested(Struct, frozen=True):
    """A message waits to steer the run."""


class EndRequested(Struct, frozen=True):
    """The run is to end now: `stopped` by the user, `interrupted` by the server's end, or `failed`."""

    outcome: Outcome
    error: RowError | None = None


Fact = AgentStarted | ModelTurnEnded | ApprovalDecided | ToolCallEnded | SteeringRequested | EndRequested


class TurnResult(Struct, frozen=True):
    """How a model turn ended: in tool calls, in none, or in an error. `steering`: a message waits to steer the run."""

    tool_calls: tuple[StoredToolCall, ...] = ()
    error: RowError | None = None
    steering: bool = False


class AgentHost(Protocol):
    """What the driver works on. A Problem raised by any of these ends the run as failed."""

    async def allowed_tools(self) -> Mapping[str, bool]:
        """The names of the tools on offer, and whether each may run without asking."""
        ...

    async def start_turn(self) -> None:
        """Start a model turn; `ModelTurnEnded` is posted at its end."""
        ...

    async def turn_result(self, message: str) -> TurnResult | None:
        """Finish the row of a turn that has ended. None when that turn is no longer the current one."""
        ...

    def cancel_turn(self) -> None:
        """Cut off the current model turn."""
        ...

    async def add_tool_calls(
        self, tool_calls: Sequence[StoredToolCall], verdicts: Sequence[ToolCallVerdict]
    ) -> ToolCallBatch:
        """Give each tool call of the turn its row."""
        ...

    async def ask(self, batch: ToolCallBatch, number: int) -> ApprovalOutcome | None:
        """Ask whether a tool call may run; None when the question was withdrawn."""
        ...

    async def run_tool_call(self, batch: ToolCallBatch, number: int) -> bool:
        """Run a tool call to its result; False when it was cancelled."""
        ...

    async def take_steering(self) -> None:
        """Add the messages that wait to steer the run behind everything else."""
        ...

    async def finish(self, outcome: Outcome, error: RowError | None) -> None:
        """End the run. A second call has no effect."""
        ...


class AgentDriver:
    """Drives `agent` for `host`. `name` is for the log. `one_question`: ask about one tool call at a time. `after_fact` is
    called after each fact."""

    def __init__(
        self,
        agent: Agent,
        host: AgentHost,
        *,
        name: str,
        one_question: bool = False,
        after_fact: Callable[[], None] = lambda: None,
    ) -> None:
        self.agent = agent
        self._host = host
        self._name = name
        self._one_question = one_question
        self._after_fact = after_fact
        self._tasks: TaskGroup | None = None
        self._facts: deque[Fact] = deque()
        self._posted = Notifier()
        self._tool_calls: tuple[StoredToolCall, ...] = ()
        self._verdicts: list[ToolCallVerdict] = []
        self._unasked: deque[int] = deque()
        self._closed_batches_ms = 0
        self.batch: ToolCallBatch | None = None
        """The tool calls of the current turn."""
        self.closed = False
        """Whether facts are no longer taken."""

    @property
    def tools_ms(self) -> int:
        """Milliseconds that tools took, in all turns."""
        return self._closed_batches_ms + (self.batch.tools_ms if self.batch is not None else 0)

    # ---- for the host

    async def drive(self, tasks: TaskGroup, fact: Fact) -> None:
        """Handle `fact` and everything posted after it, until `close`. Questions and tool calls become tasks of `tasks`, which
        the caller cancels afterwards."""
        self._tasks, self.closed = tasks, False
        await self._handle(fact)
        while not self.closed:
            if self._facts:
                await self._handle(self._facts.popleft())
            else:
                await self._posted.wait()

    def post(self, fact: Fact) -> None:
        """Queue a fact. One that equals a queued fact is dropped: while a store hangs, a stop button pressed again and again
        must not grow the queue."""
        if not self.closed and fact not in self._facts:
            self._facts.append(fact)
            self._posted.notify()

    def spawn(self, work: Callable[..., Coroutine[Any, Any, None]], *arguments: object) -> None:
        """Start a task that lives no longer than `drive`."""
        assert self._tasks is not None
        self._tasks.start_soon(work, *arguments)

    def close(self) -> None:
        """Have `drive` return after the current fact."""
        self.closed = True

    def close_batch(self) -> None:
        """The tool calls of the turn are over."""
        self._closed_batches_ms, self.batch = self.tools_ms, None

    def stop_now(self) -> None:
        """End the run and its tool calls without awaiting anything. The caller cancels the task that drives it."""
        for action in self.agent.end("stopped"):
            if isinstance(action, loop.EndToolCall) and self.batch is not None:
                self.batch.cut(action.number, action.state, action.text)
        self.close_batch()

    async def fail(self, error: RowError) -> None:
        """End the run after something broke on the way, as orderly as it can still be done."""
        try:
            await self._carry_out(self.agent.end("failed", error))
        except Exception:
            log.exception("%s could not be ended in order", self._name)
        await self._host.finish("failed", error)

    # ---- facts and actions

    async def _handle(self, fact: Fact) -> None:
        """Handle one fact and what follows from it. No error leaves it: the run ends as failed instead."""
        try:
            await self._carry_out(await self._decide(fact))
        except Problem as problem:
            await self.fail(row_error(problem.code, problem.message))
        except Exception:
            log.exception("%s broke", self._name)
            await self.fail(INTERNAL_ERROR)
        self._after_fact()

    async def _decide(self, fact: Fact) -> list[Action]:
        agent = self.agent
        match fact:
            case AgentStarted(tool_calls):
                return agent.resume(await self._judge(tool_calls)) if tool_calls else agent.begin()
            case ModelTurnEnded(message):
                return await self._turn_ended(message)
            # What is posted by the tool calls of an earlier turn comes too late, and its numbers mean other calls now.
            case ApprovalDecided(turn, number, outcome):
                return agent.approval_decided(number, outcome) if turn == agent.turns else []
            case ToolCallEnded(turn, number):
                return agent.tool_call_ended(number) if turn == agent.turns else []
            case SteeringRequested():
                return agent.steered()
            case EndRequested(outcome, error):
                return agent.end(outcome, error)

    async def _turn_ended(self, message: str) -> list[Action]:
        result = await self._host.turn_result(message)
        if result is None:
            return []
        if result.error is not None:
            return self.agent.turn_failed(result.error)
        verdicts = await self._judge(result.tool_calls)
        if result.steering:
            self.agent.steered()
        else:
            self.agent.unsteered()
        return self.agent.turn_ended(verdicts)

    async def _judge(self, tool_calls: tuple[StoredToolCall, ...]) -> list[ToolCallVerdict]:
        self._tool_calls, self._verdicts = tool_calls, []
        if tool_calls:
            allowed = await self._host.allowed_tools()
            self._verdicts = [judge_tool_call(tool_call, allowed) for tool_call in tool_calls]
        return self._verdicts

    async def _carry_out(self, actions: Sequence[Action]) -> None:
        for action in actions:
            match action:
                case loop.StartTurn():
                    self.close_batch()
                    await self._host.start_turn()
                case loop.AddToolCalls():
                    self._unasked.clear()
                    self.batch = await self._host.add_tool_calls(self._tool_calls, self._verdicts)
                case loop.AskApproval(number):
                    self._queue_question(number)
                case loop.RunToolCall(number):
                    self.spawn(self._run, self.batch, self.agent.turns, number)
                case loop.EndToolCall(number, state, text):
                    if self.batch is not None:
                        await self.batch.end(number, state, text)
                case loop.TakeSteering():
                    await self._host.take_steering()
                case loop.CancelTurn():
                    self._host.cancel_turn()
                case loop.Finish(outcome, error):
                    await self._host.finish(outcome, error)

    # ---- the tasks of a turn with tool calls

    def _queue_question(self, number: int) -> None:
        if not self._one_question:
            self.spawn(self._ask, self.batch, self.agent.turns, number)
            return
        self._unasked.append(number)
        if len(self._unasked) == 1:
            self.spawn(self._ask_in_order, self.batch, self.agent.turns)

    async def _ask_in_order(self, batch: ToolCallBatch, turn: int) -> None:
        while self._unasked:
            await self._ask(batch, turn, self._unasked[0])
            # Removed only now: an empty queue is what makes `_queue_question` start this task.
            self._unasked.popleft()

    async def _ask(self, batch: ToolCallBatch, turn: int, number: int) -> None:
        try:
            outcome = await self._host.ask(batch, number)
        except Problem as problem:
            self.post(EndRequested("failed", row_error(problem.code, problem.message)))
            return
        if outcome is not None:
            self.post(ApprovalDecided(turn, number, outcome))

    async def _run(self, batch: ToolCallBatch, turn: int, number: int) -> None:
        if await self._host.run_tool_call(batch, number):
            self.post(ToolCallEnded(turn, number))
