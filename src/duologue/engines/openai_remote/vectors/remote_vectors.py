"""Vectors and scores from another server: OpenAI's `/v1/embeddings`, and `/v1/rerank` as Jina, Cohere, vLLM and llama-server have it.

Used by `engine`. Owns how many inputs are sent at a time, and the reading of the answers. What the server refuses, its own sentence says.
"""

from __future__ import annotations

import base64
import binascii
from array import array
from collections.abc import AsyncGenerator, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from duologue.engines.embedding_contracts import ScoreBatch, VectorBatch
from duologue.engines.openai_remote.response_json import json_of
from duologue.errors import ContextExceeded
from duologue.threads import encoding
from duologue.values.embeddings.vectors import EmbeddingRequest, RerankRequest, unpacked

if TYPE_CHECKING:
    from duologue.engines.openai_remote.replicas.replica_set import ReplicaSet
    from duologue.engines.openai_remote.upstream_connection import Upstream

TOGETHER = 32
"""Inputs of one request: as many as the strictest known server takes."""
LARGEST = 64 * 1024 * 1024
"""Bytes of an answer that are read; 32 vectors of 8,192 numbers have about 6 million."""
LARGE = 256 * 1024
"""Bytes of an answer from which on it is read in a thread."""


async def embedded(
    upstream: Upstream | ReplicaSet, model: str, request: EmbeddingRequest
) -> AsyncGenerator[VectorBatch]:
    """The vectors as the server gives them. Raises Problem."""
    for at in range(0, len(request.inputs), TOGETHER):
        inputs = request.inputs[at : at + TOGETHER]
        body: dict[str, object] = {"model": model, "input": inputs}
        if request.dimensions is not None:
            body["dimensions"] = request.dimensions
        try:
            content = await upstream.answer("/embeddings", msgspec.json.encode(body), LARGEST)
        except ContextExceeded as problem:
            raise ContextExceeded(problem.message, param=_where("input", at, len(inputs))) from problem
        try:
            vectors = await _read(content, _vectors, len(inputs))
        except (ValueError, TypeError, KeyError) as error:
            raise upstream.failed("did not answer with a vector for each input") from error
        yield vectors


async def ranked(
    upstream: Upstream | ReplicaSet, model: str, request: RerankRequest
) -> AsyncGenerator[ScoreBatch]:
    """The scores as the server gives them. Raises Problem."""
    for at in range(0, len(request.documents), TOGETHER):
        documents = request.documents[at : at + TOGETHER]
        body = {"model": model, "query": request.query, "documents": documents, "top_n": len(documents)}
        try:
            content = await upstream.answer("/rerank", msgspec.json.encode(body), LARGEST)
        except ContextExceeded as problem:
            raise ContextExceeded(problem.message, param=_where("documents", at, len(documents))) from problem
        try:
            scores = await _read(content, _scores, len(documents))
        except (ValueError, TypeError, KeyError) as error:
            raise upstream.failed("did not answer with a score for each document") from error
        yield scores


def _where(field: str, at: int, count: int) -> str:
    return f"{field}[{at}]" if count == 1 else field


async def _read(content: bytes, read: Any, count: int) -> Any:
    return await encoding(read, content, count) if len(content) > LARGE else read(content, count)


def _vectors(content: bytes, count: int) -> VectorBatch:
    """Raises ValueError, TypeError or KeyError for anything but `count` vectors of one size."""
    body = json_of(content)
    vectors = _in_order(
        ((_index(entry, place), _vector(entry["embedding"])) for place, entry in enumerate(body["data"])),
        count,
    )
    if len({len(vector) for vector in vectors}) != 1 or not vectors[0]:
        raise ValueError("vectors of several sizes")
    return VectorBatch(tuple(vectors), _tokens(body))


def _vector(value: object) -> array[float]:
    if isinstance(value, str):
        try:
            return unpacked(base64.b64decode(value, validate=True))
        except binascii.Error as error:
            raise ValueError("no base64") from error
    if not isinstance(value, list):
        raise TypeError("no vector")
    return array("f", value)


def _scores(content: bytes, count: int) -> ScoreBatch:
    """Raises ValueError, TypeError or KeyError for anything but `count` scores."""
    body = json_of(content)
    rows = body if isinstance(body, list) else body.get("results") or body["data"]
    found = (
        (_index(row, place), float(row["relevance_score"] if "relevance_score" in row else row["score"]))
        for place, row in enumerate(rows)
    )
    return ScoreBatch(tuple(_in_order(found, count)), _tokens(body))


def _index(entry: Any, place: int) -> int:
    if not isinstance(entry, dict):
        raise TypeError("an entry that is no object")
    return int(entry.get("index", place))


def _in_order(found: Iterable[tuple[int, Any]], count: int) -> Sequence[Any]:
    by_index = dict(found)
    return [by_index[index] for index in range(count)]


def _tokens(body: Any) -> int:
    usage = body.get("usage") if isinstance(body, dict) else None
    if not isinstance(usage, dict):
        return 0
    said = usage.get("prompt_tokens") or usage.get("total_tokens")
    return said if isinstance(said, int) else 0
