"""OpenAI's completions of a text, the response side: stream chunks and the whole answer. The request side is `text_completion_body`.

The completions of all prompts are numbered through: choice c of prompt p has the number p times the choices of each, plus c. Used by
`gateway.dialects.text_completions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from duologue.errors import EngineFailed
from duologue.values.events import (
    Done,
    Event,
    Failed,
    Prefilled,
    Progress,
    TextDelta,
    TokenLogprob,
    Usage,
)
from duologue.wire.collected_reply import CollectedReply, broken_off, check_complete
from duologue.wire.completion import DONE, LEAST_LOGPROB, timing_fields, usage_counts

_json = msgspec.json.encode


class TokenPlaces:
    """Where in a text its tokens begin, in characters. A token may be half a character: then it begins where that does."""

    def __init__(self, start: int = 0) -> None:
        self._characters = start

    def next(self, token: TokenLogprob) -> int:
        inside = bool(token.data) and _continues(token.data[0])
        at = self._characters - inside
        self._characters += sum(not _continues(byte) for byte in token.data)
        return at


class TextCompletionStream:
    """Encodes the completions of a request as server-sent events, as `wire.completion.CompletionStream` does for chats. `each`:
    completions of each of the `prompts`; `echo`: what they begin with."""

    def __init__(
        self,
        id: str,
        created: int,
        model: str,
        *,
        prompts: int = 1,
        each: int = 1,
        usage: bool = False,
        echo: Sequence[str] = (),
    ) -> None:
        constant = (_json(id), created, _json(model))
        self._head = (
            b'data: {"id":%b,"object":"text_completion","created":%d,"model":%b,"choices":[' % constant
        )
        self._close = b',"usage":null}\n\n' if usage else b"}\n\n"
        self._tail = b',"logprobs":null,"finish_reason":null}]' + self._close
        self._echo = [echo[number // each] if echo else "" for number in range(prompts * each)]
        self._places = [TokenPlaces(len(text)) for text in self._echo]
        self._each, self._usage = each, usage
        self._done: dict[int, Done] = {}
        self._failed: Failed | None = None
        self.note = b": waiting\n\n"
        self.ended = False

    def encode(self, batch: Iterable[tuple[int, Event]]) -> bytes:
        """The chunks of these events. Not to be called once `ended`."""
        out: list[bytes] = []
        for index, event in batch:
            match event:
                case TextDelta() if event.text or event.logprobs:
                    self._text(index, event.text, out, event.logprobs)
                case Prefilled():
                    self.note = b": writing\n\n"
                    self._begin(index, event.ignored, out)
                case Progress():
                    self.note = b": prefill %d/%d\n\n" % (event.processed, event.total)
                case Done():
                    self._begin(index, (), out)
                    self._finish(index, event, out)
                case Failed():
                    self._failed, self.ended = event, True
                    break
        return b"".join(out)

    def close(self) -> None:
        """Raises the problem of a failed completion, or EngineFailed when one has not ended."""
        check_complete(self._failed, self.ended)

    def _choice(self, index: int, text: str) -> bytes:
        return self._head + b'{"index":%d,"text":%b' % (index, _json(text))

    def _begin(self, index: int, ignored: Sequence[str], out: list[bytes]) -> None:
        """What comes before the text: the echo, and the fields that the engine could not apply."""
        text, self._echo[index] = self._echo[index], ""
        more = b',"ignored":' + _json(ignored) if ignored else b""
        if text or more:
            out += (self._choice(index, text), self._tail.replace(b"}]", b"}]" + more, 1))

    def _text(self, index: int, text: str, out: list[bytes], logprobs: Sequence[TokenLogprob]) -> None:
        self._begin(index, (), out)
        tail = self._tail
        if logprobs:
            tail = tail.replace(b"null", _json(logprob_lists(logprobs, self._places[index])), 1)
        out += (self._choice(index, text), tail)

    def _finish(self, index: int, done: Done, out: list[bytes]) -> None:
        reason = _json(finish_reason(done))
        if done.stop is not None:
            reason += b',"stop_str":' + _json(done.stop)
        out += (self._choice(index, ""), b',"logprobs":null,"finish_reason":', reason, b"}]", self._close)
        self._done[index] = done
        if len(self._done) < len(self._echo):
            return
        self.ended = True
        if self._usage:
            ends = [self._done[number] for number in range(len(self._echo))]
            counts, times = _json(usage_counts([total(ends, self._each)])), _json(timing_fields(ends))
            out += (self._head, b'],"usage":', counts, b',"timings":', times, b"}\n\n")
        out.append(DONE)


class TextCompletion:
    """All completions of a request that does not stream, as one body. `each` are written of each of the `prompts`, and the `keep`
    likeliest are sent, with their logprobs where those were asked for."""

    def __init__(
        self,
        id: str,
        created: int,
        model: str,
        *,
        prompts: int = 1,
        each: int = 1,
        keep: int | None = None,
        echo: Sequence[str] = (),
        logprobs: bool = False,
    ) -> None:
        self._id, self._created, self._model = id, created, model
        self._prompts, self._each = prompts, each
        self._keep = each if keep is None else keep
        self._echo, self._logprobs = echo, logprobs
        self._replies = [CollectedReply() for _ in range(prompts * each)]

    def add(self, batch: Iterable[tuple[int, Event]]) -> None:
        """Add events. Raises Problem at the first completion that fails."""
        for index, event in batch:
            self._replies[index].add(event)

    def body(self) -> bytes:
        """The answer's JSON. Raises EngineFailed when a completion has not ended."""
        ends = [_done(reply) for reply in self._replies]
        choices: list[dict[str, object]] = []
        for prompt in range(self._prompts):
            replies = self._replies[prompt * self._each : (prompt + 1) * self._each]
            if self._keep < self._each:
                replies = sorted(replies, key=_likelihood, reverse=True)[: self._keep]
            begins = self._echo[prompt] if self._echo else ""
            choices += [self._choice(len(choices) + at, reply, begins) for at, reply in enumerate(replies)]
        body: dict[str, object] = {
            "id": self._id,
            "object": "text_completion",
            "created": self._created,
            "model": self._model,
            "choices": choices,
            "usage": usage_counts([total(ends, self._each)]),
            "timings": timing_fields(ends),
        }
        if self._replies[0].ignored:
            body["ignored"] = list(self._replies[0].ignored)
        return _json(body)

    def _choice(self, index: int, reply: CollectedReply, begins: str) -> dict[str, object]:
        done = _done(reply)
        choice: dict[str, object] = {
            "index": index,
            "text": begins + reply.text,
            "logprobs": logprob_lists(reply.logprobs, TokenPlaces()) if self._logprobs else None,
            "finish_reason": finish_reason(done),
        }
        return choice if done.stop is None else choice | {"stop_str": done.stop}


def logprob_lists(tokens: Sequence[TokenLogprob], places: TokenPlaces) -> dict[str, object]:
    """Logprobs in the shape of this API. The alternatives of a token have the token itself among them."""
    return {
        "tokens": [token.token for token in tokens],
        "token_logprobs": [_number(token) for token in tokens],
        "top_logprobs": [_alternatives(token) for token in tokens],
        "text_offset": [places.next(token) for token in tokens],
    }


def finish_reason(done: Done) -> str:
    """Raises EngineFailed for a completion that was cancelled on the server."""
    if done.finish == "cancelled":
        raise EngineFailed("The completion was cancelled on the server.", code="cancelled", status=503)
    return "length" if done.finish == "length" else "stop"


def total(ends: Sequence[Done], each: int) -> Usage:
    """The counts of a request: the completions of a prompt share it, and add up their tokens."""
    usages = [end.usage for end in ends]
    prompts = [usages[start : start + each] for start in range(0, len(usages), each)]
    return Usage(
        input=sum(max(usage.input for usage in prompt) for prompt in prompts),
        output=sum(usage.output for usage in usages),
        cached=sum(max(usage.cached for usage in prompt) for prompt in prompts),
        estimated=any(usage.estimated for usage in usages),
    )


def _done(reply: CollectedReply) -> Done:
    if reply.done is None:
        raise broken_off()
    return reply.done


def _likelihood(reply: CollectedReply) -> float:
    """The mean log probability of a token; one that wrote nothing comes last."""
    values = [_number(token) for token in reply.logprobs]
    return sum(values) / len(values) if values else LEAST_LOGPROB


def _alternatives(token: TokenLogprob) -> dict[str, float]:
    found = {token.token: _number(token)}
    for other in token.top:
        found.setdefault(other.token, _number(other))
    return dict(sorted(found.items(), key=lambda entry: -entry[1]))


def _number(token: TokenLogprob) -> float:
    return max(token.logprob, LEAST_LOGPROB)


def _continues(byte: int) -> bool:
    """Whether a byte of UTF-8 continues a character."""
    return byte & 0xC0 == 0x80
