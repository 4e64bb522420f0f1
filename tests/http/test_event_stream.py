"""Server-sent events: every frame once and in order, a comment in silence, both sides free to leave."""

from collections.abc import AsyncGenerator
from typing import Any

import anyio
import pytest
from starlette.requests import Request

from duologue.errors import BadRequest
from duologue.http.event_stream import COMMENT, EventStream, frame, last_seen, position

pytestmark = pytest.mark.anyio


class Client:
    """The other side of ASGI. It may leave, and it may stop taking."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.gone = anyio.Event()
        self.took = anyio.Event()
        self.takes = True

    async def receive(self) -> dict[str, Any]:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: dict[str, Any]) -> None:
        if not self.takes:
            await anyio.sleep_forever()
        self.sent.append(message)
        self.took.set()

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.sent)


async def serve(client: Client, source: AsyncGenerator[bytes], **options: float) -> None:
    with anyio.fail_after(3):
        await EventStream(source, **options)({"type": "http"}, client.receive, client.send)


async def counting(upto: int) -> AsyncGenerator[bytes]:
    for number in range(1, upto + 1):
        yield frame(number, b"{}")


async def test_every_frame_arrives_once_and_in_order() -> None:
    client = Client()
    await serve(client, counting(1000))
    assert client.body == b"".join(frame(number, b"{}") for number in range(1, 1001))
    assert client.sent[-1]["more_body"] is False
    assert len(client.sent) < 100, "what piled up leaves together"


async def test_it_is_an_event_stream_nobody_stores() -> None:
    client = Client()
    await serve(client, counting(0))
    headers = dict(client.sent[0]["headers"])
    assert headers[b"content-type"].startswith(b"text/event-stream")
    assert headers[b"cache-control"] == b"no-store, no-transform"
    assert b"content-length" not in headers


async def test_a_silence_is_broken_by_a_comment() -> None:
    client = Client()
    speak = anyio.Event()

    async def silent() -> AsyncGenerator[bytes]:
        await speak.wait()
        yield frame(1, b"{}")

    async with anyio.create_task_group() as group:
        group.start_soon(lambda: serve(client, silent(), keep_alive=0.01))
        while COMMENT not in client.body:
            await anyio.lowlevel.checkpoint()
        speak.set()
    assert client.body.endswith(frame(1, b"{}"))


async def test_a_client_that_leaves_closes_the_source() -> None:
    client = Client()
    closed = anyio.Event()

    async def endless() -> AsyncGenerator[bytes]:
        try:
            yield frame(1, b"{}")
            await anyio.sleep_forever()
        finally:
            closed.set()

    async with anyio.create_task_group() as group:
        group.start_soon(serve, client, endless())
        await client.took.wait()
        client.gone.set()
    assert closed.is_set()


async def test_a_client_that_takes_nothing_is_given_up() -> None:
    client = Client()
    client.takes = False
    await serve(client, counting(3), stalled=0.01)
    assert client.sent == []


async def test_a_source_that_breaks_ends_the_stream_after_what_it_gave(
    caplog: pytest.LogCaptureFixture,
) -> None:
    client = Client()

    async def broken() -> AsyncGenerator[bytes]:
        yield frame(1, b"{}")
        raise RuntimeError("broken")

    await serve(client, broken())
    assert client.body == frame(1, b"{}")
    assert "broke off" in caplog.text


def test_a_position_is_no_event() -> None:
    assert position(7) == b"id: 7\n\n"


def request(query: str = "", header: str | None = None) -> Request:
    headers = [] if header is None else [(b"last-event-id", header.encode())]
    return Request({"type": "http", "query_string": query.encode(), "headers": headers})


def test_the_header_of_a_browser_that_comes_back_wins_over_the_address() -> None:
    assert last_seen(request()) is None
    assert last_seen(request("after=0")) == 0
    assert last_seen(request("after=5", "9")) == 9


@pytest.mark.parametrize("named", ["x", "-1", "1.5", "9" * 20, "²"])
def test_a_position_that_is_none_is_refused(named: str) -> None:
    with pytest.raises(BadRequest, match="whole number"):
        last_seen(request(header=None, query=f"after={named}"))
