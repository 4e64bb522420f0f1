"""OpenAI's chat completions, the response side: stream chunks and the whole reply. The request side is `openai`.

Used by `gateway.dialects.chat_completions`.
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
    Fitted,
    Prefilled,
    Progress,
    ReasoningDelta,
    TextDelta,
    TokenLogprob,
    ToolCallDelta,
    Usage,
)
from duologue.values.messages import ToolCall
from duologue.wire.collected_reply import CollectedReply, broken_off, check_complete
from duologue.wire.fitting_notes import fitted_fields
from duologue.wire.media_parts import to_base64

DONE = b"data: [DONE]\n\n"
LEAST_LOGPROB = -9999.0
"""In place of minus infinity, which JSON does not have; OpenAI sends the same number."""

IGNORED_NAMES = {"max_slices": "image_url.max_slice_nums"}
"""This API's names of what engines name as ignored, where they differ."""

_json = msgspec.json.encode


class AudioId(Struct, frozen=True):
    """The id of a reply's sound, and when the server forgets it (seconds since 1970)."""

    id: str
    expires: int


class CompletionStream:
    """Encodes the merged stream of a request's choices as server-sent events.

    `ended` is true once the last choice's finish, the usage and `[DONE]` were encoded, or once a choice has failed: then
    `close` raises its problem. With an `audio_id` the reply is spoken, and its text is sent as the transcript of its sound. `functions`:
    a tool call is sent in its older form, as `function_call`.
    """

    def __init__(
        self,
        id: str,
        created: int,
        model: str,
        *,
        count: int = 1,
        usage: bool = False,
        audio_id: AudioId | None = None,
        functions: bool = False,
    ) -> None:
        self._id, self._created, self._count = id, created, count
        self._close = b',"usage":null}\n\n' if usage else b"}\n\n"
        self._tail = b'},"logprobs":null,"finish_reason":null}]' + self._close
        self._text_tail = self._tail if audio_id is None else b"}" + self._tail
        self._audio_id = audio_id
        self._functions = functions
        self.answers_as(model)
        self._fitted: dict[str, object] = {}
        self._begun = [False] * count
        self._finished: dict[int, Done] = {}
        self._failed: Failed | None = None
        self._usage = usage
        self.note = b": waiting\n\n"
        self.ended = False

    def answers_as(self, model: str) -> None:
        """The model that answers, where it was not known at the beginning. Not to be called after the first `encode`."""
        # A chunk is encoded for every token of every stream, so its constant parts are printed once a request.
        self._head = (
            b'data: {"id":%b,"object":"chat.completion.chunk","created":%d,"model":%b,"model_name":%b'
            % (_json(self._id), self._created, _json(model), _json(model))
        )
        self._content = [self._delta_head(index) + b'"content":' for index in range(self._count)]
        if self._audio_id is not None:
            audio = b'"audio":{"id":%b,' % _json(self._audio_id.id)
            self._sound = self._delta_head(0) + audio + b'"data":'
            self._content = [self._delta_head(0) + audio + b'"transcript":']

    def encode(self, batch: Iterable[tuple[int, Event]]) -> bytes:
        """The chunks of these events; empty when there is nothing a client would see. Not to be called once `ended`."""
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
        """Raises the problem of a failed choice, or EngineFailed when a choice has not ended: an incomplete reply is an error.
        One failed choice fails the whole stream, because clients of this API expect at most one error."""
        check_complete(self._failed, self.ended)

    def _encode_one(self, index: int, event: Event, out: list[bytes]) -> None:
        match event:
            case Fitted():
                self._fitted = fitted_fields(event)
            case Progress():
                self.note = b": prefill %d/%d\n\n" % (event.processed, event.total)
            case Prefilled():
                self.note = b": writing\n\n"
                self._begin(index, out, event.ignored)
            case TextDelta() if event.text or event.logprobs:
                self._begin(index, out)
                chosen = b"null" if not event.logprobs else _json(_logprobs(event.logprobs))
                close = b"}" if self._audio_id is None else b"}}"
                tail = close + b',"logprobs":' + chosen + b',"finish_reason":null}]' + self._close
                out += (self._content[index], _json(event.text), tail)
            case ReasoningDelta() if event.text:
                self._begin(index, out)
                text = _json(event.text)
                delta = b'"reasoning_content":' + text + b',"reasoning":' + text
                out += (self._delta_head(index), delta, self._tail)
            case ToolCallDelta():
                self._begin(index, out)
                delta = _json(_tool_call_delta(event, functions=self._functions))[1:-1]
                out += (self._delta_head(index), delta, self._tail)
            case AudioDelta() if event.pcm and self._audio_id is not None:
                self._begin(index, out)
                out += (self._sound, _json(to_base64(event.pcm)), self._text_tail)
            case Done():
                self._begin(index, out)
                self._expire(out)
                self._finish(index, event, out)

    def _begin(self, index: int, out: list[bytes], ignored: Sequence[str] = ()) -> None:
        """The first chunk of a choice: the role, what was made of its media, and the fields that the engine could not apply."""
        if self._begun[index]:
            return
        self._begun[index] = True
        close = self._close if not ignored else b',"ignored":' + _json(_ignored(ignored)) + self._close
        if self._fitted:
            close = b"," + _json(self._fitted)[1:-1] + close
        role = b'"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]'
        out += (self._delta_head(index), role, close)

    def _expire(self, out: list[bytes]) -> None:
        """The last chunk of a spoken reply's audio: when its id expires."""
        if self._audio_id is not None:
            audio = _json({"id": self._audio_id.id, "expires_at": self._audio_id.expires})
            out += (self._delta_head(0), b'"audio":', audio, self._tail)

    def _finish(self, index: int, event: Done, out: list[bytes]) -> None:
        reason = _json(_finish_reason(event, functions=self._functions))
        if event.stop is not None:
            reason += b',"stop_str":' + _json(event.stop)
        out += (self._delta_head(index), b'},"logprobs":null,"finish_reason":', reason, b"}]", self._close)
        self._finished[index] = event
        if len(self._finished) < self._count:
            return
        self.ended = True
        if self._usage:
            ends = self._finished.values()
            counts, times = _json(usage_counts([end.usage for end in ends])), _json(timing_fields(ends))
            out += (self._head, b',"choices":[],"usage":', counts, b',"timings":', times, b"}\n\n")
        out.append(DONE)

    def _delta_head(self, index: int) -> bytes:
        return self._head + b',"choices":[{"index":%d,"delta":{' % index


class Completion:
    """All choices of a request that does not stream, as one response body. `functions`: a tool call in its older form."""

    def __init__(self, id: str, created: int, model: str, *, count: int = 1, functions: bool = False) -> None:
        self._id, self._created, self._model, self._functions = id, created, model, functions
        self._replies = [CollectedReply() for _ in range(count)]
        self._fitted: dict[str, object] = {}
        self._audio: dict[str, object] | None = None

    def answers_as(self, model: str) -> None:
        """The model that answers, where it was not known at the beginning."""
        self._model = model

    def add(self, batch: Iterable[tuple[int, Event]]) -> None:
        """Add events. Raises Problem at the first choice that fails."""
        for index, event in batch:
            self._replies[index].add(event)
            if isinstance(event, Fitted):
                self._fitted = fitted_fields(event)

    @property
    def text(self) -> str:
        """The text of the first choice so far."""
        return self._replies[0].text

    @property
    def sound(self) -> bytes:
        """The sound of the first choice: 16-bit mono, 24 kHz."""
        return self._replies[0].sound

    def set_audio(self, audio_id: AudioId, file: bytes) -> None:
        """The sound of the reply as a file in the requested format."""
        self._audio = {
            "id": audio_id.id,
            "data": to_base64(file),
            "transcript": self.text,
            "expires_at": audio_id.expires,
        }

    def body(self) -> bytes:
        """The reply's JSON. Raises EngineFailed when a choice has not ended."""
        choices, ends = [], []
        for index, reply in enumerate(self._replies):
            if reply.done is None:
                raise broken_off()
            choices.append(_choice(index, reply, reply.done, self._audio, functions=self._functions))
            ends.append(reply.done)
        body: dict[str, object] = {
            "id": self._id,
            "object": "chat.completion",
            "created": self._created,
            "model": self._model,
            "model_name": self._model,
            "choices": choices,
            "usage": usage_counts([end.usage for end in ends]),
            "timings": timing_fields(ends),
        }
        if self._replies[0].ignored:
            body["ignored"] = _ignored(self._replies[0].ignored)
        return _json(body | self._fitted)


def _ignored(names: Iterable[str]) -> list[str]:
    return [IGNORED_NAMES.get(name, name) for name in names]


def _choice(
    index: int, reply: CollectedReply, done: Done, audio: dict[str, object] | None, *, functions: bool
) -> dict[str, object]:
    tool_calls = [_tool_call(tool_call) for tool_call in reply.tool_calls]
    message: dict[str, object] = {
        "role": "assistant",
        "content": None if audio is not None or not reply.text.strip() else reply.text,
        "refusal": None,
    }
    if audio is not None:
        message["audio"] = audio
    if reply.reasoning:
        message["reasoning_content"] = message["reasoning"] = reply.reasoning
    if tool_calls and functions:
        message["function_call"] = tool_calls[0]["function"]
    elif tool_calls:
        message["tool_calls"] = tool_calls
    choice: dict[str, object] = {
        "index": index,
        "message": message,
        "logprobs": _logprobs(reply.logprobs) if reply.logprobs else None,
        "finish_reason": _finish_reason(done, functions=functions),
    }
    return choice if done.stop is None else choice | {"stop_str": done.stop}


def _finish_reason(done: Done, *, functions: bool) -> str:
    if done.finish == "cancelled":
        raise EngineFailed("The reply was cancelled on the server.", code="cancelled", status=503)
    return "function_call" if functions and done.finish == "tool_calls" else done.finish


def _tool_call(tool_call: ToolCall) -> dict[str, object]:
    return {
        "id": tool_call.id,
        "type": "function",
        "function": {"name": tool_call.name, "arguments": tool_call.arguments},
    }


def _tool_call_delta(event: ToolCallDelta, *, functions: bool) -> dict[str, object]:
    """The delta of a choice."""
    function = {"arguments": event.arguments}
    if event.name is not None:
        function = {"name": event.name, "arguments": event.arguments}
    if functions:
        return {"function_call": function}
    if event.name is None:
        return {"tool_calls": [{"index": event.index, "function": function}]}
    return {"tool_calls": [{"index": event.index, "id": event.id, "type": "function", "function": function}]}


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


def timing_fields(ends: Iterable[Done]) -> dict[str, float]:
    """Milliseconds of the slowest choice; an extension of OpenAI's format."""
    slowest = max((end.timings for end in ends), key=lambda timings: timings.generate)
    return {
        "queue_ms": slowest.queue,
        "prefill_ms": slowest.prefill,
        "generate_ms": slowest.generate,
        "first_ms": slowest.first,
    }


def usage_counts(usages: Sequence[Usage]) -> dict[str, object]:
    """The counts of a request: the choices share one prompt and add up their replies."""
    prompt = max(usage.input for usage in usages)
    completion = sum(usage.output for usage in usages)
    counts: dict[str, object] = {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": max(usage.cached for usage in usages)},
        "completion_tokens_details": {"reasoning_tokens": sum(usage.reasoning for usage in usages)},
    }
    if any(usage.estimated for usage in usages):
        counts["estimated"] = True
    return counts
