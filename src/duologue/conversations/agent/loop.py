"""The agent loop: whether a run takes another model turn, and how each tool call ends.

A pure machine, driven by `driver.py`. Facts come in (a turn ended, a tool call was approved, a tool call ended, the user
stopped or steered the run); actions go out, in the order in which they are to be carried out. Each tool call of a turn ends
exactly once, by `tool_call_ended` or by an `EndToolCall`, so the history is well formed wherever the run stops.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec
from msgspec import Struct

from duologue.values.conversations import RowError, StoredToolCall, ToolCallState
from duologue.values.runs import Outcome

ApprovalOutcome = Literal["allowed", "denied", "expired"]
"""How the question about a tool call was answered."""

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


class ToolCallVerdict(Struct, frozen=True):
    """What to do with a tool call: `run` it, `ask` the user first, or `reject` it with `text` for the model."""

    verdict: Literal["run", "ask", "reject"]
    arguments: dict[str, object] = {}
    text: str = ""


def judge_tool_call(tool_call: StoredToolCall, tools: Mapping[str, bool]) -> ToolCallVerdict:
    """`tools`: the names that were offered, and whether each may run without asking."""
    if tool_call.name not in tools:
        names = ", ".join(sorted(tools)) or "none"
        return ToolCallVerdict(
            "reject", text=f"There is no tool called {tool_call.name!r}. The tools are: {names}."
        )
    try:
        arguments = msgspec.json.decode(tool_call.arguments) if tool_call.arguments.strip() else {}
    except msgspec.DecodeError as error:
        return ToolCallVerdict(
            "reject",
            text=f"The arguments of {tool_call.name} are not valid JSON: {error}. Call it again with a JSON object.",
        )
    if not isinstance(arguments, dict):
        return ToolCallVerdict(
            "reject",
            text=f"The arguments of {tool_call.name} must be a JSON object with a field for each parameter.",
        )
    return ToolCallVerdict("run" if tools[tool_call.name] else "ask", arguments)


class StartTurn(Struct, frozen=True):
    """Let the model take a turn, with everything on the path."""


class AddToolCalls(Struct, frozen=True):
    """Give each tool call of the turn its row, in the order of the calls."""


class AskApproval(Struct, frozen=True):
    """Ask the user whether tool call `number` of the turn may run."""

    number: int


class RunToolCall(Struct, frozen=True):
    """Run tool call `number` of the turn."""

    number: int


class EndToolCall(Struct, frozen=True):
    """End a tool call that has no result. `running`: it was started and must be cancelled."""

    number: int
    state: ToolCallState
    text: str
    running: bool = False


class TakeSteering(Struct, frozen=True):
    """Add the messages that wait to steer the run behind everything on the path."""


class CancelTurn(Struct, frozen=True):
    """Cut off what the model is writing; tool calls it has begun to write are dropped."""


class Finish(Struct, frozen=True):
    """End the run. No action follows."""

    outcome: Outcome
    error: RowError | None = None


Action = (
    StartTurn | AddToolCalls | AskApproval | RunToolCall | EndToolCall | TakeSteering | CancelTurn | Finish
)

_CallPhase = Literal["ready", "asked", "running", "over"]

_END_TEXTS: dict[Outcome, tuple[ToolCallState, str, ToolCallState, str]] = {
    "stopped": ("skipped", STOPPED, "skipped", STOPPED_RUNNING),
    "interrupted": ("skipped", INTERRUPTED, "failed", INTERRUPTED_RUNNING),
    "failed": ("skipped", FAILED, "failed", FAILED_RUNNING),
}
_REFUSALS: dict[ApprovalOutcome, tuple[ToolCallState, str]] = {
    "denied": ("denied", DENIED),
    "expired": ("expired", EXPIRED),
}


class Agent:
    """The machine of one run. Late facts (about a tool call that is over, a question that is closed) have no effect."""

    def __init__(self, *, max_turns: int, parallel: int) -> None:
        """At most `max_turns` model turns may end in tool calls between two messages of the user; `parallel` calls run at once."""
        self._max_turns = max_turns
        self._parallel = parallel
        self._phase: Literal["new", "turn", "calls", "over"] = "new"
        self._tool_calls: list[_CallPhase] = []
        self._steering = False
        self._tool_turns = 0
        self.turns = 0
        """Model turns started."""
        self.tool_calls = 0
        """Tool calls started."""

    # ---- facts

    def begin(self) -> list[Action]:
        """Start with a model turn."""
        return self._turn()

    def resume(self, verdicts: Sequence[ToolCallVerdict]) -> list[Action]:
        """Start with the tool calls that an earlier turn left open."""
        self._phase = "turn"
        return self.turn_ended(verdicts)

    def turn_ended(self, verdicts: Sequence[ToolCallVerdict]) -> list[Action]:
        """The model has ended its turn, with tool calls of these verdicts, or with none."""
        if self._phase != "turn":
            return []
        if not verdicts:
            return self._next() if self._steering else self._finish("done")
        self._phase = "calls"
        self._tool_turns += 1
        self._tool_calls = ["ready"] * len(verdicts)
        actions: list[Action] = [AddToolCalls()]
        for number, verdict in enumerate(verdicts):
            if verdict.verdict == "reject":
                actions.append(self._end(number, "failed", verdict.text))
            elif self._steering:
                actions.append(self._end(number, "skipped", STEERED))
            elif verdict.verdict == "ask":
                self._tool_calls[number] = "asked"
                actions.append(AskApproval(number))
        return actions + self._continue()

    def turn_failed(self, error: RowError) -> list[Action]:
        """The model's turn has ended in an error."""
        return self._finish("failed", error) if self._phase == "turn" else []

    def approval_decided(self, number: int, outcome: ApprovalOutcome) -> list[Action]:
        """The question about a tool call has its outcome."""
        if self._phase != "calls" or self._tool_calls[number] != "asked":
            return []
        if outcome == "allowed":
            self._tool_calls[number] = "ready"
            return self._continue()
        return [self._end(number, *_REFUSALS[outcome]), *self._continue()]

    def tool_call_ended(self, number: int) -> list[Action]:
        """A tool call that was run has its result."""
        if self._phase != "calls" or self._tool_calls[number] != "running":
            return []
        self._tool_calls[number] = "over"
        return self._continue()

    def steered(self) -> list[Action]:
        """A message waits to steer the run: tool calls not yet started are skipped, and the model takes another turn."""
        if self._phase == "over":
            return []
        self._steering = True
        if self._phase != "calls":
            return []
        unstarted = [number for number, phase in enumerate(self._tool_calls) if phase in ("ready", "asked")]
        return [*(self._end(number, "skipped", STEERED) for number in unstarted), *self._continue()]

    def unsteered(self) -> None:
        """The user took the waiting messages back."""
        self._steering = False

    def end(self, outcome: Outcome, error: RowError | None = None) -> list[Action]:
        """The run ends now, in any phase: `stopped` by the user, `interrupted`, or `failed` outside the model."""
        if self._phase == "over":
            return []
        actions: list[Action] = [CancelTurn()] if self._phase == "turn" else []
        before, text, during, running_text = _END_TEXTS[outcome]
        for number, phase in enumerate(self._tool_calls):
            if phase == "running":
                actions.append(self._end(number, during, running_text, running=True))
            elif phase != "over":
                actions.append(self._end(number, before, text))
        return actions + self._finish(outcome, error)

    # ---- actions

    def _turn(self) -> list[Action]:
        self._phase = "turn"
        self._tool_calls = []
        self.turns += 1
        return [StartTurn()]

    def _continue(self) -> list[Action]:
        """Start ready tool calls in their order, up to the limit; when all are over, take the next turn."""
        actions: list[Action] = []
        for number, phase in enumerate(self._tool_calls):
            if phase == "ready" and self._tool_calls.count("running") < self._parallel:
                self._tool_calls[number] = "running"
                self.tool_calls += 1
                actions.append(RunToolCall(number))
        if any(phase != "over" for phase in self._tool_calls):
            return actions
        if self._tool_turns >= self._max_turns and not self._steering:
            return self._finish("limit")
        return self._next()

    def _next(self) -> list[Action]:
        if not self._steering:
            return self._turn()
        self._steering = False
        self._tool_turns = 0
        return [TakeSteering(), *self._turn()]

    def _end(self, number: int, state: ToolCallState, text: str, *, running: bool = False) -> EndToolCall:
        self._tool_calls[number] = "over"
        return EndToolCall(number, state, text, running)

    def _finish(self, outcome: Outcome, error: RowError | None = None) -> list[Action]:
        self._phase = "over"
        return [Finish(outcome, error)]
