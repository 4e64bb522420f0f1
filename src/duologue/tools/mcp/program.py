"""The stdio transport: an MCP server that is a program on this machine.

Starts the program in a process group of its own, exchanges one JSON message a line, copies its standard error to the
server's journal, and ends the whole group. Not the SDK's transport: that one reads a line of any length.
"""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from subprocess import PIPE
from typing import Any

import anyio
import mcp_types as types
from anyio.abc import ByteReceiveStream, Process
from mcp.client.stdio import get_default_environment
from mcp.shared.message import SessionMessage

from duologue import process_limits
from duologue.config.sections.mcp import McpServer
from duologue.tools.mcp.health import LINES, Journal
from duologue.tools.mcp.message_bounds import MessageTooLarge, Pace, check_parts, check_size, count_parts

PIECE = 65_536
"""Bytes of a line of standard error that are kept together."""
WRITE_SECONDS = 10.0
"""How long a program may leave a message unread; its answers to server requests would pile up."""
EXIT_SECONDS = 2.0
"""Grace after the end of its standard input, and again after SIGTERM."""
STDERR_LINES_A_SECOND = 200
STDERR_BURST, STDERR_RATE = 8 * 2**20, 4 * 2**20
"""Bytes of standard error that are read at once, and a second after that. A program that writes more waits."""

Streams = tuple[Any, Any]


@asynccontextmanager
async def program(server: McpServer, journal: Journal) -> AsyncIterator[Streams]:
    """Start the program of `server` and yield its streams; end it and its children after the block. Raises OSError when
    it cannot be started."""
    read_fd, write_fd = os.pipe()
    os.set_blocking(read_fd, False)
    try:
        try:
            process = await anyio.open_process(
                [server.command, *server.args],
                stdin=PIPE,
                stdout=PIPE,
                stderr=write_fd,
                env=get_default_environment() | dict(server.env),
                cwd=server.cwd,
                start_new_session=True,
            )
        finally:
            # Our copy of the write end would keep the pipe open after the program exits.
            os.close(write_fd)
        process_limits.set_oom_score(process.pid, process_limits.TOOL)
        to_session, incoming = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        outgoing, from_session = anyio.create_memory_object_stream[SessionMessage](0)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_copy_stderr, read_fd, journal)
                tasks.start_soon(_read, process, to_session, journal)
                tasks.start_soon(_write, process, from_session, to_session, journal)
                try:
                    yield incoming, outgoing
                finally:
                    with anyio.CancelScope(shield=True):
                        incoming.close()
                        outgoing.close()
                        await _end(process)
                    tasks.cancel_scope.cancel()
        finally:
            for stream in (to_session, incoming, outgoing, from_session):
                stream.close()
    finally:
        os.close(read_fd)


async def _read(process: Process, to_session: Any, journal: Journal) -> None:
    """Pass the program's messages on until it ends, says too much, or the session is over; then discard its output,
    because a program that cannot write does not exit. `_end` ends that."""
    assert process.stdout is not None
    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.EndOfStream, OSError):
        try:
            async with to_session:
                await _pass_on(process.stdout, to_session, journal)
        finally:
            with anyio.CancelScope(shield=True):
                while True:
                    await process.stdout.receive()


async def _pass_on(stdout: ByteReceiveStream, to_session: Any, journal: Journal) -> None:
    pace = Pace()
    line = bytearray()
    while True:
        piece = await stdout.receive()
        messages = 0
        *ended, rest = piece.split(b"\n")
        for end in ended:
            line += end
            if not _fits(line, journal, whole=True):
                return
            if line.strip():
                messages += 1
                await to_session.send(_parse(line))
            line = bytearray()
        line += rest
        if not _fits(line, journal):
            return
        await anyio.sleep(pace.wait(len(piece), messages, anyio.current_time()))


def _parse(line: bytearray) -> SessionMessage | Exception:
    try:
        message = types.jsonrpc_message_adapter.validate_json(line.decode("utf-8", "replace"), by_name=False)
    except ValueError as error:
        return error
    return SessionMessage(message)


def _fits(line: bytearray, journal: Journal, *, whole: bool = False) -> bool:
    try:
        check_size(len(line))
        if whole:
            check_parts(count_parts(line))
    except MessageTooLarge as problem:
        journal.add(f"{problem.message} The connection was closed.")
        return False
    return True


async def _write(process: Process, from_session: Any, to_session: Any, journal: Journal) -> None:
    """Write the session's messages. A program that does not read them loses its session."""
    assert process.stdin is not None
    with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError, OSError):
        async with from_session:
            async for message in from_session:
                text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                with anyio.move_on_after(WRITE_SECONDS) as limit:
                    await process.stdin.send(text.encode() + b"\n")
                if limit.cancelled_caught:
                    journal.add(f"It did not read its standard input for {WRITE_SECONDS:g} seconds.")
                    break
    # The program may still run: the session must see the end instead of waiting for answers.
    await to_session.aclose()


async def _end(process: Process) -> None:
    """End the program: end of input, SIGTERM, SIGKILL; then whatever is left of its process group."""
    assert process.stdin is not None
    with anyio.move_on_after(EXIT_SECONDS), suppress(OSError, anyio.BrokenResourceError):
        await process.stdin.aclose()
    if not await _has_ended(process):
        _signal_group(process, signal.SIGTERM)
        await _has_ended(process)
    # Its children may have stayed behind, whether it ended by itself or not.
    _signal_group(process, signal.SIGKILL)
    await _has_ended(process)
    # A process that left the group can hold the pipe open, so it is not read to its end.
    if process.stdout is not None:
        await process.stdout.aclose()
    _close_transport(process)


def _close_transport(process: Process) -> None:
    """Close asyncio's transport, which otherwise stays open while a process that left the group holds a pipe. AnyIO does
    not publish it."""
    transport = getattr(getattr(process, "_process", None), "_transport", None)
    close = getattr(transport, "close", None)
    if callable(close):
        with suppress(PermissionError):
            close()


async def _has_ended(process: Process) -> bool:
    """Whether the program ends within `EXIT_SECONDS`."""
    with anyio.move_on_after(EXIT_SECONDS):
        # Not `wait`: it also waits for the end of pipes that a child may have inherited.
        while process.returncode is None:  # noqa: ASYNC110
            await anyio.sleep(0.01)
    return process.returncode is not None


def _signal_group(process: Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


async def _copy_stderr(read_fd: int, journal: Journal) -> None:
    """Copy the program's standard error to the journal until it ends; of a flood, a share, and at a pace."""
    pace = Pace(STDERR_BURST, STDERR_RATE)
    rest = b""
    second, lines_left = 0, STDERR_LINES_A_SECOND
    while True:
        await anyio.wait_readable(read_fd)
        try:
            piece = os.read(read_fd, PIECE)
        except BlockingIOError:
            continue
        now = int(anyio.current_time())
        if now != second:
            second, lines_left = now, STDERR_LINES_A_SECOND
        *lines, rest = (rest + piece).split(b"\n")
        if not piece or len(rest) > PIECE:
            lines, rest = [*lines, rest], b""
        for line in lines[: min(lines_left, LINES)]:
            journal.add(line.decode("utf-8", "replace"), "stderr")
        lines_left = max(0, lines_left - len(lines))
        if not piece:
            return
        await anyio.sleep(pace.wait(len(piece), 0, anyio.current_time()))
