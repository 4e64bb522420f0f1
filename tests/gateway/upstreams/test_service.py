"""Connecting, watching, changing and removing servers, over real model servers and a real database."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import pytest
from tests.support.model_server import ModelServer, serving
from tests.support.ports import free_port
from tests.support.upstream_service import PlayedPool, Running

from duologue.errors import BadRequest, Forbidden, NotFound, Problem
from duologue.gateway.upstreams import service as service_module
from duologue.gateway.upstreams import upstream_client
from duologue.gateway.upstreams.service import UpstreamService
from duologue.values.requests import ModelPreset, PresetEntry, RawFormat

pytestmark = pytest.mark.anyio
KEY = "sk-very-secret"
PATIENCE = 30.0


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(ModelServer([{"id": "a"}, {"id": "b"}])) as server:
        yield server


async def until(true: Callable[[], bool]) -> None:
    with anyio.fail_after(PATIENCE):
        while not true():  # noqa: ASYNC110 (a model server in a thread notifies nobody here)
            await anyio.sleep(0.01)


async def add(service: UpstreamService, url: str, name: str = "box", **more: object) -> str:
    fields: dict[str, object] = {"kind": "other", "key": "", "chosen": None, "user": "anna", **more}
    server = await service.add(name, url=url, **fields)  # type: ignore[arg-type]
    return server.state


async def test_a_connected_server_has_a_worker_with_all_its_models(
    running: Running, server: ModelServer
) -> None:
    async with running() as (service, pool):
        assert await add(service, server.url, key=KEY) == "ready"
        assert pool.served() == {"box": ["a", "b"]}
        [spec] = pool.specs
        assert spec.options == {
            "url": server.url + "/v1",
            "key": KEY,
            "several": True,
            "slots": service_module.SLOTS,
            "kind": "other",
        }


async def test_it_is_served_again_after_a_restart_even_while_it_is_down(running: Running) -> None:
    with serving(ModelServer([{"id": "a", "max_model_len": 4096}])) as server:
        async with running() as (service, _):
            await add(service, server.url, key=KEY)
    async with running() as (service, pool):
        assert pool.served() == {"box": ["a"]}
        await until(lambda: service.servers()[0].state == "problem")
        assert pool.served() == {"box": ["a"]}
        assert "refused the connection" in next(iter(pool.workers.values())).warning
        assert pool.specs[0].options["key"] == KEY


async def test_an_address_where_clouds_keep_credentials_is_never_served(
    running: Running, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running() as (service, pool):
        with pytest.raises(Forbidden, match="clouds keep credentials"):
            await add(service, "http://[fd00:ec2::254]")
        await add(service, server.url)
        with monkeypatch.context() as before:
            before.setattr(upstream_client, "is_metadata_host", lambda _: False)
            before.setattr(service, "_ask", noop)
            await service.change("box", url="http://[fd00:ec2::254]")
    async with running() as (service, pool):
        assert pool.workers == {}
        [stored] = service.servers()
        assert stored.problem is not None
        assert stored.problem.code == "private_address"


async def noop(_: object) -> None:
    """In place of asking a server that is not there."""


async def test_a_server_that_comes_back_is_ready_again_and_its_new_models_appear(
    running: Running, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_module, "EVERY", 0.01)
    monkeypatch.setattr(service_module, "EVERY_WHILE_DOWN", 0.01)
    async with running() as (service, pool):
        await add(service, server.url)
        server.status = 500
        await until(lambda: service.servers()[0].state == "problem")
        server.models = [{"id": "b"}, {"id": "c"}]
        server.status = 200
        await until(lambda: pool.served() == {"box": ["b", "c"]})
        assert service.servers()[0].state == "ready"
        assert next(iter(pool.workers.values())).warning == ""


async def test_only_the_chosen_models_are_served_and_that_can_be_changed(
    running: Running, server: ModelServer
) -> None:
    async with running() as (service, pool):
        await add(service, server.url, chosen=["b", "later", "b"])
        assert pool.served() == {"box": ["b", "later"]}
        await service.change("box", chosen=None)
        assert pool.served() == {"box": ["a", "b"]}
        assert len(pool.specs) == 1  # no worker was restarted for that


async def test_how_long_a_server_is_waited_for_reaches_its_worker(
    running: Running, server: ModelServer
) -> None:
    async with running() as (service, pool):
        await add(service, server.url, timeouts={"idle_timeout": 5.0})
        assert pool.specs[-1].options["idle_timeout"] == 5.0
        await service.change("box", timeouts={"retries": 0})
        assert pool.specs[-1].options["retries"] == 0
        assert "idle_timeout" not in pool.specs[-1].options
        assert len(pool.workers) == 1


async def test_how_a_model_writes_is_known_with_the_model(running: Running, server: ModelServer) -> None:
    async with running() as (service, pool):
        await add(service, server.url)
        await service.change("box", formats={"b": RawFormat("pythonic")})
        (status,) = pool.workers.values()
        assert {model.name: model.format for model in status.models} == {
            "a": None,
            "b": RawFormat("pythonic"),
        }
        assert len(pool.specs) == 1  # no worker was restarted for that


async def test_the_preset_of_a_model_is_known_with_the_model(running: Running, server: ModelServer) -> None:
    preset = ModelPreset({"temperature": PresetEntry(0.2, force=True)})
    async with running() as (service, pool):
        await add(service, server.url)
        await service.change("box", presets={"b": preset})
        (status,) = pool.workers.values()
        assert {model.name: model.preset for model in status.models} == {"a": None, "b": preset}
        assert len(pool.specs) == 1  # no worker was restarted for that


async def test_what_an_admin_says_of_a_model_holds_after_the_server_was_asked_again_and_after_a_restart(
    running: Running, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_module, "EVERY", 0.01)

    def takes(pool: PlayedPool) -> dict[str, object]:
        (status,) = pool.workers.values()
        return {model.name: model.modalities for model in status.models}

    async with running() as (service, pool):
        await add(service, server.url)
        await service.change("box", modalities={"a": ["image", "image"]})
        assert takes(pool) == {"a": ("text", "image"), "b": None}
        assert len(pool.specs) == 1  # no worker was restarted for that
        server.models = [{"id": "a", "input_modalities": ["text"]}, {"id": "c"}]
        await until(lambda: pool.served() == {"box": ["a", "c"]})
        assert takes(pool)["a"] == ("text", "image")
    async with running() as (_, pool):
        assert takes(pool)["a"] == ("text", "image")


async def test_several_servers_are_served_side_by_side_in_the_order_of_their_connection(
    running: Running, server: ModelServer
) -> None:
    with serving(ModelServer([{"id": "a"}])) as other:
        async with running() as (service, pool):
            await add(service, server.url, "zoo")
            await add(service, other.url, "ark")
            assert pool.served() == {"zoo": ["a", "b"], "ark": ["a"]}
        async with running() as (service, pool):
            assert [each.stored.name for each in service.servers()] == ["zoo", "ark"]


async def test_a_name_is_made_of_the_kind_or_the_host(running: Running, server: ModelServer) -> None:
    async with running() as (service, _):
        for kind in ("ollama", "ollama", "other"):
            await service.add("", kind, server.url, "", None, "anna")
        assert [each.stored.name for each in service.servers()] == ["ollama", "ollama-2", "127.0.0.1"]


async def test_a_name_is_taken_once_and_has_a_form(running: Running, server: ModelServer) -> None:
    async with running() as (service, _):
        await add(service, server.url)
        with pytest.raises(Problem, match="named box is connected") as taken:
            await add(service, server.url)
        assert (taken.value.code, taken.value.status) == ("upstream_exists", 409)
        for name in ("Box", "a/b", "-x", "x" * 41):
            with pytest.raises(BadRequest, match="small letters"):
                await add(service, server.url, name)


async def test_there_is_a_most(
    running: Running, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_module, "MOST", 1)
    async with running() as (service, _):
        await add(service, server.url)
        with pytest.raises(BadRequest, match="which is the most"):
            await add(service, server.url, "second")


async def test_a_server_that_is_turned_off_has_no_worker(running: Running, server: ModelServer) -> None:
    async with running() as (service, pool):
        await add(service, server.url)
        assert (await service.change("box", enabled=False)).state == "off"
        assert pool.workers == {}
        assert (await service.change("box", enabled=True)).state == "ready"
        assert pool.served() == {"box": ["a", "b"]}


async def test_a_removed_server_is_gone_with_its_worker(running: Running, server: ModelServer) -> None:
    async with running() as (service, pool):
        await add(service, server.url, key=KEY)
        await service.remove("box")
        assert pool.workers == {}
        with pytest.raises(NotFound):
            await service.remove("box")
        with pytest.raises(NotFound):
            await service.change("box", enabled=True)
    async with running() as (service, _):
        assert service.servers() == []


async def test_a_lost_key_file_says_that_the_key_must_be_entered_again(
    running: Running, server: ModelServer, tmp_path: Path
) -> None:
    async with running() as (service, _):
        await add(service, server.url, key=KEY)
    (tmp_path / "upstreams.key").unlink()
    async with running() as (service, pool):
        [box] = service.servers()
        assert box.state == "problem"
        assert box.problem is not None
        assert box.problem.code == "upstream_key_lost"
        assert "Enter the key again" in box.problem.message
        assert pool.workers == {}
        assert (await service.change("box", key=KEY)).state == "ready"
        assert pool.specs[0].options["key"] == KEY


async def test_a_stored_key_is_not_sent_to_another_address(running: Running, server: ModelServer) -> None:
    with serving(ModelServer()) as other:
        async with running() as (service, _):
            await add(service, server.url, key=KEY)
            with pytest.raises(BadRequest) as needed:
                await service.change("box", url=other.url)
            assert needed.value.code == "upstream_key_needed"
            await service.test(other.url, "other", "", name="box")
            assert [request.key for request in other.requests if request.key] == []
            await service.change("box", url=other.url, key="another")
            assert other.requests[-1].key == "another"


async def test_a_key_can_be_removed(running: Running, server: ModelServer) -> None:
    async with running() as (service, _):
        await add(service, server.url, key=KEY)
        changed = await service.change("box", key="")
        assert changed.stored.key is None
        assert server.requests[-1].key == ""


async def test_no_log_line_has_a_key(
    running: Running, server: ModelServer, caplog: pytest.LogCaptureFixture
) -> None:
    server.key = "another"
    with caplog.at_level(logging.DEBUG):
        async with running() as (service, _):
            assert await add(service, server.url, key=KEY) == "problem"
            await service.test(server.url, "other", "", name="box")
    assert KEY not in caplog.text


async def test_an_address_of_the_settings_is_left_to_the_settings(
    running: Running, server: ModelServer
) -> None:
    async with running() as (service, _):
        await add(service, server.url)
    async with running(engine="remote", **{"upstream.url": server.url}) as (service, pool):
        [box] = service.servers()
        assert (box.state, box.problem and box.problem.code) == ("problem", "upstream_in_settings")
        assert pool.workers == {}
    async with running() as (_, pool):
        assert pool.served() == {"box": ["a", "b"]}


async def test_this_server_is_not_connected_to_itself(running: Running) -> None:
    async with running(port=18006) as (service, _):
        for url in ("http://127.0.0.1:18006", "localhost:18006"):
            with pytest.raises(BadRequest, match="Duologue itself"):
                await add(service, url)


async def test_a_test_lists_the_models_and_has_one_reply(running: Running, server: ModelServer) -> None:
    server.models = [{"id": "huge"}, {"id": "small-mini"}]
    async with running() as (service, _):
        tested = await service.test(server.url, "other", "")
        assert [model.name for model in tested.models] == ["huge", "small-mini"]
        assert (tested.asked, tested.reply, tested.problem) == ("small-mini", "Hello there", None)
        assert (await service.test(server.url, "other", "", model="huge")).asked == "huge"


async def test_a_test_says_what_is_wrong_and_how_far_it_came(running: Running, server: ModelServer) -> None:
    async with running() as (service, _):
        nothing = await service.test(f"http://127.0.0.1:{free_port()}", "other", "")
        assert nothing.problem is not None
        assert nothing.problem.code == "upstream_unreachable"
        server.models = []
        empty = await service.test(server.url, "other", "")
        assert empty.problem is not None
        assert empty.problem.code == "upstream_empty"
        server.models = [{"id": "a"}]
        server.reply = " "
        silent = await service.test(server.url, "other", "")
        assert silent.problem is not None
        assert (silent.asked, silent.problem.code) == ("a", "upstream_failed")


async def test_a_test_uses_the_stored_key_of_a_connected_server(
    running: Running, server: ModelServer
) -> None:
    server.key = KEY
    async with running() as (service, _):
        await add(service, server.url, key=KEY)
        assert (await service.test(server.url, "other", "", name="box")).problem is None


async def test_found_servers_say_whether_they_are_connected(running: Running, server: ModelServer) -> None:
    with serving(ModelServer([{"id": "m", "owned_by": "vllm"}])) as other:
        async with running(discover=[server.url, other.url]) as (service, _):
            await add(service, server.url)
            found = await service.discovered()
            assert [(each.kind, name) for each, name in found] == [("other", "box"), ("vllm", "")]


async def test_one_server_that_is_slow_keeps_no_other_from_being_asked(
    running: Running, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(ModelServer([{"id": "slow"}])) as slow:
        async with running() as (service, _):
            await add(service, slow.url, "slow")
            await add(service, server.url)
        slow.silent.set()
        async with running() as (service, pool):
            assert pool.served() == {"slow": ["slow"], "box": ["a", "b"]}
            states = {each.stored.name: each for each in service.servers()}
            await until(lambda: states["box"].state == "ready")
            assert states["slow"].state == "waiting"


async def test_what_another_gateway_has_changed_is_served_and_the_others_keep_their_workers(
    running: Running, server: ModelServer
) -> None:
    with serving(ModelServer([{"id": "c"}])) as other:
        # Both in one data folder, so that they have one key file; the second database is that of the first.
        async with running() as (one, _), running() as (two, pool):
            for name in ("kept", "gone", "moved", "fewer"):
                await add(one, server.url, name, key=KEY)
            await two.reload()
            await until(lambda: all(each.state == "ready" for each in two.servers()))
            assert {spec.options["key"] for spec in pool.specs} == {KEY}
            kept = {status.upstream: name for name, status in pool.workers.items()}
            await one.remove("gone")
            await one.change("moved", url=other.url, key="")
            await one.change("fewer", chosen=["b"])
            await add(one, other.url, "new")
            await two.reload()
            await until(lambda: pool.served().get("moved") == ["c"] and pool.served().get("new") == ["c"])
            assert pool.served() == {"kept": ["a", "b"], "fewer": ["b"], "moved": ["c"], "new": ["c"]}
            now = {status.upstream: name for name, status in pool.workers.items()}
            assert {name for name in kept if now.get(name) == kept[name]} == {"kept", "fewer"}
            started = len(pool.specs)
            await two.reload()
            assert len(pool.specs) == started


async def test_a_reload_during_an_own_change_waits_for_it(running: Running, server: ModelServer) -> None:
    async with running() as (service, pool):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(add, service, server.url)
            tasks.start_soon(service.reload)
        assert pool.served() == {"box": ["a", "b"]}
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(service.reload)
            tasks.start_soon(service.remove, "box")
        await service.reload()
        assert (pool.served(), service.servers()) == ({}, [])


async def test_the_models_that_are_seen_overwrite_nothing_that_another_gateway_has_changed(
    running: Running, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(service_module, "EVERY", 0.01)
    async with running() as (one, _), running() as (two, pool):
        await add(one, server.url)
        await two.reload()
        await until(lambda: pool.served() == {"box": ["a", "b"]})
        await one.change("box", presets={"a": ModelPreset({"temperature": PresetEntry(0.2)})})
        server.models = [{"id": "a"}]
        await until(lambda: pool.served() == {"box": ["a"]})
        await two.reload()
        assert "a" in two.servers()[0].stored.presets
