"""What spans say about work with models: the names of OpenTelemetry's conventions for generative AI, and our own behind `duologue.`.

Names and numbers only. Pure. The names are written out here, because the conventions' own package belongs to the SDK; a test holds
them to it.
"""

from __future__ import annotations

from duologue.tracing.spans import Attributes, Value
from duologue.values.events import Done, Failed
from duologue.values.requests import ChatRequest

PROVIDER = "duologue"

OPERATION = "gen_ai.operation.name"
PROVIDER_NAME = "gen_ai.provider.name"
REQUEST_MODEL = "gen_ai.request.model"
RESPONSE_MODEL = "gen_ai.response.model"
CHOICES = "gen_ai.request.choice.count"
MAX_TOKENS = "gen_ai.request.max_tokens"
TEMPERATURE = "gen_ai.request.temperature"
TOP_P = "gen_ai.request.top_p"
TOP_K = "gen_ai.request.top_k"
SEED = "gen_ai.request.seed"
FREQUENCY_PENALTY = "gen_ai.request.frequency_penalty"
PRESENCE_PENALTY = "gen_ai.request.presence_penalty"
FINISH_REASONS = "gen_ai.response.finish_reasons"
FIRST_CHUNK = "gen_ai.response.time_to_first_chunk"
INPUT_TOKENS = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS = "gen_ai.usage.output_tokens"
CACHED_TOKENS = "gen_ai.usage.cache_read.input_tokens"
REASONING_TOKENS = "gen_ai.usage.reasoning.output_tokens"
TOOL_NAME = "gen_ai.tool.name"
TOOL_CALL = "gen_ai.tool.call.id"
TOOL_TYPE = "gen_ai.tool.type"
HTTP_METHOD = "http.request.method"
HTTP_ROUTE = "http.route"
HTTP_STATUS = "http.response.status_code"
REQUEST_ID = "duologue.request_id"
WORK_KIND = "duologue.kind"
WORKER = "duologue.worker"
SLOT = "duologue.slot"
QUEUE_POSITION = "duologue.queue.position"
MODEL_ENGINE = "duologue.engine"
TOOL_SERVER = "duologue.tool.server"


def operation(name: str, model: str = "") -> dict[str, Value]:
    """An operation of the conventions ("chat", "embeddings", "execute_tool") with a model of this server."""
    attributes: dict[str, Value] = {OPERATION: name, PROVIDER_NAME: PROVIDER}
    if model:
        attributes[REQUEST_MODEL] = model
    return attributes


def of_request(request: ChatRequest, kind: str, count: int, request_id: str) -> Attributes:
    """What a chat request asks for: its numbers, not its words."""
    sampling = request.sampling
    given: dict[str, Value | None] = {
        MAX_TOKENS: sampling.max_tokens,
        TEMPERATURE: sampling.temperature,
        TOP_P: sampling.top_p,
        TOP_K: sampling.top_k,
        SEED: sampling.seed,
        FREQUENCY_PENALTY: sampling.frequency_penalty,
        PRESENCE_PENALTY: sampling.presence_penalty,
        CHOICES: count if count > 1 else None,
        REQUEST_ID: request_id or None,
        WORK_KIND: kind,
    }
    known = {name: value for name, value in given.items() if value is not None}
    return operation("chat", request.model) | known


def of_end(event: Done) -> Attributes:
    """How a reply ended, and its tokens."""
    attributes: dict[str, Value] = {FINISH_REASONS: [event.finish]}
    counts = {
        INPUT_TOKENS: event.usage.input,
        OUTPUT_TOKENS: event.usage.output,
        CACHED_TOKENS: event.usage.cached,
        REASONING_TOKENS: event.usage.reasoning,
    }
    attributes |= {name: count for name, count in counts.items() if count}
    if event.timings.first:
        attributes[FIRST_CHUNK] = event.timings.first / 1000
    return attributes


def code_of(event: Done | Failed) -> str:
    """The code of a failure; "" for another end."""
    return event.code if isinstance(event, Failed) else ""
