"""The ears of the embedded recogniser: the process that decodes, and one line to it for each utterance.

Decoding takes a twentieth of a core for each who speaks, with the interpreter's lock held; in processes of its own it keeps no
call from being heard and answered. Owns that process: it is started when the engine is loaded, started again when it is
found dead, and gone with this one. Knows no decoder and no transcript.
"""

from __future__ import annotations

import logging
import socket
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Generic, TypeVar

import anyio
from anyio.abc import Process

from duologue.engines.hardware import machine_limits
from duologue.engines.sphinx.confidence import HeardWord
from duologue.engines.sphinx.fair_queue import LeastFirst
from duologue.engines.sphinx.ipc import (
    Answer,
    BeginUtterance,
    DecodeAudio,
    DecodingFailed,
    End,
    Incoming,
    Question,
    Ready,
    Started,
    Understood,
    Words,
    packed,
)
from duologue.errors import EngineFailed, StartFailed

START = 30.0
"""Seconds the process may take to load its models; it takes a quarter of one."""
HUNG = 20.0
"""Seconds an answer may take; it takes some milliseconds, and longer on a busy machine."""
GRACE = 2.0
"""Seconds it may take to end when it is asked to."""
PATIENCE = 2**40
"""Bytes a recording is taken to have had before it began: nobody speaks for so long."""
CHUNK = 65536
"""Bytes read at a time."""
LOST = "The recogniser's process ended while it listened. It is started again; say that once more. The server's log may say why."

M = TypeVar("M")

log = logging.getLogger("duologue.engines")


class Line(Generic[M]):
    """One end of a pair of sockets, where messages come in."""

    def __init__(self, near: socket.socket, union: object) -> None:
        near.setblocking(False)
        self._near = near
        self._incoming = Incoming[M](union)

    async def send(self, message: Question) -> None:
        """Raises OSError when nobody is at the other end."""
        rest = memoryview(packed(message))
        while rest:
            try:
                rest = rest[self._near.send(rest) :]
            except BlockingIOError:
                await anyio.wait_writable(self._near)

    async def take(self) -> M:
        """The next message. Raises EOFError when the other end is gone."""
        while (message := self._incoming.take()) is None:
            try:
                data = self._near.recv(CHUNK)
            except BlockingIOError:
                await anyio.wait_readable(self._near)
                continue
            except OSError as error:
                raise EOFError from error
            if not data:
                raise EOFError
            self._incoming.add(data)
        return message


class DecoderHandle:
    """An ear for one utterance. Every method raises EngineFailed when it does not go on; then it is of no more use."""

    def __init__(self, line: Line[Answer], cores: LeastFirst, patience: int) -> None:
        self._line = line
        self._cores = cores
        self._had = patience

    async def begin(self, level: float) -> None:
        """Somebody speaks who is `level` dBFS loud."""
        await self._ask(BeginUtterance(level))

    async def hear(self, pcm: bytes) -> str:
        """The words so far."""
        self._had += len(pcm)
        answer = await self._ask(DecodeAudio(pcm))
        return answer.text if isinstance(answer, Words) else ""

    async def end(self) -> tuple[tuple[HeardWord, ...], float]:
        """What was said, and how surely, from 0 to 1."""
        answer = await self._ask(End())
        return (answer.words, answer.sure) if isinstance(answer, Understood) else ((), 0.0)

    async def _ask(self, question: Question) -> Words | Understood:
        async with self._cores.place(self._had):
            try:
                with anyio.fail_after(HUNG):
                    await self._line.send(question)
                    answer = await self._line.take()
            except (EOFError, OSError) as error:  # a TimeoutError is an OSError
                raise EngineFailed(LOST) from error
        if isinstance(answer, DecodingFailed):
            raise EngineFailed(answer.message)
        return answer


class DecoderPool:
    """Lends ears. `hearing` is the folder of what they know; `cores`: how many of them work at the same time."""

    def __init__(self, hearing: Path, cores: int | None = None) -> None:
        self._hearing = hearing
        self._cores = LeastFirst(cores or machine_limits().cores)
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._control: socket.socket | None = None
        self._starting: anyio.Event | None = None
        self.process: Process | None = None

    @asynccontextmanager
    async def lent(self, *, patient: bool = False) -> AsyncIterator[DecoderHandle]:
        """An ear of one's own; leaving ends it, whatever it is doing. `patient`: whoever speaks goes first. Raises a Problem
        where there can be none."""
        near = await self._asked_for() or await self._asked_for()
        if near is None:
            raise EngineFailed(LOST)
        with near:
            yield DecoderHandle(Line[Answer](near, Answer), self._cores, PATIENCE if patient else 0)

    async def _asked_for(self) -> socket.socket | None:
        """One end of a pair with an ear at the other. None if the process ended before it gave one; it is started again
        then."""
        asked = self.process
        near, far = socket.socketpair()
        try:
            with far:
                if self._control is not None:
                    socket.send_fds(self._control, [b"+"], [far.fileno()])
            with anyio.fail_after(HUNG):
                await Line[Ready](near, Ready).take()
        except (EOFError, OSError):
            near.close()
        except BaseException:
            near.close()
            raise
        else:
            return near
        await self._start_again(asked)
        return None

    async def _start_again(self, missed: Process | None) -> None:
        """Start the process again, once for all who miss it."""
        if self._starting is not None:
            await self._starting.wait()
        elif self.process is missed:
            log.warning("the recogniser's process has ended; it is started again")
            self._starting = started = anyio.Event()
            try:
                await self.start()
            finally:
                self._starting = None
                started.set()

    async def start(self) -> None:
        """Start the process, and wait until it has loaded its models. Raises StartFailed."""
        await self._end()
        self._folder = tempfile.TemporaryDirectory(prefix="duologue-hearing-", ignore_cleanup_errors=True)
        near, far = socket.socketpair()
        self._control = near
        try:
            with far:
                self.process = await anyio.open_process(
                    # -P: not from the folder the server was started in, where a file may have the name of a library's.
                    [
                        *(sys.executable, "-P", "-m", "duologue.engines.sphinx.decoder_process"),
                        *(str(self._hearing), self._folder.name),
                    ],
                    stdin=far.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=None,
                    # Ctrl-C goes to the whole terminal group; this process ends when we do.
                    start_new_session=True,
                )
            await self._loaded(Line[Started](near, Started))
        except BaseException:
            await self._end()
            raise

    async def _loaded(self, line: Line[Started]) -> None:
        try:
            with anyio.fail_after(START):
                started = await line.take()
        except (EOFError, TimeoutError):
            raise StartFailed(
                "The recogniser's process did not start. The server's log has the reason."
            ) from None
        if isinstance(started, DecodingFailed):
            raise StartFailed(started.message, code=started.code)

    async def close(self) -> None:
        """End the process. Ears that are lent end with whoever has them."""
        await self._end()

    async def _end(self) -> None:
        process, self.process = self.process, None
        if self._control is not None:
            self._control.close()
            self._control = None
        with anyio.CancelScope(shield=True):
            if process is not None:
                with anyio.move_on_after(GRACE):
                    await process.wait()
                if process.returncode is None:
                    process.kill()
                    await process.wait()
                await process.aclose()
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
