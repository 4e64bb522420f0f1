"""A request about what another gateway has reaches it, as its user's own, once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import anyio
import httpx
import pytest
from starlette.types import Message, Receive, Scope, Send
from tests.support.passing_gateways import ONE, THREE, TWO, BreaksOff, Gateway

from duologue.values.cluster.gateway_entry import GatewayEntry

pytestmark = pytest.mark.anyio


@pytest.fixture
def pair() -> tuple[Gateway, Gateway]:
    one, two = Gateway(ONE), Gateway(TWO)
    one.reaches(two, owners={"conversation:far": TWO, "conversation:lost": THREE})
    two.reaches(one)
    return one, two


async def test_what_another_gateway_has_is_asked_of_it_with_body_key_and_the_clients_address(pair):
    one, two = pair
    headers = {"authorization": "Bearer mine", "origin": "http://example.org", "cookie": "a=b"}
    async with one.client() as client:
        answer = await client.patch(f"/api/uploads/{TWO[:12]}?x=1", content=b"piece", headers=headers)
    assert (answer.text, answer.headers["x-own"]) == ("2 piece", "yes")
    (seen,) = two.seen
    assert not one.seen
    assert seen.url.query == "x=1"
    assert seen.headers["authorization"] == "Bearer mine"
    assert seen.headers["cookie"] == "a=b"
    assert "origin" not in seen.headers
    assert seen.client is not None
    assert seen.client.host == "198.51.100.7"


async def test_what_this_gateway_has_and_everything_else_is_answered_here(pair):
    one, two = pair
    async with one.client() as client:
        assert (await client.get(f"/api/uploads/{ONE[:12]}")).text == "1 "
        assert (await client.get(f"/api/uploads/{'9' * 12}")).text == "1 "
        assert (await client.get("/api/conversations/near")).text == "1 "
        assert (await client.get("/api/status")).text == "1 "
    assert not two.seen


async def test_a_claimed_conversation_is_asked_of_its_owner_and_of_a_dead_one_it_is_said_that_it_is_lost(
    pair,
):
    one, _ = pair
    async with one.client() as client:
        assert (await client.get("/api/conversations/far")).text == "2 "
        lost = await client.get("/api/conversations/lost")
    assert (lost.status_code, lost.json()["error"]["code"]) == (410, "gateway_gone")


async def test_the_last_gateway_says_too_what_was_lost_with_the_others(pair):
    one, _ = pair
    one.neighbours.living = lambda: [GatewayEntry(ONE, "", "http://1", "", 7, 0, 0)]
    async with one.client() as client:
        lost = await client.post("/api/conversations/lost/runs", json={})
        assert (await client.get("/api/conversations/near")).text == "1 "
    assert (lost.status_code, lost.json()["error"]["code"]) == (410, "gateway_gone")


async def test_a_request_is_passed_on_once_even_where_both_believe_the_other_has_it(pair):
    one, two = pair
    two.reaches(one, owners={"conversation:far": ONE})
    async with one.client() as client:
        assert (await client.get("/api/conversations/far")).text == "2 "
    assert not one.seen


async def test_an_owner_that_cannot_be_reached_is_told_with_when_to_try_again(pair):
    one, _ = pair
    three = GatewayEntry(THREE, "", "http://3", "", 7, 0, 0)
    one.neighbours.living = lambda: [three]
    async with one.client() as client:
        answer = await client.get(f"/api/queue/q_{'3' * 8}_1")
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "gateway_unreachable")
    assert answer.headers["retry-after"] == "5"


async def test_an_owner_that_says_nothing_is_given_up_when_its_lease_is_over(pair):
    one, two = pair
    asked = anyio.Event()

    async def is_suspended(scope: Scope, receive: Receive, send: Send) -> None:
        asked.set()
        await anyio.sleep_forever()

    two.becomes(is_suspended)
    one.reaches(two, owners={"conversation:far": TWO})
    answers: list[httpx.Response] = []

    async def ask() -> None:
        async with one.client() as client:
            answers.append(await client.get("/api/conversations/far"))

    with anyio.fail_after(60):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(ask)
            await asked.wait()
            one.neighbours.living = lambda: [GatewayEntry(ONE, "", "http://1", "", 7, 0, 0)]
            one.neighbours.changed.notify()
    (answer,) = answers
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "gateway_unreachable")
    async with one.client() as client:
        assert (await client.get("/api/conversations/far")).json()["error"]["code"] == "gateway_gone"


async def test_a_run_that_is_not_known_here_is_asked_of_the_others_with_the_same_body():
    one, two = Gateway(ONE, has=("/none",)), Gateway(TWO, has=("/api/runs/r/stop",))
    one.reaches(two)
    async with one.client() as client:
        assert (await client.post("/api/runs/r/stop", content=b"why")).text == "2 why"
        unknown = await client.post("/api/runs/q/stop")
    assert (unknown.status_code, unknown.text) == (404, "unknown")


@pytest.mark.parametrize(("address", "status"), [("http://3", 503), ("", 404)])
async def test_what_only_a_gateway_may_know_that_cannot_be_reached_is_not_said_to_be_unknown(address, status):
    one, two = Gateway(ONE, has=("/none",)), Gateway(TWO, has=("/api/runs/r/stop",))
    one.reaches(two)
    known = one.neighbours.living()
    one.neighbours.living = lambda: [GatewayEntry(THREE, "", address, "", 7, 0, 0), *known]
    async with one.client() as client:
        assert (await client.post("/api/runs/r/stop", content=b"why")).text == "2 why"
        assert (await client.get("/api/runs/q")).status_code == status


async def spoken(gateway: Gateway, method: str, path: str, *heard: Message) -> list[Message]:
    """What a gateway says to a request of which it hears this; an error at its end is not told."""
    said: list[Message] = []
    left = iter(heard)

    async def receive() -> Message:
        if (message := next(left, None)) is None:
            await anyio.sleep_forever()
        assert message is not None
        return message

    async def send(message: Message) -> None:
        said.append(message)

    fields = {
        "type": "http",
        "method": method,
        "path": path,
        "query_string": b"",
        "client": ("198.51.100.7", 1),
    }
    with pytest.raises(OSError, match="broke off") if method == "GET" else nullcontext():
        await gateway.app({**fields, "headers": [(b"content-length", b"5")], "state": {}}, receive, send)
    return said


@pytest.mark.parametrize("path", ["/api/conversations/far", "/api/runs/r/events"])
async def test_an_answer_that_breaks_off_is_neither_finished_nor_begun_again(path):
    one, two, three = Gateway(ONE, has=("/none",)), Gateway(TWO), Gateway(THREE, has=("/none",))
    one.reaches(two, three, owners={"conversation:far": TWO})
    breaks = httpx.MockTransport(lambda request: httpx.Response(200, stream=BreaksOff()))
    one.neighbours._client = httpx.AsyncClient(transport=breaks)
    said = await spoken(one, "GET", path, {"type": "http.request", "body": b"hello", "more_body": False})
    assert [message["type"] for message in said] == ["http.response.start", "http.response.body"]
    assert (said[0]["status"], said[1]["body"], said[1]["more_body"]) == (200, b"half", True)


async def test_a_client_that_leaves_while_it_sends_is_not_blamed_on_the_other_gateway(pair, caplog):
    one, _ = pair
    said = await spoken(one, "PATCH", f"/api/uploads/{TWO[:12]}", {"type": "http.disconnect"})
    assert said == []
    assert not [record for record in caplog.records if record.name.startswith("duologue")]


def listing(gateway: Gateway, *questions: str) -> None:
    """The open questions of the user that this gateway knows, by the number of their time."""
    gateway.lists = {"approvals": [{"id": id, "created": int(id[1:])} for id in questions]}


async def test_a_list_of_which_each_gateway_has_a_part_is_gathered_from_all_that_answer(pair):
    one, two = pair
    listing(one, "q1", "q4")
    listing(two, "q1", "q2")
    three = GatewayEntry(THREE, "", "http://3", "", 7, 0, 0)
    known = one.neighbours.living()
    one.neighbours.living = lambda: [*known, three]
    async with one.client() as client:
        answer = await client.get("/api/approvals", headers={"authorization": "Bearer mine"})
    assert [entry["id"] for entry in answer.json()["approvals"]] == ["q1", "q2", "q4"]
    assert int(answer.headers["content-length"]) == len(answer.content)
    assert two.seen[-1].headers["authorization"] == "Bearer mine"


async def test_a_list_is_not_gathered_where_this_gateway_refuses_the_user(pair):
    one, two = pair
    one.has = ("/none",)
    listing(two, "q2")
    async with one.client() as client:
        answer = await client.get("/api/approvals")
    assert (answer.status_code, answer.text) == (404, "unknown")


async def test_nobody_else_can_say_whose_address_it_is(pair):
    one, _ = pair
    hop = {"x-duologue-hop": f"{TWO} 1800000000 203.0.113.9 {'0' * 64}"}
    async with one.client() as client:
        await client.get("/api/status", headers=hop)
    assert one.seen[-1].client is not None
    assert one.seen[-1].client.host == "198.51.100.7"


async def test_a_gateway_without_others_looks_at_nothing():
    one = Gateway(ONE)
    one.neighbours.living = list
    looked: Callable[..., Any] | None = None
    one.neighbours.owner = looked
    async with one.client() as client:
        assert (await client.get("/api/conversations/far")).text == "1 "
