"""The messages that the client of a call sends on `/ws/voice` as JSON; its sound comes in binary frames.

Owns their fields and bounds, and which of them are controls for the session. Used by `gateway.calls.voice_socket`.
"""

from __future__ import annotations

from typing import Literal, Protocol

from msgspec import Struct
from pydantic import Field

from duologue.errors import BadRequest, TooLarge
from duologue.values import call_events
from duologue.values.avatars import VideoMode
from duologue.values.call_events import CallControl, CallSetup
from duologue.values.messages import ImagePart, Tool
from duologue.wire import media_parts
from duologue.wire.sound import RecordBody, RecordCall
from duologue.wire.validation import Body, RequestLimits, ToolBody, check_text, decode_json, validate

MAX_TEXT = 100_000
"""Characters of a text typed into a call."""
LARGEST_NUMBER = 2**53
"""The largest integer of JSON that every program reads alike; the worker protocol has none beyond 64 bits."""
MAX_FRAME = 4 * 1024 * 1024
"""Bytes of a frame of the camera or the screen: several times a large screen as a JPEG."""


class StartBody(Body):
    """`start`: the setup of the call."""

    features: list[str] = Field(default_factory=list, max_length=32)
    conversation_id: str = Field(default="", max_length=128)
    model: str = ""
    voice: str = ""
    speed: float = Field(default=1.0, ge=0.25, le=4.0)
    language: str = Field(default="", max_length=35)
    instructions: str = ""
    greeting: str = Field(default="", max_length=1000)
    interruptible: bool = True
    mode: Literal["open", "hold"] = "open"
    record: bool = False
    video: VideoMode | None = None
    avatar: str = Field(default="", max_length=128)
    tools: list[ToolBody] = Field(default_factory=list, max_length=128)


class InterruptBody(Body):
    last_chunk_id: int | None = Field(default=None, ge=-1, le=LARGEST_NUMBER)
    reply_id: int | None = Field(default=None, ge=0, le=LARGEST_NUMBER)
    samples: int | None = Field(default=None, ge=0, le=LARGEST_NUMBER)


class PlayedBody(Body):
    reply_id: int = Field(ge=0, le=LARGEST_NUMBER)
    samples: int = Field(ge=0, le=LARGEST_NUMBER)


class TextBody(Body):
    text: str = Field(min_length=1, max_length=MAX_TEXT)


class HoldBody(Body):
    down: bool


class VoiceFrameBody(Body):
    frame: str


class FrameBody(Body):
    """`frame`: a picture of the camera or the screen, in base64 or as a `data:` URL."""

    image: str
    source: Literal["camera", "screen"] = "camera"


class ToolResultBody(Body):
    call_id: str = Field(max_length=256)
    content: str = ""
    is_error: bool = False


class ApprovalBody(Body):
    id: str = Field(max_length=64)
    decision: Literal["once", "tool", "server", "deny"] | None = None
    action: Literal["accept", "decline", "cancel"] | None = None
    values: dict[str, object] = Field(default_factory=dict)


class StartCall(Struct, frozen=True):
    """Begin the call. `instructions` is the system prompt of a call without a conversation; `unknown` names unknown
    fields."""

    setup: CallSetup
    conversation_id: str = ""
    model: str = ""
    instructions: str = ""
    tools: tuple[Tool, ...] = ()
    unknown: tuple[str, ...] = ()
    record: bool = False
    units: bool = False
    """The client wants the figures of each unit, in a call that its model holds by itself."""
    video: VideoMode | None = None
    """How it wants replies to be sent; None: as the server has it."""
    avatar: str = ""
    """Whose face it wants to see; empty: the server's default."""


class InterruptCall(Struct, frozen=True):
    """Stop speaking; `last_chunk_id` is the number of the last frame the client has begun to play (-1: none)."""

    last_chunk_id: int | None = None
    reply: int | None = None
    samples: int | None = None


class CallImage(Struct, frozen=True):
    """A picture of the camera or the screen, for the turn during which it arrives, or the next unit of a model that holds the call
    by itself."""

    image: ImagePart
    source: Literal["camera", "screen"] = "camera"


class ClientToolResult(Struct, frozen=True):
    """The result of a tool that the client runs itself."""

    call_id: str
    content: str
    is_error: bool = False


class AnswerApproval(Struct, frozen=True):
    """Answer an approval: one about a tool call with a decision, a form or a link with an action."""

    id: str
    answer: Literal["once", "tool", "server", "deny", "accept", "decline", "cancel"]
    values: dict[str, object] = {}


class StopCall(Struct, frozen=True):
    """End the call."""


VoiceMessage = (
    StartCall
    | InterruptCall
    | call_events.Played
    | call_events.Typed
    | call_events.Pressed
    | CallImage
    | ClientToolResult
    | AnswerApproval
    | RecordCall
    | StopCall
)


def decode(message: str | bytes, limits: RequestLimits) -> VoiceMessage:
    """The message of a text frame. Raises BadRequest that names the field, TooLarge."""
    body = decode_json(message)
    kind = body.pop("type", None)
    body.pop("epoch", None)
    match kind:
        case "start":
            return _start(validate(StartBody, body), limits)
        case "interrupt":
            interrupt = validate(InterruptBody, body)
            return InterruptCall(interrupt.last_chunk_id, interrupt.reply_id, interrupt.samples)
        case "played":
            played = validate(PlayedBody, body)
            return call_events.Played(played.reply_id, played.samples)
        case "text":
            return call_events.Typed(validate(TextBody, body).text)
        case "hold":
            return call_events.Pressed(validate(HoldBody, body).down)
        case "frame":
            frame = validate(FrameBody, body)
            return CallImage(_picture(frame.image, "image"), frame.source)
        case "video_frame":
            return CallImage(_picture(validate(VoiceFrameBody, body).frame, "frame"))
        case "tool_result":
            result = validate(ToolResultBody, body)
            return ClientToolResult(result.call_id, result.content, result.is_error)
        case "approval":
            return _answer(validate(ApprovalBody, body))
        case "record":
            return RecordCall(validate(RecordBody, body).on)
        case "stop":
            return StopCall()
    raise BadRequest(
        f"Unknown message type {str(kind)[:64]!r}. This socket takes start, interrupt, played, text, hold, frame, "
        "video_frame, tool_result, approval, record and stop, and audio as binary frames.",
        param="type",
    )


def _picture(text: str, where: str) -> ImagePart:
    data = (
        media_parts.from_data_url(text, where)[1]
        if text.startswith("data:")
        else media_parts.from_base64(text, where)
    )
    if len(data) > MAX_FRAME:
        raise TooLarge(
            f"A frame may have at most {MAX_FRAME // 2**20} MB. Send it smaller, or as a JPEG.", param=where
        )
    return media_parts.image(data, where)


def _answer(body: ApprovalBody) -> AnswerApproval:
    answer = body.decision or body.action
    if answer is None or (body.decision and body.action):
        raise BadRequest(
            "Answer with a decision (once, tool, server, deny) or an action (accept, decline, cancel).",
            param="decision",
        )
    return AnswerApproval(body.id, answer, body.values)


def _start(body: StartBody, limits: RequestLimits) -> StartCall:
    tools = tuple(entry.tool() for entry in body.tools)
    check_text((), tools, limits)
    setup = CallSetup(
        voice=body.voice,
        speed=body.speed,
        language=body.language,
        pauses="pause" in body.features,
        marks="played" in body.features,
        interruptible=body.interruptible,
        greeting=body.greeting,
        listens=body.mode == "open",
        mouth="mouth" in body.features,
    )
    return StartCall(
        setup,
        body.conversation_id,
        body.model,
        body.instructions,
        tools,
        body.unknown(),
        body.record,
        "units" in body.features,
        body.video,
        body.avatar,
    )


class SentFrames(Protocol):
    """Where the frames that the client was sent are: `wire.calls.voice.VoiceEncoder`."""

    def position(self, chunk: int) -> tuple[int, int] | None:
        """The reply of the frame numbered `chunk`, and the reply's samples up to its end; None where that is unknown."""
        ...


def control(message: VoiceMessage, sent: SentFrames) -> CallControl | None:
    """The control for the session; None for messages that the gateway handles itself."""
    match message:
        case call_events.Played() | call_events.Typed() | call_events.Pressed():
            return message
        case InterruptCall():
            if message.samples is not None or message.last_chunk_id is None:
                return call_events.Interrupt(message.reply, message.samples)
            if message.last_chunk_id < 0:
                return call_events.Interrupt(message.reply, 0)
            position = sent.position(message.last_chunk_id)
            return (
                call_events.Interrupt(*position)
                if position is not None
                else call_events.Interrupt(message.reply)
            )
    return None
