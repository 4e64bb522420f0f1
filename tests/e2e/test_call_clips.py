"""A client that knows nothing but clips, over a real server: what it is sent in a turn, and after an interruption."""

from __future__ import annotations

import io
import json
import math
from array import array
from base64 import b64decode
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from tests.e2e.test_speech import SCRIPTED, chat_socket, voiced
from websockets.asyncio.client import ClientConnection

av = pytest.importorskip("av", reason="video needs: pip install 'duologue[voice]'")

pytestmark = [pytest.mark.system, pytest.mark.anyio]

KNOWN = ("status", "video_mode", "response_text", "interrupt", "speaking_clip")
"""The messages that the client knows; it ignores the others."""
SPEECH = array("h", [round(9000 * math.sin(at * 0.12)) for at in range(16_000)]).tobytes()
"""A second of a tone, in which the scripted recogniser hears words."""
SAID = " ".join(["red green blue yellow"] * 10)
"""What is heard in it, and comes back in the reply: twelve seconds of speech, so that an interruption is not too late."""
PATIENCE = 60.0


@pytest.fixture(scope="module")
def drawing(lasting: Callable[..., Any]) -> Any:
    video = {
        "DUOLOGUE_VIDEO__ENABLED": "true",
        "DUOLOGUE_VIDEO__ENGINE": "scripted",
        "DUOLOGUE_VIDEO__SIZE": "64",
        "DUOLOGUE_VOICE__RECOGNISER__OPTIONS": json.dumps({"default": SAID}),
    }
    return voiced(lasting("--engine", "scripted", **SCRIPTED, **video))


class PlainClient:
    """Speaks, and keeps what it understands. Binary frames are sound."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self.messages: list[dict[str, Any]] = []
        self.sound = 0

    async def until(self, kind: str, count: int = 1) -> dict[str, Any]:
        with anyio.fail_after(PATIENCE):
            while len(self.of(kind)) < count:
                frame = await self._socket.recv()
                if isinstance(frame, bytes):
                    self.sound += len(frame)
                elif (message := json.loads(frame))["type"] in KNOWN:
                    self.messages.append(message)
        return self.of(kind)[-1]

    def of(self, kind: str) -> list[dict[str, Any]]:
        return [message for message in self.messages if message["type"] == kind]

    async def speak(self) -> None:
        await self._socket.send(SPEECH)

    async def be_quiet(self) -> None:
        """For a second, by the sound's own time."""
        await self._socket.send(bytes(len(SPEECH)))

    async def interrupt(self) -> None:
        await self._socket.send(json.dumps({"type": "interrupt", "last_chunk_id": -1}))


async def test_a_turn_is_one_clip_and_after_an_interruption_none_of_the_old_reply_comes(drawing: Any) -> None:
    async with chat_socket(drawing) as socket:
        client = PlainClient(socket)
        mode = await client.until("video_mode")
        assert (mode["enabled"], mode["mode"], mode["width"], mode["rate"]) == (True, "clip", 64, 25)
        await client.speak()
        clip = await client.until("speaking_clip")
        await client.interrupt()
        await client.until("interrupt")
        # The reply repeats what was said: the same words at once would be taken for its echo.
        await client.be_quiet()
        assert clip["text"].endswith(SAID)
        with av.open(io.BytesIO(b64decode(clip["video"]))) as file:
            assert [stream.codec.name for stream in file.streams] == ["h264", "aac"]
            pictures = sum(1 for _ in file.decode(video=0))
        assert pictures == math.ceil(clip["samples"] * 25 / 24_000)
        await client.speak()
        later = await client.until("speaking_clip", 2)
        assert later["reply_id"] > clip["reply_id"]
        assert later["epoch"] > clip["epoch"]
    assert client.sound == 0, "never both"
    assert client.of("response_text") == []
