"""Reads the lines of a batch's input a few at a time: neither the file nor a line that is too long is ever in memory whole.

Used by `batch_run`.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import anyio
from msgspec import Struct

from duologue.errors import NotFound, Unavailable
from duologue.threads import disk_cleanup, disk_io

BLOCK = 2**20
"""Bytes after which a block of lines is complete."""
SKIP = 64 * 1024
"""Bytes of a line that is too long which are read and dropped at a time."""


class InputLine(Struct, frozen=True):
    """A line that is not empty, without its end; `number` counts from 1 and counts empty ones. `data` None: longer than the limit."""

    number: int
    data: bytes | None


async def read_lines(path: Path, limit: int) -> AsyncGenerator[list[InputLine]]:
    """Blocks of lines of up to `limit` bytes each. Raises NotFound, Unavailable."""
    try:
        file = await disk_io(path.open, "rb")
        try:
            number = 0
            while True:
                lines, number, more = await disk_io(_block, file, limit, number)
                if lines:
                    yield lines
                if not more:
                    return
        finally:
            with anyio.CancelScope(shield=True):
                await disk_cleanup(_close, file)
    except FileNotFoundError:
        raise NotFound("The input file no longer exists.", code="file_not_found") from None
    except OSError as error:
        raise Unavailable(
            f"The input file cannot be read: {error.strerror or error}.", code="storage_unavailable"
        ) from None


def _block(file: BinaryIO, limit: int, number: int) -> tuple[list[InputLine], int, bool]:
    """Some lines, the number of the last one, and whether there may be more."""
    lines: list[InputLine] = []
    size = 0
    while size < BLOCK:
        data = file.readline(limit + 2)  # with its end, which may be two characters
        if not data:
            return lines, number, False
        number += 1
        size += len(data)
        text = data.removesuffix(b"\n")
        if text == data and len(data) > limit:
            while (rest := file.readline(SKIP)) and not rest.endswith(b"\n"):
                size += len(rest)
            lines.append(InputLine(number, None))
            continue
        text = text.strip()
        if number == 1:
            text = text.removeprefix(b"\xef\xbb\xbf")
        if text:
            lines.append(InputLine(number, text if len(text) <= limit else None))
    return lines, number, True


def _close(file: BinaryIO) -> None:
    with suppress(OSError):
        file.close()
