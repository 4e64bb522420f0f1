"""`/api/upstreams` over HTTP: for admins, with bounds, and without a key in any answer."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from tests.support.model_server import ModelServer, serving
from tests.support.upstream_service import Running

from duologue.gateway.upstreams.upstream_routes import router
from duologue.http.error_responses import exception_handlers

pytestmark = pytest.mark.anyio
KEY = "sk-very-secret"


class Desk:
    """The routes, for an admin unless the test says otherwise."""

    def __init__(self, service: Any) -> None:
        self.role = "admin"
        self.app = FastAPI(exception_handlers=exception_handlers())
        self.app.include_router(router(service))

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        scope["state"] = {"role": self.role, "user": "anna"}
        await self.app(scope, receive, send)


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with serving(ModelServer([{"id": "a", "max_model_len": 4096}, {"id": "b"}], key=KEY)) as server:
        yield server


@pytest.fixture
async def desk(running: Running, server: ModelServer) -> AsyncIterator[Desk]:
    async with running(discover=[server.url]) as (service, _):
        yield Desk(service)


@pytest.fixture
async def http(desk: Desk) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(desk)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as client:
        yield client


async def test_a_server_is_connected_listed_changed_and_removed(
    http: httpx.AsyncClient, server: ModelServer
) -> None:
    answer = await http.post("/api/upstreams", json={"url": server.url, "kind": "vllm", "key": KEY})
    assert answer.status_code == 201
    row = answer.json()
    assert (row["name"], row["title"], row["state"], row["has_key"], row["user"]) == (
        "vllm",
        "vLLM",
        "ready",
        True,
        "anna",
    )
    assert row["models"] == [
        {
            "name": "a",
            "context": 4096,
            "vision": None,
            "tools": None,
            "modalities": None,
            "outputs": ["text"],
        },
        {
            "name": "b",
            "context": None,
            "vision": None,
            "tools": None,
            "modalities": None,
            "outputs": ["text"],
        },
    ]
    changed = (await http.patch("/api/upstreams/vllm", json={"models": ["b"]})).json()
    assert ([model["name"] for model in changed["models"]], changed["offered"]) == (["b"], ["a", "b"])
    assert (await http.patch("/api/upstreams/vllm", json={"enabled": False})).json()["chosen"] == ["b"]
    assert (await http.patch("/api/upstreams/vllm", json={"models": None})).json()["chosen"] is None
    listed = (await http.get("/api/upstreams")).json()
    assert [each["state"] for each in listed["upstreams"]] == ["off"]
    assert "openai" in [provider["kind"] for provider in listed["providers"]]
    assert (await http.delete("/api/upstreams/vllm")).status_code == 204
    assert (await http.get("/api/upstreams")).json()["upstreams"] == []


async def test_no_answer_has_a_key(http: httpx.AsyncClient, server: ModelServer) -> None:
    answers = [
        await http.post("/api/upstreams", json={"url": server.url, "key": KEY, "name": "box"}),
        await http.patch("/api/upstreams/box", json={"key": KEY}),
        await http.get("/api/upstreams"),
        await http.get("/api/upstreams/discovered"),
        await http.post("/api/upstreams/test", json={"url": server.url, "key": KEY}),
        await http.post("/api/upstreams", json={"url": server.url, "key": KEY, "name": "Not A Name"}),
        await http.post("/api/upstreams", json={"url": server.url, "key": KEY * 1000}),
        await http.post("/api/upstreams", json={"url": server.url, "key": [KEY]}),
    ]
    assert [answer.status_code for answer in answers] == [201, 200, 200, 200, 200, 400, 400, 400]
    for answer in answers:
        assert KEY not in answer.text


async def test_a_test_answers_with_what_it_found_and_with_what_went_wrong(
    http: httpx.AsyncClient, server: ModelServer
) -> None:
    good = (await http.post("/api/upstreams/test", json={"url": server.url, "key": KEY})).json()
    assert (good["asked"], good["reply"], good["problem"]) == ("a", "Hello there", None)
    bad = (await http.post("/api/upstreams/test", json={"url": server.url, "key": "wrong"})).json()
    assert (bad["models"], bad["problem"]["code"]) == ([], "upstream_refused")
    assert (bad["problem"]["reason"], bad["problem"]["detail"]) == (
        "key_refused",
        "The key '***' is not valid.",
    )


async def test_found_servers_are_listed(http: httpx.AsyncClient, server: ModelServer) -> None:
    [found] = (await http.get("/api/upstreams/discovered")).json()["found"]
    assert found == {
        "kind": "other",
        "title": server.url.removeprefix("http://"),
        "url": server.url + "/v1",
        "models": [],
        "needs_key": True,
        "connected": None,
    }


async def test_only_admins_may_do_any_of_this(
    http: httpx.AsyncClient, desk: Desk, server: ModelServer
) -> None:
    desk.role = "user"
    for method, path in (
        ("GET", ""),
        ("POST", ""),
        ("POST", "/test"),
        ("GET", "/discovered"),
        ("PATCH", "/box"),
        ("DELETE", "/box"),
    ):
        answer = await http.request(method, f"/api/upstreams{path}", json={"url": server.url})
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "admin_needed"), (method, path)
    assert server.requests == []


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "url"),
        ({"url": "ftp://x"}, "url"),
        ({"url": "http://x", "kind": "unheard-of"}, "kind"),
        ({"url": "http://x", "models": ["x" * 201]}, "models.0"),
        ({"url": "http://x", "models": [str(number) for number in range(1001)]}, "models"),
        ({"url": "http://x", "colour": "red"}, "colour"),
    ],
)
async def test_a_body_that_is_wrong_names_the_field(
    http: httpx.AsyncClient, body: dict[str, Any], param: str
) -> None:
    answer = await http.post(
        "/api/upstreams", content=json.dumps(body), headers={"content-type": "application/json"}
    )
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)


async def test_an_admin_says_what_a_model_takes_where_its_server_does_not(
    http: httpx.AsyncClient, server: ModelServer
) -> None:
    async def takes(**change: Any) -> dict[str, Any]:
        row = (await http.patch("/api/upstreams/box", json=change)).json()
        assert row == (await http.get("/api/upstreams")).json()["upstreams"][0]
        return {model["name"]: model["modalities"] for model in row["models"]}

    await http.post("/api/upstreams", json={"url": server.url, "key": KEY, "name": "box"})
    assert await takes(modalities={"a": ["audio", "image"]}) == {"a": ["text", "image", "audio"], "b": None}
    assert await takes(models=["a"]) == {"a": ["text", "image", "audio"]}, "absent fields stay"
    assert await takes(models=None, modalities={"b": []}) == {"a": None, "b": ["text"]}, (
        "said anew, and text alone"
    )
    assert await takes(modalities={}) == {"a": None, "b": None}
    row = (await http.patch("/api/upstreams/box", json={"outputs": {"b": ["audio"]}})).json()
    assert [model["outputs"] for model in row["models"]] == [["text"], ["text", "audio"]]
    assert row["outputs"] == {"b": ["audio"]}
    assert await takes(modalities={"a": ["image"]}) == {"a": ["text", "image"], "b": None}
    assert (await http.get("/api/upstreams")).json()["upstreams"][0]["outputs"] == {"b": ["audio"]}
    assert (await http.patch("/api/upstreams/box", json={"outputs": {"b": ["text"]}})).status_code == 400
    row = (await http.patch("/api/upstreams/box", json={"formats": {"b": {"opens_thoughts": True}}})).json()
    assert row["formats"] == {"b": {"opens_thoughts": True}}
    assert (await http.patch("/api/upstreams/box", json={"enabled": True})).json()["formats"] == row[
        "formats"
    ]
    for writing in ({"opens": True}, "hermes", {"tool_format": "x" * 41}):
        answer = await http.patch("/api/upstreams/box", json={"formats": {"b": writing}})
        assert answer.status_code == 400, writing
    for wrong in ({"a": ["text"]}, {"a": ["smell"]}, {"": ["image"]}, {"a": "image"}, ["a"]):
        answer = await http.patch("/api/upstreams/box", json={"modalities": wrong})
        assert answer.status_code == 400, wrong


async def test_presets_of_models_are_set_shown_and_kept(http: httpx.AsyncClient, server: ModelServer) -> None:
    await http.post("/api/upstreams", json={"url": server.url, "key": KEY, "name": "box"})
    said = {"sampling": {"temperature": 0.2, "stop": {"override": ["END"], "additive": True}}}
    row = (await http.patch("/api/upstreams/box", json={"presets": {"b": said}})).json()
    assert row["presets"] == {
        "b": {
            "sampling": {
                "temperature": {"override": 0.2, "force": False, "additive": False},
                "stop": {"override": ["END"], "force": False, "additive": True},
            },
            "force_enable_thinking": False,
        }
    }
    again = await http.patch("/api/upstreams/box", json={"presets": row["presets"]})
    assert again.json()["presets"] == row["presets"], "what is shown can be sent back"
    assert (await http.patch("/api/upstreams/box", json={"enabled": True})).json()["presets"] == row[
        "presets"
    ]
    assert (await http.patch("/api/upstreams/box", json={"presets": {}})).json()["presets"] == {}
    for preset in ({"sampling": {"heat": 1}}, {"sampling": {"temperature": "warm"}}, {"other": 1}):
        answer = await http.patch("/api/upstreams/box", json={"presets": {"b": preset}})
        assert answer.status_code == 400, preset


async def test_how_long_a_server_is_waited_for_is_said_with_it(
    http: httpx.AsyncClient, server: ModelServer
) -> None:
    body = {"url": server.url, "name": "box", "timeouts": {"first_timeout": 5.5, "retries": 0}}
    row = (await http.post("/api/upstreams", json=body)).json()
    assert row["timeouts"] == {"first_timeout": 5.5, "retries": 0}
    changed = await http.patch("/api/upstreams/box", json={"timeouts": {"idle_timeout": 2}})
    assert changed.json()["timeouts"] == {"idle_timeout": 2}
    for wrong in ({"idle_timeout": 0}, {"retries": 11}, {"retries": 0.5}, {"patience": 1}):
        answer = await http.patch("/api/upstreams/box", json={"timeouts": wrong})
        assert answer.status_code == 400, wrong
