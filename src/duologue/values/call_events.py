"""A call as values: its setup, the controls sent to its session, and the events the session sends.

The session runs in a voice worker: it listens, decides whose turn it is, and speaks. The gateway writes the replies: the session
requests one (`ReplyRequested`) and receives its text (`Text`). Every event carries an epoch, which an interruption raises; events
of an older epoch that still arrive are stale. Times are samples: of the caller's audio at 16 kHz from the beginning of the call, of
a reply at 24 kHz from its first sample.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from duologue.values.avatars import AvatarSource, VideoMode
from duologue.values.events import ReplyWord
from duologue.values.messages import ImagePart, Message
from duologue.values.mouth import MouthKey
from duologue.values.requests import Sampling
from duologue.values.speech import Transcript, VoiceSample

CallState = Literal["listening", "hearing", "thinking", "speaking", "paused", "waiting"]
Ending = Literal["spoken", "interrupted", "failed", "replaced"]


class OmniSetup(Struct, frozen=True):
    """What a model needs that holds a call by itself, hears and speaks (`sessions/omni`): the messages before it, the system's
    first, and how it writes. None: as the model has it."""

    messages: tuple[Message, ...] = ()
    sampling: Sampling = Sampling()
    listen_scale: float | None = None
    """Multiplies the probability of listening."""
    window: int | None = None
    """Tokens of the cache above which the oldest units leave it."""
    max_slices: int | None = None


class CallSetup(Struct, frozen=True, tag="call"):
    """The setup of a call. `pauses`: the client holds and resumes playback on request; `marks`: it reports what it has played.
    A client without marks is sent audio at most 200 ms ahead."""

    voice: str = ""
    sample: VoiceSample | None = None
    """A recording of the voice to speak with, where the speaker can."""
    speed: float = 1.0
    language: str = ""
    pauses: bool = False
    marks: bool = False
    interruptible: bool = True
    greeting: str = ""
    """Spoken at the beginning, by the assistant."""
    hint: str = ""
    """Words the caller is likely to use: names, terms."""
    mentioned: str = ""
    """What was said last in the conversation of this call: the caller may use its words again."""
    listens: bool = True
    """False: push to talk. `Pressed` begins and ends a turn, silence does not."""
    fills: bool = True
    """Silence is inserted where no audio arrives. False: time advances with the audio alone, which arrives in large chunks."""
    ahead: float = 1.0
    """Seconds of audio a client with marks may be ahead of its playback."""
    epoch: int = 0
    """The epoch, and the numbers of the reply and the turn, that it begins with: a call that lost its session continues in
    another one."""
    reply: int = 1
    turn: int = 1
    mouth: bool = False
    """Send the mouth's keys with the audio."""
    video: VideoMode = "off"
    """How replies are sent, where the worker has a video engine that draws `avatar`."""
    avatar: AvatarSource | None = None
    omni: OmniSetup | None = None
    """For the worker of an omni model, which makes the replies itself; None for a voice worker."""


# ---- controls: gateway to session


class MicrophoneAudio(Struct, frozen=True, tag="hear"):
    """The next audio of the microphone: 16-bit mono, 16 kHz, any length."""

    pcm: bytes


class CallChunk(Struct, frozen=True, tag="chunk"):
    """The next audio of the microphone and the frames of that time, for an omni model. `force_listen`: it must be silent after
    this one; `max_slices`: into how many pieces each frame may be cut, for this chunk."""

    pcm: bytes
    frames: tuple[ImagePart, ...] = ()
    force_listen: bool = False
    max_slices: int | None = None


class CallFrame(Struct, frozen=True, tag="frame"):
    """A frame of the camera or the screen, for an omni model; the newest counts for the next unit."""

    frame: ImagePart


class Text(Struct, frozen=True, tag="text"):
    """The next piece of a reply's text; `last`: nothing follows. Of a `SpeechRequest` left open, `reply` is 0."""

    reply: int
    text: str
    last: bool = False


class ToolsRunning(Struct, frozen=True, tag="working"):
    """The reply waits for a tool or an approval; `busy` False: no longer. `question` is spoken if there is one, and the caller's
    next words may be its answer, however short."""

    reply: int
    busy: bool = True
    question: str = ""


class ReplyFailed(Struct, frozen=True, tag="broken"):
    """The reply failed or cannot be completed. `apology` is spoken if there is one."""

    reply: int
    apology: str = ""


class Played(Struct, frozen=True, tag="played"):
    """The caller has heard the reply up to this sample."""

    reply: int
    samples: int


class Interrupt(Struct, frozen=True, tag="interrupt"):
    """The caller wants silence now. `reply` None: the one that speaks; `samples` of it were heard, where that is known."""

    reply: int | None = None
    samples: int | None = None


class Typed(Struct, frozen=True, tag="typed"):
    """The caller typed a turn instead of speaking."""

    text: str


class Pressed(Struct, frozen=True, tag="pressed"):
    """Push to talk: the button went down, or up again."""

    down: bool


class Speak(Struct, frozen=True, tag="speak"):
    """Speak this now, as the assistant. Not `interruptible`: to its end."""

    text: str
    interruptible: bool = True


CallControl = (
    MicrophoneAudio
    | CallChunk
    | CallFrame
    | Text
    | ToolsRunning
    | ReplyFailed
    | Played
    | Interrupt
    | Typed
    | Pressed
    | Speak
)

# ---- events: session to gateway


class State(Struct, frozen=True, tag="state"):
    epoch: int
    state: CallState


class Transcribed(Struct, frozen=True, tag="transcribed"):
    """The transcript of `turn` so far; `final` once it will not change. `understood` False: the speech was not understood."""

    epoch: int
    turn: int
    text: str
    final: bool = False
    understood: bool = True


class ReplyRequested(Struct, frozen=True, tag="wanted"):
    """Begin `reply` to what the caller said. `revision` counts the tries at one turn: a later one replaces this reply, which is
    cancelled (`CancelReply`). Only `UserSaid` and `AssistantSaid` make a turn part of the conversation."""

    epoch: int
    reply: int
    turn: int
    revision: int
    text: str


class PartialTurn(Struct, frozen=True, tag="foreseen"):
    """The caller is speaking and has said this so far: the prompt may be prefilled, but no reply begun."""

    epoch: int
    turn: int
    text: str


class TurnConfirmed(Struct, frozen=True, tag="released"):
    """The turn that `reply` answers has ended: its tools may have effects from now on."""

    epoch: int
    reply: int


class CancelReply(Struct, frozen=True, tag="unwanted"):
    """Stop generating the reply; it is not needed."""

    epoch: int
    reply: int


class UserSaid(Struct, frozen=True, tag="user_said"):
    """The caller's turn is over and belongs to the conversation. Sent before the `AssistantSaid` that answers it."""

    epoch: int
    turn: int
    text: str
    typed: bool = False


class AssistantSaid(Struct, frozen=True, tag="assistant_said"):
    """The reply is over. `heard` is the part of its text that the caller heard, word for word, and what the conversation stores;
    `unheard` is the rest. Sent before the `ReplyRequested` that follows an interruption."""

    epoch: int
    reply: int
    heard: str
    unheard: str = ""
    ending: Ending = "spoken"


class ReplyText(Struct, frozen=True, tag="reply_text"):
    """Text of the reply, in step with its audio."""

    epoch: int
    reply: int
    text: str
    final: bool = False


class ReplyAudioStarted(Struct, frozen=True, tag="sound_begins"):
    epoch: int
    reply: int


class ReplyAudio(Struct, frozen=True, tag="sound"):
    """The next audio of the reply: 16-bit mono, 24 kHz; `words` begin in it. `mouth`: the keys that became known with it, in the order of
    their positions, later than all before; some are ahead of this audio."""

    epoch: int
    reply: int
    pcm: bytes
    words: tuple[ReplyWord, ...] = ()
    mouth: tuple[MouthKey, ...] = ()


class SpeakingClip(Struct, frozen=True, tag="speaking_clip"):
    """The whole reply as one video with its sound: H.264 and AAC in fragmented MP4. Sent instead of `ReplyAudio`, with the reply's
    text. `samples`: the length of its sound; `pcm`: that sound (16-bit mono, 24 kHz), for recordings of the call."""

    epoch: int
    reply: int
    data: bytes
    text: str
    samples: int
    width: int
    height: int
    words: tuple[ReplyWord, ...] = ()
    pcm: bytes = b""


class VideoSegment(Struct, frozen=True, tag="video_segment"):
    """About a second of a reply's video beside its sound, or of the avatar at rest (`reply` None). H.264 with start codes, beginning
    with a key frame; `sizes` are the bytes of each frame. The frame `n` belongs to sample `at + n * 24000 / rate` of the reply; `first` is
    the number of the first one on the avatar's own clock; `last`: no more segments of this reply."""

    epoch: int
    reply: int | None
    at: int
    first: int
    rate: int
    width: int
    height: int
    sizes: tuple[int, ...]
    data: bytes
    last: bool = False


class VideoState(Struct, frozen=True, tag="video_state"):
    """How the replies of this call are sent from now on, with the size of the video in pixels and its frames a second. `note`: why there is
    none, where it was asked for."""

    epoch: int
    mode: VideoMode
    width: int = 0
    height: int = 0
    rate: int = 0
    note: str = ""


class ReplyAudioEnded(Struct, frozen=True, tag="sound_ends"):
    """All audio of the reply was sent: `samples` in all."""

    epoch: int
    reply: int
    samples: int


class Hold(Struct, frozen=True, tag="hold"):
    """Fade out within 50 ms and keep what is unplayed: the caller may be interrupting."""

    epoch: int
    reply: int


class Resume(Struct, frozen=True, tag="resume"):
    """It was not an interruption: resume at the held sample."""

    epoch: int
    reply: int


class Cut(Struct, frozen=True, tag="cut"):
    """The reply was interrupted: drop its unplayed audio. `epoch` is the new one."""

    epoch: int
    reply: int


class CallProblem(Struct, frozen=True, tag="trouble"):
    """A problem the caller should know of; the call continues."""

    epoch: int
    code: str
    message: str


class TurnFigures(Struct, frozen=True, tag="turn_figures"):
    """The latency of one turn, for the log and the metrics: milliseconds from the end of the caller's speech. None: that point was
    not reached."""

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
    gaps: tuple[float, ...] = ()
    """How long each silence inside the reply was, because its sound came too late."""


class UnitAnswered(Struct, frozen=True, tag="unit"):
    """An omni model has answered `unit` (from 1, `samples` at 16 kHz), after its sound and text if there were any. `cached`: tokens in its
    cache; `written` and `codes`: tokens of text and of speech that it generated; costs in milliseconds; `late`: how long after the
    end of the unit's sound its answer was there, in milliseconds."""

    epoch: int
    unit: int
    samples: int
    listens: bool = True
    reply: int | None = None
    end_of_turn: bool = False
    cached: int = 0
    written: int = 0
    codes: int = 0
    slices: int = 0
    vision_tokens: int = 0
    prefill_ms: float = 0.0
    language_ms: float = 0.0
    speech_ms: float = 0.0
    vocoder_ms: float = 0.0
    late_ms: float = 0.0


class UserSound(Struct, frozen=True, tag="user_sound"):
    """What the caller said in `turn` (16-bit mono, 16 kHz, at most a minute), which an omni model hears but does not write down. Sent
    instead of `UserSaid`."""

    epoch: int
    turn: int
    pcm: bytes


class ReplyBegun(Struct, frozen=True, tag="reply_begun"):
    """An omni model begins `reply` to the caller's `turn` by itself. Sent instead of `ReplyRequested`."""

    epoch: int
    reply: int
    turn: int


class CallSessionEnded(Struct, frozen=True, tag="ended"):
    """The last event of a call, a speech or a transcription. `code` and `message` are the reason if it failed, else empty."""

    code: str = ""
    message: str = ""
    status: int = 500


class ClipProgress(Struct, frozen=True, tag="clip_progress"):
    """How much of a `ClipRequest` is done: 0 to 1 of what `step` names."""

    step: Literal["speaking", "preparing", "drawing"]
    share: float


class ClipData(Struct, frozen=True, tag="clip_data"):
    """The next bytes of a clip's file."""

    data: bytes


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
    | SpeakingClip
    | VideoSegment
    | VideoState
    | ReplyAudioEnded
    | Hold
    | Resume
    | Cut
    | CallProblem
    | TurnFigures
    | TranscriptText
    | UnitAnswered
    | UserSound
    | ReplyBegun
    | ClipProgress
    | ClipData
    | CallSessionEnded
)

TaskEvent = TranscriptText | ClipProgress | ClipData | CallSessionEnded
"""Events that belong to no epoch: those of a speech, a transcription or a clip, and the end."""
