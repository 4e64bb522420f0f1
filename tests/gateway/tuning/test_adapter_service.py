"""Loading LoRA adapters into a running model: scales at once, further files by a restart, and back where that fails."""

from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.asked_pool import AskedPool
from tests.support.tiny_model import TinyModel, write_tiny_adapter, write_tiny_model

from duologue.engines.scripted.language import ScriptedEngine
from duologue.errors import BadRequest, EngineFailed, NotFound, Problem, Unavailable, Unsupported
from duologue.gateway.tuning.adapter_service import AdapterService
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.models.catalogue import model_name
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
    service, [card] = AdapterService(pool, folder, folder.parent, changed), pool.cards()
    assert service.scales(card) == {"one": 1.0, "two": 0.0}
    await service.load(card, {"two": 0.5})
    assert service.scales(card) == {"one": 0.0, "two": 0.5}
    service.use(card, {})
    assert service.scales(card) == {"one": 0.0, "two": 0.0}
    assert pool.restarts == []


async def test_a_further_adapter_restarts_the_worker_and_the_others_keep_their_ids(folder):
    pool = pool_of(folder, two=1.0)
    service = AdapterService(pool, folder, folder.parent, changed)
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
        await AdapterService(pool, folder, folder.parent, changed).load(pool.cards()[0], {name: 1.0})
    assert met.value.code == code
    assert pool.restarts == []


async def test_a_model_that_does_not_come_up_again_is_loaded_as_before(folder):
    pool = pool_of(folder, two=1.0)
    pool.fails, before = True, pool.spec
    service = AdapterService(pool, folder, folder.parent, changed)
    with pytest.raises(EngineFailed, match="runs without them again") as met:
        await service.load(pool.cards()[0], {"one": 1.0})
    assert met.value.code == "load_failed"
    assert pool.restarts[-1] == pool.spec == before
    assert service.scales(pool.cards()[0]) == {"two": 1.0}


async def test_a_worker_with_files_of_another_machine_takes_no_further_ones_and_keeps_its_scales(folder):
    pool = pool_of(folder, two=1.0)
    pool.status.joined = True
    pool.spec = LoadSpec("w", "llama", "m")
    service = AdapterService(pool, folder, folder.parent, changed)
    with pytest.raises(Unsupported, match="has its own files"):
        await service.load(pool.cards()[0], {"one": 1.0})
    await service.load(pool.cards()[0], {"two": 0.5})
    assert service.scales(pool.cards()[0]) == {"two": 0.5}
    assert pool.restarts == []


class Boxes(AskedPool):
    """A worker here, if `here`, and one on another machine that serves the files of this server: it fetches what is offered when it starts. `fetches`:
    whether it does."""

    def __init__(self, folder: Path, *, here: bool) -> None:
        engine = ScriptedEngine("m")
        engine.card = msgspec.structs.replace(engine.card, engine="llama", adapters=("two",))
        loras = {str(folder / "two.gguf"): 1.0}
        super().__init__(engine, {"model": str(folder.parent / "m.gguf"), "loras": loras})
        self.far = WorkerStatus("box/w", "m", "llama", "cpu", state="ready", card=engine.card)
        self.far.joined = self.far.offered = True
        self.workers = {**({"w": self.status} if here else {}), "box/w": self.far}
        self.here, self.fetches, self.order = here, True, list[str]()

    def load_spec(self, worker: str) -> LoadSpec:
        return self.spec if worker == "w" else LoadSpec("box/w", "llama", "m")

    def restart(self, worker: str, cause: str = "admin") -> None:
        self.order.append(worker)
        if worker == "w":
            super().restart(worker, cause)
            return
        self.far.restarts += 1
        self.far.state = "offline"

    async def changed(self) -> None:
        """The other machine's worker is there again."""
        offered = self.spec.options["loras"] if self.here else self.tuning.adapters("m")
        assert isinstance(offered, dict)
        names = tuple(Path(path).stem for path in offered) or ("two",)
        assert self.far.card is not None
        if self.fetches:
            self.far.card = msgspec.structs.replace(self.far.card, adapters=names)
        self.far.state = "ready"


async def test_a_worker_that_serves_files_of_this_server_fetches_a_further_adapter_after_those_here(folder):
    pool = Boxes(folder, here=True)
    service = AdapterService(pool, folder, folder.parent, pool.changed)
    await service.load(pool.cards()[0], {"one": 0.5})
    assert pool.order == ["w", "box/w"]
    assert pool.far.card is not None
    assert pool.far.card.adapters == ("two", "one")
    assert service.scales(pool.far.card) == {"two": 0.0, "one": 0.5}


async def test_where_only_other_machines_have_the_model_the_adapters_are_offered_with_it(folder):
    pool = Boxes(folder, here=False)
    card = pool.far.card
    assert card is not None
    card = pool.far.card = msgspec.structs.replace(card, name=model_name(folder.parent / "m.gguf"))
    pool.tuning.offer_adapters("m", {})
    service = AdapterService(pool, folder, folder.parent, partial(_there_again, pool, card.name))
    await service.load(card, {"one": 0.5})
    assert pool.order == ["box/w"]
    assert pool.tuning.adapters(card.name) == {
        str(folder / "two.gguf"): 0.0,
        str(folder / "one.gguf"): 0.5,
    }


async def _there_again(pool: Boxes, name: str) -> None:
    assert pool.far.card is not None
    names = tuple(Path(path).stem for path in pool.tuning.adapters(name)) or ("two",)
    pool.far.card = msgspec.structs.replace(pool.far.card, adapters=names)
    pool.far.state = "ready"


async def test_where_the_other_machine_does_not_fetch_it_everything_is_as_before(folder):
    pool = Boxes(folder, here=True)
    pool.fetches, before = False, pool.spec
    service = AdapterService(pool, folder, folder.parent, pool.changed)
    with pytest.raises(EngineFailed, match="without the adapter"):
        await service.load(pool.cards()[0], {"one": 0.5})
    assert pool.spec == before
    assert pool.order == ["w", "box/w", "w"]
    assert pool.tuning.adapters("m") == {}


async def test_a_worker_out_of_reach_is_not_restarted(folder):
    pool = Boxes(folder, here=True)
    pool.far.state = "unreachable"
    service = AdapterService(pool, folder, folder.parent, pool.changed)
    with pytest.raises(Unavailable, match="is not ready"):
        await service.load(pool.cards()[0], {"one": 0.5})
    assert pool.order == []


async def test_one_load_at_a_time(folder):
    pool = pool_of(folder)
    service = AdapterService(pool, folder, folder.parent, changed)
    service._loading = True
    with pytest.raises(Problem) as met:
        await service.load(pool.cards()[0], {"one": 1.0})
    assert (met.value.code, met.value.status) == ("load_running", 409)


async def test_other_engines_take_none(folder):
    pool = AskedPool()
    with pytest.raises(Unsupported):
        await AdapterService(pool, folder, folder.parent, changed).load(pool.cards()[0], {"one": 1.0})
