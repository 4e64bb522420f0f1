"""OpenAI's completions of a text, the request side; the response side is `text_completion`.

Owns what a prompt may be, and the fields that only this API has. Everything about sampling and formats is shared with chat
completions. Used by `gateway.dialects.text_completions`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    AliasChoices,
    BeforeValidator,
    Field,
    JsonValue,
    PlainValidator,
    WithJsonSchema,
)
from pydantic.config import JsonDict

from duologue.errors import BadRequest, TooLarge, Unsupported
from duologue.values.requests import ChatRequest, ModelCard
from duologue.wire.fields.adapter_fields import AdapterFields
from duologue.wire.fields.constraints import FormatFields
from duologue.wire.fields.field_schemas import unkept
from duologue.wire.openai import MOST_CHOICES, StreamOptionsBody
from duologue.wire.validation import MAX_TOKENS, MEGABYTE, RequestLimits, SamplingFields

RawPrompt = str | tuple[int, ...]
USUAL_TOKENS = 16
"""Tokens of a completion where neither the request nor the model's preset says how many, as OpenAI documents."""
MOST_LOGPROBS = 20
MOST_TOKEN = 2**31 - 1


def _prompts(value: object) -> tuple[RawPrompt, ...]:
    """The prompts of a request: a text, or tokens, or several of these."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list) and value:
        if all(type(each) is int for each in value):
            return (_tokens(value),)
        if all(isinstance(each, str | list) for each in value):
            return tuple(each if isinstance(each, str) else _tokens(each) for each in value)
    raise ValueError("must be a text, a list of token ids, or a list of texts and of lists of token ids")


def _tokens(value: list[Any]) -> tuple[int, ...]:
    if not all(type(each) is int and 0 <= each <= MOST_TOKEN for each in value):
        raise ValueError("has a list with something that is no token id, a whole number from 0 on")
    return tuple(value)


def _limit(value: int) -> int:
    if -1 <= value <= MAX_TOKENS:
        return value
    raise ValueError(f"must be a whole number from 0 to {MAX_TOKENS:,}, or -1 for no limit")


def _count_of_logprobs(value: object) -> object:
    return None if value is False else value  # of chat completions; it asks for nothing


_TOKENS: JsonDict = {
    "type": "array",
    "items": {"type": "integer", "minimum": 0, "maximum": MOST_TOKEN},
    "minItems": 1,
}
_TEXT: JsonDict = {"type": "string", "minLength": 1}
PROMPTS: JsonDict = {
    "anyOf": [
        _TEXT,
        {"type": "array", "items": _TEXT, "minItems": 1},
        _TOKENS,
        {"type": "array", "items": _TOKENS, "minItems": 1},
    ]
}
"""A prompt of no token is taken only by models that have one which begins every text."""
Prompts = Annotated[
    tuple[RawPrompt, ...],
    PlainValidator(_prompts, json_schema_input_type=Annotated[RawPrompt, WithJsonSchema(PROMPTS)]),
]
TokenCount = Annotated[int, AfterValidator(_limit)]


class RawPromptFields(FormatFields, SamplingFields, AdapterFields):
    """What every API of raw prompts takes beside the prompt."""

    model: str = Field(default="", description="A name from /v1/models. Default: the default chat model.")
    stream: bool = False

    def raw_requests(
        self,
        prompts: Sequence[RawPrompt],
        limits: RequestLimits,
        *,
        suffix: str | None = None,
        max_tokens: int | None = None,
        logprobs: int | None = None,
    ) -> tuple[ChatRequest, ...]:
        """A request for each prompt. Raises BadRequest, TooLarge."""
        size = sum(len(prompt.encode()) for prompt in prompts if isinstance(prompt, str))
        size += len((suffix or "").encode())
        if size > limits.text_mb * MEGABYTE:
            raise TooLarge(
                f"The prompts have {size:,} bytes of text; at most {limits.text_mb * MEGABYTE:,} are allowed "
                "(setting limits.text_mb).",
                param="prompt",
            )
        sampling = self.sampling(max_tokens=max_tokens, logprobs=logprobs)
        format = self.output_format()
        return tuple(
            ChatRequest(
                (),
                prompt,
                suffix=suffix,
                model=self.model,
                sampling=sampling,
                stop=tuple(self.stop or ()),
                format=format,
                adapters=self.adapters_asked(),
                unknown=self.unknown(),
            )
            for prompt in prompts
        )


class TextCompletionBody(RawPromptFields):
    """The body of `POST /v1/completions`."""

    prompt: Prompts = Field(
        description="A text or a list of token ids, or several. Control tokens in a text are tokens."
    )
    suffix: str = Field(
        default="",
        description="The text behind the completion, for models that were taught to fill in a gap.",
    )
    max_tokens: TokenCount | None = Field(
        default=None,
        validation_alias=AliasChoices("max_tokens", "n_predict"),
        description=f"The most tokens of a completion; -1: no limit. Default: {USUAL_TOKENS}, or that of the model's preset.",
    )
    n: int = Field(default=1, ge=1, le=MOST_CHOICES, description="Completions of each prompt.")
    best_of: int | None = Field(
        default=None,
        ge=1,
        le=MOST_CHOICES,
        description="Completions that are written of each prompt; the n likeliest are sent.",
    )
    echo: bool = Field(default=False, description="Whether a completion begins with its prompt.")
    logprobs: Annotated[
        Annotated[int, Field(ge=0, le=MOST_LOGPROBS)] | None, BeforeValidator(_count_of_logprobs)
    ] = Field(default=None, description="Likeliest tokens that are sent with each token.")
    stream_options: StreamOptionsBody = StreamOptionsBody()
    prompt_logprobs: Annotated[JsonValue, unkept("no engine here reports those of a prompt")] = None
    use_beam_search: Annotated[JsonValue, unkept("send best_of")] = None

    @property
    def each(self) -> int:
        """Completions that are written of each prompt."""
        return self.best_of or self.n

    @property
    def echoed(self) -> tuple[str, ...]:
        """What the completions of each prompt begin with."""
        return tuple(prompt for prompt in self.prompt if isinstance(prompt, str)) if self.echo else ()

    def requests(self, limits: RequestLimits, card: ModelCard) -> tuple[ChatRequest, ...]:
        """A request for each prompt. Raises BadRequest, Unsupported, TooLarge; each names its field."""
        self._check(limits)
        ranks = self.each > self.n
        if ranks and (card.context or card.verbs) and "logprobs" not in card.verbs:
            raise Unsupported(
                f"best_of: the model {card.name} reports no log probabilities to choose by; send n alone.",
                param="best_of",
            )
        return self.raw_requests(
            self.prompt,
            limits,
            suffix=self.suffix or None,
            max_tokens=self._limit(card),
            logprobs=self.logprobs if self.logprobs is not None or not ranks else 0,
        )

    def _limit(self, card: ModelCard) -> int | None:
        if self.max_tokens is not None:
            return None if self.max_tokens == -1 else self.max_tokens
        preset = card.defaults.get("max_tokens", -1)
        return None if isinstance(preset, int) and preset > 0 else USUAL_TOKENS

    def _check(self, limits: RequestLimits) -> None:
        if self.best_of is not None and self.best_of < self.n:
            raise BadRequest("best_of must not be less than n.", param="best_of")
        check_results(len(self.prompt), self.each, limits, "n" if self.best_of is None else "best_of")
        if self.stream and self.each > self.n:
            raise BadRequest(
                "best_of cannot be streamed: which completions are the best is known at their end.",
                param="best_of",
            )
        if self.echo and self.logprobs is not None:
            raise Unsupported(
                "echo with logprobs needs the log probabilities of the prompt, which no engine here reports; leave out one of "
                "the two.",
                param="echo",
            )
        if self.echo and not all(isinstance(prompt, str) for prompt in self.prompt):
            raise Unsupported("echo needs prompts that are texts; these are token ids.", param="echo")


def check_results(prompts: int, each: int, limits: RequestLimits, param: str) -> None:
    """Raises BadRequest for more completions than allowed."""
    if prompts * each > limits.choices:
        wrong = "prompt" if prompts > limits.choices else param
        raise BadRequest(
            f"{wrong}: {prompts} prompts with {each} completions each are {prompts * each}; at most {limits.choices} are allowed in one "
            "request (setting limits.choices).",
            param=wrong,
        )
