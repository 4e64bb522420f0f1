"""LoRA adapters over HTTP, in tabbyAPI's words and llama-server's."""

from collections.abc import Mapping

import pytest
from tests.support.asked_pool import AskedPool, asking
from tests.support.stand_in import StandIn

from duologue.engines.scripted.language import ScriptedEngine
from duologue.gateway.tuning.lora_routes import router
from duologue.values.requests import ModelCard

pytestmark = pytest.mark.anyio


class Adapters(StandIn):
    def __init__(self) -> None:
        self.inside = {"one": 1.0, "two": 0.0}

    async def names(self) -> list[str]:
        return ["one", "three", "two"]

    def scales(self, card: ModelCard) -> dict[str, float]:
        return self.inside

    def use(self, card: ModelCard, scales: Mapping[str, float]) -> None:
        self.inside = {name: scales.get(name, 0.0) for name in self.inside}

    async def load(self, card: ModelCard, scales: Mapping[str, float]) -> None:
        self.inside = dict(scales)


def client(adapters: Adapters, role: str = "admin"):
    engine = ScriptedEngine("m")
    engine.card = ModelCard("m", "llama", 100, adapters=("one", "two"))
    return asking(router(adapters, AskedPool(engine).registry, 7), role=role)


def ids(answer) -> list[tuple[str, float | None]]:
    return [(each["id"], each["scaling"]) for each in answer.json()["data"]]


async def test_tabbys_routes():
    adapters = Adapters()
    async with client(adapters) as http:
        for path in ("/v1/loras", "/v1/lora/list"):
            assert ids(await http.get(path)) == [("one", None), ("three", None), ("two", None)]
        assert ids(await http.get("/v1/lora")) == [("one", 1.0)]
        body = {"loras": [{"name": "three", "scaling": 0.5}], "skip_queue": True}
        assert (await http.post("/v1/lora/load", json=body)).json() == {"success": ["three"], "failure": []}
        assert ids(await http.get("/v1/lora")) == [("three", 0.5)]
        assert (await http.post("/v1/lora/unload")).json() == {"model": "m"}
        assert ids(await http.get("/v1/lora")) == []


async def test_llama_servers_routes():
    adapters = Adapters()
    async with client(adapters) as http:
        told = (await http.get("/lora-adapters")).json()
        assert [(each["id"], each["path"], each["scale"]) for each in told] == [
            (0, "one", 1.0),
            (1, "two", 0.0),
        ]
        assert (await http.post("/lora-adapters", json=[{"id": 1, "scale": 0.5}])).json() == {"success": True}
        wrong: list[object] = [[{"id": 5, "scale": 1.0}], {}, "a"]
        for body in wrong:
            assert (await http.post("/lora-adapters", json=body)).status_code == 400
        assert (await http.post("/lora-adapters", content=b"[")).status_code == 400
    assert adapters.inside == {"one": 0.0, "two": 0.5}


async def test_only_admins_choose():
    async with client(Adapters(), "user") as http:
        assert (await http.get("/v1/lora")).status_code == 200
        for path in ("/v1/lora/load", "/v1/lora/unload", "/lora-adapters"):
            assert (await http.post(path, json={"loras": [{"name": "one"}]})).status_code == 403
