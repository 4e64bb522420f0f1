from __future__ import annotations

import math

import anyio
import pytest

from duologue.engines.scripted.hashed_vectors import HashedVectors
from duologue.engines.scripted.language import load
from duologue.errors import ContextExceeded, EngineFailed
from duologue.values.embeddings.vectors import EmbeddingRequest, RerankRequest

pytestmark = pytest.mark.anyio


async def engine(**options: object) -> HashedVectors:
    loaded = await load({"kind": "embedding", **options})
    assert isinstance(loaded, HashedVectors)
    return loaded


async def vectors(one: HashedVectors, *inputs: str | tuple[int, ...]) -> list[list[float]]:
    return [list(batch.vectors[0]) async for batch in one.embed(0, EmbeddingRequest(inputs))]


async def test_the_same_text_is_the_same_vector_of_length_one() -> None:
    first, second, tokens = await vectors(await engine(dimensions=8), "a cat", "a cat", (1, 2))
    assert first == second != tokens
    assert len(first) == 8
    assert math.hypot(*first) == pytest.approx(1, abs=1e-6)


async def test_texts_with_common_words_are_near_each_other() -> None:
    cat, cats, boat = await vectors(await engine(), "the cat sat", "the cat ran", "one red boat")

    def likeness(other: list[float]) -> float:
        return sum(a * b for a, b in zip(cat, other, strict=True))

    assert likeness(cats) > 0.5 > likeness(boat)


async def test_a_score_is_the_share_of_the_querys_words() -> None:
    one = await engine(kind="reranker")
    request = RerankRequest("the cat", ("the cat sat", "a cat", "a dog"))
    assert [batch.scores[0] async for batch in one.rerank(0, request)] == [1.0, 0.5, 0.0]
    assert one.card.verbs == ("rerank",)


async def test_a_script_fails_hangs_and_is_too_long() -> None:
    one = await engine(context=3)
    with pytest.raises(EngineFailed):
        await vectors(one, "/fail")
    with pytest.raises(ContextExceeded) as refusal:
        await vectors(one, "a", "a b c d")
    assert refusal.value.param == "input[1]"
    with anyio.move_on_after(0.05) as scope:
        await vectors(one, "/hang")
    assert scope.cancelled_caught
    await one.close()
