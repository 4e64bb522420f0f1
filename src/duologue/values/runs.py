"""The events of a run: a reply of a conversation, from its start to its end.

A run may take several model turns with tool calls between them. Its events are a closed union, numbered from 1 by
`seq` in a log of its own; exactly one `RunDone` comes last. These are also the JSON of `/api/runs/{id}/events`. A
viewer that appends every delta, in order, to the row it names has the text exactly.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from duologue.values.conversations import Approval, Decision, RowError, StoredMessage
from duologue.values.events import FittingNote, Usage
from duologue.values.speech import TranscribedPart

Outcome = Literal["done", "stopped", "failed", "interrupted", "limit"]
Waiting = Literal["", "load", "queue", "model", "tool", "approval"]


class RunStarted(Struct, frozen=True, tag="run_started"):
    """`message` is the row the run answers or continues, None when it answers nothing yet. `wanted` is the model that was chosen,
    where `model` answers instead, and `reason` why: it is not loaded, could not be loaded, or is gone."""

    run: str
    conversation: str
    message: str | None = None
    model: str = ""
    wanted: str = ""
    reason: Literal["", "unloaded", "failed", "gone"] = ""


class MessageAdded(Struct, frozen=True, tag="message_added"):
    """A row was added to the tree. A running one grows by the deltas that follow."""

    message: StoredMessage


class RunDelta(Struct, frozen=True, tag="delta", omit_defaults=True):
    """More of an assistant row. `kind` is what it extends; for a tool call, `call` is its index in the row, and `id` and
    `name` come once, with its first piece."""

    message: str
    kind: Literal["text", "reasoning", "tool_call"]
    text: str = ""
    call: int = 0
    id: str = ""
    name: str = ""


class RunProgress(Struct, frozen=True, tag="progress", omit_defaults=True):
    """What the run is doing while no text comes: `waiting` until `model` is loaded (`loaded` of it, 0 to 1), in the queue
    (`position` from 1, `wait` seconds), or for the model to read the prompt (`processed` of `total` tokens, `cached` of them kept
    from before)."""

    waiting: Waiting = ""
    position: int = 0
    wait: float = 0.0
    processed: int = 0
    total: int = 0
    cached: int = 0
    model: str = ""
    loaded: float = 0.0


class RunFitted(Struct, frozen=True, tag="fitted", omit_defaults=True):
    """What was made of the files that the model cannot take as they are, before the turn of `message`: as `events.Fitted`. The paths are
    those of the prompt."""

    message: str
    transcripts: tuple[TranscribedPart, ...] = ()
    notes: tuple[FittingNote, ...] = ()


class ToolStarted(Struct, frozen=True, tag="tool_started"):
    """The tool of the row `message` runs now."""

    message: str


class ToolOutput(Struct, frozen=True, tag="tool_output", omit_defaults=True):
    """Progress of a running tool: `progress` of `total` where it counts, and text."""

    message: str
    text: str = ""
    progress: float = 0.0
    total: float = 0.0


class ToolResult(Struct, frozen=True, tag="tool_result"):
    """The tool's row when it ended, with its content and state."""

    message: StoredMessage


class ApprovalRequested(Struct, frozen=True, tag="approval_asked"):
    approval: Approval


class ApprovalAnswered(Struct, frozen=True, tag="approval_answered"):
    """`decision` is None when it expired or the run ended first."""

    id: str
    decision: Decision | None


class MessageDone(Struct, frozen=True, tag="message_done"):
    """The assistant row as it is stored, with usage and timings."""

    message: StoredMessage


class RunDone(Struct, frozen=True, tag="run_done", omit_defaults=True):
    """The end. `limit`: the allowed model turns are used up; continuing the last row resumes the run. `usage` is the sum of the model
    turns, `tools_ms` that of the tools."""

    outcome: Outcome
    error: RowError | None = None
    turns: int = 0
    calls: int = 0
    tools_ms: int = 0
    usage: Usage = Usage()


RunEvent = (
    RunStarted
    | MessageAdded
    | RunDelta
    | RunProgress
    | RunFitted
    | ToolStarted
    | ToolOutput
    | ToolResult
    | ApprovalRequested
    | ApprovalAnswered
    | MessageDone
    | RunDone
)


class Logged(Struct, frozen=True):
    """An event with its number in the run's log."""

    seq: int
    event: RunEvent


class Run(Struct, frozen=True, omit_defaults=True):
    """The state of a run."""

    id: str
    conversation: str
    started: int
    ended: int = 0
    outcome: Outcome | None = None
    waiting: Waiting = ""
    error: RowError | None = None
    turns: int = 0


class ListChanged(Struct, frozen=True, tag="changed"):
    """A conversation was added or changed: read it again. On the list feed, `/api/events`."""

    conversation: str


class ListRemoved(Struct, frozen=True, tag="removed"):
    conversation: str


class ListRun(Struct, frozen=True, tag="run", omit_defaults=True):
    """A run began (`outcome` None), changed what it waits for, or ended."""

    conversation: str
    run: str
    waiting: Waiting = ""
    outcome: Outcome | None = None


class ListDraft(Struct, frozen=True, tag="draft"):
    """A user's draft in a conversation changed ("new": in none yet); `updated` in ms, 0 where it was deleted."""

    conversation: str
    updated: int = 0


class ListModels(Struct, frozen=True, tag="models"):
    """A model or the voice was loaded or unloaded or changed its state, or another model became the default: read the capabilities again."""


class ListReset(Struct, frozen=True, tag="reset"):
    """More changes than the feed holds: read the whole list again."""


ListEvent = ListChanged | ListRemoved | ListRun | ListDraft | ListModels | ListReset
