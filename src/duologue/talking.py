"""`duologue say`: one question to a running server, its reply streamed to the terminal.

Owns what is shown where: the reply goes to the output, everything about it (waiting, thinking) to the error stream,
so that the output can be piped. Knows the server only through the client.
"""

from __future__ import annotations

from contextlib import aclosing
from typing import Any, TextIO

import anyio
from msgspec import Struct

from duologue.client import Client
from duologue.errors import Problem, Unauthorized, Unavailable

DIM, PLAIN = "\x1b[2m", "\x1b[0m"


class Question(Struct, frozen=True):
    text: str
    model: str = ""
    system: str = ""
    thinking: bool | None = None

    def messages(self) -> list[dict[str, str]]:
        asked = [{"role": "user", "content": self.text}]
        return [{"role": "system", "content": self.system}, *asked] if self.system else asked

    def options(self) -> dict[str, Any]:
        options: dict[str, Any] = {"streaming": True}
        if self.model:
            options["model"] = self.model
        if self.thinking is not None:
            options["enable_thinking"] = self.thinking
        return options


class Voice:
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
    anyio.run(_say, question, server, Voice(output, asides))


async def _say(question: Question, server: Client, voice: Voice) -> None:
    try:
        async with (
            server as client,
            aclosing(client.chat(question.messages(), **question.options())) as reply,
        ):
            try:
                async for message in reply:
                    voice.show(message)
            except Problem:
                voice.break_off()
                raise
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
