"""The server's messages on the chat socket: `queued`, `prefill_done`, `chunk`, `done` and `error`.

Owns their field names; the client's messages are in `chat`. Used by `gateway.dialects.chat_socket`.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from duologue.errors import Problem
from duologue.values.events import (
    AudioDelta,
    Done,
    Event,
    Failed,
    Fitted,
    Prefilled,
    Progress,
    Queued,
    ReasoningDelta,
    Started,
    TextDelta,
    Timings,
    ToolCallDelta,
)
from duologue.wire.chat import MEDIA_NAMES, ChatFrame, Id
from duologue.wire.collected_reply import CollectedReply, broken_off, problem
from duologue.wire.fitting_notes import fitted_fields
from duologue.wire.sound import caption, sound_text


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def error_message(problem: Problem, id: Id = None) -> str:
    """An error of this socket. The sentence is under both keys that clients look for."""
    message = {
        "type": "error",
        "error": problem.message,
        "message": problem.message,
        "code": problem.code,
        "param": problem.param,
    }
    return _json(message if id is None else message | {"id": id})


class ChatEncoder:
    """Encodes the events of one running request as JSON texts.

    `ended` is true once `done` or `error` was encoded; nothing may follow it.
    """

    def __init__(self, frame: ChatFrame, model: str, id: Id = None) -> None:
        self._frame = frame
        self._model = model
        self._id: dict[str, Id] = {} if id is None else {"id": id}
        self._reply = CollectedReply()
        self._queued = False
        self._fitted: dict[str, object] = {}
        self._voice: str | None = None
        self._voice_note = ""
        self._audio_error: Problem | None = None
        self._recording: dict[str, object] = {}
        # A chunk is sent for every token, so its constant parts are printed once a request.
        echo = "" if id is None else f',"id":{_json(id)}'
        self._text_head, self._reasoning_head = ('{"type":"chunk"' + echo + f',"{key}":' for key in _DELTAS)
        self.ended = False

    def encode(self, events: Iterable[Event]) -> list[str]:
        """The messages of these events; neighbouring pieces of text are joined into one chunk."""
        messages: list[str] = []
        text: list[str] = []
        reasoning: list[str] = []
        for event in events:
            if self.ended:
                break
            if reasoning and type(event) is not ReasoningDelta:
                self._chunk(messages, self._reasoning_head, reasoning)
            if text and type(event) is not TextDelta:
                self._chunk(messages, self._text_head, text)
            if isinstance(event, Failed):
                messages.append(self.error(problem(event)))
                break
            self._reply.add(event)
            if isinstance(event, TextDelta):
                text.append(event.text)
            elif isinstance(event, ReasoningDelta):
                reasoning.append(event.text)
            else:
                messages.extend(self._one(event))
        self._chunk(messages, self._reasoning_head, reasoning)
        self._chunk(messages, self._text_head, text)
        return messages

    def set_voice(self, voice: str, note: str = "") -> None:
        """The reply is spoken by this voice; "" for a recording of the request, and while the voice worker is loading and its
        default is unknown. `note`: a sentence where it is not what was asked for."""
        self._voice, self._voice_note = voice, note

    def set_audio_error(self, problem: Problem) -> None:
        """The speech failed. The text goes on, and `done` carries the reason."""
        self._audio_error = problem

    def set_recording(self, recording: str | Problem) -> None:
        """The id of the recording of this chat, or why there is none, for `done`."""
        if isinstance(recording, Problem):
            reason = {"code": recording.code, "message": recording.message}
            self._recording = {"recording_error": reason}
        else:
            self._recording = {"recording_session_id": recording}

    def close(self) -> list[str]:
        """The messages left when no event will follow: an error, unless the reply has ended."""
        return [] if self.ended else [self.error(broken_off())]

    def cancelled(self, timings: Timings) -> str:
        """The end of a request that the client cancelled, with the text so far."""
        return self._done("cancelled", Done("cancelled", self._reply.usage, timings))

    def error(self, problem: Problem) -> str:
        """The end of a request that failed."""
        self.ended = True
        return error_message(problem, self._id.get("id"))

    def _chunk(self, messages: list[str], head: str, pieces: list[str]) -> None:
        joined = "".join(pieces)
        pieces.clear()
        if joined and self._frame.streaming:
            messages.append(f"{head}{_json(joined)}}}")

    def _one(self, event: Event) -> Iterable[str]:
        match event:
            case Queued():
                kind, self._queued = ("queue_update" if self._queued else "queued"), True
                yield self._message(kind, **_place(event))
            case Fitted():
                self._fitted = fitted_fields(event)
            case Started() if self._queued:
                yield self._message("queue_done")
            case Progress() if self._frame.progress:
                yield self._message(
                    "progress", processed=event.processed, total=event.total, cached=event.cached
                )
            case Prefilled():
                names = {**MEDIA_NAMES, **self._frame.names}
                ignored = [names.get(name, name) for name in event.ignored]
                yield self._message(
                    "prefill_done",
                    input_tokens=event.input,
                    cached_tokens=event.cached,
                    ignored=ignored,
                    **self._fitted,
                    **self._speaker(),
                )
            case ToolCallDelta() if self._frame.streaming:
                yield self._message("chunk", tool_calls=[_tool_call_delta(event)])
            case AudioDelta() if self._frame.streaming and (event.pcm or event.mouth):
                fields: dict[str, object] = {}
                if event.pcm:
                    fields["audio_data"] = sound_text(event.pcm, self._frame.sound)
                if event.words:
                    fields["words"] = [caption(word) for word in event.words]
                if event.mouth:
                    fields["mouth"] = event.mouth
                yield self._message("chunk", **fields)
            case Done():
                yield self._done(event.finish, event)

    def _speaker(self) -> dict[str, object]:
        if self._voice is None:
            return {}
        fields: dict[str, object] = {"voice": self._voice or None}
        return fields | {"voice_note": self._voice_note} if self._voice_note else fields

    def _done(self, finish: str, event: Done) -> str:
        self.ended = True
        usage, timings, reply = event.usage, event.timings, self._reply
        tool_calls = [
            {
                "id": tool_call.id,
                "type": "function",
                "function": {"name": tool_call.name, "arguments": tool_call.arguments},
            }
            for tool_call in reply.tool_calls
        ]
        speech = self._fitted | self._speaker() | self._audio() | self._recording
        return self._message(
            "done",
            text=reply.text,
            generated_tokens=usage.output,
            input_tokens=usage.input,
            finish_reason=finish,
            reasoning=reply.reasoning or None,
            tool_calls=tool_calls,
            model=self._model,
            usage={
                "input_tokens": usage.input,
                "generated_tokens": usage.output,
                "cached_tokens": usage.cached,
                "reasoning_tokens": usage.reasoning,
                "estimated": usage.estimated,
            },
            timings={
                "queue_ms": timings.queue,
                "prefill_ms": timings.prefill,
                "generate_ms": timings.generate,
                "first_ms": timings.first,
            },
            **speech,
        )

    def _audio(self) -> dict[str, object]:
        """The sound of a reply that was not streamed, and the reason where the speech failed."""
        fields: dict[str, object] = {}
        if not self._frame.streaming:
            sound = self._reply.sound
            fields["audio_data"] = sound_text(sound, self._frame.sound) if sound else None
        if self._audio_error is not None:
            fields["audio_error"] = {"code": self._audio_error.code, "message": self._audio_error.message}
        return fields

    def _message(self, kind: str, **fields: object) -> str:
        return _json({"type": kind} | self._id | fields)


_DELTAS = ("text_delta", "reasoning_delta")


def _place(event: Queued) -> dict[str, object]:
    # Clients of this socket use both spellings of the estimate.
    return {
        "position": event.position,
        "estimated_wait_s": event.wait,
        "eta_seconds": event.wait,
        "ticket_id": event.ticket,
        "queue_length": event.length,
    }


def _tool_call_delta(event: ToolCallDelta) -> dict[str, object]:
    delta: dict[str, object] = {"index": event.index}
    if event.id is not None or event.name is not None:
        delta |= {"id": event.id, "type": "function"}
    function = (
        {"arguments": event.arguments}
        if event.name is None
        else {
            "name": event.name,
            "arguments": event.arguments,
        }
    )
    return delta | {"function": function}
