"""What the bodies of Ollama's API have in common: the model, `options`, `format`, `think`, `keep_alive` and pictures.

Used by `ollama_requests`. An option that constrains the answer is kept or refused; the others are named in `ignored`.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, JsonValue, Tag, model_validator

from duologue.values.messages import ImagePart
from duologue.values.requests import Effort, OutputFormat, Sampling
from duologue.wire import media_parts
from duologue.wire.fields.constraints import Schema
from duologue.wire.fields.logprob_fields import LogprobFields
from duologue.wire.validation import MAX_TOKENS, Body, SamplingFields

NAME = 300
"""Characters of a model's name."""
MAX_IMAGES = 256
WHOLE_OPTIONS = ("num_predict", "num_ctx", "top_k", "repeat_last_n", "mirostat", "seed", "min_keep")
"""Whole numbers that clients also send as 40.0: Ollama reads every number as a float first."""
OWN_NAMES = {"repetition_penalty": "repeat_penalty", "repetition_window": "repeat_last_n"}
"""Ollama's names of sampling parameters, where they differ."""
LEVELS: tuple[Effort, ...] = ("low", "medium", "high")
_ZERO = re.compile(r"\s*-?0+(\.0*)?(ns|us|µs|ms|s|m|h)?\s*\Z")
_DURATION = re.compile(
    r"\s*[-+]?(\d+\.?\d*|\.\d+)((ns|us|µs|ms|s|m|h)((\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h))*)?\s*\Z"
)


def _think(value: object) -> object:
    if value is None or isinstance(value, bool) or value in LEVELS:
        return value
    raise ValueError('must be true, false, "low", "medium" or "high"')


def _keep_alive(value: object) -> object:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if value is None or number or (isinstance(value, str) and (not value or _DURATION.match(value))):
        return value
    raise ValueError('must be a number of seconds, or a duration such as "5m"')


def _known_format(value: object) -> object:
    if value in (None, ""):
        return None
    if value == "json" or isinstance(value, dict):
        return value
    raise ValueError('must be "json" or a JSON schema')


def _format_tag(value: object) -> str:
    return "~json" if isinstance(value, str) else "~schema"


Think = Annotated[
    bool | str, BeforeValidator(_think, json_schema_input_type=bool | Literal["low", "medium", "high"])
]
KeepAlive = Annotated[float | str, BeforeValidator(_keep_alive, json_schema_input_type=float | str)]
Format = Annotated[
    Annotated[
        Annotated[Literal["json"], Tag("~json")] | Annotated[Schema, Tag("~schema")],
        Discriminator(_format_tag),
    ]
    | None,
    BeforeValidator(_known_format, json_schema_input_type=Literal["json", ""] | dict[str, JsonValue]),
]


class OllamaOptions(SamplingFields):
    """`options`: the sampling parameters, with Ollama's names. What a model is loaded with cannot be changed by a request."""

    num_predict: int | None = Field(
        default=None, le=MAX_TOKENS, description="The most tokens of the reply; 0 and less: no limit."
    )
    num_ctx: int | None = Field(
        default=None,
        ge=0,
        description="The context asked for. The model has the one it was loaded with; a larger one is ignored.",
    )

    @model_validator(mode="before")
    @classmethod
    def _whole_numbers(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        return {
            name: int(value)
            if name in WHOLE_OPTIONS and isinstance(value, float) and value.is_integer()
            else value
            for name, value in data.items()
        }

    def ignored(self, context: int) -> tuple[str, ...]:
        """The options that change nothing for a model of this context (0: not known)."""
        larger = self.num_ctx is not None and 0 < context < self.num_ctx
        return (*self.unknown("options."), *(("options.num_ctx",) if larger else ()))


class OllamaBody(Body):
    """What every request has."""

    model: str = Field(
        default="", max_length=NAME, description="A name of /api/tags, with or without its tag."
    )


class OllamaReplyBody(OllamaBody, LogprobFields):
    """What the two requests for a reply share."""

    stream: bool = True
    format: Format = Field(default=None, description="json, or a JSON schema that the reply follows.")
    options: OllamaOptions = OllamaOptions()
    think: Think | None = Field(
        default=None, description="Whether the model thinks first; a level also limits how long."
    )
    keep_alive: KeepAlive | None = Field(
        default=None,
        description="Accepted; models stay loaded. 0 without a prompt unloads the model, which takes an admin.",
    )

    @property
    def unloads(self) -> bool:
        """Whether `keep_alive` is a duration of zero."""
        if isinstance(self.keep_alive, str):
            return _ZERO.match(self.keep_alive) is not None
        return self.keep_alive == 0

    def sampled(self) -> Sampling:
        """The options as values. Raises BadRequest."""
        most = self.options.num_predict
        return self.options.sampling(
            max_tokens=most if most and most > 0 else None, logprobs=self.wanted_logprobs()
        )

    def output_format(self) -> OutputFormat | None:
        if self.format is None:
            return None
        if isinstance(self.format, str):
            return OutputFormat("json_object", param="format")
        return OutputFormat("json_schema", schema=dict(self.format), param="format")

    def thinking(self) -> tuple[bool | None, Effort | None]:
        """Whether to think, and for how long."""
        if self.think is None or isinstance(self.think, bool):
            return self.think, None
        return True, next(level for level in LEVELS if level == self.think)


def picture(text: str, where: str) -> ImagePart:
    """A picture in base64; some clients send a `data:` URL. Raises BadRequest."""
    if text.startswith("data:"):
        return media_parts.image(media_parts.from_data_url(text, where)[1], where)
    return media_parts.image(media_parts.from_base64(text, where), where)


def own_name(name: str) -> str:
    """Ollama's name of a field that an engine names as ignored."""
    name = OWN_NAMES.get(name, name)
    return f"options.{name}" if name in Sampling.__struct_fields__ or name in OWN_NAMES.values() else name
