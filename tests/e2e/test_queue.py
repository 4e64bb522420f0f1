"""The queue of a real server: places told on every way that a request can come, tickets that can be looked up and cancelled."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from tests.e2e.conftest import Server
from tests.support.conversation_client import content, new_id
from websockets.sync.client import connect

pytestmark = pytest.mark.system

PLACE = re.compile(r"^: queue position=(\d+) wait=(\d+\.\d) ticket=(q_\w+)$")
HANG = "/say hello\n/hang"
DIALECTS: dict[str, tuple[str, dict[str, Any]]] = {
    "chat": ("/v1/chat/completions", {"messages": [{"role": "user", "content": "/say hi"}]}),
    "responses": ("/v1/responses", {"input": "/say hi", "store": False}),
    "messages": ("/v1/messages", {"messages": [{"role": "user", "content": "/say hi"}], "max_tokens": 50}),
    "completions": ("/v1/completions", {"prompt": "/say hi", "max_tokens": 50}),
    "llama-server's": ("/completion", {"prompt": "/say hi", "n_predict": 50}),
}


@pytest.fixture(scope="module")
def busy(lasting: Callable[..., Server]) -> Server:
    """A server with one slot."""
    return lasting("--engine", "scripted", "--slots", "1").ready()


@contextmanager
def occupied(server: Server) -> Iterator[None]:
    """The slot is in use meanwhile."""
    body = {"messages": [{"role": "user", "content": HANG}], "stream": True}
    with (
        httpx.Client(base_url=server.url, timeout=60) as client,
        client.stream("POST", "/v1/chat/completions", json=body) as answer,
    ):
        lines = answer.iter_lines()
        while "hello" not in next(lines):
            pass
        yield
    server.until(lambda: server.status()["slots_busy"] == 0)


def place_of(server: Server, ticket: str) -> dict[str, Any]:
    found: dict[str, Any] = httpx.get(f"{server.url}/api/queue/{ticket}", timeout=60).json()
    return found


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_stream_is_told_its_places_and_can_be_found_and_cancelled_by_its_ticket(
    busy: Server, dialect: str
) -> None:
    path, body = DIALECTS[dialect]
    with (
        occupied(busy),
        httpx.Client(base_url=busy.url, timeout=60) as client,
        client.stream("POST", path, json=body | {"model": "scripted", "stream": True}) as answer,
    ):
        assert answer.status_code == 200
        ticket = answer.headers["x-duologue-ticket"]
        told: list[tuple[int, float]] = []
        after: list[str] = []
        for line in answer.iter_lines():
            if match := PLACE.match(line):
                assert match[3] == ticket
                told.append((int(match[1]), float(match[2])))
                if len(told) == 2:
                    row = place_of(busy, ticket)
                    assert row["found"]
                    assert (row["ticket"]["ticket_id"], row["ticket"]["position"]) == (ticket, 1)
                    assert row["ticket"]["eta_seconds"] > 0
                    gone = client.delete(f"/api/queue/{ticket}")
                    assert gone.json()["success"]
            elif line:
                after.append(line)
    assert [position for position, _ in told[:2]] == [1, 1], "again after 3 s, though it has not moved"
    assert all(wait > 0 for _, wait in told)
    assert any("cancelled" in line for line in after)
    assert not place_of(busy, ticket)["found"]
    assert httpx.delete(f"{busy.url}/api/queue/{ticket}").status_code == 404


def test_a_whole_answer_says_its_ticket_and_how_long_it_waited(busy: Server) -> None:
    path, body = DIALECTS["chat"]
    answers: list[httpx.Response] = []
    with occupied(busy):
        waiting = threading.Thread(
            target=lambda: answers.append(httpx.post(f"{busy.url}{path}", json=body, timeout=60))
        )
        waiting.start()
        busy.until(lambda: busy.status()["queue_length"] == 1)
    waiting.join(60)
    [answer] = answers
    assert answer.status_code == 200
    assert answer.headers["x-duologue-ticket"].startswith("q_")
    assert int(answer.headers["x-duologue-queue-wait-ms"]) > 0
    at_once = httpx.post(f"{busy.url}{path}", json=body, timeout=60)
    assert (
        int(at_once.headers["x-duologue-queue-wait-ms"])
        < int(answer.headers["x-duologue-queue-wait-ms"]) + 1000
    )


def test_a_cancelled_whole_answer_is_503_and_says_when_to_try_again(busy: Server) -> None:
    path, body = DIALECTS["responses"]
    answers: list[httpx.Response] = []
    with occupied(busy):
        waiting = threading.Thread(
            target=lambda: answers.append(httpx.post(f"{busy.url}{path}", json=body, timeout=60))
        )
        waiting.start()
        busy.until(lambda: busy.status()["queue_length"] == 1)
        [row] = httpx.get(f"{busy.url}/api/queue", timeout=60).json()["items"]
        httpx.delete(f"{busy.url}/api/queue/{row['ticket_id']}", timeout=60).raise_for_status()
        waiting.join(60)
    [answer] = answers
    assert answer.status_code == 503
    assert answer.headers["x-duologue-ticket"] == row["ticket_id"]
    assert int(answer.headers["retry-after"]) >= 1


def test_a_full_queue_says_when_a_place_is_likely_to_be_free(lasting: Callable[..., Server]) -> None:
    server = lasting("--engine", "scripted", "--slots", "1", DUOLOGUE_QUEUE__LIMIT="1").ready()
    path, body = DIALECTS["chat"]
    with (
        occupied(server),
        httpx.Client(base_url=server.url, timeout=60) as client,
        client.stream("POST", path, json=body | {"stream": True}),
    ):
        refused = client.post(path, json=body)
    assert (refused.status_code, refused.json()["error"]["code"]) == (503, "queue_full")
    assert 1 <= int(refused.headers["retry-after"]) <= 60


def test_four_choices_come_from_one_slot(busy: Server) -> None:
    path, body = DIALECTS["chat"]
    answer = httpx.post(f"{busy.url}{path}", json=body | {"n": 4}, timeout=60)
    assert [choice["message"]["content"] for choice in answer.json()["choices"]] == ["hi"] * 4
    busy.until(lambda: busy.status()["slots_busy"] == 0)
    assert busy.status()["queue_length"] == 0


def test_a_chat_socket_is_told_its_place_again_every_few_seconds(busy: Server) -> None:
    with occupied(busy), connect(busy.url.replace("http", "ws") + "/ws/chat") as socket:
        socket.send(json.dumps({"messages": [{"role": "user", "content": "/say hi"}], "streaming": True}))
        told: list[dict[str, Any]] = []
        while len(told) < 2:
            message = json.loads(socket.recv(30))
            if message["type"] in ("queued", "queue_update"):
                told.append(message)
    assert [message["type"] for message in told] == ["queued", "queue_update"]
    assert {message["ticket_id"] for message in told} == {told[0]["ticket_id"]}
    assert all(message["position"] == 1 and message["estimated_wait_s"] > 0 for message in told)


def test_the_events_of_a_run_tell_its_place_again_every_few_seconds(busy: Server) -> None:
    with occupied(busy), httpx.Client(base_url=busy.url, timeout=60) as client:
        conversation, run, message = new_id(), new_id(), {"id": new_id(), "content": content("/say hi")}
        client.post("/api/conversations", json={"id": conversation}).raise_for_status()
        sent = client.post(
            f"/api/conversations/{conversation}/runs", json={"verb": "send", "run": run, "message": message}
        )
        sent.raise_for_status()
        places: list[dict[str, Any]] = []
        with client.stream("GET", f"/api/runs/{run}/events") as events:
            for line in events.iter_lines():
                if line.startswith("data: ") and (event := json.loads(line[6:])).get("waiting") == "queue":
                    places.append(event)
                    if len(places) == 2:
                        break
    assert all(place["position"] == 1 and place["wait"] > 0 for place in places)
