"""The messages of the voice socket, `/ws/voice`: audio as binary frames both ways, everything else as JSON.

Owns the messages in both directions, and the numbering of the frames that go out: the first of a session is 0, and clients
call that number a chunk id. Binary frames hold samples only: 16-bit little-endian mono, 16 kHz in, 24 kHz out. Used by
`gateway.calls.voice_socket`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from msgspec import Struct
from pydantic import Field

from duologue.errors import BadRequest, Problem
from duologue.values import call_events
from duologue.values.audio import SPOKEN_RATE, samples
from duologue.values.call_events import CallControl, CallEvent, CallSetup
from duologue.values.conversations import CLIENT, Approval, Decision, StoredMessage, ToolCallRecord
from duologue.values.events import Queued
from duologue.values.messages import ImagePart, Tool, ToolCall
from duologue.wire import media_parts
from duologue.wire.sound import RecordBody, RecordCall, caption, json_text
from duologue.wire.validation import Body, RequestLimits, ToolBody, check_text, decode_json, validate

FRAMES_KEPT = 4096
"""Sent frames that a client may still name by number: more than a minute of sound."""
MAX_TEXT = 100_000
LARGEST_NUMBER = 2**53
"""The largest integer of JSON that every program reads alike; the worker protocol has none beyond 64 bits."""
"""Characters of a text typed into a call."""
MAX_TOOL_TEXT = 2000
"""Characters of a tool's result that a client is sent; the conversation has all of it."""


# ---- from the client


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


class InterruptCall(Struct, frozen=True):
    """Stop speaking; `last_chunk_id` is the number of the last frame the client has begun to play (-1: none)."""

    last_chunk_id: int | None = None
    reply: int | None = None
    samples: int | None = None


class CallImage(Struct, frozen=True):
    """A picture of the camera or the screen, for the turn during which it arrives."""

    image: ImagePart


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


def decode(frame: str | bytes, limits: RequestLimits) -> VoiceMessage:
    """The message of a text frame. Raises BadRequest that names the field, TooLarge."""
    body = decode_json(frame)
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
        case "video_frame":
            data = media_parts.from_base64(validate(VoiceFrameBody, body).frame, "frame")
            return CallImage(media_parts.image(data, "frame"))
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
        f"Unknown message type {str(kind)[:64]!r}. This socket takes start, interrupt, played, text, hold, video_frame, "
        "tool_result, approval, record and stop, and audio as binary frames.",
        param="type",
    )


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
    )
    return StartCall(
        setup, body.conversation_id, body.model, body.instructions, tools, body.unknown(), body.record
    )


# ---- to the client

STALE = (
    call_events.ReplyAudioStarted,
    call_events.ReplyAudio,
    call_events.ReplyAudioEnded,
    call_events.ReplyText,
    call_events.Hold,
    call_events.Resume,
    call_events.State,
)
"""Events that are stale in a later epoch. The others, such as what was said and heard, stay true."""


def error_message(problem: Problem, epoch: int = 0) -> str:
    """An error. The sentence is under both keys that clients look for."""
    return json_text(
        {
            "type": "error",
            "epoch": epoch,
            "code": problem.code,
            "message": problem.message,
            "error": problem.message,
            "param": problem.param,
        }
    )


def queue_messages(event: Queued, again: bool, epoch: int = 0) -> list[str]:
    """The call waits for a seat: the state, and its place in the queue; `again`: the place has changed."""
    place: dict[str, object] = {
        "type": "queue_update" if again else "queued",
        "epoch": epoch,
        "position": event.position,
        "estimated_wait_s": event.wait,
        "eta_seconds": event.wait,
        "ticket_id": event.ticket,
        "queue_length": event.length,
    }
    return [json_text(place)] if again else [state_message("waiting", epoch), json_text(place)]


def queue_done_message(epoch: int = 0) -> str:
    """The call has a seat."""
    return json_text({"type": "queue_done", "epoch": epoch})


def voice_message(epoch: int, name: str, note: str) -> str:
    """Another voice speaks than was asked for: its name ("" while unknown), and why."""
    return json_text({"type": "voice", "epoch": epoch, "voice": name or None, "voice_note": note})


def tool_call_message(epoch: int, reply: int, tool_call: ToolCall) -> str:
    """The model calls a tool of the client, which answers with `tool_result`."""
    return json_text(
        {
            "type": "tool_call",
            "epoch": epoch,
            "reply_id": reply,
            "call_id": tool_call.id,
            "name": tool_call.name,
            "arguments": tool_call.arguments,
        }
    )


def tool_message(epoch: int, reply: int, row: StoredMessage) -> str:
    """The state of a call of a server's tool; `text` is its output so far, or its result."""
    record = row.call or ToolCallRecord("")
    return json_text(
        {
            "type": "tool",
            "epoch": epoch,
            "reply_id": reply,
            "call_id": row.tool_call_id,
            "name": record.name,
            "server": record.server,
            "tool": record.tool,
            "arguments": record.arguments,
            "state": record.state,
            "text": row.text[:MAX_TOOL_TEXT],
        }
    )


def approval_requested_message(epoch: int, reply: int, approval: Approval, question: str) -> str:
    """A question only the caller can answer; `question` is how it is spoken."""
    return json_text(
        {
            "type": "approval_asked",
            "epoch": epoch,
            "reply_id": reply,
            "question": question,
            "approval": approval,
        }
    )


def approval_answered_message(epoch: int, reply: int, id: str, decision: Decision | None) -> str:
    """The question is closed; without a decision it expired."""
    return json_text(
        {"type": "approval_answered", "epoch": epoch, "reply_id": reply, "id": id, "decision": decision}
    )


def history_message(epoch: int, conversation: str, leaf: str | None, path: Iterable[StoredMessage]) -> str:
    """The conversation was changed elsewhere; the call continues from this path."""
    messages = [{"id": row.id, "role": row.role, "text": row.text} for row in path]
    return json_text(
        {
            "type": "history",
            "epoch": epoch,
            "conversation_id": conversation,
            "leaf": leaf,
            "messages": messages,
        }
    )


def state_message(state: call_events.CallState, epoch: int = 0) -> str:
    return json_text({"type": "status", "epoch": epoch, "state": state})


def video_mode_message(enabled: bool = False) -> str:
    """Whether replies are sent as video clips (`speaking_clip`) instead of sound."""
    return json_text({"type": "video_mode", "epoch": 0, "enabled": enabled})


class VoiceEncoder:
    """Encodes the events of one call as text and binary frames, in order; a `gateway.calls.dialect.Dialect`.

    Drops sound and text of an older epoch, even when the newer epoch begins in the same batch: after this nothing else could
    keep them from the client.
    """

    def __init__(self) -> None:
        self.epoch = 0
        self._next = 0
        # A binary frame does not name its reply: it belongs to the one of the last `audio_start`. A reply that another one cut
        # in front of is therefore started again when it continues; `_lengths` are the samples sent of every unfinished reply.
        self._reply = -1
        self._lengths: dict[int, int] = {}
        self._texts: dict[int, str] = {}
        # The frames sent, numbered from `_first`: (reply, samples of that reply sent up to and including the frame).
        self._first = 0
        self._frames: list[tuple[int, int]] = []

    def encode(self, events: Iterable[CallEvent]) -> list[str | bytes]:
        """The frames of these events."""
        batch = [
            event
            for event in events
            if not isinstance(event, call_events.TranscriptText | call_events.CallSessionEnded)
        ]
        self.epoch = max([self.epoch, *(event.epoch for event in batch)])
        frames: list[str | bytes] = []
        for event in batch:
            if event.epoch == self.epoch or not isinstance(event, STALE):
                frames.extend(self._one(event))
        return frames

    def queued(self, event: Queued, again: bool) -> list[str | bytes]:
        return list(queue_messages(event, again, self.epoch))

    def seated(self, waited: bool) -> list[str | bytes]:
        return [queue_done_message(self.epoch)] if waited else []

    def waiting(self, epoch: int) -> list[str | bytes]:
        return [state_message("waiting", epoch)]

    def problem(self, problem: Problem) -> list[str | bytes]:
        return [error_message(problem, self.epoch)]

    def tool_calls(self, reply: int, tool_calls: Iterable[ToolCall]) -> list[str | bytes]:
        return [tool_call_message(self.epoch, reply, tool_call) for tool_call in tool_calls]

    def tool_state(self, reply: int, row: StoredMessage) -> list[str | bytes]:
        # The client knows the state of the tools it runs itself.
        by_client = row.call is not None and row.call.server == CLIENT
        return [] if by_client else [tool_message(self.epoch, reply, row)]

    def approval_requested(self, reply: int, approval: Approval, question: str) -> list[str | bytes]:
        return [approval_requested_message(self.epoch, reply, approval, question)]

    def approval_answered(self, reply: int, id: str, decision: Decision | None) -> list[str | bytes]:
        return [approval_answered_message(self.epoch, reply, id, decision)]

    def history_changed(
        self, conversation: str, leaf: str | None, path: Iterable[StoredMessage]
    ) -> list[str | bytes]:
        return [history_message(self.epoch, conversation, leaf, path)]

    def position(self, chunk: int) -> tuple[int, int] | None:
        """The reply of the frame numbered `chunk`, and the reply's samples up to its end; None for a frame that was forgotten
        or never sent."""
        at = chunk - self._first
        return self._frames[at] if 0 <= at < len(self._frames) else None

    def _one(self, event: CallEvent) -> Iterable[str | bytes]:
        match event:
            case call_events.State():
                yield state_message(event.state, self.epoch)
            case call_events.Transcribed():
                understood = {} if event.understood else {"understood": False}
                yield self._message(
                    "transcript", turn=event.turn, text=event.text, final=event.final, **understood
                )
            case call_events.ReplyText():
                text = self._texts.pop(event.reply, "") + event.text
                if not event.final:
                    self._texts = {event.reply: text}
                yield self._message("response_text", reply_id=event.reply, text=text, final=event.final)
            case call_events.ReplyAudioStarted():
                yield self._begin(event.reply)
            case call_events.ReplyAudio():
                yield from self._sound(event)
            case call_events.ReplyAudioEnded():
                self._reply = -1
                self._lengths.pop(event.reply, None)
                yield self._message("audio_end", reply_id=event.reply, samples=event.samples)
            case call_events.Hold():
                yield self._message("pause", reply_id=event.reply)
            case call_events.Resume():
                yield self._message("resume", reply_id=event.reply)
            case call_events.Cut():
                self._lengths.pop(event.reply, None)
                yield self._message("interrupt", reply_id=event.reply)
            case call_events.AssistantSaid():
                yield self._message(
                    "reply_done",
                    reply_id=event.reply,
                    text=event.heard,
                    unheard=event.unheard,
                    ending=event.ending,
                )
            case call_events.CallProblem():
                yield error_message(Problem(event.message, code=event.code), self.epoch)

    def _sound(self, event: call_events.ReplyAudio) -> Iterable[str | bytes]:
        if event.reply != self._reply:
            yield self._begin(event.reply)
        if event.words:
            words = [caption(word) for word in event.words]
            yield self._message("caption", reply_id=event.reply, words=words)
        if not event.pcm:
            return
        self._lengths[event.reply] += samples(event.pcm)
        self._frames.append((event.reply, self._lengths[event.reply]))
        self._next += 1
        if len(self._frames) > FRAMES_KEPT:
            surplus = len(self._frames) - FRAMES_KEPT // 2
            del self._frames[:surplus]
            self._first += surplus
        yield event.pcm

    def _begin(self, reply: int) -> str:
        self._reply = reply
        self._lengths.setdefault(reply, 0)
        return self._message("audio_start", reply_id=reply, chunk_id=self._next, sample_rate=SPOKEN_RATE)

    def _message(self, kind: str, **fields: object) -> str:
        return json_text({"type": kind, "epoch": self.epoch} | fields)


def control(message: VoiceMessage, encoder: VoiceEncoder) -> CallControl | None:
    """The control for the session; None for messages that the gateway handles itself."""
    match message:
        case call_events.Played() | call_events.Typed() | call_events.Pressed():
            return message
        case InterruptCall():
            if message.samples is not None or message.last_chunk_id is None:
                return call_events.Interrupt(message.reply, message.samples)
            if message.last_chunk_id < 0:
                return call_events.Interrupt(message.reply, 0)
            position = encoder.position(message.last_chunk_id)
            return (
                call_events.Interrupt(*position)
                if position is not None
                else call_events.Interrupt(message.reply)
            )
    return None
