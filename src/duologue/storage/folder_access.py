"""Work in a folder of users' files, on a disk thread, with its failures as errors a person can act on.

Used by `folder_store.py`, and by what writes files before they are stored.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from duologue.errors import NotFound, Unavailable
from duologue.threads import disk_io

T = TypeVar("T")


async def in_folder(
    folder: Path,
    missing: NotFound,
    function: Callable[..., T],
    *args: object,
    run: Callable[..., Awaitable[T]] = disk_io,
) -> T:
    """The function's result. Raises `missing` for a file that does not exist, Unavailable (`storage_unavailable`) for any other
    failure of the disk."""
    try:
        return await run(function, *args)
    except FileNotFoundError:
        raise missing from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise Unavailable(
            f"The folder {folder} cannot be used: {reason}. Check its free space and permissions.",
            code="storage_unavailable",
        ) from None
