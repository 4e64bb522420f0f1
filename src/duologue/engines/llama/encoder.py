"""Embedding models and rerankers on llama.cpp, by the xllamacpp package.

Loaded by `engine`, which reads in the file's header or in the options what a model is for. Owns the loaded model and its end. Texts go to the
library a few at a time, and it reads these side by side; a text that is too long is found by its place.
"""

from __future__ import annotations

import base64
import math
import re
import secrets
from array import array
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from duologue.engines import load_progress
from duologue.engines.devices import parse_device, require_card
from duologue.engines.embedding_contracts import ScoreBatch, VectorBatch
from duologue.engines.hardware import machine_limits
from duologue.engines.llama.card import encoder_card
from duologue.engines.llama.encoder_plan import encoder_plan, in_goes
from duologue.engines.llama.http_client import LlamaHttpClient
from duologue.engines.llama.library import device_in_use, list_cards
from duologue.engines.llama.memory_plan import LlamaOptions
from duologue.engines.llama.model_server import READ_AHEAD, READ_SHARE, read_ahead, start_server
from duologue.engines.llama.request import EngineError
from duologue.errors import BadRequest, ContextExceeded, EngineFailed, Problem, Unavailable
from duologue.models.gguf.header import GgufHeader
from duologue.threads import ThreadLane
from duologue.values.embeddings.vectors import EmbeddingRequest, RerankRequest, unpacked
from duologue.values.requests import ModelCard

Text = TypeVar("Text", str, "str | tuple[int, ...]")
Batch = TypeVar("Batch", VectorBatch, ScoreBatch)
PROBABILITIES = frozenset({"qwen3", "qwen3vl"})
"""Architectures whose rerankers give probabilities; the others give numbers without bounds."""


class _Usage(Struct, frozen=True):
    prompt_tokens: int = 0


class _Vector(Struct, frozen=True):
    embedding: str
    index: int = 0


class _Score(Struct, frozen=True):
    relevance_score: float | None
    index: int = 0


class _Answer(Struct, frozen=True):
    """Of the library: vectors, scores, or an error."""

    data: tuple[_Vector, ...] = ()
    results: tuple[_Score, ...] = ()
    usage: _Usage = _Usage()
    error: EngineError | None = None


_TOKENS = re.compile(r"input \((\d+) tokens\)")
"""In what the library says of a text that is too long."""
_decode = msgspec.json.Decoder(_Answer)


async def load_encoder(settings: LlamaOptions, lane: ThreadLane, header: GgufHeader) -> LlamaEncoder:
    """Load the model of this header. Raises StartFailed with a sentence."""
    cards = await lane.run(list_cards)
    device = parse_device(settings.device)
    require_card(device, cards)
    machine = machine_limits(0 if device.kind == "cpu" else len(cards))
    sizes = encoder_plan(header, settings, machine)
    if READ_AHEAD < header.size < machine.memory:
        await lane.run(read_ahead, header)
        load_progress.report(READ_SHARE)
    key = secrets.token_urlsafe(24)

    def start() -> tuple[Any, int, int]:
        server = start_server(header, None, settings, sizes.sizes, key, cards, sizes)
        client = LlamaHttpClient(server.listening_address, key)
        try:
            context = int(client.properties()["default_generation_settings"]["n_ctx"])
        finally:
            client.close()
        if sizes.pooling == "rank":
            _scores(server, "a", ["b"])
            return server, context, 0
        # The first text touches all weights, and shows how long a vector is.
        return server, context, len(_vectors(server, ["a"]).vectors[0])

    server, context, dimensions = await lane.run(start)
    card = encoder_card(header, settings, sizes, context, dimensions)
    card = msgspec.structs.replace(card, device=device_in_use(device, cards, settings.gpu_layers))
    bounded = header.architecture not in PROBABILITIES
    return LlamaEncoder(server, lane, card, sizes.together, sizes.characters, bounded=bounded)


class LlamaEncoder:
    """A loaded embedding model or reranker: its card says which. Implements `embedding_contracts.EmbeddingEngine` and `embedding_contracts.RerankEngine`.
    `together`: texts that the library takes at a time, with `characters` of them at most; `bounded`: its scores are brought between
    0 and 1."""

    def __init__(
        self,
        server: Any,
        server_lane: ThreadLane,
        card: ModelCard,
        together: int,
        characters: int,
        *,
        bounded: bool = True,
    ) -> None:
        self._server: Any | None = server
        self._server_lane = server_lane
        self._card = card
        self._together, self._characters, self._bounded = together, characters, bounded
        self._lane = ThreadLane(card.slots)

    @property
    def card(self) -> ModelCard:
        return self._card

    async def embed(self, slot: int, request: EmbeddingRequest) -> AsyncGenerator[VectorBatch]:
        """The vectors, one go of texts at a time."""
        done = 0
        for texts in in_goes(request.inputs, self._together, self._characters):
            yield await self._lane.run(self._one_go, _vectors, texts, done, "input")
            done += len(texts)

    async def rerank(self, slot: int, request: RerankRequest) -> AsyncGenerator[ScoreBatch]:
        """The scores, one go of documents at a time."""
        done = 0

        def scores(server: Any, documents: Sequence[str]) -> ScoreBatch:
            return _scores(server, request.query, documents)

        # Each document is read with the query before it.
        size = max(1, min(self._together, self._characters // (1 + len(request.query))))
        for documents in in_goes(request.documents, size, self._characters):
            batch = await self._lane.run(self._one_go, scores, documents, done, "documents")
            done += len(documents)
            yield ScoreBatch(tuple(map(_sigmoid, batch.scores)), batch.tokens) if self._bounded else batch

    async def close(self) -> None:
        """End the engine and free its memory. The library's end blocks, so it happens in a thread."""
        holder = [self._server]
        self._server = None
        await self._server_lane.run(holder.clear)

    def _one_go(
        self, run: Callable[[Any, Sequence[Text]], Batch], texts: Sequence[Text], first: int, field: str
    ) -> Batch:
        """`run` with these texts, of which the first is number `first` of the request's `field`. The library does not say which text it
        refuses, so they are tried one by one then. From a lane's thread."""
        server = self._server
        if server is None:
            raise Unavailable(f"The model {self._card.name!r} is being unloaded.")
        try:
            return run(server, texts)
        except _Refused as refused:
            for number, text in enumerate(texts if len(texts) > 1 else ()):
                try:
                    run(server, [text])
                except _Refused as own:
                    raise self._problem(own.error, f"{field}[{first + number}]") from own
            where = f"{field}[{first}]" if len(texts) == 1 else field
            raise self._problem(refused.error, where) from refused

    def _problem(self, error: EngineError, where: str) -> Problem:
        if error.type == "exceed_context_size_error" or "too large to process" in error.message:
            counted = _TOKENS.search(error.message)
            taken = f"takes {counted[1]} tokens" if counted is not None else "is too long"
            with_query = " with the query" if "rerank" in self._card.verbs else ""
            return ContextExceeded(
                f"{where} {taken}{with_query}, but the model {self._card.name} reads at most {self._card.context} at a time. "
                "Divide it.",
                param=where,
            )
        if error.type == "invalid_request_error":
            reason = error.message.rstrip(".") or "no reason given"
            return BadRequest(f"{where} is refused by the model {self._card.name}: {reason}.", param=where)
        return EngineFailed(f"The engine failed: {error.message or 'no reason given'}.")


class _Refused(Exception):
    """The library refuses one of the texts."""

    def __init__(self, error: EngineError) -> None:
        super().__init__(error.message)
        self.error = error


def _vectors(server: Any, texts: Sequence[str | tuple[int, ...]]) -> VectorBatch:
    body = {"input": [_valid(text) for text in texts], "encoding_format": "base64"}
    answer = _asked(server.handle_embeddings, body)
    vectors: list[array[float]] = [array("f")] * len(answer.data)
    for entry in answer.data:
        vectors[entry.index] = unpacked(base64.b64decode(entry.embedding))
    return VectorBatch(tuple(vectors), answer.usage.prompt_tokens)


def _scores(server: Any, query: str, documents: Sequence[str]) -> ScoreBatch:
    body = {"query": _valid(query), "documents": [_valid(document) for document in documents]}
    answer = _asked(server.handle_rerank, body)
    scores = [math.nan] * len(documents)
    for entry in answer.results:
        scores[entry.index] = math.nan if entry.relevance_score is None else entry.relevance_score
    return ScoreBatch(tuple(scores), answer.usage.prompt_tokens)


def _asked(door: Callable[[bytes], bytes], body: Mapping[str, object]) -> _Answer:
    try:
        answer = _decode.decode(door(msgspec.json.encode(body)))
    except (RuntimeError, ValueError) as error:
        raise EngineFailed(f"The engine failed: {error}.") from error
    if answer.error is not None:
        raise _Refused(answer.error)
    return answer


def _valid(text: str | tuple[int, ...]) -> object:
    # JSON can carry half a surrogate pair into a string; the engine would refuse it.
    return (
        text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if isinstance(text, str) else text
    )


def _sigmoid(score: float) -> float:
    return 1 / (1 + math.exp(-score)) if score >= 0 else (power := math.exp(max(score, -700.0))) / (1 + power)
