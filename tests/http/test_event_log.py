"""Numbered events, read by position: a reader that misses some is sent the reset."""

import json
from collections.abc import AsyncGenerator, Mapping
from typing import Any

import anyio
import pytest
from starlette.requests import Request

from duologue.errors import BadRequest
from duologue.http.event_log import (
    EventLog,
    EventNumbers,
    NumberedEvent,
    event_frames,
    event_response,
    last_event_id,
)

pytestmark = pytest.mark.anyio

Log = EventLog[Mapping[str, object]]
RESET = ({"type": "loaded"}, {"type": "here"})


def log_from(start: int, remembered: int = 256) -> Log:
    return EventLog(EventNumbers(start), reset=RESET, remembered=remembered)


def parse(frame: bytes) -> tuple[int, dict[str, Any] | None]:
    lines = frame.decode().splitlines()
    number = int(lines[0].removeprefix("id: "))
    return number, json.loads(lines[1].removeprefix("data: ")) if len(lines) > 1 and lines[1] else None


async def take(log: Log, count: int, after: int | None = None) -> list[NumberedEvent[Mapping[str, object]]]:
    events = log.read(after)
    with anyio.fail_after(60):
        entries = [await anext(events) for _ in range(count)]
    await events.aclose()
    return entries


async def test_a_new_reader_gets_what_is_published_from_then_on() -> None:
    log = log_from(100)
    log.publish({"type": "here"})
    frames = event_frames(log.read(log.number), start=log.number)
    assert parse(await anext(frames)) == (101, None)
    log.publish({"type": "loaded"})
    assert parse(await anext(frames)) == (102, {"type": "loaded"})
    await frames.aclose()


async def test_a_reader_without_a_position_starts_with_the_next_event() -> None:
    log = log_from(0)
    log.publish({"n": 0})
    entries: list[NumberedEvent[Mapping[str, object]]] = []

    async def read() -> None:
        entries.extend(await take(log, 1))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        await anyio.wait_all_tasks_blocked()
        log.publish({"n": 1})
    assert entries == [NumberedEvent(2, {"n": 1})]


async def test_a_reader_that_reconnects_gets_what_it_missed() -> None:
    log = log_from(0)
    for number in range(3):
        log.publish({"n": number})
    assert await take(log, 2, after=1) == [NumberedEvent(2, {"n": 1}), NumberedEvent(3, {"n": 2})]


@pytest.mark.parametrize("after", [0, 99])
async def test_a_reader_that_was_away_too_long_or_since_before_a_restart_is_reset(after: int) -> None:
    log = log_from(50 if after == 0 else 0, remembered=2)
    for number in range(5):
        log.publish({"n": number})
    entries = await take(log, 2, after=after)
    assert [entry.event for entry in entries] == [{"type": "loaded"}, {"type": "here"}]
    assert {entry.number for entry in entries} == {log.number}


async def test_a_reader_that_falls_behind_is_reset_too() -> None:
    log = log_from(0, remembered=2)
    log.publish({"n": 0})
    log.publish({"n": 1})
    events = log.read(0)
    assert await anext(events) == NumberedEvent(1, {"n": 0})
    for number in range(2, 9):
        log.publish({"n": number})
    assert await anext(events) == NumberedEvent(9, {"type": "loaded"})
    await events.aclose()


async def test_an_event_may_replace_an_earlier_one() -> None:
    log = log_from(0)
    for number in range(3):
        log.publish({"n": number})
    log.publish({"n": 3}, replaces=lambda event: event["n"] == 1)
    assert await take(log, 3, after=0) == [
        NumberedEvent(1, {"n": 0}),
        NumberedEvent(3, {"n": 2}),
        NumberedEvent(4, {"n": 3}),
    ]


async def test_logs_of_one_count_never_use_a_number_twice() -> None:
    numbers = EventNumbers(0)
    logs = [EventLog[str](numbers, reset=()) for _ in range(2)]
    for turn in range(2):
        for log in logs:
            log.publish(f"{turn}")
    for log, expected in zip(logs, ([1, 3], [2, 4]), strict=True):
        events = log.read(0)
        assert [(await anext(events)).number for _ in expected] == expected
        await events.aclose()


async def test_readers_are_counted_while_they_read() -> None:
    log = log_from(0)
    log.publish({"n": 0})
    events = log.read(0)
    await anext(events)
    assert log.readers == 1
    await events.aclose()
    assert log.readers == 0


async def test_closing_ends_every_reader() -> None:
    log = log_from(0)
    ended = []

    async def read() -> None:
        async for _ in log.read():
            pass
        ended.append(True)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(read)
        await anyio.wait_all_tasks_blocked()
        log.close()
    assert ended == [True, True]
    assert [entry async for entry in log.read(0)] == []


def request(query: str = "", header: str | None = None) -> Request:
    headers = [] if header is None else [(b"last-event-id", header.encode())]
    return Request({"type": "http", "query_string": query.encode(), "headers": headers})


@pytest.mark.parametrize(("query", "body"), [("", b"id: 7\n\n"), ("after=5", b'id: 6\ndata: "six"\n\n')])
async def test_a_response_starts_after_the_last_event_the_client_saw(query: str, body: bytes) -> None:
    async def read(after: int) -> AsyncGenerator[NumberedEvent[str]]:
        if after == 5:
            yield NumberedEvent(6, "six")

    sent: list[bytes] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message.get("body", b""))

    with anyio.fail_after(60):
        await event_response(request(query), read, 7)({"type": "http"}, anyio.sleep_forever, send)  # type: ignore[arg-type]
    assert b"".join(sent) == body


def test_the_header_of_a_browser_that_reconnects_wins_over_the_query() -> None:
    assert last_event_id(request()) is None
    assert last_event_id(request("after=0")) == 0
    assert last_event_id(request("after=5", "9")) == 9


@pytest.mark.parametrize("text", ["x", "-1", "1.5", "9" * 20, "²"])
def test_a_malformed_position_is_refused(text: str) -> None:
    with pytest.raises(BadRequest, match="whole number"):
        last_event_id(request(header=None, query=f"after={text}"))
