"""LoRA adapters on the real library: each changes what the model says by its scale, and at 0 the model is the bare one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.support.tiny_model import write_tiny_adapter, write_tiny_model

from duologue.engines.choice_contracts import AdaptedEngine
from duologue.engines.contracts import Generation, Piece
from duologue.engines.llama.engine import LlamaEngine, load
from duologue.engines.llama.slot_memory import SlotMemory
from duologue.errors import StartFailed
from duologue.values.requests import Sampling

pytestmark = pytest.mark.anyio
PROMPT = "<|im_start|>user\nplease tell me a story about a dog and a cat<|im_end|>\n<|im_start|>assistant\n"
OTHER = "<|im_start|>user\nsomething else entirely, and quite long as well<|im_end|>\n<|im_start|>assistant\n"
SAMPLING = Sampling(max_tokens=4, temperature=0.0, ignore_eos=True, logprobs=0)


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("adapters")
    write_tiny_model(folder / "m.gguf")
    write_tiny_adapter(folder / "one.gguf", seed=1)
    write_tiny_adapter(folder / "two.gguf", seed=2)
    return folder


@pytest.fixture(scope="module")
async def bare(folder: Path) -> AsyncIterator[LlamaEngine]:
    engine = await load({"model": str(folder / "m.gguf"), "slots": 2, "log": 0})
    yield engine
    await engine.close()


@pytest.fixture(scope="module")
async def adapted(folder: Path) -> AsyncIterator[LlamaEngine]:
    loras = {str(folder / "one.gguf"): 1.0, str(folder / "two.gguf"): 0.0}
    engine = await load({"model": str(folder / "m.gguf"), "slots": 2, "loras": loras, "log": 0})
    yield engine
    await engine.close()


async def said(engine: LlamaEngine, slot: int = 0, prompt: str = PROMPT) -> list[tuple[str, float]]:
    """The tokens of a reply with their logprobs."""
    tokens = await engine.tokenize(prompt)
    async with engine.generate(slot, tokens, Generation(SAMPLING)) as items:
        pieces = [item async for item in items if isinstance(item, Piece)]
    return [(one.token, round(one.logprob, 5)) for piece in pieces for one in piece.logprobs]


async def test_the_card_names_the_adapters_in_the_order_of_their_ids(adapted: LlamaEngine) -> None:
    assert adapted.card.adapters == ("one", "two")
    assert isinstance(adapted, AdaptedEngine)


async def test_logprobs_change_with_the_scale_and_at_zero_are_those_of_the_bare_model(
    bare: LlamaEngine, adapted: LlamaEngine
) -> None:
    found = {}
    for scales in ((0.0, 0.0), (1.0, 0.0), (0.5, 0.0), (0.0, 1.0)):
        adapted.adapt(0, scales)
        found[scales] = await said(adapted)
    assert len({tuple(each) for each in found.values()}) == len(found)
    assert found[0.0, 0.0] == await said(bare)


async def test_without_a_word_an_adapter_has_the_scale_that_it_was_loaded_with(adapted: LlamaEngine) -> None:
    adapted.adapt(0, (1.0, 0.0))
    asked = await said(adapted)
    adapted.adapt(0, (0.0, 0.0))
    adapted.adapt(0, None)
    assert await said(adapted) == asked


async def test_what_was_read_under_other_scales_is_never_used(
    bare: LlamaEngine, adapted: LlamaEngine
) -> None:
    """The library would bring such a prompt back from its memory."""
    adapted.adapt(0, (1.0, 0.0))
    await said(adapted)
    tokens = await adapted.tokenize(PROMPT)
    assert adapted.cached_tokens(0, tokens) == len(tokens)
    adapted.adapt(0, (0.0, 0.0))
    assert adapted.cached_tokens(0, tokens) == 0
    await said(adapted, prompt=OTHER)
    truth = await said(bare)
    assert await said(adapted) == truth
    adapted.adapt(1, (0.0, 0.0))
    assert await said(adapted, slot=1) == truth


async def test_two_slots_have_scales_of_their_own(bare: LlamaEngine, adapted: LlamaEngine) -> None:
    adapted.adapt(0, (0.0, 0.0))
    adapted.adapt(1, (1.0, 0.0))
    assert await said(adapted, slot=0) == await said(bare, slot=0)
    assert await said(adapted, slot=1) != await said(bare, slot=1)


async def test_an_adapter_of_another_model_keeps_the_model_from_loading(folder: Path) -> None:
    wrong = folder / "wrong.gguf"
    wrong.write_bytes(b"GGUF and nothing more")
    with pytest.raises(StartFailed, match="a LoRA adapter of another model"):
        await load({"model": str(folder / "m.gguf"), "loras": {str(wrong): 1.0}, "log": 0})


def test_prompts_are_remembered_by_the_scales_they_were_read_under() -> None:
    memory = SlotMemory(1000, (1.0,))
    memory.of(0).add((1, 2, 3))
    assert memory.of(1).known((1, 2, 3, 4)) == 3
    assert memory.adapters.choose(1, (0.5,))
    assert not memory.adapters.choose(1, (0.5,))
    assert memory.of(1).known((1, 2, 3, 4)) == 0
    assert memory.adapters.fields(1) == {"lora": [{"id": 0, "scale": 0.5}]}
    assert SlotMemory(1000).adapters.fields(0) == {}
