"""`duologue say`: one question to a running server, its reply streamed to the terminal.

Owns what is shown where: the reply goes to the output, everything about it (waiting, thinking) to the error stream,
so that the output can be piped; where it is spoken too, its sound goes to the loudspeaker or into a file. Knows the
server only through the client.
"""

from __future__ import annotations

import wave
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any, TextIO

import anyio
from msgspec import Struct

from duologue.client import sound_card
from duologue.client.http import Client, sound_in
from duologue.errors import BadRequest, Problem, Unauthorized, Unavailable
from duologue.values.audio import SAMPLE_BYTES, SPOKEN_RATE

DIM, PLAIN = "\x1b[2m", "\x1b[0m"


class Question(Struct, frozen=True):
    text: str
    model: str = ""
    system: str = ""
    thinking: bool | None = None
    voice: bool = False
    """Whether the reply is spoken too."""
    out: Path | None = None
    """The WAV file its sound goes to; the loudspeaker without."""

    def messages(self) -> list[dict[str, str]]:
        asked = [{"role": "user", "content": self.text}]
        return [{"role": "system", "content": self.system}, *asked] if self.system else asked

    def options(self) -> dict[str, Any]:
        options: dict[str, Any] = {"streaming": True}
        if self.model:
            options["model"] = self.model
        if self.thinking is not None:
            options["enable_thinking"] = self.thinking
        if self.voice:
            options |= {"tts": {"enabled": True}, "audio_format": "s16"}
        return options


class TerminalReply:
    """Writes the messages of a reply as they come."""

    def __init__(self, output: TextIO, asides: TextIO) -> None:
        self._output = output
        self._asides = asides
        self._dim, self._plain = (DIM, PLAIN) if asides.isatty() else ("", "")
        self._thinking = False
        self._amid = False

    def break_off(self) -> None:
        """End the line a broken reply stopped in: what is said about it stands on its own."""
        if self._amid or self._thinking:
            (self._output if self._amid else self._asides).write("\n")
        self._output.flush()

    def show(self, message: dict[str, Any]) -> None:
        kind = message.get("type")
        if kind in ("queued", "queue_update"):
            self._aside(f"waiting, place {message.get('position')} in the queue\n")
        elif kind == "chunk":
            self._chunk(message)
        elif kind == "done":
            self._end_thinking()
            self._output.write("\n")
            self._amid = False
            if message.get("finish_reason") == "length":
                self._aside("(cut: the reply reached its longest)\n")
        self._output.flush()

    def _chunk(self, message: dict[str, Any]) -> None:
        if thought := message.get("reasoning_delta"):
            self._thinking = True
            self._aside(thought)
        for call in message.get("tool_calls") or ():
            function = call.get("function", {})
            name = function.get("name")
            self._aside((f"\n{name} " if name else "") + (function.get("arguments") or ""))
        if text := message.get("text_delta"):
            self._end_thinking()
            self._output.write(text)
            self._amid = not text.endswith("\n")

    def _end_thinking(self) -> None:
        if self._thinking:
            self._thinking = False
            self._aside("\n\n")

    def _aside(self, text: str) -> None:
        self._asides.write(f"{self._dim}{text}{self._plain}")
        self._asides.flush()


def say(question: Question, server: Client, output: TextIO, asides: TextIO) -> None:
    """Ask and show the reply. Raises Problem; when no server answers, one that says how to start it."""
    anyio.run(_say, question, server, TerminalReply(output, asides))


async def _say(question: Question, server: Client, voice: TerminalReply) -> None:
    async with (
        _sounding(question) as sound,
        explained(server),
        server as client,
        aclosing(client.chat(question.messages(), **question.options())) as reply,
    ):
        try:
            async for message in reply:
                voice.show(message)
                if pcm := sound_in(message):
                    sound(pcm)
        except Problem:
            voice.break_off()
            raise
        if trouble := message.get("audio_error"):
            raise Problem(str(trouble.get("message")), code=str(trouble.get("code")))


@asynccontextmanager
async def _sounding(question: Question) -> AsyncIterator[Callable[[bytes], None]]:
    """Where the sound of the reply goes; it is all there when the context ends. Raises Problem where it cannot go."""
    if not question.voice:
        yield lambda pcm: None
    elif question.out is not None:
        with _written(question.out) as file:
            yield file.writeframes
    else:
        with sound_card.loudspeaker() as speaker:
            yield speaker.play
            await speaker.drained()


@contextmanager
def _written(path: Path) -> Iterator[wave.Wave_write]:
    try:
        with path.open("wb"):
            pass
    except OSError as error:
        raise BadRequest(f"{path} cannot be written: {error.strerror or error}.", param="out") from None
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(SAMPLE_BYTES)
        file.setframerate(SPOKEN_RATE)
        yield file


@asynccontextmanager
async def explained(server: Client) -> AsyncIterator[None]:
    """What goes wrong within, as the sentence of a command: no server, no key."""
    try:
        yield
    except Unauthorized as problem:
        sentence = f"{server.address} needs {'another' if server.key else 'a'} key: set DUOLOGUE_KEY."
        raise Unauthorized(sentence) from problem
    except Unavailable as problem:
        if problem.code != "unreachable":
            raise
        raise Problem(
            f"No Duologue server answers at {server.address}. Start one with `duologue serve`, "
            "or name another with --server."
        ) from problem
