"""llama-server's own completions, `/completion` and `/infill`: the bodies, the answers and the stream.

Some editors and front ends know no other shape. The sampling fields have these names everywhere, so they are the shared ones. Token ids
are not reported: `tokens` is empty. Used by `gateway.dialects.llama_completions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import msgspec
from pydantic import AliasChoices, Field, JsonValue, field_validator

from duologue.values.events import Done, Event, Failed, Prefilled, Progress, TextDelta, TokenLogprob
from duologue.values.requests import ChatRequest, ModelCard
from duologue.wire.collected_reply import CollectedReply, broken_off, check_complete
from duologue.wire.completion import LEAST_LOGPROB
from duologue.wire.completions.text_completion import finish_reason
from duologue.wire.completions.text_completion_body import (
    MOST_LOGPROBS,
    Prompts,
    RawPromptFields,
    TokenCount,
    check_results,
)
from duologue.wire.fields.field_schemas import unkept
from duologue.wire.tokens.server_props import RENAMED
from duologue.wire.validation import MAX_BIAS, MAX_BIASES, Body, RequestLimits

MAX_EXTRAS = 1000
MAX_FIELDS = 100

_json = msgspec.json.encode


class LlamaFields(RawPromptFields):
    """What both endpoints take."""

    n_predict: TokenCount | None = Field(
        default=None,
        validation_alias=AliasChoices("n_predict", "max_tokens"),
        description="The most tokens of a completion; -1, the default: no limit.",
    )
    n_probs: int = Field(
        default=0, ge=0, le=MOST_LOGPROBS, description="Likeliest tokens that are sent with each token."
    )
    cache_prompt: bool = Field(default=True, description="A prompt is always kept in the cache.")
    response_fields: list[str] = Field(
        default_factory=list,
        max_length=MAX_FIELDS,
        description="Fields that the answer has, instead of all: paths like timings/predicted_n, which are their names then.",
    )
    return_tokens: Annotated[JsonValue, unkept("token ids are not reported")] = None
    image_data: Annotated[JsonValue, unkept("send pictures to /v1/chat/completions")] = None

    @field_validator("logit_bias", mode="before")
    @classmethod
    def _bias_pairs(cls, value: object) -> object:
        """Biases as an object; here they may be pairs of a token or a text and its bias, or false for one that is never written."""
        if not isinstance(value, list) or len(value) > MAX_BIASES:
            return value
        biases: dict[str, object] = {}
        for entry in value:
            if not isinstance(entry, list) or len(entry) != 2 or type(entry[0]) not in (int, str):
                raise ValueError("must be an object, or a list of pairs of a token and its bias")
            biases[str(entry[0])] = -MAX_BIAS if entry[1] is False else entry[1]
        return biases

    def _requests(
        self, prompts: Sequence[str | tuple[int, ...]], limits: RequestLimits, suffix: str | None = None
    ) -> tuple[ChatRequest, ...]:
        return self.raw_requests(
            prompts,
            limits,
            suffix=suffix,
            max_tokens=None if self.n_predict == -1 else self.n_predict,
            logprobs=self.n_probs or None,
        )


class LlamaCompletionBody(LlamaFields):
    """The body of `POST /completion`."""

    prompt: Prompts = Field(
        description="A text or a list of token ids, or several. Control tokens in a text are tokens."
    )

    def requests(self, limits: RequestLimits, card: ModelCard) -> tuple[ChatRequest, ...]:
        """A request for each prompt. Raises BadRequest, TooLarge."""
        check_results(len(self.prompt), 1, limits, "prompt")
        return self._requests(self.prompt, limits)


class InfillExtraBody(Body):
    """A piece of another file."""

    text: str = ""
    filename: str = ""


class InfillBody(LlamaFields):
    """The body of `POST /infill`: what stands before and behind the cursor."""

    input_prefix: str = ""
    input_suffix: str = ""
    input_extra: list[InfillExtraBody] = Field(
        default_factory=list,
        max_length=MAX_EXTRAS,
        description="Pieces of other files, put before the prefix.",
    )
    prompt: str = Field(default="", description="Stands between the prefix and the cursor.")

    def requests(self, limits: RequestLimits, card: ModelCard) -> tuple[ChatRequest, ...]:
        """The one request. Raises BadRequest, TooLarge."""
        extra = "".join(f"{piece.filename}\n{piece.text}\n\n".lstrip("\n") for piece in self.input_extra)
        return self._requests((extra + self.input_prefix + self.prompt,), limits, self.input_suffix)


class LlamaCompletion:
    """The whole answers to some prompts: an object, or a list of them. `settings`: what the request set; `fields`: see
    `chosen_fields`."""

    def __init__(
        self,
        model: str,
        prompts: Sequence[object],
        settings: dict[str, Any],
        *,
        probabilities: bool,
        fields: Sequence[str] = (),
    ) -> None:
        self._model, self._prompts, self._settings = model, prompts, settings
        self._probabilities, self._fields = probabilities, fields
        self._replies = [CollectedReply() for _ in prompts]

    def add(self, batch: Iterable[tuple[int, Event]]) -> None:
        """Add events. Raises Problem at the first completion that fails."""
        for index, event in batch:
            self._replies[index].add(event)

    def body(self) -> bytes:
        """The answer's JSON. Raises EngineFailed when a completion has not ended."""
        answers = [self._answer(index, reply) for index, reply in enumerate(self._replies)]
        return _json(answers[0] if len(answers) == 1 else answers)

    def _answer(self, index: int, reply: CollectedReply) -> dict[str, object]:
        if reply.done is None:
            raise broken_off()
        answer = _last(index, reply.text, self._model, reply.done, self._prompts[index], self._settings)
        answer["has_new_line"] = "\n" in reply.text
        if self._probabilities:
            answer["completion_probabilities"] = [_probability(token) for token in reply.logprobs]
        if reply.ignored:
            answer["ignored"] = list(reply.ignored)
        return chosen_fields(answer, self._fields)


class LlamaStream:
    """Encodes the completions of some prompts as llama-server streams them: the last event of each says `stop`, and nothing follows
    it."""

    def __init__(
        self, model: str, prompts: Sequence[object], settings: dict[str, Any], fields: Sequence[str] = ()
    ) -> None:
        self._model, self._prompts, self._settings = model, prompts, settings
        self._written, self._read = [0] * len(prompts), [0] * len(prompts)
        self._new_line = [False] * len(prompts)
        self._fields, self._ended = fields, 0
        self._failed: Failed | None = None
        self.note = b": waiting\n\n"
        self.ended = False

    def encode(self, batch: Iterable[tuple[int, Event]]) -> bytes:
        """The events. Not to be called once `ended`."""
        out: list[bytes] = []
        for index, event in batch:
            match event:
                case TextDelta() if event.text or event.logprobs:
                    out.append(self._text(index, event))
                case Prefilled():
                    self.note, self._read[index] = b": writing\n\n", event.input or 0
                case Progress():
                    self.note = b": prefill %d/%d\n\n" % (event.processed, event.total)
                case Done():
                    last = _last(index, "", self._model, event, self._prompts[index], self._settings)
                    last["has_new_line"] = self._new_line[index]
                    out.append(_frame(chosen_fields(last, self._fields)))
                    self._ended += 1
                    self.ended = self._ended == len(self._prompts)
                case Failed():
                    self._failed, self.ended = event, True
                    break
        return b"".join(out)

    def close(self) -> None:
        """Raises the problem of a failed completion, or EngineFailed when one has not ended."""
        check_complete(self._failed, self.ended)

    def _text(self, index: int, event: TextDelta) -> bytes:
        self._written[index] += 1
        self._new_line[index] |= "\n" in event.text
        body: dict[str, object] = {
            "index": index,
            "content": event.text,
            "tokens": [],
            "stop": False,
            "id_slot": -1,
            "tokens_predicted": self._written[index],
            "tokens_evaluated": self._read[index],
        }
        if event.logprobs:
            body["completion_probabilities"] = [_probability(token) for token in event.logprobs]
        return _frame(body)


def chosen_fields(answer: dict[str, object], paths: Sequence[str]) -> dict[str, object]:
    """These fields of the answer, each under its path; all of them without paths. A path to nothing is left out."""
    if not paths:
        return answer
    chosen: dict[str, object] = {}
    for path in paths:
        found: object = answer
        for step in path.split("/"):
            found = found.get(step) if isinstance(found, dict) else None
        if found is not None:
            chosen[path] = found
    return chosen


def late_failure(body: object) -> bytes:
    """A late error, as llama-server's streams end with it."""
    return _frame(body)


def settings_of(request: ChatRequest) -> dict[str, Any]:
    """What the request set, by llama-server's names. `n_predict` and `seed` are -1 where it did not set them."""
    asked: dict[str, Any] = msgspec.to_builtins(request.sampling)
    settings = {RENAMED.get(name, name): value for name, value in asked.items()}
    n_predict = settings.get("max_tokens", -1)
    return {"seed": -1, **settings, "n_predict": n_predict, "stop": list(request.stop)}


def _frame(body: object) -> bytes:
    return b"data: " + _json(body) + b"\n\n"


def _last(
    index: int, text: str, model: str, done: Done, prompt: object, settings: dict[str, Any]
) -> dict[str, object]:
    usage, times = done.usage, done.timings
    new = usage.input - usage.cached
    limited = finish_reason(done) == "length"
    return {
        "index": index,
        "content": text,
        "tokens": [],
        "id_slot": -1,
        "stop": True,
        "model": model,
        "tokens_predicted": usage.output,
        "tokens_evaluated": usage.input,
        "generation_settings": settings,
        "prompt": prompt,
        "truncated": False,
        "stop_type": "limit" if limited else "eos" if done.stop is None else "word",
        "stopping_word": done.stop or "",
        "tokens_cached": usage.input + usage.output,
        "timings": {
            "cache_n": usage.cached,
            **_speed("prompt", new, times.prefill),
            **_speed("predicted", usage.output, times.generate),
        },
    }


def _speed(name: str, count: int, milliseconds: float) -> dict[str, float]:
    return {
        f"{name}_n": count,
        f"{name}_ms": milliseconds,
        f"{name}_per_token_ms": milliseconds / count if count else 0.0,
        f"{name}_per_second": 1000 * count / milliseconds if milliseconds else 0.0,
    }


def _probability(token: TokenLogprob) -> dict[str, object]:
    return _entry(token) | {"top_logprobs": [_entry(other) for other in token.top]}


def _entry(token: TokenLogprob) -> dict[str, object]:
    return {"token": token.token, "bytes": list(token.data), "logprob": max(token.logprob, LEAST_LOGPROB)}
