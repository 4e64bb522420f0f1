"""`duologue say`: one message to a running server, its reply streamed to the terminal.

The reply goes to standard output, everything else (queue position, reasoning) to standard error, so that the output can be
piped. A spoken reply goes to the loudspeaker or into a WAV file.
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
from duologue.client.http import Client, audio_in
from duologue.errors import BadRequest, Problem, Unauthorized, Unavailable
from duologue.values.audio import SAMPLE_BYTES, SPOKEN_RATE

DIM, PLAIN = "\x1b[2m", "\x1b[0m"


class Question(Struct, frozen=True):
    text: str
    model: str = ""
    system: str = ""
    thinking: bool | None = None
    voice: bool = False
    """Whether the reply is also spoken."""
    out: Path | None = None
    """The WAV file for the spoken reply; None plays it."""

    def messages(self) -> list[dict[str, str]]:
        message = {"role": "user", "content": self.text}
        return [{"role": "system", "content": self.system}, message] if self.system else [message]

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
    """Writes the messages of a reply as they arrive."""

    def __init__(self, output: TextIO, asides: TextIO) -> None:
        self._output = output
        self._asides = asides
        self._dim, self._plain = (DIM, PLAIN) if asides.isatty() else ("", "")
        self._thinking = False
        self._mid_line = False

    def break_off(self) -> None:
        """End the line in which a reply broke off, so that the error message starts on a line of its own."""
        if self._mid_line or self._thinking:
            (self._output if self._mid_line else self._asides).write("\n")
        self._output.flush()

    def show(self, message: dict[str, Any]) -> None:
        kind = message.get("type")
        if kind in ("queued", "queue_update"):
            self._aside(f"waiting, position {message.get('position')} in the queue\n")
        elif kind == "chunk":
            self._chunk(message)
        elif kind == "done":
            self._end_thinking()
            self._output.write("\n")
            self._mid_line = False
            if message.get("finish_reason") == "length":
                self._aside("(cut off: the reply reached its length limit)\n")
        self._output.flush()

    def _chunk(self, message: dict[str, Any]) -> None:
        if thought := message.get("reasoning_delta"):
            self._thinking = True
            self._aside(thought)
        for tool_call in message.get("tool_calls") or ():
            function = tool_call.get("function", {})
            name = function.get("name")
            self._aside((f"\n{name} " if name else "") + (function.get("arguments") or ""))
        if text := message.get("text_delta"):
            self._end_thinking()
            self._output.write(text)
            self._mid_line = not text.endswith("\n")

    def _end_thinking(self) -> None:
        if self._thinking:
            self._thinking = False
            self._aside("\n\n")

    def _aside(self, text: str) -> None:
        self._asides.write(f"{self._dim}{text}{self._plain}")
        self._asides.flush()


def say(question: Question, server: Client, output: TextIO, asides: TextIO) -> None:
    """Send the message and show the reply. Raises Problem; when no server answers, one that says how to start it."""
    anyio.run(_say, question, server, TerminalReply(output, asides))


async def _say(question: Question, server: Client, terminal: TerminalReply) -> None:
    async with (
        _audio_output(question) as play,
        explained(server),
        server as client,
        aclosing(client.chat(question.messages(), **question.options())) as reply,
    ):
        try:
            async for message in reply:
                terminal.show(message)
                if pcm := audio_in(message):
                    play(pcm)
        except Problem:
            terminal.break_off()
            raise
        if error := message.get("audio_error"):
            raise Problem(str(error.get("message")), code=str(error.get("code")))


@asynccontextmanager
async def _audio_output(question: Question) -> AsyncIterator[Callable[[bytes], None]]:
    """A function that takes the PCM of the reply; everything is played or written when the context ends. Raises Problem
    when there is no loudspeaker or the file cannot be written."""
    if not question.voice:
        yield lambda pcm: None
    elif question.out is not None:
        with _wav_file(question.out) as file:
            yield file.writeframes
    else:
        with sound_card.loudspeaker() as speaker:
            yield speaker.play
            await speaker.drained()


@contextmanager
def _wav_file(path: Path) -> Iterator[wave.Wave_write]:
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
    """Turns connection and key errors into sentences that name the command to run."""
    try:
        yield
    except Unauthorized as problem:
        message = f"{server.address} needs {'another' if server.key else 'a'} key: set DUOLOGUE_KEY."
        raise Unauthorized(message) from problem
    except Unavailable as problem:
        if problem.code != "unreachable":
            raise
        raise Problem(
            f"No Duologue server answers at {server.address}. Start one with `duologue serve`, "
            "or pass another address with --server."
        ) from problem
