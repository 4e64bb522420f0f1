"""What JSON routes have in common: the user, the body, the query, the answer."""

from typing import Any

import pytest
from starlette.requests import Request

from duologue.errors import BadRequest, Unsupported
from duologue.http import json_api
from duologue.values.conversations import Conversation
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


def test_the_user_is_the_authenticated_one() -> None:
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
    folder = await json_api.read_body(request(b'{"name": "Kitchen"}'), api.FolderBody)
    assert folder.name == "Kitchen"
    with pytest.raises(BadRequest, match="name is missing"):
        await json_api.read_body(request(b"{}"), api.FolderBody)


async def test_a_body_that_breaks_off_is_refused() -> None:
    async def receive() -> dict[str, Any]:
        return {"type": "http.disconnect"}

    with pytest.raises(BadRequest, match="ended before its body"):
        await json_api.body_of(Request({"type": "http", "headers": []}, receive))


@pytest.mark.parametrize(("text", "number"), [("", 7), ("1", 1), ("99", 99)])
def test_a_number_of_the_query(text: str, number: int) -> None:
    assert json_api.whole_number(request(query=f"limit={text}"), "limit", 7, most=99) == number


@pytest.mark.parametrize("text", ["0", "100", "-1", "x", "1.5", "²", "9" * 5000])
def test_a_number_of_the_query_that_is_none(text: str) -> None:
    with pytest.raises(BadRequest, match="from 1 to 99"):
        json_api.whole_number(request(query=f"limit={text}"), "limit", 7, most=99)


def test_a_flag_of_the_query() -> None:
    assert [json_api.flag(request(query=f"x={text}"), "x") for text in ("true", "1", "false", "0", "")] == [
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
    response = json_api.answer(Conversation("c", "Brot"), 201)
    assert (response.status_code, bytes(response.body)) == (201, b'{"id":"c","title":"Brot"}')
    assert response.headers["cache-control"] == "no-store"
    assert json_api.nothing().status_code == 204
