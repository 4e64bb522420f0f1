"""What the routes have in common: who asks, the body, the answer, what /docs says."""

from typing import Any

import pytest
from starlette.requests import Request

from duologue.errors import BadRequest, Unsupported
from duologue.http import json_api
from duologue.values.conversations import Conversation, StoredMessage
from duologue.values.runs import RunEvent
from duologue.wire import api

pytestmark = pytest.mark.anyio


def request(
    body: bytes = b"", query: str = "", state: dict[str, str] | None = None, **headers: str
) -> Request:
    messages = iter([{"type": "http.request", "body": body}])

    async def receive() -> dict[str, Any]:
        return next(messages, {"type": "http.disconnect"})

    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "method": "POST", "query_string": query.encode(), "headers": raw}
    return Request(scope | ({"state": state} if state is not None else {}), receive)


def test_the_user_is_who_the_door_let_in() -> None:
    assert json_api.user_of(request(state={"user": "ann"})) == "ann"
    assert json_api.user_of(request()) == "local"


async def test_a_body_is_an_object_and_nothing_is_an_empty_one() -> None:
    assert await json_api.body_of(request(b'{"a": 1}')) == {"a": 1}
    assert await json_api.body_of(request()) == {}
    for body in (b"[1]", b"{", b"null", b"\xff"):
        with pytest.raises(BadRequest) as raised:
            await json_api.body_of(request(body))
        assert raised.value.code == "invalid_json"


async def test_a_compressed_body_is_refused() -> None:
    with pytest.raises(Unsupported) as raised:
        await json_api.body_of(request(b"{}", content_encoding="gzip"))
    assert raised.value.status == 415


async def test_a_body_is_read_as_a_model_or_refused_by_its_field() -> None:
    asked = await json_api.asked(request(b'{"name": "Kitchen"}'), api.FolderAsked)
    assert asked.name == "Kitchen"
    with pytest.raises(BadRequest, match="name is missing"):
        await json_api.asked(request(b"{}"), api.FolderAsked)


async def test_a_request_that_breaks_off_is_said_so() -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    with pytest.raises(BadRequest, match="broke off"):
        await json_api.body_of(Request({"type": "http", "headers": []}, receive))


@pytest.mark.parametrize(("said", "number"), [("", 7), ("1", 1), ("99", 99)])
def test_a_number_of_the_query(said: str, number: int) -> None:
    assert json_api.whole_number(request(query=f"limit={said}"), "limit", 7, most=99) == number


@pytest.mark.parametrize("said", ["0", "100", "-1", "x", "1.5", "²", "9" * 5000])
def test_a_number_of_the_query_that_is_none(said: str) -> None:
    with pytest.raises(BadRequest, match="from 1 to 99"):
        json_api.whole_number(request(query=f"limit={said}"), "limit", 7, most=99)


def test_a_flag_of_the_query() -> None:
    assert [json_api.flag(request(query=f"x={said}"), "x") for said in ("true", "1", "false", "0", "")] == [
        *(True, True),
        *(False, False, False),
    ]
    with pytest.raises(BadRequest, match="true or false"):
        json_api.flag(request(query="x=maybe"), "x")


def test_an_id_of_the_address_is_one_or_refused() -> None:
    assert json_api.checked_id("a-B_9") == "a-B_9"
    with pytest.raises(BadRequest, match="run must be 1 to 64 characters"):
        json_api.checked_id("../x", "run")


def test_an_answer_is_json_nobody_stores() -> None:
    said = json_api.answer(Conversation("c", "Brot"), 201)
    assert (said.status_code, bytes(said.body)) == (201, b'{"id":"c","title":"Brot"}')
    assert said.headers["cache-control"] == "no-store"
    assert json_api.nothing().status_code == 204


def test_the_documentation_says_all_of_a_route() -> None:
    told = dict(
        json_api.documented(
            body=(api.SendAsked, api.EditAsked), answers=StoredMessage, query={"leaf": "the branch"}
        ).items()
    )
    bodies = told["requestBody"]["content"]["application/json"]["schema"]["oneOf"]
    assert [body["title"] for body in bodies] == ["SendAsked", "EditAsked"]
    answer = told["responses"]["200"]["content"]["application/json"]["schema"]
    assert {"id", "conversation", "parent", "role"} <= set(answer["required"])
    assert told["parameters"][0]["name"] == "leaf"
    assert "$ref" not in str(told)


def test_a_union_of_events_is_documented_with_each_of_them() -> None:
    told = json_api.documented(answers=RunEvent, media="text/event-stream")
    assert told, "it is there before it is made"
    schema = dict(told.items())["responses"]["200"]["content"]["text/event-stream"]["schema"]
    assert len(schema["anyOf"]) == 11


def test_an_answer_without_a_body_has_no_schema() -> None:
    assert "content" not in dict(json_api.documented(status=204).items())["responses"]["204"]
    file = dict(json_api.documented(takes_file=True).items())
    assert "application/octet-stream" in file["requestBody"]["content"]
