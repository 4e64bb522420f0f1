from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.support.tiny_encoder import TinyEncoder, write_tiny_encoder
from tests.support.tiny_model import TinyModel, write_tiny_model

from duologue.engines.hardware import MachineLimits
from duologue.engines.llama.encoder_plan import CHARACTERS, LONGEST, TOGETHER, encoder_plan, in_goes
from duologue.engines.llama.memory_plan import LlamaOptions
from duologue.errors import StartFailed
from duologue.models.gguf.header import GgufHeader, read

MACHINE = MachineLimits(cores=4, memory=16_000_000_000, gpus=0)


def header(folder: Path, **fields: Any) -> GgufHeader:
    return replace(read(write_tiny_encoder(folder / "tiny.gguf", TinyEncoder())), **fields)


def options(**fields: Any) -> LlamaOptions:
    return LlamaOptions("m", **fields)


def test_a_text_is_computed_at_once_up_to_what_the_model_was_trained_for(tmp_path: Path) -> None:
    for trained, context, batch in ((512, 512, 512), (500, 500, 512), (100_000, LONGEST, LONGEST)):
        plan = encoder_plan(header(tmp_path, trained_context=trained), options(), MACHINE)
        assert (plan.sizes.context, plan.batch, plan.together) == (context, batch, TOGETHER)
    assert encoder_plan(header(tmp_path, trained_context=8192), options(context=2048), MACHINE).batch == 2048


def test_a_model_with_a_cache_reads_its_texts_in_batches(tmp_path: Path) -> None:
    read_header = read(write_tiny_model(tmp_path / "last.gguf", TinyModel(pooling=3)))
    plan = encoder_plan(read_header, options(), MACHINE)
    assert (plan.pooling, plan.together) == ("last", plan.sizes.slots)
    assert encoder_plan(read_header, options(pooling="mean"), MACHINE).batch == plan.sizes.context


def test_the_settings_come_before_the_file_and_a_guess_is_told(tmp_path: Path) -> None:
    assert encoder_plan(header(tmp_path), options(pooling="cls"), MACHINE).pooling == "cls"
    assert not encoder_plan(header(tmp_path), options(), MACHINE).warnings
    guessed = encoder_plan(header(tmp_path, pooling=None), options(), MACHINE)
    assert (guessed.pooling, len(guessed.warnings)) == ("mean", 1)
    assert not encoder_plan(header(tmp_path, pooling=None), options(pooling="mean"), MACHINE).warnings


@pytest.mark.parametrize("pooling", ["none", "rank"])
def test_a_pooling_that_cannot_be_is_refused(tmp_path: Path, pooling: str) -> None:
    with pytest.raises(StartFailed) as refusal:
        encoder_plan(header(tmp_path), options(pooling=pooling), MACHINE)
    assert refusal.value.param == "pooling"


def test_a_large_encoder_uses_the_cores_and_reads_little_at_a_time_without_a_card(tmp_path: Path) -> None:
    large = header(tmp_path, parameters=80_000_000)
    assert encoder_plan(large, options(), MACHINE).sizes.threads == 3
    assert encoder_plan(large, options(threads=2), MACHINE).sizes.threads == 2
    assert encoder_plan(header(tmp_path), options(), MACHINE).sizes.threads == 1
    with_card = replace(MACHINE, gpus=1)
    assert (
        encoder_plan(large, options(), with_card).characters
        > encoder_plan(large, options(), MACHINE).characters
    )


def test_texts_go_a_few_at_a_time_and_long_ones_alone() -> None:
    texts = ["a"] * 10 + ["b" * CHARACTERS] + ["c" * (CHARACTERS // 2)] * 3
    goes = list(in_goes(texts, 4))
    assert [text for go in goes for text in go] == texts
    assert [len(go) for go in goes] == [4, 4, 2, 1, 2, 1]
    assert list(in_goes([(1,) * CHARACTERS, (2,)], 4)) == [[(1,) * CHARACTERS], [(2,)]]
    assert list(in_goes([], 4)) == []
    assert len(list(in_goes(texts, 100, 10 * CHARACTERS))) == 1
