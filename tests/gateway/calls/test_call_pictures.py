"""What a camera sends into a call or a duplex session reaches the model, fitted: the newest picture of a turn, and no other."""

import base64
from typing import Any

import pytest
from fastapi import FastAPI
from PIL import Image
from tests.gateway.duplex_server import SEEING, Caller, Seat, serve_duplex
from tests.gateway.fake_seats import FakeGenerate, FakeLease, FakeSeats, words
from tests.support.sample_files import encoded, opened
from websockets.asyncio.client import connect

from duologue.gateway.calls.voice_socket import CallServices, router
from duologue.gateway.media.fitted_generate import FittedGenerate
from duologue.gateway.media.fitter import MediaFitter
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.speech.service import SpeechService
from duologue.values import call_events
from duologue.values.fitting import MediaBudget
from duologue.values.messages import ImagePart, TextPart
from duologue.values.requests import ChatRequest

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
