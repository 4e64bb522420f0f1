"""The answers of OpenAI's dialect as types: completions, their chunks, and the list of models.

They describe the answers in the API's description, for /docs and for generators of clients; nothing is encoded with them. The encoders
are in `wire.completion`, `wire.completions` and `wire.models`, and a test holds that what those write has these fields and no others.
"""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

FinishReason = Literal["stop", "length", "tool_calls", "content_filter", "function_call"]


class CachedCounts(Struct, frozen=True):
    cached_tokens: int


class ReasoningCounts(Struct, frozen=True):
    reasoning_tokens: int


class CompletionUsage(Struct, frozen=True):
    """The tokens of a request; the choices share one prompt. `estimated`: the engine does not count."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int
    prompt_tokens_details: CachedCounts
    completion_tokens_details: ReasoningCounts
    estimated: bool | UnsetType = UNSET


class CompletionTimings(Struct, frozen=True):
    """Milliseconds of the slowest choice."""

    queue_ms: float
    prefill_ms: float
    generate_ms: float
    first_ms: float


class TopLogprob(Struct, frozen=True):
    token: str
    logprob: float
    bytes: list[int]


class ContentLogprob(TopLogprob, frozen=True):
    top_logprobs: list[TopLogprob]


class ContentLogprobs(Struct, frozen=True):
    content: list[ContentLogprob]
    refusal: str | None


class CalledFunction(Struct, frozen=True):
    """`arguments` is the model's own JSON text."""

    name: str
    arguments: str


class CompletionToolCall(Struct, frozen=True):
    id: str
    type: Literal["function"]
    function: CalledFunction


class CompletionAudio(Struct, frozen=True):
    """A spoken reply. `data` is a file in base64; the id is known until `expires_at`, in seconds since 1970."""

    id: str
    data: str
    transcript: str
    expires_at: int


class CompletionMessage(Struct, frozen=True):
    role: Literal["assistant"]
    content: str | None
    refusal: str | None
    audio: CompletionAudio | UnsetType = UNSET
    reasoning_content: str | UnsetType = UNSET
    reasoning: str | UnsetType = UNSET
    tool_calls: list[CompletionToolCall] | UnsetType = UNSET
    function_call: CalledFunction | UnsetType = UNSET


class CompletionChoice(Struct, frozen=True):
    """`stop_str`: the stop text that ended it."""

    index: int
    message: CompletionMessage
    logprobs: ContentLogprobs | None
    finish_reason: FinishReason
    stop_str: str | UnsetType = UNSET


class PartTranscript(Struct, frozen=True):
    """Sound of a message that was written down."""

    message: int
    part: int
    text: str
    understood: bool | UnsetType = UNSET


class FittedPart(Struct, frozen=True):
    """What was made of a part that the model cannot take as it is."""

    where: str
    kind: Literal["image", "audio", "video"]
    became: Literal["text", "frames", "frames_and_sound", "resized", "left_out"]
    count: int | UnsetType = UNSET
    seconds: float | UnsetType = UNSET


class ChatCompletion(Struct, frozen=True):
    """A whole reply. `ignored`: fields of the request without effect here."""

    id: str
    object: Literal["chat.completion"]
    created: int
    model: str
    model_name: str
    choices: list[CompletionChoice]
    usage: CompletionUsage
    timings: CompletionTimings
    ignored: list[str] | UnsetType = UNSET
    transcripts: list[PartTranscript] | UnsetType = UNSET
    fitted: list[FittedPart] | UnsetType = UNSET


class FunctionPiece(Struct, frozen=True):
    arguments: str
    name: str | UnsetType = UNSET


class ToolCallPiece(Struct, frozen=True):
    """A piece of a tool call; the first of a call has its id, type and name."""

    index: int
    function: FunctionPiece
    id: str | UnsetType = UNSET
    type: Literal["function"] | UnsetType = UNSET


class AudioPiece(Struct, frozen=True):
    """A piece of a spoken reply: 16-bit mono sound of 24 kHz in base64, or a piece of its text."""

    id: str
    data: str | UnsetType = UNSET
    transcript: str | UnsetType = UNSET
    expires_at: int | UnsetType = UNSET


class ChoiceDelta(Struct, frozen=True):
    role: Literal["assistant"] | UnsetType = UNSET
    content: str | UnsetType = UNSET
    audio: AudioPiece | UnsetType = UNSET
    reasoning_content: str | UnsetType = UNSET
    reasoning: str | UnsetType = UNSET
    tool_calls: list[ToolCallPiece] | UnsetType = UNSET
    function_call: FunctionPiece | UnsetType = UNSET


class ChunkChoice(Struct, frozen=True):
    index: int
    delta: ChoiceDelta
    logprobs: ContentLogprobs | None
    finish_reason: FinishReason | None
    stop_str: str | UnsetType = UNSET


class ChatCompletionChunk(Struct, frozen=True):
    """The data of an event of a streamed reply. The last one, where usage was asked for, has no choices; behind it comes the text
    `[DONE]`."""

    id: str
    object: Literal["chat.completion.chunk"]
    created: int
    model: str
    model_name: str
    choices: list[ChunkChoice]
    usage: CompletionUsage | UnsetType | None = UNSET
    timings: CompletionTimings | UnsetType = UNSET
    ignored: list[str] | UnsetType = UNSET
    transcripts: list[PartTranscript] | UnsetType = UNSET
    fitted: list[FittedPart] | UnsetType = UNSET


class LogprobLists(Struct, frozen=True):
    """Logprobs in the shape of completions of a text. `text_offset`: where each token begins, in characters."""

    tokens: list[str]
    token_logprobs: list[float]
    top_logprobs: list[dict[str, float]]
    text_offset: list[int]


class CompletedTextChoice(Struct, frozen=True):
    index: int
    text: str
    logprobs: LogprobLists | None
    finish_reason: Literal["stop", "length"]
    stop_str: str | UnsetType = UNSET


class CompletedText(Struct, frozen=True):
    """Completions of texts. `ignored`: fields of the request without effect here."""

    id: str
    object: Literal["text_completion"]
    created: int
    model: str
    choices: list[CompletedTextChoice]
    usage: CompletionUsage
    timings: CompletionTimings
    ignored: list[str] | UnsetType = UNSET


class CompletedTextPiece(Struct, frozen=True):
    index: int
    text: str
    logprobs: LogprobLists | None
    finish_reason: Literal["stop", "length"] | None
    stop_str: str | UnsetType = UNSET


class CompletedTextChunk(Struct, frozen=True):
    """The data of an event of a stream. The last one, where usage was asked for, has no choices; behind it comes the text `[DONE]`."""

    id: str
    object: Literal["text_completion"]
    created: int
    model: str
    choices: list[CompletedTextPiece]
    usage: CompletionUsage | UnsetType | None = UNSET
    timings: CompletionTimings | UnsetType = UNSET
    ignored: list[str] | UnsetType = UNSET


class ModelStatus(Struct, frozen=True):
    value: Literal["loaded", "loading", "unloaded"]


class ModelNumbers(Struct, frozen=True):
    """What llama-server says of a model."""

    n_ctx: int
    n_ctx_train: int
    n_params: int
    size: int


class ModelArchitecture(Struct, frozen=True):
    """What OpenRouter says of a model."""

    input_modalities: list[str]
    output_modalities: list[str]


class ModelEntry(Struct, frozen=True):
    """A model. `root` is the model that an alias stands for; the fields after it extend OpenAI's. One that is loaded when a request
    names it has no more than its `state`."""

    id: str
    object: Literal["model"]
    created: int
    owned_by: str
    root: str
    parent: str | None
    status: ModelStatus
    state: Literal["loaded", "not-loaded"]
    type: str | UnsetType = UNSET
    context_length: int | UnsetType = UNSET
    max_model_len: int | UnsetType = UNSET
    loaded_context_length: int | UnsetType = UNSET
    max_context_length: int | UnsetType = UNSET
    trained_context_length: int | UnsetType = UNSET
    parameters: int | UnsetType = UNSET
    size: int | UnsetType = UNSET
    meta: ModelNumbers | UnsetType = UNSET
    engine: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    bundled: bool | UnsetType = UNSET
    modalities: list[str] | UnsetType = UNSET
    untold: list[str] | UnsetType = UNSET
    outputs: list[str] | UnsetType = UNSET
    architecture: ModelArchitecture | UnsetType = UNSET
    voices: list[str] | UnsetType = UNSET
    clones: bool | UnsetType = UNSET
    capabilities: list[str] | UnsetType = UNSET
    sampling: list[str] | UnsetType = UNSET
    defaults: dict[str, float | str | bool | list[str]] | UnsetType = UNSET
    tool_format: str | UnsetType = UNSET
    warnings: list[str] | UnsetType = UNSET
    dimensions: int | UnsetType = UNSET


class ListedModels(Struct, frozen=True):
    object: Literal["list"]
    data: list[ModelEntry]
