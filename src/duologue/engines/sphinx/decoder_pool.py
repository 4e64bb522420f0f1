"""The decoders of the embedded recogniser: the process that forks them, and a socket to one for each utterance.

Used by `engine`. Decoding takes almost half a core for each speaker, with the interpreter's lock held; in processes of
its own it delays no other call. Owns that process (`decoder_process`): it is started when the engine is loaded, restarted
when it is found dead, and ends with this one.
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

import anyio
from anyio.abc import Process

from duologue.engines.hardware import machine_limits
from duologue.engines.message_socket import MessageSocket
from duologue.engines.message_stream import pack
from duologue.engines.sphinx.fair_queue import FairQueue
from duologue.engines.sphinx.ipc import (
    BeginUtterance,
    DecodeAudio,
    DecoderRequest,
    DecoderResponse,
    DecodingFailed,
    EndUtterance,
    FinalWords,
    PartialWords,
    Ready,
    StartupMessage,
)
from duologue.errors import EngineFailed, StartFailed

START_TIMEOUT = 30.0
"""Seconds the process may take to load its models; it takes about one."""
RESPONSE_TIMEOUT = 20.0
"""Seconds a response may take; it takes some milliseconds, and longer on a busy machine."""
GRACE = 2.0
"""Seconds the process may take to end by itself."""
BACKGROUND = 2**40
"""Bytes that a recording counts as having used before it began: more than any live speaker, so that those go first."""
LOST = "The recogniser's process ended in the middle of an utterance. It is started again; please repeat. The server's log may say why."

log = logging.getLogger(__name__)


class DecoderHandle:
    """A decoder for one utterance. Every method raises EngineFailed when decoding fails; the handle cannot be used after that."""

    def __init__(self, connection: MessageSocket[DecoderResponse], cores: FairQueue, used: int) -> None:
        self._socket = connection
        self._cores = cores
        self._used = used
        """Bytes of sound that this utterance has had decoded."""

    async def begin(self, level: float, words: tuple[str, ...] = (), *, spot: bool = False) -> None:
        """Begin an utterance of a speaker who is `level` dBFS loud and may well say these words. `spot`: listen for words that ask
        to stop too."""
        await self._request(BeginUtterance(level, words, spot))

    async def decode(self, pcm: bytes) -> str:
        """The words so far."""
        self._used += len(pcm)
        response = await self._request(DecodeAudio(pcm))
        return response.text if isinstance(response, PartialWords) else ""

    async def end(self) -> FinalWords:
        """The utterance is over: its words."""
        response = await self._request(EndUtterance())
        return response if isinstance(response, FinalWords) else FinalWords((), 0.0)

    async def _request(self, request: DecoderRequest) -> PartialWords | FinalWords:
        async with self._cores.turn(self._used):
            try:
                with anyio.fail_after(RESPONSE_TIMEOUT):
                    await self._socket.send(pack(request))
                    response = await self._socket.receive()
            except (EOFError, OSError) as error:  # a TimeoutError is an OSError
                raise EngineFailed(LOST) from error
        if isinstance(response, DecodingFailed):
            raise EngineFailed(response.message)
        return response


class DecoderPool:
    """`data` is the folder of the models; `cores`: how many decoders work at the same time."""

    def __init__(self, data: Path, cores: int | None = None) -> None:
        self._data = data
        self._cores = FairQueue(cores or machine_limits().cores)
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._control: socket.socket | None = None
        self._starting: anyio.Event | None = None
        self.process: Process | None = None

    @asynccontextmanager
    async def acquire(self, *, background: bool = False) -> AsyncIterator[DecoderHandle]:
        """A decoder for one utterance; leaving ends its process, whatever it is doing. `background`: live speakers go
        first. Raises EngineFailed or StartFailed where no decoder can be started."""
        # The first attempt may find the process dead and restart it.
        near = await self._connect() or await self._connect()
        if near is None:
            raise EngineFailed(LOST)
        with near:
            yield DecoderHandle(
                MessageSocket[DecoderResponse](near, DecoderResponse),
                self._cores,
                BACKGROUND if background else 0,
            )

    async def _connect(self) -> socket.socket | None:
        """A socket to a new decoder. None if the process had ended; it is restarted then."""
        process = self.process
        near, far = socket.socketpair()
        try:
            with far:
                if self._control is not None:
                    socket.send_fds(self._control, [b"+"], [far.fileno()])
            with anyio.fail_after(RESPONSE_TIMEOUT):
                await MessageSocket[Ready](near, Ready).receive()
        except (EOFError, OSError):
            near.close()
        except BaseException:
            near.close()
            raise
        else:
            return near
        await self._restart(process)
        return None

    async def _restart(self, dead: Process | None) -> None:
        """Restart the process, once for all utterances that found it dead."""
        if self._starting is not None:
            await self._starting.wait()
        elif self.process is dead:
            log.warning("the recogniser's process has ended; starting it again")
            self._starting = restarted = anyio.Event()
            try:
                await self.start()
            finally:
                self._starting = None
                restarted.set()

    async def start(self) -> None:
        """Start the process, and wait until it has loaded its models. Raises StartFailed."""
        await self._end()
        self._folder = tempfile.TemporaryDirectory(prefix="duologue-recogniser-", ignore_cleanup_errors=True)
        near, far = socket.socketpair()
        self._control = near
        try:
            with far:
                self.process = await anyio.open_process(
                    # -P: do not import from the folder the server was started in, where a file may have a library's name.
                    [
                        *(sys.executable, "-P", "-m", "duologue.engines.sphinx.decoder_process"),
                        *(str(self._data), self._folder.name),
                    ],
                    stdin=far.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=None,
                    # Ctrl-C goes to the whole process group; this process ends with the worker instead, by its socket.
                    start_new_session=True,
                )
            await self._await_start(MessageSocket[StartupMessage](near, StartupMessage))
        except BaseException:
            await self._end()
            raise

    async def _await_start(self, connection: MessageSocket[StartupMessage]) -> None:
        try:
            with anyio.fail_after(START_TIMEOUT):
                message = await connection.receive()
        except (EOFError, TimeoutError):
            raise StartFailed(
                "The recogniser's process did not start. The server's log has the reason."
            ) from None
        if isinstance(message, DecodingFailed):
            raise StartFailed(message.message, code=message.code)

    async def close(self) -> None:
        """End the process. Decoders in use end when their handles are left."""
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
