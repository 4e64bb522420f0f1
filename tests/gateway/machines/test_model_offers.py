"""Models by hash: what is offered, and what is not."""

import hashlib
import threading

import anyio
import httpx
import pytest
from fastapi import FastAPI
from tests.gateway.machines.join_server import JoinServer
from tests.support.tiny_model import write_tiny_adapter, write_tiny_model

from duologue.errors import ModelNotFound, NotFound
from duologue.gateway.machines import model_offers, offer_routes
from duologue.gateway.machines.model_offers import ModelOffers
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.scheduler import Scheduler
from duologue.http.error_responses import exception_handlers
from duologue.wire.worker_protocol import LoadSpec

pytestmark = pytest.mark.anyio


@pytest.fixture
def folder(tmp_path):
    models = tmp_path / "models"
    models.mkdir()
    write_tiny_model(models / "small.gguf")
    (tmp_path / "secret.gguf").write_bytes((models / "small.gguf").read_bytes() + b"secret")
    return models


async def test_a_model_is_offered_by_name_and_its_file_by_hash(folder):
    offers = ModelOffers(Pool([], Scheduler()), folder)
    offer = await offers.offer("small")
    [file] = offer.files
    content = (folder / "small.gguf").read_bytes()
    assert (offer.engine, file.option, file.name, file.size) == ("llama", "model", "small.gguf", len(content))
    assert file.sha256 == hashlib.sha256(content).hexdigest()
    assert await offers.path(file.sha256) == folder / "small.gguf"


async def test_a_model_is_offered_with_its_adapters_and_the_template_that_was_chosen(folder, tmp_path):
    adapter, template = tmp_path / "style.gguf", tmp_path / "terse.jinja"
    write_tiny_adapter(adapter)
    template.write_text("{{ x }}")
    options: dict[str, object] = {"model": str(folder / "small.gguf"), "loras": {str(adapter): 0.5}}
    spec = LoadSpec("worker_0", "llama", "mini", options, template=str(template))
    offers = ModelOffers(Pool([spec], Scheduler()), folder)
    offer = await offers.offer("mini")
    [loaded] = offer.adapters
    assert (loaded.file.option, loaded.file.name, loaded.scale) == ("loras", "style.gguf", 0.5)
    assert await offers.path(loaded.file.sha256) == adapter
    assert offer.template == "{{ x }}"


async def test_a_model_of_the_folder_is_offered_with_the_adapters_that_other_machines_are_to_load(
    folder, tmp_path
):
    write_tiny_adapter(tmp_path / "style.gguf")
    pool = Pool([], Scheduler())
    offers = ModelOffers(pool, folder)
    plain = await offers.offer("small")
    assert plain.adapters == ()
    pool.tuning.offer_adapters(plain.name, {str(tmp_path / "style.gguf"): 0.5})
    [offered] = (await offers.offer("small")).adapters
    assert (offered.file.name, offered.scale) == ("style.gguf", 0.5)


@pytest.mark.parametrize(
    "name", ["../secret", "../secret.gguf", "/etc/passwd", "", "small.gguf/../../secret"]
)
async def test_a_path_is_no_name(folder, name):
    with pytest.raises(ModelNotFound):
        await ModelOffers(Pool([], Scheduler()), folder).offer(name)


async def test_what_was_not_offered_or_has_changed_cannot_be_fetched(folder):
    offers = ModelOffers(Pool([], Scheduler()), folder)
    with pytest.raises(NotFound):
        await offers.path(hashlib.sha256((folder / "small.gguf").read_bytes()).hexdigest())
    [file] = (await offers.offer("small")).files
    (folder / "small.gguf").write_bytes(b"something else")
    with pytest.raises(NotFound):
        await offers.path(file.sha256)


async def test_ranges_of_a_file_are_served_where_joining_is_allowed(folder):
    for join in (True, False):
        server = JoinServer(join=join)
        app = FastAPI(exception_handlers=exception_handlers())
        app.include_router(offer_routes.router(server.joins, ModelOffers(server.pool, folder)))
        async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://test") as http:
            answer = await http.get("/join/models/small")
            if not join:
                assert answer.json()["error"]["code"] == "join_off"
                continue
            [file] = answer.json()["files"]
            part = await http.get(f"/join/files/{file['sha256']}", headers={"Range": "bytes=4-9"})
            assert (part.status_code, part.content) == (206, (folder / "small.gguf").read_bytes()[4:10])
            assert (await http.get(f"/join/files/{'0' * 64}")).status_code == 404


async def test_a_file_that_several_ask_for_at_once_is_read_once(folder, monkeypatch):
    read, go_on = [], threading.Event()

    def hashed(path):
        read.append(path)
        go_on.wait(60)
        return "0" * 64

    monkeypatch.setattr(model_offers, "_hash", hashed)
    offers = ModelOffers(Pool([], Scheduler()), folder)
    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            for _ in range(3):
                tasks.start_soon(offers.offer, "small")
            try:
                while offers._lane._limiter.statistics().tasks_waiting < 2:  # noqa: ASYNC110
                    await anyio.sleep(0.01)
            finally:
                go_on.set()
    assert read == [folder / "small.gguf"]
