"""The turn-based page of the MiniCPM-o demo, as it speaks: one socket a request, and the sample of a voice with it."""

import base64
import json
from array import array
from typing import Any

import pytest
from fastapi import FastAPI
from tests.gateway.fake_voice_worker import Seats
from websockets.asyncio.client import connect

from duologue.gateway.dialects.chat_socket import router
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.speech.service import SpeechService
from duologue.values.events import Done, Prefilled, Started, TextDelta, Usage
from duologue.values.requests import ModelCard

pytestmark = pytest.mark.anyio

SAMPLE = base64.b64encode(array("f", [0.25] * 16_000).tobytes()).decode()
BODY: dict[str, Any] = {
    "messages": [
        {
            "role": "system",
            "content": [
                {"type": "text", "text": "Speak like this."},
                {"type": "audio", "data": SAMPLE, "name": "Duologue (en)", "duration": 1.0},
                {"type": "text", "text": "Be brief."},
            ],
        },
        {"role": "user", "content": "Hello"},
    ],
    "streaming": True,
    "generation": {"max_new_tokens": 256, "do_sample": True, "length_penalty": 1.1},
    "image": {"max_slice_nums": 1},
    "omni_mode": False,
}
SPOKEN = {
    "tts": {"enabled": True, "mode": "audio_assistant", "ref_audio_data": SAMPLE},
    "use_tts_template": True,
}


async def asked(serve: Any, script: Any, body: dict[str, Any]) -> list[dict[str, Any]]:
    """What the page is sent until its request is over; it closes the socket then."""
    script.plays(
        Started("mini"), Prefilled(7, 2), TextDelta("Good "), TextDelta("day."), Done("stop", Usage(7, 3, 2))
    )
    app = FastAPI()
    app.include_router(
        router(
            script,
            ModelRegistry(lambda: [ModelCard("mini", "scripted", 2048)], {}),
            speech=SpeechService(Seats()),
        )
    )
    heard: list[dict[str, Any]] = []
    async with serve(app) as address, connect(f"ws://{address}/ws/chat", max_size=2**24) as socket:
        await socket.send(json.dumps(body))
        while not heard or heard[-1]["type"] not in ("done", "error"):
            heard.append(json.loads(await socket.recv()))
    return heard


async def test_a_streamed_reply_is_chunks_of_text_and_an_end(serve: Any, script: Any):
    heard = await asked(serve, script, BODY)
    assert [message["type"] for message in heard] == ["prefill_done", "chunk", "chunk", "done"]
    assert "".join(message.get("text_delta", "") for message in heard) == heard[-1]["text"] == "Good day."
    assert (heard[-1]["input_tokens"], heard[-1]["generated_tokens"]) == (7, 3)


async def test_a_whole_reply_has_its_text_and_its_sound_at_the_end(serve: Any, script: Any):
    heard = await asked(serve, script, BODY | SPOKEN | {"streaming": False})
    assert [message["type"] for message in heard] == ["prefill_done", "done"]
    assert heard[-1]["text"] == "Good day."
    assert len(base64.b64decode(heard[-1]["audio_data"])) % 4 == 0


async def test_a_spoken_reply_is_streamed_as_floats(serve: Any, script: Any):
    heard = await asked(serve, script, BODY | SPOKEN)
    sound = b"".join(
        base64.b64decode(message["audio_data"]) for message in heard if message.get("audio_data")
    )
    assert len(sound) > 0
    assert len(sound) % 4 == 0
    assert heard[-1]["type"] == "done"
