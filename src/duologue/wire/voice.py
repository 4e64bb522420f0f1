"""The voice socket's dialect: sound as binary frames both ways, everything else as JSON.

Owns the messages of `/ws/voice`, both directions, and the numbering of the frames that go out: the first of a session is
0, and its number is what clients call a chunk id. Binary frames hold samples only: 16-bit little-endian mono, 16 kHz in,
24 kHz out. Source: seed 002's protocol, extended by marks, pauses and epochs. Knows no socket and no session.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import msgspec
from msgspec import Struct
from pydantic import Field

from duologue.errors import BadRequest, Problem
from duologue.values import call_events
from duologue.values.audio import SPOKEN_RATE, samples
from duologue.values.call_events import CallControl, CallEvent, CallSetup
from duologue.values.conversations import CLIENT, Approval, Decision, StoredMessage, ToolCallRecord
from duologue.values.events import Queued, ReplyWord
from duologue.values.messages import ImagePart, Tool, ToolCall
from duologue.wire import media_parts
from duologue.wire.validation import Body, RequestLimits, ToolBody, check_text, decode_json, validate

FRAMES_KEPT = 4096
"""Frames whose numbers are still known when a client names one: more than a minute of sound."""
MAX_TEXT = 100_000
"""Characters of a text typed into a call."""
MAX_TOOL_TEXT = 2000
"""Characters of what came of a tool that a client is shown; the conversation has all of it."""


# What comes in


class StartBody(Body):
    """`start`: how the call is to be."""

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
    tools: list[ToolBody] = Field(default_factory=list, max_length=128)


class InterruptBody(Body):
    last_chunk_id: int | None = Field(default=None, ge=-1)
    reply_id: int | None = Field(default=None, ge=0)
    samples: int | None = Field(default=None, ge=0)


class PlayedBody(Body):
    reply_id: int = Field(ge=0)
    samples: int = Field(ge=0)


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


class Start(Struct, frozen=True):
    """The call as its client wants it. `instructions` is the system prompt of a call without a conversation; `unknown`
    names fields nobody knows."""

    setup: CallSetup
    conversation_id: str = ""
    model: str = ""
    instructions: str = ""
    tools: tuple[Tool, ...] = ()
    unknown: tuple[str, ...] = ()


class InterruptCall(Struct, frozen=True):
    """The client wants silence; `last_chunk_id` is the number of the last frame it has begun to play (-1: none)."""

    last_chunk_id: int | None = None
    reply: int | None = None
    samples: int | None = None


class CallPicture(Struct, frozen=True):
    """A picture of the camera or the screen, for the turn it falls in."""

    image: ImagePart


class ClientToolResult(Struct, frozen=True):
    """The answer of the client's own tool."""

    call_id: str
    content: str
    is_error: bool = False


class Approved(Struct, frozen=True):
    """A question was answered: about a tool with a decision, a form or a link with what was done with it."""

    id: str
    decided: Literal["once", "tool", "server", "deny", "accept", "decline", "cancel"]
    values: dict[str, object] = {}


class StopCall(Struct, frozen=True):
    """The call is over."""


Said = (
    Start
    | InterruptCall
    | call_events.Played
    | call_events.Typed
    | call_events.Pressed
    | CallPicture
    | ClientToolResult
    | Approved
    | StopCall
)


def decode(frame: str | bytes, limits: RequestLimits) -> Said:
    """What a text frame says. Raises BadRequest that names the field, TooLarge."""
    body = decode_json(frame)
    kind = body.pop("type", None)
    body.pop("epoch", None)
    match kind:
        case "start":
            return _start(validate(StartBody, body), limits)
        case "interrupt":
            asked = validate(InterruptBody, body)
            return InterruptCall(asked.last_chunk_id, asked.reply_id, asked.samples)
        case "played":
            played = validate(PlayedBody, body)
            return call_events.Played(played.reply_id, played.samples)
        case "text":
            return call_events.Typed(validate(TextBody, body).text)
        case "hold":
            return call_events.Pressed(validate(HoldBody, body).down)
        case "video_frame":
            data = media_parts.from_base64(validate(VoiceFrameBody, body).frame, "frame")
            return CallPicture(media_parts.image(data, "frame"))
        case "tool_result":
            result = validate(ToolResultBody, body)
            return ClientToolResult(result.call_id, result.content, result.is_error)
        case "approval":
            return _approved(validate(ApprovalBody, body))
        case "stop":
            return StopCall()
    raise BadRequest(
        f"There is no message of type {str(kind)[:64]!r} on this socket. It knows start, interrupt, played, text, hold, "
        "video_frame, tool_result, approval and stop; sound comes as binary frames.",
        param="type",
    )


def _approved(body: ApprovalBody) -> Approved:
    decided = body.decision or body.action
    if decided is None or (body.decision and body.action):
        raise BadRequest(
            "Answer with a decision (once, tool, server, deny) or an action (accept, decline, cancel).",
            param="decision",
        )
    return Approved(body.id, decided, body.values)


def _start(body: StartBody, limits: RequestLimits) -> Start:
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
    return Start(setup, body.conversation_id, body.model, body.instructions, tools, body.unknown())


# What goes out

STALE = (
    call_events.ReplyAudioStarted,
    call_events.ReplyAudio,
    call_events.ReplyAudioEnded,
    call_events.ReplyText,
    call_events.Hold,
    call_events.Resume,
    call_events.State,
)
"""What means nothing any more in a later epoch. What was said and heard stays true."""


def _json(value: Mapping[str, object]) -> str:
    return msgspec.json.encode(value).decode()


def error_message(problem: Problem, epoch: int = 0) -> str:
    """An error as this dialect says it."""
    said: dict[str, object] = {"type": "error", "epoch": epoch, "code": problem.code}
    said |= {"message": problem.message, "error": problem.message, "param": problem.param}
    return _json(said)


def queue_messages(event: Queued, again: bool, epoch: int = 0) -> list[str]:
    """Waiting for a seat: the state, and the place in the queue."""
    place: dict[str, object] = {
        "type": "queue_update" if again else "queued",
        "epoch": epoch,
        "position": event.position,
        "estimated_wait_s": event.wait,
        "eta_seconds": event.wait,
        "ticket_id": event.ticket,
        "queue_length": event.length,
    }
    return [_json(place)] if again else [state_message("waiting", epoch), _json(place)]


def queue_done_message(epoch: int = 0) -> str:
    """The seat is there."""
    return _json({"type": "queue_done", "epoch": epoch})


def tool_call_message(epoch: int, reply: int, call: ToolCall) -> str:
    """The client's tool is asked; `tool_result` answers it."""
    said: dict[str, object] = {"type": "tool_call", "epoch": epoch, "reply_id": reply}
    return _json(said | {"call_id": call.id, "name": call.name, "arguments": call.arguments})


def tool_message(epoch: int, reply: int, row: StoredMessage) -> str:
    """How a call of a tool of the server stands; `text` is what it has said so far, or what came of it."""
    record = row.call or ToolCallRecord("")
    said: dict[str, object] = {"type": "tool", "epoch": epoch, "reply_id": reply}
    said |= {"call_id": row.tool_call_id, "name": record.name, "server": record.server, "tool": record.tool}
    return _json(
        said | {"arguments": record.arguments, "state": record.state, "text": row.text[:MAX_TOOL_TEXT]}
    )


def asked_message(epoch: int, reply: int, approval: Approval, aloud: str) -> str:
    """A question that only the caller can answer; `question` is how it is said."""
    said: dict[str, object] = {"type": "approval_asked", "epoch": epoch, "reply_id": reply}
    return _json(said | {"question": aloud, "approval": approval})


def answered_message(epoch: int, reply: int, id: str, decision: Decision | None) -> str:
    """The question is open no more; without a decision nobody has made one."""
    said: dict[str, object] = {"type": "approval_answered", "epoch": epoch, "reply_id": reply}
    return _json(said | {"id": id, "decision": decision})


def history_message(epoch: int, conversation: str, leaf: str | None, path: Iterable[StoredMessage]) -> str:
    """The conversation was changed elsewhere, and the call goes on from this."""
    said: dict[str, object] = {"type": "history", "epoch": epoch, "conversation_id": conversation}
    messages = [{"id": row.id, "role": row.role, "text": row.text} for row in path]
    return _json(said | {"leaf": leaf, "messages": messages})


def state_message(state: call_events.CallState, epoch: int = 0) -> str:
    return _json({"type": "status", "epoch": epoch, "state": state})


def video_mode_message(enabled: bool = False) -> str:
    """Whether replies come as clips (`speaking_clip`) and not as sound."""
    return _json({"type": "video_mode", "epoch": 0, "enabled": enabled})


class VoiceEncoder:
    """The messages of one call. Pure: events in, texts and binary frames out, in order.

    Of sound and text that belong to an older epoch it lets nothing out, also where the newer one came with them: it is the
    last door before the client.
    """

    def __init__(self) -> None:
        self.epoch = 0
        self._next = 0
        # Of which reply a frame is, is not said with it: it is the one begun last. `_lengths` are the samples sent of those
        # that have not ended: a reply that another one went before goes on, and is begun again for that.
        self._reply = -1
        self._lengths: dict[int, int] = {}
        self._texts: dict[int, str] = {}
        # Of the frames sent: their numbers begin at `_first`; each is (reply, samples of the reply sent with it and before).
        self._first = 0
        self._frames: list[tuple[int, int]] = []

    def encode(self, events: Iterable[CallEvent]) -> list[str | bytes]:
        """What these events become."""
        batch = [
            event
            for event in events
            if not isinstance(event, call_events.TranscriptText | call_events.CallSessionEnded)
        ]
        self.epoch = max([self.epoch, *(event.epoch for event in batch)])
        said: list[str | bytes] = []
        for event in batch:
            if event.epoch == self.epoch or not isinstance(event, STALE):
                said.extend(self._one(event))
        return said

    def queued(self, event: Queued, again: bool) -> list[str | bytes]:
        """Waiting for a seat; `again`: the place has changed."""
        return list(queue_messages(event, again, self.epoch))

    def seated(self, waited: bool) -> list[str | bytes]:
        """The seat is there."""
        return [queue_done_message(self.epoch)] if waited else []

    def waiting(self, epoch: int) -> list[str | bytes]:
        """The seat was lost, and another one is waited for."""
        return [state_message("waiting", epoch)]

    def trouble(self, problem: Problem) -> list[str | bytes]:
        """Something went wrong, and the call goes on."""
        return [error_message(problem, self.epoch)]

    def tool_calls(self, reply: int, asked: Iterable[ToolCall]) -> list[str | bytes]:
        """Tools of the client are called."""
        return [tool_call_message(self.epoch, reply, call) for call in asked]

    def tool(self, reply: int, row: StoredMessage) -> list[str | bytes]:
        """How a call of a tool of the server stands. A tool of the client needs not be told to it."""
        mine = row.call is not None and row.call.server == CLIENT
        return [] if mine else [tool_message(self.epoch, reply, row)]

    def asked(self, reply: int, approval: Approval, aloud: str) -> list[str | bytes]:
        """Only the caller can answer this."""
        return [asked_message(self.epoch, reply, approval, aloud)]

    def answered(self, reply: int, id: str, decision: Decision | None) -> list[str | bytes]:
        """The question is open no more."""
        return [answered_message(self.epoch, reply, id, decision)]

    def rewritten(
        self, conversation: str, leaf: str | None, path: Iterable[StoredMessage]
    ) -> list[str | bytes]:
        """The conversation was changed elsewhere."""
        return [history_message(self.epoch, conversation, leaf, path)]

    def heard(self, chunk: int) -> tuple[int, int] | None:
        """The reply and the samples of it that were played when the frame numbered `chunk` was; None for a frame of long
        ago or never."""
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
            words = [_caption(word) for word in event.words]
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
        return _json({"type": kind, "epoch": self.epoch} | fields)


def _caption(word: ReplyWord) -> dict[str, object]:
    return {
        "text": word.text,
        "start_ms": round(word.start * 1000 / SPOKEN_RATE),
        "end_ms": round(word.end * 1000 / SPOKEN_RATE),
        "at": word.at,
        "to": word.to,
    }


def control(said: Said, encoder: VoiceEncoder) -> CallControl | None:
    """What the session is told of it; None for what is the gateway's own business."""
    match said:
        case call_events.Played() | call_events.Typed() | call_events.Pressed():
            return said
        case InterruptCall():
            if said.samples is not None or said.last_chunk_id is None:
                return call_events.Interrupt(said.reply, said.samples)
            if said.last_chunk_id < 0:
                return call_events.Interrupt(said.reply, 0)
            known = encoder.heard(said.last_chunk_id)
            return call_events.Interrupt(*known) if known is not None else call_events.Interrupt(said.reply)
    return None
