"""What happened in a call: the input of the turn machine.

`TurnMachine.take(fact)` answers each fact with decisions (`decisions.py`); sessions/call/session.py produces the facts
from the microphone, the recogniser, the voice and the client. Time is the number of samples received from the caller
since the call began (16 kHz): every `Frame` advances it by FRAME, so a session without input feeds silence. Positions
within a reply are samples at 24 kHz from its first.
"""

from __future__ import annotations

from msgspec import Struct

from duologue.values.events import ReplyWord

FRAME = 512
"""Samples (16 kHz) of one Frame: 32 ms, which is what Silero VAD takes at a time."""


class Frame(Struct, frozen=True):
    """The next FRAME samples: probability of speech (0 to 1), level (dBFS), and brightness (dB): the power of the
    differences between samples relative to their own, about -20 for a hum and -12 to 0 for speech. `playback_level` is
    the highest level the caller's loudspeaker plays at around then (dBFS of the sound as synthesised)."""

    probability: float
    level: float = -100.0
    brightness: float = 0.0
    playback_level: float = -100.0


class PartialTranscript(Struct, frozen=True):
    """All words of `turn` so far; they may still change. `until`: the last sample the recogniser had processed, where
    known. The same words repeated with a later `until` are more certain."""

    turn: int
    text: str
    until: int | None = None


class FinalTranscript(Struct, frozen=True):
    """The words of `turn` up to the end that was asked for, including what was said before the turn was reopened.
    `understood` False: there was speech, but no words were recognised. `until` names the `FinishTranscript` it answers,
    where known; the answer to an earlier one is out of date. `stop_word`: a word that asks to stop, spotted in the sound
    whatever the text is; "" where none was, or none was listened for."""

    turn: int
    text: str
    understood: bool = True
    until: int | None = None
    stop_word: str = ""


class TurnEndEstimated(Struct, frozen=True):
    """The probability, 0 to 1, that the sound of `turn` up to sample `until` is a whole turn. Answers `EstimateTurnEnd`."""

    turn: int
    until: int
    probability: float


class ReplyTextStarted(Struct, frozen=True):
    """The first text of the reply arrived."""

    reply: int


class SynthesisProgress(Struct, frozen=True):
    """More of the reply's sound exists: `samples` in total; `words` are the ones that begin in the new part."""

    reply: int
    samples: int
    words: tuple[ReplyWord, ...] = ()


class SynthesisComplete(Struct, frozen=True):
    """All of the reply's sound exists. A reply without sound has 0 samples."""

    reply: int
    samples: int


class PlaybackProgress(Struct, frozen=True):
    """The caller has heard the reply up to this sample, by the client's mark or by the session's estimate."""

    reply: int
    samples: int


class InterruptRequested(Struct, frozen=True):
    """The caller pressed a button or key for silence. `samples` of the reply had been heard, where known. `reply` None
    means the one that is playing."""

    reply: int | None = None
    samples: int | None = None


class TextTyped(Struct, frozen=True):
    """The caller typed this turn."""

    text: str


class PushToTalk(Struct, frozen=True):
    """The push-to-talk button was pressed or released."""

    down: bool


class ReplyWaiting(Struct, frozen=True):
    """The reply starts (`busy`) or stops waiting for a tool or a person. `asks`: the caller was asked a question, and what
    they say next may be the answer."""

    reply: int
    busy: bool
    asks: bool = False


class ReplyBroken(Struct, frozen=True):
    """The reply will not be produced, or not completed. `apology` is a sentence to say, or empty."""

    reply: int
    apology: str = ""


class AnnouncementRequested(Struct, frozen=True):
    """Say this as a reply of its own, without a turn of the caller."""

    text: str
    interruptible: bool = True


Fact = (
    Frame
    | PartialTranscript
    | FinalTranscript
    | TurnEndEstimated
    | ReplyTextStarted
    | SynthesisProgress
    | SynthesisComplete
    | PlaybackProgress
    | InterruptRequested
    | TextTyped
    | PushToTalk
    | ReplyWaiting
    | ReplyBroken
    | AnnouncementRequested
)
