"""Numbered news, read by position: nobody misses anything without being told so."""

import json

import anyio
import pytest

from duologue.http.event_log import EventLog

pytestmark = pytest.mark.anyio


def read(frame: bytes) -> tuple[int, dict | None]:
    lines = frame.decode().splitlines()
    number = int(lines[0].removeprefix("id: "))
    return number, json.loads(lines[1].removeprefix("data: ")) if len(lines) > 1 and lines[1] else None


async def taken(news: EventLog, count: int, after: int | None = None) -> list[tuple[int, dict | None]]:
    frames = news.frames(after)
    with anyio.fail_after(5):
        found = [read(await anext(frames)) for _ in range(count)]
    await frames.aclose()
    return found


async def test_a_new_viewer_hears_where_it_stands_and_then_what_is_told():
    news = EventLog(100)
    news.tell({"type": "here"})
    frames = news.frames()
    assert read(await anext(frames)) == (101, None)
    news.tell({"type": "loaded"})
    assert read(await anext(frames)) == (102, {"type": "loaded"})
    await frames.aclose()


async def test_whoever_comes_back_hears_what_was_told_meanwhile():
    news = EventLog(0)
    for number in range(3):
        news.tell({"n": number})
    assert await taken(news, 2, after=1) == [(2, {"n": 1}), (3, {"n": 2})]


@pytest.mark.parametrize("after", [0, 99])
async def test_whoever_was_away_for_too_long_or_before_a_restart_reads_again(after):
    news = EventLog(50 if after == 0 else 0, remembered=2)
    for number in range(5):
        news.tell({"n": number})
    told = await taken(news, 2, after=after)
    assert [event for _, event in told] == [{"type": "loaded"}, {"type": "here"}]
    assert {number for number, _ in told} == {news._number}


async def test_a_viewer_that_takes_too_long_reads_again_too():
    news = EventLog(0, remembered=2)
    news.tell({"n": 0})
    news.tell({"n": 1})
    frames = news.frames(0)
    assert read(await anext(frames)) == (1, {"n": 0})
    for number in range(2, 9):
        news.tell({"n": number})
    assert read(await anext(frames))[1] == {"type": "loaded"}
    await frames.aclose()


async def test_closing_ends_every_viewer():
    news = EventLog(0)
    ended = []

    async def view():
        async for _ in news.frames():
            pass
        ended.append(True)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(view)
        await anyio.wait_all_tasks_blocked()
        news.close()
    assert ended == [True]
