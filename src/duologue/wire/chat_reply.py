"""What goes out of the chat socket: `queued`, `prefill_done`, `chunk`, `done` and `error`.

Owns their field names; what comes in is `chat.py`. Knows no socket.
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
    Prefilled,
    Progress,
    Queued,
    ReasoningDelta,
    Started,
    TextDelta,
    ToolCallDelta,
)
from duologue.values.speech import HeardPart
from duologue.wire.chat import ChatFrame, Id
from duologue.wire.collected_reply import CollectedReply, broken_off, problem
from duologue.wire.sound import caption, sound_text, transcript


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def error_message(problem: Problem, id: Id = None) -> str:
    """An error as this dialect says it; the sentence stands under both keys clients look for."""
    said = {
        "type": "error",
        "error": problem.message,
        "message": problem.message,
        "code": problem.code,
        "param": problem.param,
    }
    return _json(said if id is None else said | {"id": id})


class ChatEncoder:
    """The messages of one running request. Pure: events in, JSON texts out.

    `ended` is true once `done` or `error` was encoded; nothing may follow it.
    """

    def __init__(self, frame: ChatFrame, model: str, id: Id = None) -> None:
        self._frame = frame
        self._model = model
        self._id: dict[str, Id] = {} if id is None else {"id": id}
        self._reply = CollectedReply()
        self._queued = False
        self._heard: tuple[HeardPart, ...] = ()
        self._voice: str | None = None
        self._trouble: Problem | None = None
        # A chunk is said once a token: its constant parts are printed once a request.
        echo = "" if id is None else f',"id":{_json(id)}'
        self._text_head, self._reasoning_head = ('{"type":"chunk"' + echo + f',"{key}":' for key in _DELTAS)
        self.ended = False

    def encode(self, events: Iterable[Event]) -> list[str]:
        """The messages these events become; neighbouring pieces of text are joined to one chunk."""
        said: list[str] = []
        text: list[str] = []
        reasoning: list[str] = []
        for event in events:
            if self.ended:
                break
            if reasoning and type(event) is not ReasoningDelta:
                self._chunk(said, self._reasoning_head, reasoning)
            if text and type(event) is not TextDelta:
                self._chunk(said, self._text_head, text)
            if isinstance(event, Failed):
                said.append(self.error(problem(event)))
                break
            self._reply.add(event)
            if isinstance(event, TextDelta):
                text.append(event.text)
            elif isinstance(event, ReasoningDelta):
                reasoning.append(event.text)
            else:
                said.extend(self._one(event))
        self._chunk(said, self._reasoning_head, reasoning)
        self._chunk(said, self._text_head, text)
        return said

    def heard(self, parts: tuple[HeardPart, ...]) -> None:
        """These sounds of the request were written down for the model."""
        self._heard = parts

    def speaks(self, voice: str) -> None:
        """The reply is spoken, by this voice; "" where only the speaker knows which."""
        self._voice = voice

    def silenced(self, problem: Problem) -> None:
        """The reply is not spoken, or not any further; its text goes on, and its end says why."""
        self._trouble = problem

    def close(self) -> list[str]:
        """What is left to say when no event will follow: an error, unless the reply has ended."""
        return [] if self.ended else [self.error(broken_off())]

    def cancelled(self) -> str:
        """The end of a request that its caller cancelled: what was written so far."""
        return self._done("cancelled", Done("cancelled", self._reply.usage))

    def error(self, problem: Problem) -> str:
        """The end, in error."""
        self.ended = True
        return error_message(problem, self._id.get("id"))

    def _chunk(self, said: list[str], head: str, pieces: list[str]) -> None:
        joined = "".join(pieces)
        pieces.clear()
        if joined and self._frame.streaming:
            said.append(f"{head}{_json(joined)}}}")

    def _one(self, event: Event) -> Iterable[str]:
        match event:
            case Queued():
                kind, self._queued = ("queue_update" if self._queued else "queued"), True
                yield self._message(kind, **_place(event))
            case Started() if self._queued:
                yield self._message("queue_done")
            case Progress() if self._frame.progress:
                yield self._message(
                    "progress", processed=event.processed, total=event.total, cached=event.cached
                )
            case Prefilled():
                ignored = [self._frame.names.get(name, name) for name in event.ignored]
                yield self._message(
                    "prefill_done",
                    input_tokens=event.input,
                    cached_tokens=event.cached,
                    ignored=ignored,
                    **self._transcripts(),
                    **self._speaker(),
                )
            case ToolCallDelta() if self._frame.streaming:
                yield self._message("chunk", tool_calls=[_call_delta(event)])
            case AudioDelta() if self._frame.streaming and event.pcm:
                words = {"words": [caption(word) for word in event.words]} if event.words else {}
                yield self._message("chunk", audio_data=sound_text(event.pcm, self._frame.sound), **words)
            case Done():
                yield self._done(event.finish, event)

    def _transcripts(self) -> dict[str, object]:
        if not self._heard:
            return {}
        return {"transcripts": [transcript(part) for part in self._heard]}

    def _speaker(self) -> dict[str, object]:
        """Who speaks, and why it is not the voice of the recording that was sent."""
        if self._voice is None:
            return {}
        said: dict[str, object] = {"voice": self._voice or None}
        if self._frame.imitated:
            instead = self._voice or "its own voice"
            said["voice_note"] = (
                f"No engine here imitates the voice of a recording (tts.ref_audio_data): this reply is spoken by {instead}. "
                "The voices there are: GET /v1/audio/voices."
            )
        return said

    def _done(self, finish: str, event: Done) -> str:
        self.ended = True
        usage, timings, reply = event.usage, event.timings, self._reply
        calls = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in reply.tool_calls
        ]
        spoken = self._transcripts() | self._speaker() | self._spoken()
        return self._message(
            "done",
            text=reply.text,
            generated_tokens=usage.output,
            input_tokens=usage.input,
            finish_reason=finish,
            reasoning=reply.reasoning or None,
            tool_calls=calls,
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
            **spoken,
        )

    def _spoken(self) -> dict[str, object]:
        """The sound of a reply that was not streamed, and why there is none where there should be."""
        said: dict[str, object] = {}
        if not self._frame.streaming:
            sound = self._reply.sound
            said["audio_data"] = sound_text(sound, self._frame.sound) if sound else None
        if self._trouble is not None:
            said["audio_error"] = {"code": self._trouble.code, "message": self._trouble.message}
        return said

    def _message(self, kind: str, **fields: object) -> str:
        return _json({"type": kind} | self._id | fields)


_DELTAS = ("text_delta", "reasoning_delta")


def _place(event: Queued) -> dict[str, object]:
    # Both spellings of the estimate are in use by clients of this dialect.
    return {
        "position": event.position,
        "estimated_wait_s": event.wait,
        "eta_seconds": event.wait,
        "ticket_id": event.ticket,
        "queue_length": event.length,
    }


def _call_delta(event: ToolCallDelta) -> dict[str, object]:
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
