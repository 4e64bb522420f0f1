"""What a user has in flight: bodies until their response, socket messages until the next one is read."""

from __future__ import annotations

import json
from typing import Any

import anyio
import pytest

from duologue.errors import Busy
from duologue.gateway.middleware.byte_ledger import ByteLedger, count
from duologue.gateway.middleware.bytes_in_flight import ARRIVING, BytesInFlight

pytestmark = pytest.mark.anyio


class Server:
    """An application that reads whole bodies and all messages, and answers when `release` is set."""

    def __init__(self, limit: int = 100) -> None:
        self.ledger = ByteLedger(limit)
        self.release = anyio.Event()
        self.sent: list[Any] = []
        self.heard: list[Any] = []
        self._guard = BytesInFlight(self._app, self.ledger, streamed=["/api/blobs"])

    async def _app(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "websocket":
            while (message := await receive())["type"] == "websocket.receive":
                self.heard.append(message)
                await self.release.wait()
            return
        while (await receive()).get("more_body"):
            pass
        await self.release.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def visit(
        self, *pieces: int, kind: str = "http", path: str = "/x", user: str = "ada", declared: int = 0
    ) -> None:
        left = list(pieces)

        async def receive() -> Any:
            if not left:
                assert kind == "websocket", "nothing follows the last piece of a body"
                await anyio.sleep_forever()
            data = b"x" * left.pop(0)
            if kind == "websocket":
                return {"type": "websocket.receive", "bytes": data}
            return {"type": "http.request", "body": data, "more_body": bool(left)}

        async def send(message: Any) -> None:
            self.sent.append(message)

        headers = [(b"content-length", str(declared).encode())] if declared else []
        route, _, query = path.partition("?")
        scope: dict[str, Any] = {"type": kind, "path": route, "query_string": query.encode()}
        scope |= {"method": "POST", "headers": headers, "state": {"user": user}}
        await self._guard(scope, receive, send)

    @property
    def statuses(self) -> list[int]:
        return [message["status"] for message in self.sent if "status" in message]


async def test_bodies_that_are_worked_on_leave_no_room_for_more_of_the_same_user() -> None:
    server = Server()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.visit, 50, 30)
        await anyio.wait_all_tasks_blocked()
        await server.visit(10, 20)
        assert server.statuses == [429]
        assert dict(server.sent[0]["headers"])[b"retry-after"] == b"2"
        error = json.loads(server.sent[1]["body"])["error"]
        assert error["code"] == "too_much_in_flight"
        assert "limits.in_flight_mb" in error["message"]
        server.release.set()
    await server.visit(100)
    assert server.statuses == [429, 200, 200]
    assert server.ledger.held("ada") == 0


async def test_a_body_that_will_not_fit_is_refused_before_it_arrives() -> None:
    server = Server()
    await server.visit(1, declared=101)
    assert server.statuses == [429]


async def test_other_users_and_bodies_that_go_to_the_disk_are_not_counted() -> None:
    server = Server()
    server.release.set()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(server.visit, 100)
        await server.visit(500, path="/api/blobs")
        tasks.start_soon(lambda: server.visit(100, user="ben"))
    assert server.statuses == [200, 200, 200]


@pytest.mark.parametrize("query", ["temporary=true", "a=b&temporary=1", "%74emporary=true"])
async def test_files_of_temporary_chats_go_to_memory_and_are_counted(query: str) -> None:
    server = Server()
    server.release.set()
    await server.visit(500, path=f"/api/blobs?{query}")
    assert server.statuses == [429]


async def test_messages_count_until_the_socket_is_read_again() -> None:
    server = Server()
    server.release.set()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: server.visit(90, 90, 90, kind="websocket"))
        await anyio.wait_all_tasks_blocked()
        assert len(server.heard) == 3
        tasks.cancel_scope.cancel()
    assert server.ledger.held("ada") == 0


async def test_a_message_too_many_closes_its_socket_and_says_why() -> None:
    server = Server()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(lambda: server.visit(90, kind="websocket"))
        await anyio.wait_all_tasks_blocked()
        await server.visit(20, kind="websocket")
        (close,) = server.sent
        assert (close["type"], close["code"]) == ("websocket.close", 1013)
        assert "in flight" in close["reason"]
        assert len(close["reason"].encode()) <= 123
        tasks.cancel_scope.cancel()


async def test_what_a_socket_has_not_delivered_yet_is_counted_by_its_protocol() -> None:
    ledger = ByteLedger(100)
    seen = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["state"][ARRIVING].hold(60))
        seen.append(ledger.held("ada"))

    scope = {"type": "websocket", "path": "/ws", "state": {"user": "ada"}}
    nobody: Any = None
    await BytesInFlight(app, ledger)(scope, nobody, nobody)
    assert seen == [True, 60]
    assert ledger.held("ada") == 0


async def test_files_that_a_request_names_count_until_it_has_ended() -> None:
    ledger = ByteLedger(100)
    refusals: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read)

    async def read() -> None:
        count(80)
        try:
            count(30)
        except Busy as refused:
            refusals.append(refused.code)
        refusals.append(str(ledger.held("ada")))

    async def receive() -> Any:
        return {"type": "http.request", "body": b"x" * 10}

    nobody: Any = None
    scope = {"type": "http", "path": "/x", "headers": [], "state": {"user": "ada"}}
    await BytesInFlight(app, ledger)(scope, receive, nobody)
    assert refusals == ["too_much_in_flight", "90"]
    assert ledger.held("ada") == 0
