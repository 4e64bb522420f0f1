"""What a call is to do: the output of the turn machine.

sessions/call/session.py carries decisions out in order, without judging them. Samples and numbers are those of
`facts.py`.
"""

from __future__ import annotations

from msgspec import Struct

from duologue.values.call_events import CallState, Ending


class TranscribeTurn(Struct, frozen=True):
    """Transcribe the caller as `turn`, from sample `since` on, at most 1.5 s ago. The number of a finished turn reopens it:
    the new sound is added to the sound it already has. `over_reply`: it may be a request to stop, so listen for one."""

    turn: int
    since: int
    over_reply: bool = False


class FinishTranscript(Struct, frozen=True):
    """Report the `FinalTranscript` of the turn up to sample `until`. A later `TranscribeTurn` with the same number may
    reopen it."""

    turn: int
    until: int


class DiscardTurn(Struct, frozen=True):
    """The sound transcribed as `turn` is not a turn: "noise", "echo", "backchannel", "not_understood", "undecided" or
    "overheard", and its words are dropped; or "merged", and its words are part of the turn before."""

    turn: int
    reason: str


class EstimateTurnEnd(Struct, frozen=True):
    """Report with `TurnEndEstimated` whether the turn's sound up to sample `until`, which is now, is a whole turn. It may stay
    unanswered."""

    turn: int
    until: int


class PreviewTurn(Struct, frozen=True):
    """The caller has said this so far; the prompt may be prefilled with it."""

    turn: int
    text: str


class RequestReply(Struct, frozen=True):
    """Request `reply` to `text`. Its sound waits for `ReleaseReply`."""

    reply: int
    turn: int
    revision: int
    text: str


class DropReply(Struct, frozen=True):
    """The reply is not needed: stop producing it and forget its sound; none of it counts as heard. If any of its sound may
    have been sent, a `CutReply` precedes this."""

    reply: int


class ReleaseReply(Struct, frozen=True):
    """The caller's turn is over: the reply's sound may be sent from now on."""

    reply: int


class CommitTurn(Struct, frozen=True):
    """The caller's turn is final: add it to the conversation."""

    turn: int
    text: str
    typed: bool = False


class CommitReply(Struct, frozen=True):
    """The reply is over; the caller heard `samples` of it, which is all of it unless it was cut."""

    reply: int
    samples: int
    ending: Ending


class HoldReply(Struct, frozen=True):
    """The caller may be interrupting: silence the reply within 50 ms and retain what is unplayed."""

    reply: int


class ResumeReply(Struct, frozen=True):
    """It was a false alarm: continue the reply from the sample where it was held."""

    reply: int


class CutReply(Struct, frozen=True):
    """The reply was interrupted and will not continue. The machine's epoch has already risen by one."""

    reply: int


class SaySentence(Struct, frozen=True):
    """Speak this sentence as `reply`; no model writes it and it needs no `ReleaseReply`. It plays before any other reply,
    which continues after it. `kind` labels it for the metrics: "filler", "slow", "gave_up", "apology",
    "not_understood", "announcement"; only announcements are added to the conversation."""

    reply: int
    text: str
    kind: str


class ShowState(Struct, frozen=True):
    """Show the call in this state; sent only when it changes."""

    state: CallState


Decision = (
    TranscribeTurn
    | FinishTranscript
    | DiscardTurn
    | EstimateTurnEnd
    | PreviewTurn
    | RequestReply
    | DropReply
    | ReleaseReply
    | CommitTurn
    | CommitReply
    | HoldReply
    | ResumeReply
    | CutReply
    | SaySentence
    | ShowState
)
