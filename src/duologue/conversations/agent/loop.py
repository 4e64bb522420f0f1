"""The agent loop: whether a run takes another model turn, and what becomes of each tool call.

A pure machine: facts come in (a turn ended, someone decided, a call ended, the user wrote, stop), actions go out, in
the order in which they are to be carried out. Every call of a turn ends exactly once, by `call_ended` or an `EndToolCall`, so
that the history is well formed wherever it stops. Knows no model, no tool and no clock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from duologue.values.conversations import RowError, StoredToolCall, ToolCallState
from duologue.values.runs import Outcome

Answered = Literal["allowed", "denied", "expired"]
"""What became of a question about a call."""

STOPPED = "The user stopped the reply before this call was made."
STOPPED_RUNNING = (
    "The user stopped the reply while this call was running; whether it had an effect is unknown."
)
STEERED = "This call was not made: it was interrupted by a new message of the user."
DENIED = "The user denied this call. Do not repeat it; go on without it, or ask what to do instead."
EXPIRED = "Nobody allowed this call in time, so it was not made. Go on without it."
INTERRUPTED = "The server was stopped before this call was made."
INTERRUPTED_RUNNING = (
    "The server was stopped while this call was running; whether it had an effect is unknown."
)
FAILED = "The reply ended with an error before this call was made."
FAILED_RUNNING = (
    "The reply ended with an error while this call was running; whether it had an effect is unknown."
)


class Judged(Struct, frozen=True):
    """What may be done with a call: `run` it, `ask` the user first, or `reject` it with `text` for the model."""

    verdict: Literal["run", "ask", "reject"]
    arguments: dict[str, object] = {}
    text: str = ""


def judge(call: StoredToolCall, tools: Mapping[str, bool]) -> Judged:
    """`tools` are the names that were offered, and whether each may run without asking."""
    if call.name not in tools:
        names = ", ".join(sorted(tools)) or "none"
        return Judged("reject", text=f"There is no tool called {call.name!r}. The tools are: {names}.")
    try:
        arguments = msgspec.json.decode(call.arguments) if call.arguments.strip() else {}
    except msgspec.DecodeError as error:
        return Judged(
            "reject",
            text=f"The arguments of {call.name} are not valid JSON: {error}. Call it again with a JSON object.",
        )
    if not isinstance(arguments, dict):
        return Judged(
            "reject",
            text=f"The arguments of {call.name} must be a JSON object with a field for each parameter.",
        )
    return Judged("run" if tools[call.name] else "ask", arguments)


class StartTurn(Struct, frozen=True):
    """The model is asked again, with everything that is on the path."""


class AddToolCalls(Struct, frozen=True):
    """Each call of the turn gets its row, in the order of the calls."""


class AskApproval(Struct, frozen=True):
    call: int


class RunToolCall(Struct, frozen=True):
    call: int


class EndToolCall(Struct, frozen=True):
    """The call ends without a result of its own. `running`: it was begun and is to be cancelled."""

    call: int
    state: ToolCallState
    text: str
    running: bool = False


class TakeSteering(Struct, frozen=True):
    """The messages that wait to steer the run come after everything on the path."""


class CancelTurn(Struct, frozen=True):
    """What the model is writing is cut here; calls it has begun to write are dropped."""


class Finish(Struct, frozen=True):
    """The run is over; nothing follows."""

    outcome: Outcome
    error: RowError | None = None


Action = (
    StartTurn | AddToolCalls | AskApproval | RunToolCall | EndToolCall | TakeSteering | CancelTurn | Finish
)

_Standing = Literal["ready", "asked", "running", "over"]

_WHY: dict[Outcome, tuple[ToolCallState, str, ToolCallState, str]] = {
    "stopped": ("skipped", STOPPED, "skipped", STOPPED_RUNNING),
    "interrupted": ("skipped", INTERRUPTED, "failed", INTERRUPTED_RUNNING),
    "failed": ("skipped", FAILED, "failed", FAILED_RUNNING),
}
_ENDS: dict[Answered, tuple[ToolCallState, str]] = {
    "denied": ("denied", DENIED),
    "expired": ("expired", EXPIRED),
}


class Agent:
    """One run. Facts that come too late (a call that is over, a question that was answered) change nothing."""

    def __init__(self, *, max_turns: int, parallel: int) -> None:
        """`max_turns` model turns may end in calls between two messages of the user; `parallel` calls run at once."""
        self._max_turns = max_turns
        self._parallel = parallel
        self._phase: Literal["new", "turn", "calls", "over"] = "new"
        self._calls: list[_Standing] = []
        self._steering = False
        self._spent = 0
        self.turns = 0
        """Model turns begun."""
        self.calls = 0
        """Tool calls begun."""

    # ---- facts

    def begin(self) -> list[Action]:
        """The run begins with a model turn."""
        return self._turn()

    def resume(self, judged: Sequence[Judged]) -> list[Action]:
        """The run begins with calls that a turn before it has left open."""
        self._phase = "turn"
        return self.turn_ended(judged)

    def turn_ended(self, judged: Sequence[Judged]) -> list[Action]:
        """The model has ended its turn, with these calls."""
        if self._phase != "turn":
            return []
        if not judged:
            return self._next() if self._steering else self._finish("done")
        self._phase = "calls"
        self._spent += 1
        self._calls = ["ready"] * len(judged)
        actions: list[Action] = [AddToolCalls()]
        for number, call in enumerate(judged):
            if call.verdict == "reject":
                actions.append(self._end(number, "failed", call.text))
            elif self._steering:
                actions.append(self._end(number, "skipped", STEERED))
            elif call.verdict == "ask":
                self._calls[number] = "asked"
                actions.append(AskApproval(number))
        return actions + self._go_on()

    def turn_failed(self, error: RowError) -> list[Action]:
        """The model's turn ended in an error."""
        return self._finish("failed", error) if self._phase == "turn" else []

    def answered(self, call: int, answer: Answered) -> list[Action]:
        """The question about a call has its answer."""
        if self._phase != "calls" or self._calls[call] != "asked":
            return []
        if answer == "allowed":
            self._calls[call] = "ready"
            return self._go_on()
        return [self._end(call, *_ENDS[answer]), *self._go_on()]

    def call_ended(self, call: int) -> list[Action]:
        """A call that was run has its result."""
        if self._phase != "calls" or self._calls[call] != "running":
            return []
        self._calls[call] = "over"
        return self._go_on()

    def steered(self) -> list[Action]:
        """A message waits to steer the run: calls not yet begun are not made, and the model is asked again."""
        if self._phase == "over":
            return []
        self._steering = True
        if self._phase != "calls":
            return []
        open_ones = [at for at, standing in enumerate(self._calls) if standing in ("ready", "asked")]
        return [*(self._end(at, "skipped", STEERED) for at in open_ones), *self._go_on()]

    def unsteered(self) -> None:
        """The messages that waited were taken back by the user."""
        self._steering = False

    def end(self, outcome: Outcome, error: RowError | None = None) -> list[Action]:
        """The run ends now, wherever it is: `stopped` by the user, `interrupted`, or `failed` outside the model."""
        if self._phase == "over":
            return []
        actions: list[Action] = [CancelTurn()] if self._phase == "turn" else []
        before, text, during, running_text = _WHY[outcome]
        for number, standing in enumerate(self._calls):
            if standing == "running":
                actions.append(self._end(number, during, running_text, running=True))
            elif standing != "over":
                actions.append(self._end(number, before, text))
        return actions + self._finish(outcome, error)

    # ---- what follows

    def _turn(self) -> list[Action]:
        self._phase = "turn"
        self._calls = []
        self.turns += 1
        return [StartTurn()]

    def _go_on(self) -> list[Action]:
        """Begin ready calls, in their order, as far as the cap allows; with every call over, what comes next."""
        actions: list[Action] = []
        for number, standing in enumerate(self._calls):
            if standing == "ready" and self._calls.count("running") < self._parallel:
                self._calls[number] = "running"
                self.calls += 1
                actions.append(RunToolCall(number))
        if any(standing != "over" for standing in self._calls):
            return actions
        if self._spent >= self._max_turns and not self._steering:
            return self._finish("limit")
        return self._next()

    def _next(self) -> list[Action]:
        if not self._steering:
            return self._turn()
        self._steering = False
        self._spent = 0
        return [TakeSteering(), *self._turn()]

    def _end(self, call: int, state: ToolCallState, text: str, *, running: bool = False) -> EndToolCall:
        self._calls[call] = "over"
        return EndToolCall(call, state, text, running)

    def _finish(self, outcome: Outcome, error: RowError | None = None) -> list[Action]:
        self._phase = "over"
        return [Finish(outcome, error)]
