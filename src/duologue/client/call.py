"""A call to a running server over `/ws/voice`: `duologue call` and the call benchmarks use it.

The caller passes in microphone audio and takes loudspeaker audio out, in steps of 20 ms; no sound card is needed.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio

from duologue.client.http import Client, receive
from duologue.client.player import Player
from duologue.errors import Problem, Unavailable
from duologue.values.audio import HEARD_RATE, SPOKEN_RATE

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

STEP = 0.02
"""Seconds of audio per step, in each direction."""
SPOKEN_STEP = round(STEP * HEARD_RATE)
HEARD_STEP = round(STEP * SPOKEN_RATE)
FEATURES = ("pause", "played")
"""What this client supports: pausing playback, and reporting its position."""

Json = dict[str, Any]
OnMessage = Callable[[Json], None]
Microphone = Callable[[int], bytes]
OnAudio = Callable[[bytes, bytes], None]


class CallClient:
    """A running call. `on_message` gets every message of the server that is not stale."""

    def __init__(self, socket: ClientConnection, player: Player, on_message: OnMessage) -> None:
        self.player = player
        self.over = anyio.Event()
        """Set when the call has ended; `problem` then says why, if the server told."""
        self.problem: Problem | None = None
        self.late = 0.0
        """The longest that `run` was behind its clock, in seconds."""
        self._socket = socket
        self._on_message = on_message

    async def send(self, type: str, **fields: Any) -> None:
        """Send one message to the server."""
        await self._send(json.dumps({"type": type, **fields}))

    async def speak(self, pcm: bytes) -> None:
        """Send microphone audio: 16-bit mono, 16 kHz."""
        await self._send(pcm)

    async def interrupt(self, *, by_chunk: bool = False) -> None:
        """Stop playback now and tell the server. `by_chunk`: report only a frame number, as minimal clients do."""
        await self._send(json.dumps(self.player.interrupt(by_chunk=by_chunk)))

    async def hear(self, count: int) -> bytes:
        """The next `count` samples for the loudspeaker (24 kHz). Sends the position reports that are due."""
        pcm = self.player.play(count)
        while self.player.reports:
            await self._send(json.dumps(self.player.reports.popleft()))
        return pcm

    async def run(
        self,
        microphone: Microphone,
        on_audio: OnAudio,
        until: Callable[[], bool] = lambda: False,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        """Speak and listen in real time, 20 ms at a time, until the call is over or `until` is true.

        `microphone` returns the requested number of samples (16 kHz); `on_audio` gets what was spoken and what was played in
        the same 20 ms.
        """
        began, step = now(), 0
        while not self.over.is_set() and not until():
            spoken = microphone(SPOKEN_STEP)
            await self.speak(spoken)
            on_audio(spoken, await self.hear(HEARD_STEP))
            step += 1
            ahead = began + step * STEP - now()
            self.late = max(self.late, -ahead)
            await sleep(max(0.0, ahead))

    async def listen(self) -> None:
        """Receive messages and audio until the call is over."""
        try:
            while True:
                frame = await receive(self._socket)
                if isinstance(frame, bytes):
                    self.player.receive_audio(frame)
                    continue
                message: Json = json.loads(frame)
                if message.get("type") == "error":
                    self.problem = Problem(str(message.get("message")), code=str(message.get("code")))
                if self.player.take(message):
                    self._on_message(message)
        except Unavailable as lost:
            self.problem = self.problem or lost
        finally:
            self.over.set()

    async def _send(self, frame: str | bytes) -> None:
        from websockets.exceptions import ConnectionClosed

        try:
            await self._socket.send(frame)
        except ConnectionClosed:
            # `listen` learns the reason.
            self.over.set()


@asynccontextmanager
async def open_call(
    client: Client,
    *,
    player: Player | None = None,
    on_message: OnMessage = lambda message: None,
    start: Json | None = None,
) -> AsyncIterator[CallClient]:
    """A call that is hung up at the end of the context.

    `start` holds the fields of its first message (`voice`, `model`, `conversation_id`, `instructions` ...). Raises Problem when
    the call cannot be made.
    """
    socket = await client.connect("/ws/voice")
    call = CallClient(socket, player or Player(), on_message)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call.listen)
            # A player of sound: where calls have video, a client that says nothing of it gets clips.
            features = list(FEATURES) if call.player.holds else []
            await call.send("start", **{"features": features, "video": "off", **(start or {})})
            yield call
            tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True), anyio.move_on_after(2):
            await socket.close()
