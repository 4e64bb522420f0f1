"""What a camera sends into a call or a duplex session reaches the model, fitted: the newest picture of a turn, and no other."""

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from fastapi import FastAPI
from PIL import Image
from tests.gateway.duplex_server import MINI, SEEING, Caller, Seat, serve_duplex
from tests.gateway.fake_seats import FakeGenerate, FakeLease, FakeSeats, words
from tests.support.sample_files import encoded, opened
from websockets.asyncio.client import connect

from duologue.gateway.apps.app_registry import AppRegistry
from duologue.gateway.calls.call_services import CallServices
from duologue.gateway.calls.voice_socket import router
from duologue.gateway.media.fitted_generate import FittedGenerate
from duologue.gateway.media.fitter import MediaFitter
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.speech.service import SpeechService
from duologue.values import call_events
from duologue.values.fitting import MediaBudget
from duologue.values.messages import ImagePart, TextPart
from duologue.values.requests import ChatRequest, ModelCard

pytestmark = pytest.mark.anyio

ASKED = call_events.ReplyRequested(0, 1, 1, 1, "what is that")
TOLD = 3
"""What the session is told by then: the sound, the reply and its end."""


def picture(colour: str) -> str:
    """A picture of one colour, too large for the fitter below."""
    return base64.b64encode(encoded(Image.new("RGB", (640, 480), colour), "JPEG")).decode()


def fitted(generate: FakeGenerate) -> FittedGenerate:
    """`generate` behind the real fitter, with room for small pictures."""
    fitter = MediaFitter(SpeechService(None), MediaBudget(image_megapixels=0.1))
    return FittedGenerate(generate, ModelRegistry(lambda: (SEEING,), {}).resolve, fitter)


def assert_seen(request: ChatRequest, colour: tuple[int, int, int]) -> None:
    """The prompt ends with one small picture of this colour, and the words."""
    seen, said = request.messages[-1].parts
    assert isinstance(seen, ImagePart)
    shown = opened(seen.data)
    assert shown.width * shown.height <= 100_000
    assert shown.getpixel((10, 10)) == pytest.approx(colour, abs=10)
    assert said == TextPart("what is that")
    assert all(message.modalities <= {"text"} for message in request.messages[:-1])


async def test_a_duplex_session_shows_the_newest_frame_of_a_turn(serve: Any) -> None:
    seat, generate = Seat(), FakeGenerate(words("Blue."))
    async with (
        serve_duplex(serve, seat, generate=fitted(generate), cards=(SEEING,)) as server,
        server.connect("omni_1") as caller,
    ):
        await caller.prepares()
        await caller.says("video_frame", frame=picture("red"))
        await caller.speaks(frame_base64_list=[picture("lime"), picture("blue")])
        seat.say(ASKED)
        await seat.until(TOLD)
    [request] = generate.requests
    assert_seen(request, (0, 0, 255))


async def test_a_call_shows_the_newest_frame_of_a_turn(serve: Any) -> None:
    seat, generate = FakeLease(), FakeGenerate(words("Blue."))
    services = CallServices(
        FakeSeats(seat),  # type: ignore[arg-type]
        fitted(generate),
        ModelRegistry(lambda: (SEEING,), {}),
    )
    app = FastAPI()
    app.include_router(router(services))
    async with serve(app) as address, connect(f"ws://{address}/ws/voice") as socket:
        caller = Caller(socket)
        await caller.says("start")
        await caller.says("video_frame", frame=picture("red"))
        await caller.says("video_frame", frame=picture("blue"))
        await socket.send(b"\1\0")
        await seat.until(1)
        seat.say(ASKED)
        await seat.until(TOLD)
    [request] = generate.requests
    assert_seen(request, (0, 0, 255))


@asynccontextmanager
async def calling(serve: Any, seat: FakeLease, card: ModelCard, **options: Any) -> AsyncIterator[Caller]:
    services = CallServices(
        FakeSeats(seat),  # type: ignore[arg-type]
        FakeGenerate(words("Blue.")),
        ModelRegistry(lambda: (card,), {}),
        **options,
    )
    app = FastAPI()
    app.include_router(router(services))
    async with serve(app) as address, connect(f"ws://{address}/ws/voice") as socket:
        caller = Caller(socket)
        await caller.says("start")
        yield caller


async def test_a_frame_of_the_screen_is_a_picture_like_any_other(serve: Any) -> None:
    seat, generate = FakeLease(), FakeGenerate(words("Blue."))
    services = CallServices(
        FakeSeats(seat),  # type: ignore[arg-type]
        fitted(generate),
        ModelRegistry(lambda: (SEEING,), {}),
    )
    app = FastAPI()
    app.include_router(router(services))
    async with serve(app) as address, connect(f"ws://{address}/ws/voice") as socket:
        caller = Caller(socket)
        await caller.says("start")
        await caller.says("frame", image=picture("red"))
        await caller.says("frame", image="data:image/jpeg;base64," + picture("blue"), source="screen")
        await socket.send(b"\1\0")
        await seat.until(1)
        seat.say(ASKED)
        await seat.until(TOLD)
    [request] = generate.requests
    assert_seen(request, (0, 0, 255))


async def errors_of_two_frames(caller: Caller, seat: FakeLease) -> list[str]:
    """The codes of the errors that two frames are answered with, up to a typed word that reaches the session after them."""
    await caller.says("frame", image=picture("red"))
    await caller.says("frame", image=picture("blue"))
    await caller.says("text", text="hi")
    await seat.until(1)
    seat.say(call_events.Transcribed(0, 1, "hi", final=True))
    codes = []
    while (message := await caller.hears())["type"] != "transcript":
        if message["type"] == "error":
            codes.append(message["code"])
    return codes


async def test_frames_that_no_model_sees_are_refused_once_and_the_call_goes_on(serve: Any) -> None:
    seat = FakeLease()
    async with calling(serve, seat, MINI) as caller:
        assert await errors_of_two_frames(caller, seat) == ["modality_unsupported"]


async def test_frames_are_refused_once_where_the_camera_is_switched_off(serve: Any) -> None:
    seat, apps = FakeLease(), AppRegistry()
    await apps.switch("omni", False)
    async with calling(serve, seat, SEEING, apps=apps) as caller:
        assert await errors_of_two_frames(caller, seat) == ["app_disabled"]
