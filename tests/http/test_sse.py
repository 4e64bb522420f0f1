"""A stream of events over HTTP: pumped, kept alive, ended by either side."""

import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from duologue.errors import BadRequest
from duologue.http.sse import EventStream, frame, position, resumable_stream, unless_left, while_connected
from duologue.queue_ticket import queue_ticket

pytestmark = pytest.mark.anyio


class Source:
    """Items of a list; an event is waited for, an exception raised, None waits for ever."""

    def __init__(self, *items: Any) -> None:
        self.items = items
        self.open = False
        self.taken = 0

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[AsyncIterator[bytes]]:
        self.open = True
        try:
            yield self._items()
        finally:
            self.open = False

    async def _items(self) -> AsyncIterator[bytes]:
        for item in self.items:
            if item is None:
                await anyio.sleep_forever()
            elif isinstance(item, anyio.Event):
                await item.wait()
            elif isinstance(item, Exception):
                raise item
            else:
                self.taken += 1
                yield item


class Plain:
    """Items are bytes already; "end" ends."""

    note = b": busy\n\n"

    def __init__(self, problem: Exception | None = None) -> None:
        self.ended = False
        self.problem = problem

    def encode(self, item: bytes) -> bytes:
        self.ended = item == b"end"
        return item

    def close(self) -> None:
        if self.problem is not None:
            raise self.problem


class Client:
    """The other side of ASGI: it records what it is sent and may leave."""

    def __init__(self) -> None:
        self.scope = {"type": "http", "method": "POST", "path": "/v1/x", "state": {"request_id": "r-1"}}
        self.messages: list[MutableMapping[str, Any]] = []
        self.gone = anyio.Event()
        self.changed = anyio.Event()

    async def receive(self) -> dict[str, Any]:
        await self.gone.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: MutableMapping[str, Any]) -> None:
        self.messages.append(message)
        self.changed.set()
        self.changed = anyio.Event()
        await anyio.lowlevel.checkpoint()

    async def until(self, text: bytes) -> None:
        with anyio.fail_after(60):
            while text not in self.body:
                await self.changed.wait()

    async def takes(self, stream: EventStream[bytes]) -> None:
        with anyio.fail_after(60):
            await stream(self.scope, self.receive, self.send)

    @property
    def body(self) -> bytes:
        return b"".join(message.get("body", b"") for message in self.messages)

    @property
    def status(self) -> int:
        return int(self.messages[0]["status"])

    @property
    def headers(self) -> dict[str, str]:
        return {name.decode(): value.decode() for name, value in self.messages[0]["headers"]}


async def test_items_are_pumped_and_the_headers_forbid_caching_and_buffering() -> None:
    client = Client()
    await client.takes(EventStream(Source(b"data: 1\n\n", b"", b"data: 2\n\n")(), Plain()))
    assert client.body == b"data: 1\n\ndata: 2\n\n"
    assert client.status == 200
    assert client.headers["content-type"].startswith("text/event-stream")
    assert client.headers["cache-control"] == "no-store, no-transform"
    assert client.headers["x-accel-buffering"] == "no"
    assert "content-length" not in client.headers
    assert [message.get("more_body") for message in client.messages] == [None, True, True, False]


async def test_an_item_is_one_message() -> None:
    client = Client()
    await client.takes(EventStream(Source(b"one", b"two")(), Plain()))
    assert [message["body"] for message in client.messages[1:-1]] == [b"one", b"two"]


async def test_an_ended_encoder_ends_the_stream_and_leaves_the_source() -> None:
    source, client = Source(b"a", b"end", None), Client()
    await client.takes(EventStream(source(), Plain()))
    assert client.body == b"aend"
    assert not source.open


async def test_a_disconnect_leaves_the_source_at_once() -> None:
    source, client = Source(b"a", None), Client()
    async with anyio.create_task_group() as group:
        group.start_soon(client.takes, EventStream(source(), Plain()))
        await client.until(b"a")
        assert source.open
        client.gone.set()
    assert not source.open


async def test_a_disconnect_before_the_first_item_leaves_the_source_too() -> None:
    source, client = Source(None), Client()
    client.gone.set()
    await client.takes(EventStream(source(), Plain()))
    assert not source.open
    assert client.messages == []


async def test_a_server_that_says_the_client_left_by_an_error_is_understood() -> None:
    source, client = Source(b"a", None), Client()

    async def send(message: MutableMapping[str, Any]) -> None:
        raise OSError("gone")

    with anyio.fail_after(60):
        await EventStream(source(), Plain())(client.scope, client.receive, send)
    assert not source.open


async def test_a_problem_before_the_first_byte_has_its_http_status() -> None:
    client = Client()
    await client.takes(EventStream(Source(b"", BadRequest("No.", param="n"))(), Plain()))
    assert client.status == 400
    error = json.loads(client.body)["error"]
    assert (error["message"], error["param"], error["code"]) == ("No.", "n", "invalid_request")
    assert error["type"] == "invalid_request_error"


async def test_a_problem_of_the_encoder_counts_the_same() -> None:
    client = Client()
    await client.takes(EventStream(Source()(), Plain(BadRequest("No."))))
    assert client.status == 400


async def test_a_later_problem_is_an_event_and_done() -> None:
    client = Client()
    await client.takes(EventStream(Source(b"data: 1\n\n", BadRequest("No."))(), Plain()))
    assert client.status == 200
    first, error, done, rest = client.body.split(b"\n\n")
    assert (first, done, rest) == (b"data: 1", b"data: [DONE]", b"")
    assert json.loads(error.removeprefix(b"data: "))["error"]["message"] == "No."
    assert client.messages[-1]["more_body"] is False


async def test_a_dialect_may_end_a_failed_stream_in_its_own_way() -> None:
    client = Client()
    stream = EventStream(
        Source(b"{}\n", BadRequest("No."))(),
        Plain(),
        media_type="application/x-ndjson",
        failure=lambda body: b'{"error":"%b"}\n' % body["error"]["message"].encode(),
    )
    await client.takes(stream)
    assert client.headers["content-type"].startswith("application/x-ndjson")
    assert client.body == b'{}\n{"error":"No."}\n'


async def test_a_bug_is_logged_with_its_trace_and_told_without(caplog: pytest.LogCaptureFixture) -> None:
    client = Client()
    with caplog.at_level(logging.ERROR):
        await client.takes(EventStream(Source(ValueError("secret"))(), Plain()))
    assert client.status == 500
    assert b"secret" not in client.body
    assert json.loads(client.body)["error"]["code"] == "internal_error"
    assert "r-1" in client.body.decode()
    assert "r-1" in caplog.text
    assert "secret" in caplog.text


async def test_a_stream_that_waits_is_opened_with_a_comment_and_an_error_after_it_is_an_event() -> None:
    gate, client = anyio.Event(), Client()
    stream = EventStream(Source(gate, BadRequest("No."))(), Plain(), patience=0.0, keep_alive=60)
    async with anyio.create_task_group() as group:
        group.start_soon(client.takes, stream)
        await client.until(b": busy\n\n")
        gate.set()
    assert client.status == 200
    assert client.body.startswith(b": busy\n\ndata: {")
    assert client.body.endswith(b"data: [DONE]\n\n")
    assert [message["type"] for message in client.messages].count("http.response.start") == 1


async def test_every_silence_is_broken_by_a_comment() -> None:
    gate, client = anyio.Event(), Client()
    stream = EventStream(Source(b"a", gate, b"b")(), Plain(), patience=0.001, keep_alive=0.001)
    async with anyio.create_task_group() as group:
        group.start_soon(client.takes, stream)
        await client.until(b"a: busy\n\n: busy\n\n")
        gate.set()
    assert client.body.endswith(b"b") or client.body.endswith(b"b: busy\n\n")


async def test_a_stream_that_says_something_in_time_is_sent_no_comment() -> None:
    gate, client = anyio.Event(), Client()
    stream = EventStream(Source(b"a", gate, b"b")(), Plain(), patience=0.0, keep_alive=60)
    async with anyio.create_task_group() as group:
        group.start_soon(client.takes, stream)
        await client.until(b"a")
        await anyio.wait_all_tasks_blocked()
        gate.set()
    assert client.body == b"ab"


async def test_nothing_is_taken_from_the_source_while_the_client_does_not_read() -> None:
    source, client, reads = Source(b"a", b"b", b"c"), Client(), anyio.Event()

    async def send(message: MutableMapping[str, Any]) -> None:
        if message.get("body") == b"a":
            await reads.wait()
        await client.send(message)

    async with anyio.create_task_group() as group:
        group.start_soon(EventStream(source(), Plain()).__call__, client.scope, client.receive, send)
        await anyio.wait_all_tasks_blocked()
        assert source.taken == 1
        reads.set()
    assert client.body == b"abc"


async def test_work_is_done_while_the_client_is_there_and_cancelled_when_it_leaves() -> None:
    client = Client()

    async def work() -> int:
        return 5

    assert await while_connected(client.receive, work) == 5
    client.gone.set()
    cancelled = False

    async def endless() -> int:
        nonlocal cancelled
        try:
            await anyio.sleep_forever()
        finally:
            cancelled = True
        return 0

    with anyio.fail_after(60):
        assert await while_connected(client.receive, endless) is None
    assert cancelled


async def test_what_an_endpoint_waits_for_ends_with_its_client() -> None:
    client = Client()

    async def nothing() -> None:
        return None

    async def broken() -> None:
        raise KeyError("it")

    await unless_left(client.receive, nothing)
    with pytest.raises(KeyError):
        await unless_left(client.receive, broken)
    client.gone.set()
    with anyio.fail_after(60), pytest.raises(BadRequest, match="left"):
        await unless_left(client.receive, anyio.sleep_forever)


async def test_a_client_that_takes_nothing_for_long_is_given_up():
    class Stuck(Client):
        async def send(self, message: MutableMapping[str, Any]) -> None:
            await super().send(message)
            if message.get("body"):
                await anyio.sleep_forever()

    source, client = Source(b"a", None), Stuck()
    stream = EventStream(source(), Plain(), patience=0.0, keep_alive=0.001, stalled=0.01)
    with anyio.fail_after(60):
        await stream(client.scope, client.receive, client.send)
    assert not source.open
    assert source.taken == 1


async def counting(upto: int) -> AsyncGenerator[bytes]:
    for number in range(1, upto + 1):
        yield frame(number, b"{}")


async def test_a_resumable_stream_sends_every_frame_once_and_in_order() -> None:
    client = Client()
    await client.takes(resumable_stream(counting(1000)))
    assert client.body == b"".join(frame(number, b"{}") for number in range(1, 1001))
    assert client.messages[-1]["more_body"] is False
    assert client.headers["content-type"].startswith("text/event-stream")
    assert client.headers["cache-control"] == "no-store, no-transform"
    assert "content-length" not in client.headers


async def test_a_resumable_stream_opens_before_its_first_frame() -> None:
    client, gate = Client(), anyio.Event()

    async def silent() -> AsyncGenerator[bytes]:
        await gate.wait()
        yield frame(1, b"{}")

    async with anyio.create_task_group() as group:
        group.start_soon(client.takes, resumable_stream(silent()))
        await anyio.wait_all_tasks_blocked()
        assert (client.status, client.body) == (200, b"")
        gate.set()
    assert client.body == frame(1, b"{}")


async def test_a_silence_of_a_resumable_stream_is_broken_by_a_comment() -> None:
    client, gate = Client(), anyio.Event()

    async def silent() -> AsyncGenerator[bytes]:
        await gate.wait()
        yield frame(1, b"{}")

    async with anyio.create_task_group() as group:
        group.start_soon(client.takes, resumable_stream(silent(), keep_alive=0.01))
        await client.until(b": alive\n\n")
        gate.set()
    assert frame(1, b"{}") in client.body


async def test_a_client_that_leaves_closes_the_source_of_a_resumable_stream() -> None:
    client, closed = Client(), anyio.Event()

    async def endless() -> AsyncGenerator[bytes]:
        try:
            yield frame(1, b"{}")
            await anyio.sleep_forever()
        finally:
            closed.set()

    async with anyio.create_task_group() as group:
        group.start_soon(client.takes, resumable_stream(endless()))
        await client.until(frame(1, b"{}"))
        client.gone.set()
    assert closed.is_set()


async def test_a_client_that_does_not_even_take_the_headers_is_given_up() -> None:
    client = Client()

    async def send(message: MutableMapping[str, Any]) -> None:
        await anyio.sleep_forever()

    with anyio.fail_after(60):
        await resumable_stream(counting(3), stalled=0.01)(client.scope, client.receive, send)
    assert client.messages == []


async def test_a_failing_source_ends_a_resumable_stream_after_what_it_gave(
    caplog: pytest.LogCaptureFixture,
) -> None:
    client = Client()

    async def broken() -> AsyncGenerator[bytes]:
        yield frame(1, b"{}")
        raise RuntimeError("broken")

    await client.takes(resumable_stream(broken()))
    assert client.body == frame(1, b"{}")
    assert client.messages[-1]["more_body"] is False
    assert "the stream of request r-1 failed" in caplog.text


def test_a_position_is_a_frame_without_an_event() -> None:
    assert position(7) == b"id: 7\n\n"


# ---- the queue


class QueuedSource:
    """A source whose work waits in the queue: it takes a lease, is told the places, and then has its slot."""

    def __init__(self, *places: tuple[int, float], then: bytes = b"data: 1\n\n") -> None:
        self.places, self.then = places, then
        self.go_on = anyio.Event()

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[AsyncIterator[bytes]]:
        yield self._items()

    async def _items(self) -> AsyncIterator[bytes]:
        ticket = queue_ticket.get()
        assert ticket is not None
        ticket.waits("q_7")
        for place in self.places:
            ticket.moved(*place)
            await anyio.wait_all_tasks_blocked()
        await self.go_on.wait()
        ticket.granted()
        yield self.then


async def test_each_place_in_the_queue_is_a_comment_with_the_ticket_which_the_head_has_too() -> None:
    client, source = Client(), QueuedSource((2, 7.04), (1, 3.1))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.takes, EventStream(source(), Plain(), patience=0.0, keep_alive=60))
        await client.until(b": queue position=1 wait=3.1 ticket=q_7\n\n")
        source.go_on.set()
    assert b": queue position=2 wait=7.0 ticket=q_7\n\n" in client.body
    assert client.body.endswith(b"data: 1\n\n")
    assert client.headers["x-duologue-ticket"] == "q_7"
    assert "x-duologue-queue-wait-ms" not in client.headers, "it was not known yet"


async def test_a_stream_that_has_its_slot_before_its_head_says_how_long_it_waited() -> None:
    client, source = Client(), QueuedSource((1, 0.1))
    source.go_on.set()
    await client.takes(EventStream(source(), Plain(), patience=60, keep_alive=60))
    assert client.body == b"data: 1\n\n", "no comment opens a stream that may still fail with its status"
    assert client.headers["x-duologue-ticket"] == "q_7"
    assert int(client.headers["x-duologue-queue-wait-ms"]) >= 0


async def test_a_stream_of_lines_has_no_comments() -> None:
    client, source = Client(), QueuedSource((2, 7.0), then=b"{}\n")
    stream = EventStream(source(), Plain(), patience=0.0, keep_alive=60, media_type="application/x-ndjson")
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.takes, stream)
        await client.until(b": busy")
        source.go_on.set()
    assert client.body == Plain.note + b"{}\n"
    assert client.headers["x-duologue-ticket"] == "q_7"


async def test_a_stream_of_lines_says_its_place_as_its_clients_read_it() -> None:
    client, source = Client(), QueuedSource((2, 7.04), then=b"{}\n")
    stream = EventStream(
        source(),
        Plain(),
        patience=0.0,
        keep_alive=60,
        media_type="application/x-ndjson",
        placed=lambda position, wait, ticket: b"%d %.1f %b\n" % (position, wait, ticket.encode()),
    )
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(client.takes, stream)
        await client.until(b"2 7.0 q_7\n")
        source.go_on.set()
    assert client.body == b"2 7.0 q_7\n{}\n"
