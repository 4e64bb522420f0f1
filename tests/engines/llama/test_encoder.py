"""Embedding models and rerankers on the real library, compared with what the same weights give in NumPy."""

from __future__ import annotations

import math
import random
from array import array
from pathlib import Path

import anyio
import numpy as np
import pytest
from tests.support.tiny_encoder import (
    LETTERS,
    WORDS,
    TinyEncoder,
    reference_score,
    reference_vector,
    token_of,
    write_tiny_encoder,
)
from tests.support.tiny_model import TinyModel, write_tiny_model

from duologue.engines.contracts import ChatEngine, PromptEngine
from duologue.engines.embedding_contracts import EmbeddingEngine, RerankEngine
from duologue.engines.llama.encoder import LlamaEncoder
from duologue.engines.llama.engine import load, load_model
from duologue.errors import BadRequest, ContextExceeded, StartFailed, Unavailable
from duologue.values.embeddings.vectors import EmbeddingRequest, RerankRequest

pytestmark = pytest.mark.anyio

CLS, SEP = 2, 3
CAT = "the cat sat on the mat"


def ids(text: str) -> list[int]:
    return [CLS, *map(token_of, text.split()), SEP]


async def loaded(path: Path, model: TinyEncoder | None = None, **options: object) -> LlamaEncoder:
    if model is not None:
        write_tiny_encoder(path, model)
    engine = await load_model({"model": str(path), "name": "tiny", "device": "cpu", **options})
    assert isinstance(engine, LlamaEncoder)
    return engine


async def vectors_of(engine: LlamaEncoder, *inputs: str | tuple[int, ...]) -> list[array[float]]:
    batches = [batch async for batch in engine.embed(0, EmbeddingRequest(inputs))]
    return [vector for batch in batches for vector in batch.vectors]


async def scores_of(engine: LlamaEncoder, query: str, *documents: str) -> list[float]:
    batches = [batch async for batch in engine.rerank(0, RerankRequest(query, documents))]
    return [score for batch in batches for score in batch.scores]


@pytest.mark.parametrize("pooling", ["mean", "cls", "last"])
async def test_its_vectors_are_those_of_the_weights(tmp_path, pooling):
    model = TinyEncoder(pooling=pooling)
    engine = await loaded(tmp_path / "tiny.gguf", model)
    try:
        for text in (CAT, "what is a red boat ?"):
            [vector] = await vectors_of(engine, text)
            np.testing.assert_allclose(vector, reference_vector(model, ids(text)), atol=1e-3)
    finally:
        await engine.close()


async def test_the_card_says_what_it_is_for(tmp_path):
    engine = await loaded(tmp_path / "tiny.gguf", TinyEncoder())
    card = engine.card
    await engine.close()
    assert (card.name, card.verbs, card.dimensions, card.context) == ("tiny", ("embed",), 64, 128)
    assert not card.chats
    assert card.may("embed")
    assert not card.may("rerank")
    assert isinstance(engine, EmbeddingEngine | RerankEngine)
    assert not isinstance(engine, PromptEngine | ChatEngine)


async def test_a_vector_depends_on_its_text_alone(tmp_path):
    engine = await loaded(tmp_path / "tiny.gguf", TinyEncoder())
    draw = random.Random(5)
    texts = [" ".join(draw.choices([*WORDS, *LETTERS], k=draw.randint(1, 60))) for _ in range(50)]
    try:
        together = await vectors_of(engine, *texts)
        backwards = (await vectors_of(engine, *reversed(texts)))[::-1]
        alone = [(await vectors_of(engine, text))[0] for text in texts[:5]]
    finally:
        await engine.close()
    np.testing.assert_allclose(together, backwards, atol=1e-3)
    np.testing.assert_allclose(together[:5], alone, atol=1e-3)
    np.testing.assert_allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)


async def test_tokens_are_read_as_they_are_and_counted(tmp_path):
    engine = await loaded(tmp_path / "tiny.gguf", TinyEncoder())
    request = EmbeddingRequest((CAT, tuple(ids(CAT)), tuple(ids("a dog")[1:-1])))
    try:
        batches = [batch async for batch in engine.embed(0, request)]
    finally:
        await engine.close()
    text, tokens, bare = [vector for batch in batches for vector in batch.vectors]
    np.testing.assert_allclose(text, tokens, atol=1e-6)
    np.testing.assert_allclose(bare, reference_vector(TinyEncoder(), ids("a dog")[1:-1]), atol=1e-3)
    assert sum(batch.tokens for batch in batches) == 8 + 8 + 2


@pytest.mark.parametrize("place", [0, 17, 39])
async def test_an_input_that_is_too_long_is_named(tmp_path, place):
    engine = await loaded(tmp_path / "tiny.gguf", TinyEncoder())
    texts = ["a cat"] * 40
    texts[place] = "the " * 300
    try:
        with pytest.raises(ContextExceeded) as refusal:
            await vectors_of(engine, *texts)
        assert refusal.value.param == f"input[{place}]"
        assert refusal.value.message.startswith(
            f"input[{place}] takes 302 tokens, but the model tiny reads at most 128"
        )
        assert len(await vectors_of(engine, "it goes on")) == 1
    finally:
        await engine.close()


async def test_a_context_that_is_no_round_number_holds_to_the_last_token(tmp_path):
    engine = await loaded(tmp_path / "tiny.gguf", TinyEncoder(context=100))
    assert engine.card.context == 100
    try:
        [vector] = await vectors_of(engine, "the " * 98)
        np.testing.assert_allclose(
            vector, reference_vector(TinyEncoder(context=100), ids("the " * 98)), atol=1e-3
        )
        with pytest.raises(ContextExceeded, match="takes 101 tokens"):
            await vectors_of(engine, "the " * 99)
    finally:
        await engine.close()


@pytest.mark.parametrize(
    "tokens", [pytest.param((10**6,), id="of another model"), pytest.param((), id="none")]
)
async def test_tokens_that_it_cannot_read_are_refused_by_their_place(tmp_path, tokens):
    engine = await loaded(tmp_path / "tiny.gguf", TinyEncoder())
    try:
        with pytest.raises(BadRequest) as refusal:
            await vectors_of(engine, "a", tokens)
        assert refusal.value.param == "input[1]"
    finally:
        await engine.close()


async def test_half_a_character_is_replaced(tmp_path):
    engine = await loaded(tmp_path / "tiny.gguf", TinyEncoder())
    try:
        assert len(await vectors_of(engine, "a \ud83d cat")) == 1
    finally:
        await engine.close()


async def test_closing_early_leaves_the_rest_uncomputed(tmp_path):
    engine = await loaded(tmp_path / "tiny.gguf", TinyEncoder())
    try:
        batches = engine.embed(0, EmbeddingRequest(("a cat",) * 2000))
        first = await anext(batches)
        await batches.aclose()
        assert 0 < len(first.vectors) < 100
    finally:
        await engine.close()


async def test_several_callers_are_served_side_by_side(tmp_path):
    engine = await loaded(tmp_path / "tiny.gguf", TinyEncoder())
    found: dict[str, list[array[float]]] = {}

    async def ask(text: str) -> None:
        found[text] = await vectors_of(engine, *[text] * 40)

    try:
        async with anyio.create_task_group() as tasks:
            for text in WORDS[:6]:
                tasks.start_soon(ask, text)
    finally:
        await engine.close()
    for text, vectors in found.items():
        np.testing.assert_allclose(vectors, [reference_vector(TinyEncoder(), ids(text))] * 40, atol=1e-3)


async def test_a_reranker_scores_each_document_with_the_query(tmp_path):
    model = TinyEncoder(pooling="rank")
    engine = await loaded(tmp_path / "tiny.gguf", model)
    documents = ["a dog", "the cat sat", "red boat sails home", *["what is a mat"] * 30]
    try:
        scores = await scores_of(engine, "the cat", *documents)
        assert engine.card.verbs == ("rerank",)
    finally:
        await engine.close()
    query = [CLS, token_of("the"), token_of("cat"), SEP]
    expected = [reference_score(model, [*query, *map(token_of, text.split())]) for text in documents]
    np.testing.assert_allclose(scores, [1 / (1 + math.exp(-score)) for score in expected], atol=2e-3)


async def test_a_document_that_is_too_long_is_named(tmp_path):
    engine = await loaded(tmp_path / "tiny.gguf", TinyEncoder(pooling="rank"))
    try:
        with pytest.raises(ContextExceeded) as refusal:
            await scores_of(engine, "the cat", *["a"] * 20, "dog " * 200)
        assert refusal.value.param == "documents[20]"
        assert "with the query" in refusal.value.message
    finally:
        await engine.close()


async def test_empty_texts_are_read_or_refused_with_words(tmp_path):
    engine = await loaded(tmp_path / "tiny.gguf", TinyEncoder(pooling="rank"))
    try:
        for query, document in (("", "a"), ("a", ""), ("", "")):
            assert all(0 <= score <= 1 for score in await scores_of(engine, query, document, "a cat"))
    finally:
        await engine.close()
    engine = await loaded(tmp_path / "tiny.gguf", TinyEncoder())
    assert len(await vectors_of(engine, "")) == 1
    await engine.close()
    engine = await loaded(write_tiny_model(tmp_path / "last.gguf", TinyModel(pooling=3)))
    try:
        with pytest.raises(BadRequest, match="empty") as refusal:
            await vectors_of(engine, "a", "")
        assert refusal.value.param == "input[1]"
    finally:
        await engine.close()


async def test_a_model_of_another_kind_embeds_where_its_file_or_the_options_say_so(tmp_path):
    said = write_tiny_model(tmp_path / "said.gguf", TinyModel(pooling=3))
    plain = write_tiny_model(tmp_path / "plain.gguf", TinyModel())
    one, other = await loaded(said), await loaded(plain, pooling="last")
    try:
        [[of_one], [of_other]] = await vectors_of(one, "hello"), await vectors_of(other, "hello")
        [longer] = await vectors_of(one, "hello " * 60)
    finally:
        await one.close()
        await other.close()
    np.testing.assert_allclose(of_one, of_other, atol=1e-6)
    assert len(longer) == 64
    chats = await load({"model": str(said), "pooling": "none", "device": "cpu"})
    await chats.close()
    assert isinstance(chats, PromptEngine)


async def test_pooling_that_a_file_does_not_name_is_the_mean_with_a_warning(tmp_path):
    engine = await loaded(tmp_path / "tiny.gguf", TinyEncoder(pooling=""))
    [vector] = await vectors_of(engine, CAT)
    await engine.close()
    np.testing.assert_allclose(vector, reference_vector(TinyEncoder(), ids(CAT)), atol=1e-3)
    assert "does not say how its vectors are pooled" in engine.card.warnings[0]


@pytest.mark.parametrize(
    ("pooling", "sentence"), [("none", "cannot write text"), ("rank", "no layer that makes scores")]
)
async def test_a_pooling_that_the_model_cannot_have_is_refused(tmp_path, pooling, sentence):
    with pytest.raises(StartFailed, match=sentence):
        await loaded(tmp_path / "tiny.gguf", TinyEncoder(), pooling=pooling)


async def test_an_encoder_is_not_loaded_as_a_chat_model(tmp_path):
    path = write_tiny_encoder(tmp_path / "tiny.gguf", TinyEncoder())
    with pytest.raises(StartFailed, match="writes no text"):
        await load({"model": str(path), "device": "cpu"})


async def test_a_closed_engine_says_that_it_is_unloaded(tmp_path):
    engine = await loaded(tmp_path / "tiny.gguf", TinyEncoder())
    await engine.close()
    with pytest.raises(Unavailable):
        await vectors_of(engine, "a")
