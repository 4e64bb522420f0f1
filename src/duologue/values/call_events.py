"""A call as values: how it begins, what is told to its session, and what the session says.

A call's session lives in a voice worker: it hears, decides whose turn it is, and speaks. What is answered comes from
elsewhere: the session asks (`ReplyRequested`) and is given text (`Text`). Every event carries the epoch it belongs to; an
interruption raises it, and what still arrives of an older one is stale. Times are samples: of what was heard at 16 kHz
from the call's beginning, of a reply at 24 kHz from its first sample. Knows no dialect and no history.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from duologue.values.events import ReplyWord
from duologue.values.speech import Transcript

CallState = Literal["listening", "hearing", "thinking", "speaking", "paused", "waiting"]
Ending = Literal["spoken", "interrupted", "failed", "replaced"]


class CallSetup(Struct, frozen=True, tag="call"):
    """How a call begins. `pauses`: the client holds and resumes playback when told; `marks`: it tells what it has played. One
    that does neither is sent sound at most 200 ms ahead."""

    voice: str = ""
    speed: float = 1.0
    language: str = ""
    pauses: bool = False
    marks: bool = False
    interruptible: bool = True
    greeting: str = ""
    """Said at the beginning, by the assistant."""
    hint: str = ""
    """Text the caller may well use: names, terms."""
    listens: bool = True
    """False: hold to talk. The caller's `Pressed` begin and end a turn, silence does not."""
    fills: bool = True
    """Silence is heard where no sound comes. False: time goes on with the sound alone, which comes in large pieces."""
    ahead: float = 1.0
    """Seconds of sound that may be sent and not played yet, to a client that tells what it has played."""
    epoch: int = 0
    """The epoch, and the numbers of the reply and the turn, that it begins with: a call that has lost its session goes on in
    another one."""
    reply: int = 1
    turn: int = 1


# What a session is told (down).


class MicrophoneAudio(Struct, frozen=True, tag="hear"):
    """What the microphone heard next: 16-bit mono, 16 kHz, any length."""

    pcm: bytes


class Text(Struct, frozen=True, tag="text"):
    """The next piece of a reply's text; `last`: nothing follows. Of a `SpeechRequest` left open, `reply` is 0."""

    reply: int
    text: str
    last: bool = False


class ToolsRunning(Struct, frozen=True, tag="working"):
    """The reply waits for a tool or a person: `busy` begins and ends it. `question` is said aloud, when there is one, and
    what the caller says next may be its answer, however short."""

    reply: int
    busy: bool = True
    question: str = ""


class ReplyFailed(Struct, frozen=True, tag="broken"):
    """The reply will not be made, or not completed. `apology` is said aloud, when there is one."""

    reply: int
    apology: str = ""


class Played(Struct, frozen=True, tag="played"):
    """The caller has heard the reply up to this sample."""

    reply: int
    samples: int


class Interrupt(Struct, frozen=True, tag="interrupt"):
    """The caller wants silence now. `reply` None is whichever speaks; `samples` of it were heard, where that is known."""

    reply: int | None = None
    samples: int | None = None


class Typed(Struct, frozen=True, tag="typed"):
    """The caller wrote something instead of saying it."""

    text: str


class Pressed(Struct, frozen=True, tag="pressed"):
    """Hold to talk: the button went down, or up again."""

    down: bool


class Speak(Struct, frozen=True, tag="speak"):
    """Say this now, as the assistant. Not `interruptible`: it is said to its end."""

    text: str
    interruptible: bool = True


CallControl = (
    MicrophoneAudio | Text | ToolsRunning | ReplyFailed | Played | Interrupt | Typed | Pressed | Speak
)

# What a session says (up).


class State(Struct, frozen=True, tag="state"):
    epoch: int
    state: CallState


class Transcribed(Struct, frozen=True, tag="transcribed"):
    """What the caller says in `turn`, so far; `final` once it will not change. `understood` False: nothing was made of it."""

    epoch: int
    turn: int
    text: str
    final: bool = False
    understood: bool = True


class ReplyRequested(Struct, frozen=True, tag="wanted"):
    """Begin `reply` to what the caller said. `revision` counts the tries at one turn: a later one replaces this reply, which
    is `CancelReply` then. Only `Kept` makes it part of the conversation."""

    epoch: int
    reply: int
    turn: int
    revision: int
    text: str


class PartialTurn(Struct, frozen=True, tag="foreseen"):
    """The caller is speaking and has said this so far: the prompt may be read ahead, nothing is to be written."""

    epoch: int
    turn: int
    text: str


class TurnConfirmed(Struct, frozen=True, tag="released"):
    """The turn that `reply` answers is over for sure: what the reply does may have effects from now on."""

    epoch: int
    reply: int


class CancelReply(Struct, frozen=True, tag="unwanted"):
    """Stop making the reply; nothing of it is needed."""

    epoch: int
    reply: int


class UserSaid(Struct, frozen=True, tag="user_said"):
    """The caller's turn is over and belongs to the conversation. Said before the `AssistantSaid` that answers it."""

    epoch: int
    turn: int
    text: str
    typed: bool = False


class AssistantSaid(Struct, frozen=True, tag="assistant_said"):
    """The reply is over. `heard` is what the caller heard of its written text, word for word, and is what the conversation
    keeps; `unheard` is the rest of what had been written. Said before the `ReplyRequested` that follows an interruption."""

    epoch: int
    reply: int
    heard: str
    unheard: str = ""
    ending: Ending = "spoken"


class ReplyText(Struct, frozen=True, tag="reply_text"):
    """Written text of the reply, as its sound is sent."""

    epoch: int
    reply: int
    text: str
    final: bool = False


class ReplyAudioStarted(Struct, frozen=True, tag="sound_begins"):
    epoch: int
    reply: int


class ReplyAudio(Struct, frozen=True, tag="sound"):
    """The next sound of the reply: 16-bit mono, 24 kHz; `words` whose sound begins in it."""

    epoch: int
    reply: int
    pcm: bytes
    words: tuple[ReplyWord, ...] = ()


class ReplyAudioEnded(Struct, frozen=True, tag="sound_ends"):
    """All of the reply's sound was sent: `samples` in all."""

    epoch: int
    reply: int
    samples: int


class Hold(Struct, frozen=True, tag="hold"):
    """Fade out within 50 ms and keep what is unplayed: the caller may be interrupting."""

    epoch: int
    reply: int


class Resume(Struct, frozen=True, tag="resume"):
    """It was nothing: go on from the held sample."""

    epoch: int
    reply: int


class Cut(Struct, frozen=True, tag="cut"):
    """The reply was interrupted: drop whatever of it is unplayed. `epoch` is the new one."""

    epoch: int
    reply: int


class CallProblem(Struct, frozen=True, tag="trouble"):
    """Something the caller should know; the call goes on."""

    epoch: int
    code: str
    message: str


class TurnFigures(Struct, frozen=True, tag="turn_figures"):
    """Where the time of one turn went, for the log and the figures. Milliseconds from the end of the caller's speech; None:
    it did not come to that."""

    epoch: int
    turn: int
    reply: int
    endpoint: float | None = None
    transcript: float | None = None
    first_text: float | None = None
    first_clause: float | None = None
    first_sound: float | None = None
    first_heard: float | None = None
    interrupted: float | None = None


class CallSessionEnded(Struct, frozen=True, tag="ended"):
    """The last event of a call, a speech or a transcription. `code` is empty, or says with `message` why it failed."""

    code: str = ""
    message: str = ""
    status: int = 500


class TranscriptText(Struct, frozen=True, tag="written"):
    """A piece of a transcription; `transcript` once, at its end."""

    text: str = ""
    transcript: Transcript | None = None


CallEvent = (
    State
    | Transcribed
    | ReplyRequested
    | PartialTurn
    | TurnConfirmed
    | CancelReply
    | UserSaid
    | AssistantSaid
    | ReplyText
    | ReplyAudioStarted
    | ReplyAudio
    | ReplyAudioEnded
    | Hold
    | Resume
    | Cut
    | CallProblem
    | TurnFigures
    | TranscriptText
    | CallSessionEnded
)
