"""How much of a machine a model gets."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from duologue.engines.hardware import MachineLimits
from duologue.engines.llama.memory_plan import LlamaOptions, cache_bytes, parse_options, plan
from duologue.errors import StartFailed
from duologue.models.gguf.header import GgufHeader
from duologue.models.gguf.projector import Projector

GIGABYTE = 1_000_000_000
MACHINE = MachineLimits(cores=8, memory=32 * GIGABYTE)
NOTHING_ASKED = LlamaOptions(model="m.gguf")


def header(parameters: int, **fields: object) -> GgufHeader:
    made = GgufHeader(
        path=Path("/models/m.gguf"),
        architecture="llama",
        name="M",
        parameters=parameters,
        size=parameters // 2,
        quantisation="Q4_K_M",
        tokenizer="gpt2",
        vocabulary=32_000,
        trained_context=131_072,
        # 36 blocks of 8 heads of 128, keys and values.
        cache_width=36 * 8 * 256,
    )
    return msgspec.structs.replace(made, **fields)


TINY = header(5_000_000, trained_context=1_024, cache_width=6 * 256)
MIDDLE = header(4_000_000_000)
LARGE = header(30_000_000_000)


def test_a_small_model_gets_one_thread_and_a_larger_one_leaves_a_core_free() -> None:
    assert plan(TINY, NOTHING_ASKED, MACHINE).threads == 1
    assert plan(MIDDLE, NOTHING_ASKED, MACHINE).threads == 7
    assert plan(MIDDLE, NOTHING_ASKED, MachineLimits(1, GIGABYTE)).threads == 1


def test_larger_models_get_fewer_slots() -> None:
    assert [plan(model, NOTHING_ASKED, MACHINE).slots for model in (TINY, MIDDLE, LARGE)] == [4, 2, 1]


def test_slower_models_read_in_smaller_batches_unless_there_is_a_gpu() -> None:
    assert plan(TINY, NOTHING_ASKED, MACHINE).batch == 512
    assert plan(MIDDLE, NOTHING_ASKED, MACHINE).batch == 128
    assert plan(MIDDLE, NOTHING_ASKED, MachineLimits(8, 32 * GIGABYTE, gpus=1)).batch == 2_048


def test_what_was_asked_is_what_it_gets() -> None:
    asked = LlamaOptions(model="m.gguf", slots=3, context=5_000, threads=5, batch=77)
    made = plan(MIDDLE, asked, MACHINE)
    assert (made.slots, made.context, made.threads, made.batch, made.warnings) == (3, 5_000, 5, 77, ())


def test_the_context_is_never_more_than_the_model_was_trained_for() -> None:
    assert plan(TINY, NOTHING_ASKED, MACHINE).context == 1_024
    made = plan(TINY, LlamaOptions(model="m.gguf", context=9_999), MACHINE)
    assert made.context == 1_024
    assert "9999" in made.warnings[0]
    assert "1024" in made.warnings[0]


def test_by_default_it_is_bounded_for_models_trained_on_very_long_texts() -> None:
    made = plan(MIDDLE, NOTHING_ASKED, MachineLimits(8, 200 * GIGABYTE))
    assert (made.context, made.warnings) == (16_384, ())


def test_short_memory_makes_it_smaller_and_says_so() -> None:
    made = plan(MIDDLE, NOTHING_ASKED, MachineLimits(8, 6 * GIGABYTE))
    assert 2_048 <= made.context < 16_384
    assert cache_bytes(MIDDLE, made.context * made.slots) <= 2 * GIGABYTE
    assert "Memory is short" in made.warnings[0]


def test_it_never_falls_below_a_usable_size() -> None:
    assert plan(MIDDLE, NOTHING_ASKED, MachineLimits(8, 0)).context == 2_048
    assert plan(TINY, NOTHING_ASKED, MachineLimits(8, 0)).context == 1_024


def test_a_model_that_does_not_say_gets_a_modest_context() -> None:
    assert plan(header(5_000_000, trained_context=0), NOTHING_ASKED, MACHINE).context == 4_096


def test_options_that_were_not_given_are_left_to_the_plan() -> None:
    assert parse_options({"model": "m.gguf", "slots": None, "gpu_layers": -1}) == LlamaOptions(
        "m.gguf", gpu_layers=-1
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"model": "m", "contxt": 5}, "no option 'contxt'. Did you mean 'context'"),
        ({"model": "m", "zzz": 5}, "Known: model"),
        ({"model": "m", "slots": "many"}, "slots"),
        ({"model": "m", "slots": 0}, "'slots' must be at least 1"),
        ({"model": "m", "context": -5}, "'context' must be at least 1"),
        ({"slots": 1}, "model"),
    ],
)
def test_a_wrong_option_is_named(options: dict[str, object], sentence: str) -> None:
    with pytest.raises(StartFailed) as caught:
        parse_options(options)
    assert sentence in caught.value.message


def test_a_small_models_prompts_are_kept_in_little_memory() -> None:
    machine = MachineLimits(cores=2, memory=8 << 30, gpus=0)
    small, large = (
        plan(header(parameters=parameters), LlamaOptions("m"), machine).prompt_cache
        for parameters in (5_000_000, 7_000_000_000)
    )
    assert small < large
    assert plan(header(parameters=5_000_000), LlamaOptions("m", prompt_cache=7), machine).prompt_cache == 7


def test_flash_attention_is_left_out_without_a_gpu_where_memory_allows() -> None:
    machine = MachineLimits(cores=2, memory=8 << 30, gpus=0)
    with_gpu = MachineLimits(cores=2, memory=8 << 30, gpus=1)
    heads = header(4_000_000_000, heads=32)
    assert not plan(TINY, NOTHING_ASKED, machine).flash_attention
    assert not plan(heads, NOTHING_ASKED, machine).flash_attention
    for model in (TINY, heads):
        assert plan(model, NOTHING_ASKED, with_gpu).flash_attention
    assert plan(header(4_000_000_000), NOTHING_ASKED, machine).flash_attention, "its heads are not known"
    long = LlamaOptions(model="m", context=65_536)
    assert plan(heads, long, machine).flash_attention, "its scores would take a gigabyte"
    assert plan(
        heads, NOTHING_ASKED, machine, Projector(Path("p"), 0, sees=True, hears=False)
    ).flash_attention


def test_fewer_tokens_are_computed_at_once_where_each_keeps_its_scores() -> None:
    machine = MachineLimits(cores=2, memory=8 << 30, gpus=0)
    middle = header(500_000_000, heads=14)
    assert plan(TINY, NOTHING_ASKED, machine).at_once == 512
    assert plan(middle, NOTHING_ASKED, machine).at_once == 128
    assert plan(middle, LlamaOptions(model="m", batch=64), machine).at_once == 64
    assert plan(middle, NOTHING_ASKED, MachineLimits(2, 8 << 30, gpus=1)).at_once == 512
