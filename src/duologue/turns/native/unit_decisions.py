"""The two vocabularies of a call that an omni model holds by itself: the facts that `unit_decider.py` takes, and its decisions.

`sessions/omni/native_call.py` produces the facts, most of which are those of every call (`turns/facts.py`), and carries the decisions out
in order. Positions are samples: of the caller's sound at 16 kHz since the call began, of a reply at 24 kHz from its first.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from duologue.turns.decisions import (
    CommitReply,
    CommitTurn,
    CutReply,
    HoldReply,
    ResumeReply,
    ShowState,
)
from duologue.turns.facts import (
    Frame,
    InterruptRequested,
    PlaybackProgress,
    PushToTalk,
    SynthesisComplete,
    SynthesisProgress,
    TextTyped,
)

# ---- facts


class UnitDue(Struct, frozen=True):
    """The model is ready for the next unit. Answered with `PassUnit`, or with nothing while a cut is not settled: ask again after the
    next decision. `end`: the sample at which the unit ends; `force_listen`: the model must be silent."""

    end: int
    force_listen: bool = False


class UnitSpoke(Struct, frozen=True):
    """The answer to the unit that was passed last. `speaks`: the model does not listen on."""

    speaks: bool


class Announced(Struct, frozen=True):
    """The model has a sentence of the session to say: once neither side speaks, it is told to."""


UnitFact = (
    Frame
    | PushToTalk
    | TextTyped
    | InterruptRequested
    | SynthesisProgress
    | SynthesisComplete
    | PlaybackProgress
    | UnitDue
    | UnitSpoke
    | Announced
)

# ---- decisions

UnitPassing = Literal["model", "listen", "speak", "withhold"]


class PassUnit(Struct, frozen=True):
    """Pass the unit: "model" decides, must "listen", or is told to "speak" (on). "withhold": not at all, because a model that takes no
    sound while it speaks still plays; `HearAgain` follows where it matters."""

    passing: UnitPassing


class CutUnit(Struct, frozen=True):
    """Make a unit of the sound that waits for one: the caller has finished. `anyway`: of silence, if there is none."""

    anyway: bool = False


class BeginReply(Struct, frozen=True):
    """The model begins `reply` to `turn`. What it says from now on is of this reply."""

    reply: int
    turn: int


class EndTurn(Struct, frozen=True):
    """The caller's turn is over: it was said from sample `since` to `until`."""

    turn: int
    since: int
    until: int


class HearAgain(Struct, frozen=True):
    """Of what was withheld, or passed while the model spoke, the sound since this sample matters: a model that takes no sound meanwhile
    is passed it again before the next unit."""

    since: int


class SilenceModel(Struct, frozen=True):
    """The model began to speak when it must not: none of it is a reply."""


UnitDecision = (
    ShowState
    | CommitTurn
    | CommitReply
    | CutReply
    | HoldReply
    | ResumeReply
    | PassUnit
    | CutUnit
    | BeginReply
    | EndTurn
    | HearAgain
    | SilenceModel
)
