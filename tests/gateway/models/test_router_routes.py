"""Models as programs for llama-server's router load, unload and follow them."""

from collections.abc import AsyncGenerator, Mapping

import pytest
from tests.support.asked_pool import asking
from tests.support.stand_in import StandIn

from duologue.gateway.models.loader import LoadRequest
from duologue.gateway.models.router_routes import router
from duologue.http.event_log import NumberedEvent

pytestmark = pytest.mark.anyio


class Loader(StandIn):
    def __init__(self) -> None:
        self.wanted: list[LoadRequest] = []
        self.gone: list[tuple[str, bool]] = []

    async def load(self, wanted: LoadRequest) -> None:
        self.wanted.append(wanted)

    async def unload(self, name: str, *, drain: bool) -> list[str]:
        self.gone.append((name, drain))
        return ["worker_0"]


async def some_events(after: int | None = None) -> AsyncGenerator[NumberedEvent[Mapping[str, object]]]:
    for number, kind in enumerate(("loading", "loaded", "download", "here")):
        yield NumberedEvent(number, {"type": kind})


@pytest.fixture
def loader() -> Loader:
    return Loader()


def client(loader: Loader, role: str = "admin"):
    return asking(router(loader, some_events), role=role)


async def test_a_model_is_loaded_and_unloaded_by_its_name(loader):
    async with client(loader) as http:
        for verb in ("load", "unload"):
            answer = await http.post(f"/models/{verb}", json={"model": "tiny", "extra_args": []})
            assert (answer.status_code, answer.json()) == (200, {"success": True})
    assert [wanted.name for wanted in loader.wanted] == ["tiny"]
    assert loader.gone == [("tiny", True)]


@pytest.mark.parametrize("verb", ["load", "unload"])
async def test_only_an_admin_loads_and_unloads(loader, verb):
    async with client(loader, role="user") as http:
        answer = await http.post(f"/models/{verb}", json={"model": "tiny"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "admin_needed")
    assert (loader.wanted, loader.gone) == ([], [])


async def test_the_list_is_followed_by_an_event_for_each_change_of_it(loader):
    async with client(loader, role="user") as http:
        answer = await http.get("/models/sse")
    assert answer.headers["content-type"].startswith("text/event-stream")
    lines = [line for line in answer.text.splitlines() if line.startswith("data:")]
    assert lines == ['data: {"model":"*","event":"models_reload"}'] * 2
