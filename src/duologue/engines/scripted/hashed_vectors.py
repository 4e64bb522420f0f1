"""An embedding model and a reranker of the scripted engine, without a model: the same numbers for the same text, every time.

A word is a direction drawn from its hash, a text the sum of its words, so texts with common words are near each other. A document's score
is the share of the query's words that it has. The input `/hang` is never done, and `/fail` fails.
"""

from __future__ import annotations

import hashlib
import math
import struct
from array import array
from collections.abc import AsyncGenerator, Mapping

import anyio
from anyio.lowlevel import checkpoint

from duologue.engines.embedding_contracts import ScoreBatch, VectorBatch
from duologue.errors import ContextExceeded, EngineFailed
from duologue.values.embeddings.vectors import EmbeddingRequest, RerankRequest
from duologue.values.requests import ModelCard, Task

DIMENSIONS = 64
CONTEXT = 8_192
KINDS: Mapping[object, Task] = {"embedding": "embed", "reranker": "rerank"}
"""`kind` in the engine's options, and what it is for."""


class HashedVectors:
    """Implements `embedding_contracts.EmbeddingEngine` and `embedding_contracts.RerankEngine`; `task` says which of them it is."""

    def __init__(
        self, name: str, task: Task, slots: int, *, dimensions: int = DIMENSIONS, context: int = CONTEXT
    ) -> None:
        self.card = ModelCard(
            name=name,
            engine="scripted",
            context=context,
            slots=slots,
            description="Makes numbers of hashes; no model behind it.",
            outputs=(),
            verbs=(task,),
            device="cpu",
            dimensions=dimensions if task == "embed" else 0,
        )

    async def embed(self, slot: int, request: EmbeddingRequest) -> AsyncGenerator[VectorBatch]:
        """One input at a time, so that a test can cancel between any two."""
        for place, text in enumerate(request.inputs):
            words = text.split() if isinstance(text, str) else [str(token) for token in text]
            await self._read(words, f"input[{place}]")
            yield VectorBatch((_vector(words, self.card.dimensions),), len(words))

    async def rerank(self, slot: int, request: RerankRequest) -> AsyncGenerator[ScoreBatch]:
        """One document at a time."""
        query = request.query.lower().split()
        for place, document in enumerate(request.documents):
            words = document.lower().split()
            await self._read([*query, *words], f"documents[{place}]")
            share = sum(word in words for word in query) / max(1, len(query))
            yield ScoreBatch((share,), len(query) + len(words))

    async def close(self) -> None:
        """Nothing to free."""

    async def _read(self, words: list[str], where: str) -> None:
        if "/hang" in words:
            await anyio.sleep_forever()
        if "/fail" in words:
            raise EngineFailed("The script asked for a failure.", code="scripted_failure")
        if len(words) > self.card.context:
            raise ContextExceeded(
                f"{where} takes {len(words)} tokens, but the model {self.card.name} reads at most {self.card.context}.",
                param=where,
            )
        await checkpoint()


def _vector(words: list[str], dimensions: int) -> array[float]:
    total = [0.0] * dimensions
    for word in words or [""]:
        for at, number in enumerate(_direction(word, dimensions)):
            total[at] += number
    length = math.sqrt(math.fsum(number * number for number in total)) or 1.0
    return array("f", (number / length for number in total))


def _direction(word: str, dimensions: int) -> list[float]:
    data = hashlib.shake_128(word.encode("utf-8", "surrogatepass")).digest(2 * dimensions)
    return [number / 2**15 for number in struct.unpack(f"<{dimensions}h", data)]
