"""The protocols of engines that turn texts into vectors or score documents, and the values that cross them.

`sessions/embeddings` programs against these; `registry` loads the engines.
"""

from __future__ import annotations

from array import array
from collections.abc import AsyncGenerator
from typing import Protocol, runtime_checkable

from msgspec import Struct

from duologue.engines.contracts import LanguageEngine
from duologue.values.embeddings.vectors import EmbeddingRequest, RerankRequest
from duologue.values.requests import ModelCard


class VectorBatch(Struct, frozen=True):
    """The vectors of the next inputs, each of length 1, and how many tokens those have."""

    vectors: tuple[array[float], ...]
    tokens: int = 0


class ScoreBatch(Struct, frozen=True):
    """The scores of the next documents, and how many tokens those have with the query. The higher, the better; from 0 to 1 where the
    engine can tell what they mean."""

    scores: tuple[float, ...]
    tokens: int = 0


@runtime_checkable
class EmbeddingEngine(Protocol):
    """An engine whose model turns texts into vectors: the verb "embed" of its card."""

    @property
    def card(self) -> ModelCard: ...

    def embed(self, slot: int, request: EmbeddingRequest) -> AsyncGenerator[VectorBatch]:
        """The vectors of the inputs, in their order, a few at a time: closing it ends the work with the few that are computed.
        Raises ContextExceeded for an input that is too long, with its place as the parameter, and other `Problem`s."""
        ...

    async def close(self) -> None: ...


@runtime_checkable
class RerankEngine(Protocol):
    """An engine whose model scores documents for a query: the verb "rerank" of its card."""

    @property
    def card(self) -> ModelCard: ...

    def rerank(self, slot: int, request: RerankRequest) -> AsyncGenerator[ScoreBatch]:
        """The scores of the documents, in their order. As `EmbeddingEngine.embed` otherwise."""
        ...

    async def close(self) -> None: ...


ModelEngine = LanguageEngine | EmbeddingEngine | RerankEngine
"""What a worker with a model has."""
