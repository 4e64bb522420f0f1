"""`duologue call`: a call in the terminal, by microphone and loudspeaker, with both sides written down.

Owns what is shown and what a typed line does. The sound card is `soundcard.py`'s, the call `calling.py`'s.
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
from duologue.client.call import HEARD_STEP, CallClient, calling
from duologue.client.http import Client
from duologue.client.sound_card import Loudspeaker, Microphone

AHEAD = 3 * HEARD_STEP
"""Samples that the loudspeaker is given ahead of the ear: 60 ms bridge what a busy machine takes."""
LINES = 100
"""Typed lines that wait; more are not read."""
HINT = "Speak. A line typed here is said too, an empty one interrupts; Ctrl-C hangs up. Headphones keep the reply out of the microphone.\n"

Json = dict[str, Any]


class Setup(Struct, frozen=True):
    """How the call is to be; empty fields are the server's own."""

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
    """Writes down what both sides say: that to the output, everything else beside it."""

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
                self.aside(f"waiting, place {message.get('position')} in the queue\n")
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


def phone(
    server: Client, setup: Setup, output: TextIO, asides: TextIO, lines: TextIO | None = sys.stdin
) -> None:
    """Call, until either side hangs up. Raises Problem; when no server answers, one that says how to start it."""
    anyio.run(_phone, server, setup, TerminalCall(output, asides), lines)


async def _phone(server: Client, setup: Setup, page: TerminalCall, lines: TextIO | None) -> None:
    with sound_card.microphone() as microphone, sound_card.loudspeaker() as speaker:
        async with explained(server), server, calling(server, seen=page.show, start=setup.start()) as call:
            page.aside(HINT)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_converse, call, microphone, speaker)
                if lines is not None:
                    tasks.start_soon(_type, call, lines)
                await call.over.wait()
                tasks.cancel_scope.cancel()
    if call.problem is not None and call.problem.code != "connection_lost":
        raise call.problem


async def _converse(call: CallClient, microphone: Microphone, speaker: Loudspeaker) -> None:
    """The microphone sets the pace; the loudspeaker is kept a little ahead of the ear."""
    async for frame in microphone.frames():
        await call.speak(frame)
        while speaker.waiting < AHEAD:
            speaker.play(await call.hear(HEARD_STEP))


async def _type(call: CallClient, lines: TextIO) -> None:
    """What is typed is said; an empty line interrupts."""
    async for line in _typed(lines):
        if text := line.strip():
            await call.tell("text", text=text)
        else:
            await call.interrupt()


async def _typed(lines: TextIO) -> AsyncIterator[str]:
    """Lines as they are typed; none where a terminal cannot be waited for."""
    send, receive = anyio.create_memory_object_stream[str](LINES)
    rest = b""

    def come() -> None:
        # Not by the file's own readline: it would keep a second line to itself until there is a third.
        nonlocal rest
        data = os.read(lines.fileno(), 65536)
        if not data:
            asyncio.get_running_loop().remove_reader(lines)
            return
        *whole, rest = (rest + data).split(b"\n")
        for line in whole:
            with suppress(anyio.WouldBlock):
                send.send_nowait(line.decode("utf-8", "replace"))

    with send, receive, _watched(lines, come) as watched:
        while watched:
            yield await receive.receive()


@contextmanager
def _watched(lines: TextIO, come: Any) -> Iterator[bool]:
    loop = asyncio.get_running_loop()
    try:
        loop.add_reader(lines, come)
    except (NotImplementedError, ValueError, OSError):
        yield False
        return
    try:
        yield True
    finally:
        loop.remove_reader(lines)
