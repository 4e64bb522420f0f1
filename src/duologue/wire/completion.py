"""OpenAI's chat completions, the replying side: stream chunks and the whole reply.

Owns the shape of what goes out. A chunk is encoded for every token of every stream, so its constant parts are
printed once a request. Knows no socket; the asking side is `openai`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec
from msgspec import Struct

from duologue.errors import EngineFailed
from duologue.values.events import (
    AudioDelta,
    Done,
    Event,
    Failed,
    Prefilled,
    Progress,
    Queued,
    ReasoningDelta,
    TextDelta,
    TokenLogprob,
    ToolCallDelta,
    Usage,
)
from duologue.values.messages import ToolCall
from duologue.values.speech import HeardPart
from duologue.wire.collected_reply import CollectedReply, broken_off, problem
from duologue.wire.media_parts import to_base64
from duologue.wire.sound import transcript

DONE = b"data: [DONE]\n\n"
LEAST_LOGPROB = -9999.0
"""Stands for minus infinity, which JSON cannot say; the same number OpenAI uses."""

_json = msgspec.json.encode


class Sounding(Struct, frozen=True):
    """The sound of a reply: its id, and until when its text is known by that (seconds since 1970)."""

    id: str
    expires: int


class CompletionStream:
    """Encodes the merged stream of a request's choices as server-sent events. Pure: events in, bytes out.

    `ended` is true once the last choice's finish, the usage and `[DONE]` were encoded, or a choice has failed: then
    `close` raises its problem. `sounding`: the reply is spoken, so its text is the transcript of its sound.
    """

    def __init__(
        self,
        id: str,
        created: int,
        model: str,
        *,
        count: int = 1,
        usage: bool = False,
        sounding: Sounding | None = None,
    ) -> None:
        self._head = b'data: {"id":%b,"object":"chat.completion.chunk","created":%d,"model":%b' % (
            _json(id),
            created,
            _json(model),
        )
        self._close = b',"usage":null}\n\n' if usage else b"}\n\n"
        self._tail = b'},"logprobs":null,"finish_reason":null}]' + self._close
        self._content = [self._delta_head(index) + b'"content":' for index in range(count)]
        self._text_tail = self._tail
        self._sounding = sounding
        if sounding is not None:
            audio = b'"audio":{"id":%b,' % _json(sounding.id)
            self._sound = self._delta_head(0) + audio + b'"data":'
            self._content = [self._delta_head(0) + audio + b'"transcript":']
            self._text_tail = b"}" + self._tail
        self._heard: tuple[HeardPart, ...] = ()
        self._begun = [False] * count
        self._finished: dict[int, Done] = {}
        self._failed: Failed | None = None
        self._count = count
        self._usage = usage
        self.note = b": waiting\n\n"
        self.ended = False

    def encode(self, batch: Iterable[tuple[int, Event]]) -> bytes:
        """What these events become; empty when they say nothing a client sees. Nothing may follow once `ended`."""
        out: list[bytes] = []
        for index, event in batch:
            if type(event) is TextDelta and not event.logprobs and self._begun[index]:
                if event.text:
                    out += (self._content[index], _json(event.text), self._text_tail)
            elif isinstance(event, Failed):
                self._failed, self.ended = event, True
                break
            else:
                self._encode_one(index, event, out)
        return b"".join(out)

    def close(self) -> None:
        """Raises the problem of the choice that failed, and EngineFailed when one has not ended: half a reply is no
        reply. One failed choice fails them all: clients of this dialect know only one error a stream."""
        if self._failed is not None:
            raise problem(self._failed)
        if not self.ended:
            raise broken_off()

    def _encode_one(self, index: int, event: Event, out: list[bytes]) -> None:
        match event:
            case Queued():
                self.note = b": queued %d\n\n" % event.position
            case Progress():
                self.note = b": prefill %d/%d\n\n" % (event.processed, event.total)
            case Prefilled():
                self.note = b": writing\n\n"
                self._begin(index, out, event.ignored)
            case TextDelta() if event.text or event.logprobs:
                self._begin(index, out)
                chosen = b"null" if not event.logprobs else _json(_logprobs(event.logprobs))
                close = b"}" if self._sounding is None else b"}}"
                tail = close + b',"logprobs":' + chosen + b',"finish_reason":null}]' + self._close
                out += (self._content[index], _json(event.text), tail)
            case ReasoningDelta() if event.text:
                self._begin(index, out)
                text = _json(event.text)
                delta = b'"reasoning_content":' + text + b',"reasoning":' + text
                out += (self._delta_head(index), delta, self._tail)
            case ToolCallDelta():
                self._begin(index, out)
                out += (
                    self._delta_head(index),
                    b'"tool_calls":[',
                    _json(_call_delta(event)),
                    b"]",
                    self._tail,
                )
            case AudioDelta() if event.pcm and self._sounding is not None:
                self._begin(index, out)
                out += (self._sound, _json(to_base64(event.pcm)), self._text_tail)
            case Done():
                self._begin(index, out)
                self._expire(out)
                self._finish(index, event, out)

    def _begin(self, index: int, out: list[bytes], ignored: Sequence[str] = ()) -> None:
        """The first chunk of a choice names the role; it also tells which fields the engine could not apply."""
        if self._begun[index]:
            return
        self._begun[index] = True
        close = self._close if not ignored else b',"ignored":' + _json(ignored) + self._close
        if self._heard:
            close = b',"transcripts":' + _json([transcript(part) for part in self._heard]) + close
        role = b'"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]'
        out += (self._delta_head(index), role, close)

    def heard(self, parts: tuple[HeardPart, ...]) -> None:
        """These sounds of the request were written down for the model; the first chunk says so."""
        self._heard = parts

    def _expire(self, out: list[bytes]) -> None:
        """The last word about the sound."""
        if self._sounding is not None:
            said = _json({"id": self._sounding.id, "expires_at": self._sounding.expires})
            out += (self._delta_head(0), b'"audio":', said, self._tail)

    def _finish(self, index: int, event: Done, out: list[bytes]) -> None:
        reason = _json(_finish_reason(event))
        out += (self._delta_head(index), b'},"logprobs":null,"finish_reason":', reason, b"}]", self._close)
        self._finished[index] = event
        if len(self._finished) < self._count:
            return
        self.ended = True
        if self._usage:
            ends = self._finished.values()
            counts, times = _json(_usage([end.usage for end in ends])), _json(_timings(ends))
            out += (self._head, b',"choices":[],"usage":', counts, b',"timings":', times, b"}\n\n")
        out.append(DONE)

    def _delta_head(self, index: int) -> bytes:
        return self._head + b',"choices":[{"index":%d,"delta":{' % index


class Completion:
    """The whole reply of all choices, for a request that does not stream."""

    def __init__(self, id: str, created: int, model: str, *, count: int = 1) -> None:
        self._id, self._created, self._model = id, created, model
        self._replies = [CollectedReply() for _ in range(count)]
        self._heard: tuple[HeardPart, ...] = ()
        self._audio: dict[str, object] | None = None

    def add(self, batch: Iterable[tuple[int, Event]]) -> None:
        """Take events in. Raises Problem at the first choice that fails."""
        for index, event in batch:
            self._replies[index].add(event)

    def heard(self, parts: tuple[HeardPart, ...]) -> None:
        """These sounds of the request were written down for the model."""
        self._heard = parts

    @property
    def text(self) -> str:
        """What the first choice has written so far."""
        return self._replies[0].text

    @property
    def sound(self) -> bytes:
        """The sound of the first choice: 16-bit mono, 24 kHz."""
        return self._replies[0].sound

    def spoken(self, sounding: Sounding, file: bytes) -> None:
        """The reply has sound, encoded as it was asked for."""
        self._audio = {
            "id": sounding.id,
            "data": to_base64(file),
            "transcript": self.text,
            "expires_at": sounding.expires,
        }

    def body(self) -> bytes:
        """The reply's JSON. Raises EngineFailed when a choice has not ended."""
        choices, ends = [], []
        for index, reply in enumerate(self._replies):
            if reply.done is None:
                raise broken_off()
            choices.append(_choice(index, reply, reply.done, self._audio))
            ends.append(reply.done)
        said = {
            "id": self._id,
            "object": "chat.completion",
            "created": self._created,
            "model": self._model,
            "choices": choices,
            "usage": _usage([end.usage for end in ends]),
            "timings": _timings(ends),
        }
        if self._replies[0].ignored:
            said["ignored"] = self._replies[0].ignored
        if self._heard:
            said["transcripts"] = [transcript(part) for part in self._heard]
        return _json(said)


def _choice(
    index: int, reply: CollectedReply, done: Done, audio: dict[str, object] | None
) -> dict[str, object]:
    calls = [_call(call) for call in reply.tool_calls]
    message: dict[str, object] = {
        "role": "assistant",
        "content": None if audio is not None or (calls and not reply.text) else reply.text,
        "refusal": None,
    }
    if audio is not None:
        message["audio"] = audio
    if reply.reasoning:
        message["reasoning_content"] = message["reasoning"] = reply.reasoning
    if calls:
        message["tool_calls"] = calls
    return {
        "index": index,
        "message": message,
        "logprobs": _logprobs(reply.logprobs) if reply.logprobs else None,
        "finish_reason": _finish_reason(done),
    }


def _finish_reason(done: Done) -> str:
    if done.finish == "cancelled":
        raise EngineFailed("The reply was cancelled on the server.", code="cancelled", status=503)
    return done.finish


def _call(call: ToolCall) -> dict[str, object]:
    return {
        "id": call.id,
        "type": "function",
        "function": {"name": call.name, "arguments": call.arguments},
    }


def _call_delta(event: ToolCallDelta) -> dict[str, object]:
    if event.name is None:
        return {"index": event.index, "function": {"arguments": event.arguments}}
    function = {"name": event.name, "arguments": event.arguments}
    return {"index": event.index, "id": event.id, "type": "function", "function": function}


def _logprobs(tokens: Sequence[TokenLogprob]) -> dict[str, object]:
    return {
        "content": [
            _logprob(token) | {"top_logprobs": [_logprob(other) for other in token.top]} for token in tokens
        ],
        "refusal": None,
    }


def _logprob(token: TokenLogprob) -> dict[str, object]:
    return {
        "token": token.token,
        "logprob": max(token.logprob, LEAST_LOGPROB),
        "bytes": list(token.data),
    }


def _timings(ends: Iterable[Done]) -> dict[str, float]:
    """Milliseconds, those of the slowest choice; an extra of ours."""
    slowest = max((end.timings for end in ends), key=lambda timings: timings.generate)
    return {
        "queue_ms": slowest.queue,
        "prefill_ms": slowest.prefill,
        "generate_ms": slowest.generate,
        "first_ms": slowest.first,
    }


def _usage(counted: Sequence[Usage]) -> dict[str, object]:
    """The counts of a request: the choices share one prompt and add up their replies."""
    read = max(usage.input for usage in counted)
    written = sum(usage.output for usage in counted)
    said: dict[str, object] = {
        "prompt_tokens": read,
        "completion_tokens": written,
        "total_tokens": read + written,
        "prompt_tokens_details": {"cached_tokens": max(usage.cached for usage in counted)},
        "completion_tokens_details": {"reasoning_tokens": sum(usage.reasoning for usage in counted)},
    }
    if any(usage.estimated for usage in counted):
        said["estimated"] = True
    return said
