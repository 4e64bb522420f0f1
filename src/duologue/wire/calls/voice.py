"""What the client of a call is sent on `/ws/voice`: audio as binary frames, everything else as JSON.

Owns these messages, and the numbering of the frames: the first of a session is 0, and clients call that number a chunk id. Binary
frames hold samples only: 16-bit little-endian mono, 16 kHz in, 24 kHz out. What a client sends is in `caller_messages`. Used by
`gateway.calls.voice_socket`.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from duologue.errors import Problem
from duologue.values import call_events
from duologue.values.audio import SPOKEN_RATE, samples
from duologue.values.call_events import CallEvent
from duologue.values.conversations import CLIENT, Approval, Decision, StoredMessage, ToolCallRecord
from duologue.values.events import Queued
from duologue.values.messages import ToolCall
from duologue.wire.calls.video_messages import (
    OFF,
    speaking_clip_message,
    video_mode_message,
    video_segment_message,
)
from duologue.wire.sound import caption, json_text

FRAMES_KEPT = 4096
"""Sent frames that a client may still name by number: more than a minute of sound."""
MAX_TOOL_TEXT = 2000
"""Characters of a tool's result that a client is sent; the conversation has all of it."""

STALE = (
    call_events.ReplyAudioStarted,
    call_events.ReplyAudio,
    call_events.ReplyAudioEnded,
    call_events.ReplyText,
    call_events.SpeakingClip,
    call_events.Hold,
    call_events.Resume,
    call_events.State,
)
"""Events that are stale in a later epoch. The others, such as what was said and heard, stay true."""


def _stale(event: CallEvent) -> bool:
    """Whether this event of an older epoch is not to be sent. Pictures of the avatar at rest belong to no reply."""
    return isinstance(event, STALE) or (
        isinstance(event, call_events.VideoSegment) and event.reply is not None
    )


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


def model_message(epoch: int, model: str, native: bool, note: str = "") -> str:
    """Which model answers, whether it holds the call by itself, and why it is another one than was asked for."""
    fields: dict[str, object] = {"type": "model", "epoch": epoch, "model": model, "native": native}
    return json_text(fields | {"note": note} if note else fields)


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


class VoiceEncoder:
    """Encodes the events of one call as text and binary frames, in order; a `gateway.calls.dialect.Dialect`.

    Drops sound and text of an older epoch, even when the newer epoch begins in the same batch: after this nothing else could
    keep them from the client.
    """

    def __init__(self) -> None:
        self.epoch = 0
        self.units = False
        """Whether the client is sent the figures of each unit."""
        self.video = OFF
        """What the client was told of video last."""
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
        batch = [event for event in events if not isinstance(event, call_events.TaskEvent)]
        self.epoch = max([self.epoch, *(event.epoch for event in batch)])
        frames: list[str | bytes] = []
        for event in batch:
            if event.epoch == self.epoch or not _stale(event):
                frames.extend(self._one(event))
        return frames

    def video_mode(self, state: call_events.VideoState) -> list[str | bytes]:
        """How replies are sent from now on, if that is not what the client knows."""
        known, self.video = self.video, msgspec.structs.replace(state, epoch=0)
        return [video_mode_message(state, self.epoch)] if self.video != known else []

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
            case call_events.SpeakingClip():
                yield speaking_clip_message(event, self.epoch)
            case call_events.VideoSegment():
                yield video_segment_message(event, self.epoch)
            case call_events.VideoState():
                yield from self.video_mode(event)
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
            case call_events.UnitAnswered() if self.units:
                yield self._unit(event)
            case call_events.CallProblem():
                yield error_message(Problem(event.message, code=event.code), self.epoch)

    def _unit(self, event: call_events.UnitAnswered) -> str:
        return self._message(
            "unit",
            unit=event.unit,
            samples=event.samples,
            is_listen=event.listens,
            reply_id=event.reply,
            end_of_turn=event.end_of_turn,
            n_tokens=event.written,
            n_tts_tokens=event.codes,
            kv_cache_length=event.cached,
            vision_slices=event.slices,
            vision_tokens=event.vision_tokens,
            cost_prefill_ms=event.prefill_ms,
            cost_llm_ms=event.language_ms,
            cost_tts_ms=event.speech_ms,
            cost_token2wav_ms=event.vocoder_ms,
            late_ms=event.late_ms,
        )

    def _sound(self, event: call_events.ReplyAudio) -> Iterable[str | bytes]:
        if event.reply != self._reply:
            yield self._begin(event.reply)
        if event.words:
            words = [caption(word) for word in event.words]
            yield self._message("caption", reply_id=event.reply, words=words)
        if event.mouth:
            yield self._message("mouth", reply_id=event.reply, keys=event.mouth)
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
