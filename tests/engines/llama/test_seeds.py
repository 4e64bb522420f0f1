"""What a seed promises: the same text from the same request, engine and cache, and nearly the same logprobs from another cache."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.support.tiny_model import write_tiny_model

from duologue.engines.contracts import Generation, Piece
from duologue.engines.llama.engine import LlamaEngine, load
from duologue.values.requests import Sampling

pytestmark = pytest.mark.anyio
SEEDED = Sampling(max_tokens=24, temperature=1.5, seed=5, ignore_eos=True, logprobs=0)
PROMPT = "a story of a small house " * 6
OTHER = "What time is it?"
DIGITS = 0.01
"""By how much a logprob may differ where the prompt was read in other pieces."""

Reply = tuple[str, list[float]]


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[LlamaEngine]:
    engine = await load({"model": str(write_tiny_model(tmp_path / "tiny.gguf")), "slots": 2, "log": 0})
    yield engine
    await engine.close()


async def write(engine: LlamaEngine, prompt: str, slot: int = 0, sampling: Sampling = SEEDED) -> Reply:
    """The text and the logprobs of its tokens."""
    async with engine.generate(slot, await engine.tokenize(prompt), Generation(sampling)) as items:
        pieces = [item async for item in items if isinstance(item, Piece)]
    return "".join(piece.text for piece in pieces), [
        token.logprob for piece in pieces for token in piece.logprobs
    ]


async def test_a_cold_prompt_is_answered_the_same_in_every_slot(engine: LlamaEngine) -> None:
    assert await write(engine, PROMPT, slot=1) == await write(engine, PROMPT)


async def test_a_cached_prompt_is_answered_the_same_each_time_and_nearly_as_the_cold_one(
    engine: LlamaEngine,
) -> None:
    cold, warm, again = [await write(engine, PROMPT) for _ in range(3)]
    assert again == warm
    assert warm[1][0] == pytest.approx(cold[1][0], abs=DIGITS)


async def test_what_others_wrote_in_between_changes_the_digits_alone(engine: LlamaEngine) -> None:
    cold = await write(engine, PROMPT)
    await write(engine, OTHER)
    assert (await write(engine, PROMPT))[1][0] == pytest.approx(cold[1][0], abs=DIGITS)


async def test_another_engine_with_the_same_model_answers_the_same(
    engine: LlamaEngine, tmp_path: Path
) -> None:
    again = await load({"model": str(tmp_path / "tiny.gguf"), "slots": 2, "log": 0})
    try:
        assert await write(again, PROMPT) == await write(engine, PROMPT)
    finally:
        await again.close()


async def test_another_seed_and_chance_answer_something_else(engine: LlamaEngine) -> None:
    samplings = [replace(SEEDED, seed=seed) for seed in (5, 6, -1)]
    answers = {(await write(engine, PROMPT, sampling=sampling))[0] for sampling in samplings}
    assert len(answers) == 3
