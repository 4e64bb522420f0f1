"""Open sockets of a user."""

import anyio
import pytest

from duologue.gateway.middleware.socket_limit import SocketLimit


@pytest.mark.anyio
async def test_a_user_may_open_sockets_up_to_the_limit_and_again_when_one_closes():
    release = anyio.Event()
    statuses = []

    async def app(scope, receive, send):
        statuses.append("open")
        await release.wait()

    limit = SocketLimit(app, 2)

    async def open_socket():
        async def receive():
            return {"type": "websocket.connect"}

        async def send(message):
            if "status" in message:
                statuses.append(message["status"])

        scope = {"type": "websocket", "path": "/ws", "state": {"user": "ada"}}
        await limit(scope | {"extensions": {"websocket.http.response": {}}}, receive, send)

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(open_socket)
        await anyio.wait_all_tasks_blocked()
        assert statuses == ["open", "open", 429]
        release.set()
    await open_socket()
    assert statuses[-1] == "open"
