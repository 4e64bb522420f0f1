"""What a call's machine is told, and what it decides.

`Conversation.take(fact)` gives decisions, in order; a session carries them out and knows nothing of why. Time is the
number of samples heard since the call began (16 kHz): every `Frame` moves it on by FRAME, and whoever has no sound to
tell of tells silence. Positions within a reply are samples at 24 kHz from its first. Pure values; knows no engine.
"""

from __future__ import annotations

from msgspec import Struct

from duologue.values.call_events import CallState, Ending
from duologue.values.events import ReplyWord

FRAME = 512
"""Samples (16 kHz) one Frame stands for: 32 ms."""


# Facts


class Frame(Struct, frozen=True):
    """The next FRAME samples: how likely they are speech (0 to 1), how loud they are (dBFS), and how bright (dB): the power of
    the differences between samples against their own, about -20 in a hum and -12 to 0 in speech. `sounding`: how loud what
    the caller's loudspeaker plays about then is at the most (dBFS of the sound as it was made)."""

    probability: float
    level: float = -100.0
    brightness: float = 0.0
    sounding: float = -100.0


class Partial(Struct, frozen=True):
    """The words of `turn` so far, all of them, which may still change. `until`: up to which sample it was listened to, where
    that is known; the same words told again with more of it stand the surer."""

    turn: int
    text: str
    until: int | None = None


class Final(Struct, frozen=True):
    """The words of `turn`, as far as it was listened to: all of it, also of what was heard before it was reopened. `understood`
    False: there was speech, and no words to stand for. `until`: of which `Conclude` it is the answer, where that is known;
    the answer to an earlier one is too late."""

    turn: int
    text: str
    understood: bool = True
    until: int | None = None


class TextCame(Struct, frozen=True):
    """The reply's first text came."""

    reply: int


class SoundMade(Struct, frozen=True):
    """More sound of the reply exists, `samples` in all; `words` are those that begin in it."""

    reply: int
    samples: int
    words: tuple[ReplyWord, ...] = ()


class SoundComplete(Struct, frozen=True):
    """All sound of the reply exists; a reply without any has 0 samples."""

    reply: int
    samples: int


class PlayedTo(Struct, frozen=True):
    """The caller has heard the reply up to this sample, by their own mark or by the session's reckoning."""

    reply: int
    samples: int


class Interrupted(Struct, frozen=True):
    """The caller wants silence now: a button, a key. `samples` of the reply were heard, where that is known."""

    reply: int | None = None
    samples: int | None = None


class Wrote(Struct, frozen=True):
    """The caller typed this turn."""

    text: str


class Button(Struct, frozen=True):
    """Hold to talk: it went down, or up again."""

    down: bool


class Worked(Struct, frozen=True):
    """The reply begins (`busy`) or ends to wait for a tool or a person. `asks`: the caller is asked something, and whatever
    they say may be the answer."""

    reply: int
    busy: bool
    asks: bool = False


class Broke(Struct, frozen=True):
    """The reply will not be made, or not completed; `apology` is a sentence to say, or empty."""

    reply: int
    apology: str = ""


class Announce(Struct, frozen=True):
    """Say this now, as a reply that nobody asked for."""

    text: str
    interruptible: bool = True


Fact = (
    Frame
    | Partial
    | Final
    | TextCame
    | SoundMade
    | SoundComplete
    | PlayedTo
    | Interrupted
    | Wrote
    | Button
    | Worked
    | Broke
    | Announce
)


# Decisions


class Listen(Struct, frozen=True):
    """Write down what is heard as `turn`, from sample `since` on: up to a second and a half before now. The number of a turn
    that was concluded reopens it: what is heard since is added to what was heard of it before."""

    turn: int
    since: int


class Conclude(Struct, frozen=True):
    """Tell the `Final` of the turn as heard up to sample `until`. Listening may go on when the turn is reopened (`Listen` with
    the same number)."""

    turn: int
    until: int


class Discard(Struct, frozen=True):
    """What was heard as `turn` is no turn of its own: "noise", "echo", "backchannel", "not_understood", "undecided",
    "overheard". Its words go nowhere; or, "merged", they went on with the turn before and are in that one's text."""

    turn: int
    reason: str


class Foresee(Struct, frozen=True):
    """The prompt may be read ahead: the caller has said this so far."""

    turn: int
    text: str


class Ask(Struct, frozen=True):
    """Have `reply` made to `text`. Its sound waits until `Release`."""

    reply: int
    turn: int
    revision: int
    text: str


class Drop(Struct, frozen=True):
    """The reply is not needed: stop whoever makes it, forget its sound. Nothing of it counts as heard. Where sound of it may
    have been sent, a `CutSound` stands before this."""

    reply: int


class Release(Struct, frozen=True):
    """The turn is the reply's: its sound may be sent from now on."""

    reply: int


class KeepUser(Struct, frozen=True):
    """The turn is over and belongs to the conversation."""

    turn: int
    text: str
    typed: bool = False


class KeepReply(Struct, frozen=True):
    """The reply, asked for or said, is over; `samples` of it were heard, which is the end of it unless it was cut."""

    reply: int
    samples: int
    ending: Ending


class HoldSound(Struct, frozen=True):
    """The caller may be interrupting: the reply falls silent within 50 ms and keeps what is unplayed."""

    reply: int


class ResumeSound(Struct, frozen=True):
    """It was nothing: the reply goes on from the sample where it was held."""

    reply: int


class CutSound(Struct, frozen=True):
    """The reply is interrupted for good. The epoch has risen by one before this."""

    reply: int


class Say(Struct, frozen=True):
    """Say this sentence as `reply`, which nobody else makes and needs no `Release`. Where another reply may sound too, this one
    goes first, and the other goes on after it from where it was. `kind` names it for the figures: "filler", "slow",
    "gave_up", "apology", "not_understood", "announcement"; only the last belongs to the conversation."""

    reply: int
    text: str
    kind: str


class Show(Struct, frozen=True):
    state: CallState


Decision = (
    Listen
    | Conclude
    | Discard
    | Foresee
    | Ask
    | Drop
    | Release
    | KeepUser
    | KeepReply
    | HoldSound
    | ResumeSound
    | CutSound
    | Say
    | Show
)
