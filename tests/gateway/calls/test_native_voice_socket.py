"""The voice socket of a call that its model holds by itself: told at once, without a voice worker too, and with its frames paced."""

import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest
from fastapi import FastAPI
from PIL import Image
from tests.gateway.duplex_server import MINI, Caller
from tests.gateway.fake_seats import FakeGenerate, FakeLease, FakeSeats
from tests.support.sample_files import encoded
from websockets.asyncio.client import connect

from duologue.gateway.calls import call_camera
from duologue.gateway.calls.call_services import CallServices
from duologue.gateway.calls.voice_socket import router
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.scheduling.scheduler import EVERY_SLOT
from duologue.values import call_events
from duologue.values.call_events import OmniSetup, UnitAnswered
from duologue.values.messages import system
from duologue.values.requests import ModelCard

pytestmark = pytest.mark.anyio

OMNI = ModelCard(
    "omni", "scripted", 8192, modalities=("text", "image", "audio"), outputs=("text", "audio"),
    voices=("clear", "deep"), verbs=("duplex",),
)  # fmt: skip


def picture(colour: str) -> str:
    return base64.b64encode(encoded(Image.new("RGB", (8, 8), colour), "PNG")).decode()


@asynccontextmanager
async def ringing(
    serve: Any,
    slots: FakeSeats,
    *,
    seats: FakeSeats | None = None,
    cards: tuple[ModelCard, ...] = (OMNI, MINI),
    path: str = "",
) -> AsyncIterator[Caller]:
    services = CallServices(seats, FakeGenerate(), ModelRegistry(lambda: cards, {}), slots=slots)  # type: ignore[arg-type]
    app = FastAPI()
    app.include_router(router(services))
    async with serve(app) as address, connect(f"ws://{address}/ws/voice{path}") as socket:
        yield Caller(socket)


async def until(caller: Caller, kind: str) -> Any:
    while (message := await caller.hears())["type"] != kind:
        pass
    return message


async def test_it_needs_no_voice_worker_and_is_said_to_be_native(serve: Any):
    slots = FakeSeats(seat := FakeLease())
    async with ringing(serve, slots) as caller:
        await caller.says("start", instructions="Be kind.", voice="deep", features=["units"])
        assert await until(caller, "model") == {"type": "model", "epoch": 0, "model": "omni", "native": True}
        [setup] = await seat.began(1)
        seat.say(UnitAnswered(0, 1, 16000, cached=30, late_ms=4.5))
        unit = await until(caller, "unit")
    assert (slots.asked, slots.kinds) == ([("omni", EVERY_SLOT)], ["audio_duplex"])
    assert setup.omni == OmniSetup(messages=(system("Be kind."),))
    assert setup.voice == "deep"
    assert (unit["kv_cache_length"], unit["late_ms"], unit["samples"]) == (30, 4.5, 16000)


async def test_who_did_not_ask_for_units_gets_none(serve: Any):
    async with ringing(serve, FakeSeats(seat := FakeLease())) as caller:
        await caller.says("start")
        await seat.began(1)
        seat.say(UnitAnswered(0, 1, 16000), call_events.State(0, "speaking"))
        await until(caller, "model")
        assert (await caller.hears())["type"] == "status"


async def test_the_model_may_be_named_in_the_address(serve: Any):
    seats, slots = FakeSeats(voice := FakeLease()), FakeSeats()
    async with ringing(serve, slots, seats=seats, path="?model=mini") as caller:
        await caller.says("start")
        [setup] = await voice.began(1)
    assert (setup.omni, slots.asked) == (None, [])


async def test_without_a_voice_a_model_that_holds_no_calls_is_refused(serve: Any):
    async with ringing(serve, FakeSeats()) as caller:
        await caller.says("start", model="mini")
        assert (await until(caller, "error"))["code"] == "voice_unavailable"


async def test_where_the_model_has_failed_a_cascade_answers_and_says_so(serve: Any):
    slots = FakeSeats()
    slots.failures["omni"] = "The card was lost."
    async with ringing(serve, slots, seats=FakeSeats(voice := FakeLease())) as caller:
        await caller.says("start")
        told = await until(caller, "model")
        await voice.began(1)
    assert (told["model"], told["native"]) == ("mini", False)
    assert "The card was lost." in told["note"]


async def test_frames_reach_the_model_and_of_too_many_the_newest(serve: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(call_camera, "FRAME_INTERVAL", 1e9)
    async with ringing(serve, FakeSeats(seat := FakeLease())) as caller:
        await caller.says("start")
        for colour in ("red", "lime", "blue"):
            await caller.says("frame", image=picture(colour), source="screen")
        await caller.socket.send(b"\1\0")
        frame, sound = await seat.until(2)
        monkeypatch.setattr(call_camera, "FRAME_INTERVAL", 0.0)
        await caller.socket.send(b"\2\0")
        newest = (await seat.until(4))[2:]
    assert isinstance(frame, call_events.CallFrame)
    assert frame.frame.data == base64.b64decode(picture("red"))
    assert sound == call_events.MicrophoneAudio(b"\1\0")
    [last] = [control for control in newest if isinstance(control, call_events.CallFrame)]
    assert last.frame.data == base64.b64decode(picture("blue"))


async def test_what_the_client_types_and_stops_goes_to_the_model(serve: Any):
    async with ringing(serve, FakeSeats(seat := FakeLease())) as caller:
        await caller.says("start")
        await caller.says("text", text="hi")
        await caller.says("interrupt", reply_id=1, samples=480)
        assert await seat.until(2) == [call_events.Typed("hi"), call_events.Interrupt(1, 480)]
        await caller.socket.send(json.dumps({"type": "stop"}))
        with anyio.fail_after(30):
            await caller.is_closed()
    assert seat.gone
