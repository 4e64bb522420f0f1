"""The threads files are decoded and encoded in, so that neither blocks the event loop.

Called by whatever reads attachments, recordings, archives and finished sound. Decoding and encoding have threads of
their own: a reply's sound never waits behind a document that is being rendered. Reading the disk is `threads.disk_io`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from duologue.threads import Refusal, SharedLane

T = TypeVar("T")

DECODERS = 2
ENCODERS = 2
REFUSAL = Refusal(
    "Too many files are being read at the moment; try again soon.",
    "Other files kept the server busy for too long; try again soon.",
    "files_busy",
)

_decoders = SharedLane("decoders", DECODERS, REFUSAL)
_single = SharedLane("single", 1, REFUSAL)
_encoders = SharedLane("encoders", ENCODERS, REFUSAL)


async def decode(function: Callable[..., T], *args: object) -> T:
    """Run a call that decodes something: at most two at once. Raises Busy (`files_busy`)."""
    return await _decoders.lane.run(function, *args)


async def decode_alone(function: Callable[..., T], *args: object) -> T:
    """Run a call into a library that is not thread-safe (PDFium): one at a time, as one of the two. Raises Busy."""
    async with _single.lane.turn():
        return await decode(function, *args)


async def encode(function: Callable[..., T], *args: object) -> T:
    """Run a call that encodes a moment of sound: at most two at once. Raises Busy (`files_busy`)."""
    return await _encoders.lane.run(function, *args)
