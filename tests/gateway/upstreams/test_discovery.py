"""Servers on this machine are found, each for what it is; what is no model server is not shown."""

from contextlib import ExitStack

import pytest
from tests.support.model_server import ModelServer, serving
from tests.support.ports import free_port

from duologue.gateway.upstreams.discovery import find_servers, without_own

pytestmark = pytest.mark.anyio


async def test_every_server_that_answers_is_found_in_the_order_of_the_addresses() -> None:
    with ExitStack() as stack:
        ollama = stack.enter_context(serving(ModelServer([{"id": "llama", "owned_by": "library"}])))
        unknown = stack.enter_context(serving(ModelServer([{"id": "a"}, {"id": "b"}])))
        found = await find_servers([unknown.url, f"http://127.0.0.1:{free_port()}", ollama.url])
    assert [(server.kind, server.url) for server in found] == [
        ("other", unknown.url + "/v1"),
        ("ollama", ollama.url + "/v1"),
    ]
    assert [model.name for model in found[0].models] == ["a", "b"]
    assert found[1].title == "Ollama"
    # Nothing but the list is asked of a server that nobody has chosen.
    assert [request.path for request in ollama.requests] == ["/v1/models"]


async def test_a_server_that_asks_for_a_key_is_found_and_another_page_that_does_is_not() -> None:
    with (
        serving(ModelServer(key="secret")) as locked,
        serving(ModelServer(status=401, error="Log in")) as page,
    ):
        found = await find_servers([locked.url, page.url])
    assert [(server.url, server.needs_key) for server in found] == [(locked.url + "/v1", True)]


async def test_a_page_that_is_no_model_server_is_not_found() -> None:
    with serving(ModelServer(raw=b"<html>")) as page:
        assert await find_servers([page.url]) == []


def test_this_server_does_not_find_itself() -> None:
    assert without_own(["http://127.0.0.1:8000", "http://127.0.0.1:8080"], {8000}) == [
        "http://127.0.0.1:8080"
    ]
