"""A call as a client makes it, against a small server that answers by what it is told."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import anyio
import pytest
from tests.support.ports import free_port
from websockets.asyncio.server import ServerConnection, serve

from duologue.client.call import HEARD_STEP, SPOKEN_STEP, CallClient, open_call
from duologue.client.http import Client
from duologue.client.player import Player
from duologue.errors import Problem

pytestmark = pytest.mark.anyio

TONE = b"\x00\x10" * HEARD_STEP


class Desk:
    """Speaks a second when it is typed to, and notes what it is told."""

    def __init__(self) -> None:
        self.told: list[dict] = []
        self.heard = 0
        self.news = anyio.Event()

    async def answer(self, socket: ServerConnection) -> None:
        await socket.send(json.dumps({"type": "status", "epoch": 0, "state": "listening"}))
        async for frame in socket:
            if isinstance(frame, bytes):
                self.heard += len(frame) // 2
            else:
                await self._take(socket, json.loads(frame))
            self.news.set()
            self.news = anyio.Event()

    async def _take(self, socket: ServerConnection, message: dict) -> None:
        self.told.append(message)
        match message:
            case {"type": "text", "text": "refuse"}:
                error = {"type": "error", "epoch": 0, "code": "call_idle", "message": "Nobody is here."}
                await socket.send(json.dumps(error))
                await socket.close(1000, "idle")
            case {"type": "text"}:
                await socket.send(
                    json.dumps({"type": "audio_start", "epoch": 0, "reply_id": 1, "chunk_id": 0})
                )
                for _ in range(50):
                    await socket.send(TONE)
                await socket.send(json.dumps({"type": "audio_end", "epoch": 0, "reply_id": 1}))

    async def until(self, kind: str) -> dict:
        with anyio.fail_after(60):
            while True:
                for message in self.told:
                    if message["type"] == kind:
                        return message
                await self.news.wait()


@asynccontextmanager
async def ringing(
    player: Player | None = None, **start: object
) -> AsyncIterator[tuple[CallClient, Desk, list[dict]]]:
    desk, port = Desk(), free_port()
    seen: list[dict] = []
    async with (
        serve(desk.answer, "127.0.0.1", port),
        Client(f"http://127.0.0.1:{port}") as client,
        open_call(client, player=player, on_message=seen.append, start=start) as call,
    ):
        yield call, desk, seen


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_it_says_what_it_can_do_and_what_it_wants():
    async with ringing(voice="en-gb") as (_, desk, _):
        started = await desk.until("start")
    assert started == {"type": "start", "features": ["pause", "played"], "video": "off", "voice": "en-gb"}


async def test_a_client_of_few_words_says_so():
    async with ringing(Player(holds=False)) as (_, desk, _):
        assert (await desk.until("start"))["features"] == []


class Time:
    """Passes only while somebody sleeps."""

    def __init__(self) -> None:
        self.at = 100.0

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.at += seconds
        await anyio.sleep(0.001)


async def test_both_sides_are_recorded_in_equal_steps_and_the_server_hears_what_was_played():
    time, both = Time(), []
    async with ringing() as (call, desk, seen):
        await call.send("text", text="speak")
        with anyio.fail_after(60):
            await call.run(
                lambda count: bytes(2 * count),
                lambda said, heard: both.append((len(said) // 2, len(heard) // 2)),
                lambda: any(
                    message["type"] == "played" and message["samples"] == 24_000 for message in desk.told
                ),
                time.now,
                time.sleep,
            )
        assert desk.heard >= (len(both) - 1) * SPOKEN_STEP
    assert set(both) == {(SPOKEN_STEP, HEARD_STEP)}
    assert time.at == pytest.approx(100.0 + len(both) * 0.02)
    assert call.late < 0.001
    assert [message["type"] for message in seen] == ["status", "audio_start", "audio_end"]


async def test_an_interruption_is_told_with_what_was_heard():
    async with ringing() as (call, desk, _):
        await call.send("text", text="speak")
        with anyio.fail_after(60):
            while call.player.position < 4_800:
                await anyio.sleep(0.001)
                await call.hear(HEARD_STEP)
        await call.interrupt()
        told = await desk.until("interrupt")
    assert told["reply_id"] == 1
    assert told["samples"] == 4_800
    assert told["last_chunk_id"] == 9


async def test_a_call_the_server_ends_is_over_and_says_why():
    async with ringing() as (call, _, _):
        await call.send("text", text="refuse")
        with anyio.fail_after(60):
            await call.over.wait()
    assert call.problem is not None
    assert call.problem.code == "call_idle"
    assert call.problem.message == "Nobody is here."


async def test_no_server_is_a_sentence():
    async with Client(f"http://127.0.0.1:{free_port()}") as client:
        with pytest.raises(Problem, match="No server answers"):
            async with open_call(client):
                pass
