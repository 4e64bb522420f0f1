"""A call to a running server, as any client makes one: sound and messages over `/ws/voice`, both ways.

Owns the socket, what is sent when, and the way of what comes into the player. What the microphone hears is given to it,
and what the loudspeaker is to play is taken from it, in equal steps of time. Knows no sound card and no scenario.
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
"""Seconds of sound that go each way at a time."""
SPOKEN_STEP = round(STEP * HEARD_RATE)
HEARD_STEP = round(STEP * SPOKEN_RATE)
FEATURES = ("pause", "played")
"""What this client can do: hold and go on, and tell how far it is."""

Json = dict[str, Any]
Seen = Callable[[Json], None]
Microphone = Callable[[int], bytes]
Ear = Callable[[bytes, bytes], None]


class CallClient:
    """A call that is going on. `seen` is told every message of the server that is not stale."""

    def __init__(self, socket: ClientConnection, player: Player, seen: Seen) -> None:
        self.player = player
        self.over = anyio.Event()
        """Set when the server has ended it; `problem` then says why, where it said so."""
        self.problem: Problem | None = None
        self.late = 0.0
        """Seconds by which `run` was behind its clock, at the worst."""
        self._socket = socket
        self._seen = seen

    async def tell(self, type: str, **fields: Any) -> None:
        """One message to the server."""
        await self._send(json.dumps({"type": type, **fields}))

    async def speak(self, pcm: bytes) -> None:
        """What the microphone hears: 16-bit mono, 16 kHz."""
        await self._send(pcm)

    async def interrupt(self, *, by_chunk: bool = False) -> None:
        """Have silence now, and say so. `by_chunk`: by the number of a frame alone, as clients of few words do."""
        await self._send(json.dumps(self.player.interrupt(by_chunk=by_chunk)))

    async def hear(self, count: int) -> bytes:
        """The next `count` samples for the loudspeaker (24 kHz); the server is told what is due."""
        pcm = self.player.play(count)
        while self.player.told:
            await self._send(json.dumps(self.player.told.popleft()))
        return pcm

    async def run(
        self,
        microphone: Microphone,
        ear: Ear,
        until: Callable[[], bool] = lambda: False,
        now: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        """Speak and listen at the pace of time, 20 ms at a time, until the call is over or `until` says so.

        `microphone` gives as many samples (16 kHz) as it is asked for; `ear` is given what was said and what was heard in the
        same 20 ms.
        """
        began, step = now(), 0
        while not self.over.is_set() and not until():
            said = microphone(SPOKEN_STEP)
            await self.speak(said)
            ear(said, await self.hear(HEARD_STEP))
            step += 1
            ahead = began + step * STEP - now()
            self.late = max(self.late, -ahead)
            await sleep(max(0.0, ahead))

    async def listen(self) -> None:
        """Take what comes, until the call is over."""
        try:
            while True:
                frame = await receive(self._socket)
                if isinstance(frame, bytes):
                    self.player.sound(frame)
                    continue
                message: Json = json.loads(frame)
                if message.get("type") == "error":
                    self.problem = Problem(str(message.get("message")), code=str(message.get("code")))
                if self.player.take(message):
                    self._seen(message)
        except Unavailable as lost:
            self.problem = self.problem or lost
        finally:
            self.over.set()

    async def _send(self, frame: str | bytes) -> None:
        from websockets.exceptions import ConnectionClosed

        try:
            await self._socket.send(frame)
        except ConnectionClosed:
            # Why, `listen` is told.
            self.over.set()


@asynccontextmanager
async def calling(
    client: Client,
    *,
    player: Player | None = None,
    seen: Seen = lambda message: None,
    start: Json | None = None,
) -> AsyncIterator[CallClient]:
    """A call, hung up at the end of the context.

    `start` are the fields of its first message (`voice`, `model`, `conversation_id`, `instructions` ...). Raises Problem where
    no call can be made.
    """
    socket = await client.connect("/ws/voice")
    call = CallClient(socket, player or Player(), seen)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(call.listen)
            await call.tell("start", features=list(FEATURES) if call.player.holds else [], **(start or {}))
            yield call
            tasks.cancel_scope.cancel()
    finally:
        with anyio.CancelScope(shield=True), anyio.move_on_after(2):
            await socket.close()
