"""OpenAI's `/v1/embeddings` and llama-server's `/embedding`: their bodies and their answers.

Owns how many inputs a request may have and in which forms. Used by `gateway.embeddings.embedding_routes`.
"""

from __future__ import annotations

import base64
from array import array
from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Struct
from pydantic import AfterValidator, ConfigDict, Field, JsonValue, WithJsonSchema
from pydantic.config import JsonDict

from duologue.errors import BadRequest, TooLarge
from duologue.values.embeddings.vectors import packed
from duologue.wire.fields.field_schemas import needs_one_of
from duologue.wire.validation import MEGABYTE, Body, RequestLimits

MOST_INPUTS = 2_048
LARGEST_TOKEN = 2**31 - 1
Input = str | tuple[int, ...]


def _is_tokens(value: object) -> bool:
    """Whether this is a list of tokens, also an empty one."""
    return isinstance(value, list) and all(
        type(token) is int and 0 <= token <= LARGEST_TOKEN for token in value
    )


def inputs_of(value: object) -> list[Input]:
    """The inputs that `value` stands for: a text, tokens, or a list of either. Raises ValueError."""
    # By hand: of a wrong list the framework would make an error for each entry.
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list) or not value:
        raise ValueError("must be a text, a list of tokens, or a list of texts or of lists of tokens")
    if type(value[0]) is int and _is_tokens(value):
        return [tuple(value)]
    if len(value) > MOST_INPUTS:
        raise ValueError(f"may have at most {MOST_INPUTS:,} entries; send the others in another request")
    wrong = next(
        (at for at, entry in enumerate(value) if not isinstance(entry, str) and not _is_tokens(entry)), None
    )
    if wrong is not None:
        raise ValueError(
            f"has an entry {wrong} that is neither a text nor a list of tokens (whole numbers from 0)"
        )
    return [entry if isinstance(entry, str) else tuple(entry) for entry in value]


def check_size(texts: Sequence[Input], limits: RequestLimits, param: str) -> None:
    """Raises TooLarge for more text than one request may have; a token counts as four bytes."""
    size = sum(
        len(text.encode("utf-8", "surrogatepass")) if isinstance(text, str) else 4 * len(text)
        for text in texts
    )
    allowed = limits.text_mb * MEGABYTE
    if size > allowed:
        raise TooLarge(
            f"{param} has {size:,} bytes of text; at most {allowed:,} are allowed in one request (setting limits.text_mb).",
            param=param,
        )


def _no_truncation(value: object) -> None:
    if value not in (None, False, "NONE", "none"):
        raise ValueError("cannot be kept: nothing is cut off here; divide what is too long")


_UNCUT: JsonDict = {
    "anyOf": [
        {"type": "null"},
        {"type": "boolean", "enum": [False]},
        {"type": "string", "enum": ["NONE", "none"]},
    ]
}
_TOKENS: JsonDict = {
    "type": "array",
    "items": {"type": "integer", "minimum": 0, "maximum": LARGEST_TOKEN},
    "minItems": 1,
}
INPUTS: JsonDict = {
    "anyOf": [
        {"type": "string"},
        {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": MOST_INPUTS},
        _TOKENS,
        {"type": "array", "items": _TOKENS, "minItems": 1, "maxItems": MOST_INPUTS},
    ]
}
Inputs = Annotated[Any, AfterValidator(inputs_of), WithJsonSchema(INPUTS)]
"""A field of inputs; None where it is absent."""
Truncation = Annotated[JsonValue, AfterValidator(_no_truncation), WithJsonSchema(_UNCUT)]


class EmbeddingBody(Body):
    """The body of `POST /v1/embeddings`."""

    input: Inputs = Field(
        description=f"A text, a list of tokens, or a list of up to {MOST_INPUTS:,} of either."
    )
    model: str = Field(
        default="", description="A name from /v1/models. Default: the first model that makes vectors."
    )
    encoding_format: Literal["float", "base64"] = Field(
        default="float", description="base64: 32-bit floats, the lowest byte first."
    )
    dimensions: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="Only so many numbers of each vector, scaled to length 1 again. Default: all.",
    )
    user: str = Field(default="", max_length=1024, description="Accepted and not used.")
    truncate_prompt_tokens: Truncation = None
    truncate: Truncation = None

    @property
    def inputs(self) -> list[Input]:
        return list(self.input)


class EmbeddingUsage(Struct, frozen=True):
    """Tokens that were read."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingObject(Struct, frozen=True):
    """One vector: numbers, or their bytes in base64."""

    index: int
    embedding: list[float] | str
    object: str = "embedding"


class EmbeddingAnswer(Struct, frozen=True, omit_defaults=True):
    """The answer. `ignored`: fields of the request that this server does not know."""

    object: str
    data: list[EmbeddingObject]
    model: str
    usage: EmbeddingUsage
    ignored: tuple[str, ...] = ()


def embedding_answer(
    vectors: Sequence[array[float]], tokens: int, model: str, *, in_base64: bool, ignored: tuple[str, ...]
) -> bytes:
    """The JSON of the answer."""
    entries = [
        EmbeddingObject(index, base64.b64encode(packed(vector)).decode() if in_base64 else vector.tolist())
        for index, vector in enumerate(vectors)
    ]
    usage = EmbeddingUsage(tokens, tokens)
    return msgspec.json.encode(EmbeddingAnswer("list", entries, model, usage, ignored))


class ContentBody(Body):
    """The body of llama-server's `POST /embedding`."""

    model_config = ConfigDict(json_schema_extra=needs_one_of("content", "input"))

    content: Inputs = Field(default=None, description="As `input` of /v1/embeddings.")
    input: Inputs = Field(default=None, description="The same as `content`.")
    model: str = Field(default="", description="As of /v1/embeddings.")
    embd_normalize: int = Field(
        default=2, description="2: vectors have the length 1. Nothing else is possible."
    )

    @property
    def inputs(self) -> list[Input]:
        """Raises BadRequest where there are none."""
        if self.embd_normalize != 2:
            raise BadRequest(
                "embd_normalize must be 2: vectors have the length 1 here.", param="embd_normalize"
            )
        found = self.content if self.content is not None else self.input
        if found is None:
            raise BadRequest("content is missing.", param="content")
        return list(found)


class ContentVector(Struct, frozen=True):
    """One vector, in a list of its own: a model without pooling would have one for each token."""

    index: int
    embedding: list[list[float]]


def content_answer(vectors: Sequence[array[float]]) -> bytes:
    """The JSON of the answer."""
    return msgspec.json.encode(
        [ContentVector(index, [vector.tolist()]) for index, vector in enumerate(vectors)]
    )
