"""Loading LoRA adapters into a running model: scales at once, further files by a restart, and back where that fails."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.asked_pool import AskedPool
from tests.support.tiny_model import TinyModel, write_tiny_adapter, write_tiny_model

from duologue.engines.scripted.language import ScriptedEngine
from duologue.errors import BadRequest, EngineFailed, NotFound, Problem, Unsupported
from duologue.gateway.tuning.adapter_service import AdapterService
from duologue.wire.worker_protocol import LoadSpec

pytestmark = pytest.mark.anyio


async def changed() -> None:
    raise AssertionError("the stand-in's workers are ready at once")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "loras"
    folder.mkdir()
    write_tiny_adapter(folder / "one.gguf", seed=1)
    write_tiny_adapter(folder / "two.gguf", seed=2)
    write_tiny_adapter(folder / "other.gguf", TinyModel(embedding=32))
    write_tiny_model(tmp_path / "m.gguf")
    return folder


def pool_of(folder: Path, **loras: float) -> AskedPool:
    """A model that was loaded with these adapters."""
    engine = ScriptedEngine("m")
    engine.card = msgspec.structs.replace(engine.card, engine="llama", adapters=tuple(loras))
    paths = {str(folder / f"{name}.gguf"): scale for name, scale in loras.items()}
    options: dict[str, Any] = {"model": str(folder.parent / "m.gguf"), "loras": paths}
    return AskedPool(engine, options)


async def test_scales_of_loaded_adapters_change_at_once(folder):
    pool = pool_of(folder, one=1.0, two=0.0)
    service, [card] = AdapterService(pool, folder, changed), pool.cards()
    assert service.scales(card) == {"one": 1.0, "two": 0.0}
    await service.load(card, {"two": 0.5})
    assert service.scales(card) == {"one": 0.0, "two": 0.5}
    service.use(card, {})
    assert service.scales(card) == {"one": 0.0, "two": 0.0}
    assert pool.restarts == []


async def test_a_further_adapter_restarts_the_worker_and_the_others_keep_their_ids(folder):
    pool = pool_of(folder, two=1.0)
    service = AdapterService(pool, folder, changed)
    await service.load(pool.cards()[0], {"one": 0.5})
    [spec] = pool.restarts
    assert spec.options["loras"] == {str(folder / "two.gguf"): 0.0, str(folder / "one.gguf"): 0.5}
    assert service.scales(pool.cards()[0]) == {"two": 0.0, "one": 0.5}
    assert await service.names() == ["one", "other", "two"]


@pytest.mark.parametrize(
    ("name", "problem", "code"),
    [("missing", NotFound, "lora_not_found"), ("other", BadRequest, "lora_unusable")],
)
async def test_what_does_not_fit_is_refused_before_anything_restarts(folder, name, problem, code):
    pool = pool_of(folder)
    with pytest.raises(problem) as met:
        await AdapterService(pool, folder, changed).load(pool.cards()[0], {name: 1.0})
    assert met.value.code == code
    assert pool.restarts == []


async def test_a_model_that_does_not_come_up_again_is_loaded_as_before(folder):
    pool = pool_of(folder, two=1.0)
    pool.fails, before = True, pool.spec
    service = AdapterService(pool, folder, changed)
    with pytest.raises(EngineFailed, match="runs without them again") as met:
        await service.load(pool.cards()[0], {"one": 1.0})
    assert met.value.code == "load_failed"
    assert pool.restarts[-1] == pool.spec == before
    assert service.scales(pool.cards()[0]) == {"two": 1.0}


async def test_a_worker_on_another_machine_takes_no_further_files_and_keeps_its_scales(folder):
    pool = pool_of(folder, two=1.0)
    pool.status.joined = True
    pool.spec = LoadSpec("w", "llama", "m")
    service = AdapterService(pool, folder, changed)
    with pytest.raises(Unsupported, match="on another machine"):
        await service.load(pool.cards()[0], {"one": 1.0})
    await service.load(pool.cards()[0], {"two": 0.5})
    assert service.scales(pool.cards()[0]) == {"two": 0.5}
    assert pool.restarts == []


async def test_one_load_at_a_time(folder):
    pool = pool_of(folder)
    service = AdapterService(pool, folder, changed)
    service._loading = True
    with pytest.raises(Problem) as met:
        await service.load(pool.cards()[0], {"one": 1.0})
    assert (met.value.code, met.value.status) == ("load_running", 409)


async def test_other_engines_take_none(folder):
    pool = AskedPool()
    with pytest.raises(Unsupported):
        await AdapterService(pool, folder, changed).load(pool.cards()[0], {"one": 1.0})
