"""`duologue call`: a call in the terminal by microphone and loudspeaker, with both sides transcribed.

The sound card is `client/sound_card.py`, the call itself `client/call.py`.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

import anyio
from msgspec import Struct

from duologue.cli.say import DIM, PLAIN, explained
from duologue.client import sound_card
from duologue.client.call import HEARD_STEP, CallClient, open_call
from duologue.client.http import Client
from duologue.client.sound_card import Loudspeaker, Microphone

AHEAD = 3 * HEARD_STEP
"""Samples buffered in the loudspeaker: 60 ms, enough for the scheduling delays of a busy machine."""
LINES = 100
"""Typed lines that may wait to be sent; further ones are dropped."""
HINT = "Speak now. A line typed here is sent as text, an empty line interrupts, Ctrl-C hangs up. Use headphones to avoid echo.\n"

Json = dict[str, Any]


class Setup(Struct, frozen=True):
    """The options of a call; empty fields mean the server's defaults."""

    model: str = ""
    voice: str = ""
    language: str = ""
    conversation: str = ""

    def start(self) -> Json:
        fields = {
            "model": self.model,
            "voice": self.voice,
            "language": self.language,
            "conversation_id": self.conversation,
        }
        return {name: value for name, value in fields.items() if value}


class TerminalCall:
    """Writes the transcript of both sides to `output`, everything else to `asides`."""

    def __init__(self, output: TextIO, asides: TextIO) -> None:
        self._output, self._asides = output, asides
        self._dim, self._plain = (DIM, PLAIN) if asides.isatty() else ("", "")
        self._state = ""

    def show(self, message: Json) -> None:
        match message.get("type"):
            case "transcript" if message.get("final"):
                text = message.get("text") or (
                    "(not understood)" if message.get("understood") is False else ""
                )
                if text:
                    self._line(f"You: {text}")
            case "reply_done":
                cut = " …" if message.get("ending") == "interrupted" else ""
                if text := str(message.get("text") or "").strip():
                    self._line(f"Duologue: {text}{cut}")
            case "queued" | "queue_update":
                self.aside(f"waiting, position {message.get('position')} in the queue\n")
            case "error":
                self.aside(f"{message.get('message')}\n")
            case "status" if message.get("state") != self._state:
                self._state = str(message.get("state"))
                self.aside(f"{self._state}\n")

    def aside(self, text: str) -> None:
        self._asides.write(f"{self._dim}{text}{self._plain}")
        self._asides.flush()

    def _line(self, text: str) -> None:
        self._output.write(f"{text}\n")
        self._output.flush()


def run_call(
    server: Client, setup: Setup, output: TextIO, asides: TextIO, lines: TextIO | None = sys.stdin
) -> None:
    """Call until either side hangs up. Raises Problem; when no server answers, one that says how to start it."""
    anyio.run(_call, server, setup, TerminalCall(output, asides), lines)


async def _call(server: Client, setup: Setup, terminal: TerminalCall, lines: TextIO | None) -> None:
    with sound_card.microphone() as microphone, sound_card.loudspeaker() as speaker:
        async with (
            explained(server),
            server,
            open_call(server, on_message=terminal.show, start=setup.start()) as call,
        ):
            terminal.aside(HINT)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_converse, call, microphone, speaker)
                if lines is not None:
                    tasks.start_soon(_type, call, lines)
                await call.over.wait()
                tasks.cancel_scope.cancel()
    if call.problem is not None and call.problem.code != "connection_lost":
        raise call.problem


async def _converse(call: CallClient, microphone: Microphone, speaker: Loudspeaker) -> None:
    """The microphone sets the pace; the loudspeaker is kept AHEAD samples full."""
    async for frame in microphone.frames():
        await call.speak(frame)
        while speaker.waiting < AHEAD:
            speaker.play(await call.hear(HEARD_STEP))


async def _type(call: CallClient, lines: TextIO) -> None:
    """Send typed lines as text; an empty line interrupts."""
    async for line in _read_lines(lines):
        if text := line.strip():
            await call.send("text", text=text)
        else:
            await call.interrupt()


async def _read_lines(lines: TextIO) -> AsyncIterator[str]:
    """Lines as they are typed; none where the event loop cannot watch the input, such as a regular file."""
    send, receive = anyio.create_memory_object_stream[str](LINES)
    rest = b""

    def read() -> None:
        # Not with the file's own readline: it buffers, and would hold back a second line until the descriptor is readable
        # again.
        nonlocal rest
        data = os.read(lines.fileno(), 65536)
        if not data:
            asyncio.get_running_loop().remove_reader(lines)
            return
        *whole, rest = (rest + data).split(b"\n")
        for line in whole:
            with suppress(anyio.WouldBlock):
                send.send_nowait(line.decode("utf-8", "replace"))

    with send, receive, _watched(lines, read) as watched:
        while watched:
            yield await receive.receive()


@contextmanager
def _watched(lines: TextIO, read: Any) -> Iterator[bool]:
    loop = asyncio.get_running_loop()
    try:
        loop.add_reader(lines, read)
    except (NotImplementedError, ValueError, OSError):
        yield False
        return
    try:
        yield True
    finally:
        loop.remove_reader(lines)
