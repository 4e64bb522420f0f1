"""One direction pair of a joined worker's connection: numbered frames that survive the sockets they travel on.

Each side has one `FrameLink` for the live socket and one for the bulk socket. Every frame is a header of two numbers, its own and that of the
last frame it has received, and a frame of the worker protocol. What the peer has not acknowledged is kept, within a bound, and written again
on the next socket; what comes twice is dropped. So each frame arrives once and in order, however often the connection breaks.

Pure: `linked_socket.py` writes what `next_frame` gives, and passes what comes to `take`. Used by `worker.joined` and `gateway.machines`.
"""

from __future__ import annotations

import struct
from collections import deque

HEADER = struct.Struct("!QQ")
"""The number of the frame, 0 for one that only acknowledges, and the number of the last frame received."""
MEMORY_BYTES = 8 * 1024 * 1024
"""Bytes that may be unacknowledged before a sender waits. At 50 ms there and back they fill a line of a gigabit a second."""
MEMORY_FRAMES = 16_384
"""Frames likewise: the events of a slow line come in small ones."""
ACK_BYTES = 512 * 1024
"""Bytes received after which an acknowledgement is due that has no frame to travel with; far below the bound, so that no sender waits in vain."""
ACK_FRAMES = 256
"""Frames likewise."""


class LinkBroken(Exception):
    """The two sides cannot go on: one of them lost its memory, or broke the protocol. The session ends."""


class FrameLink:
    """The frames of one link, over all its sockets. Frames are numbered from 1 in both directions.

    `limit_bytes` and `limit_frames` bound what is kept: `has_room` says whether another frame may be added. One frame larger than the
    bound may be added to an empty memory.
    """

    def __init__(self, limit_bytes: int = MEMORY_BYTES, limit_frames: int = MEMORY_FRAMES) -> None:
        self._limit_bytes, self._limit_frames = limit_bytes, limit_frames
        self._kept: deque[bytes] = deque()
        self._kept_bytes = 0
        self._first = 1
        """The number of the first frame that is kept, or will be."""
        self._next = 1
        """The number of the frame that is written next on this socket."""
        self._written = 0
        """The highest number that was ever written."""
        self._received = 0
        self._acknowledged = 0
        """The last number that the peer was told of."""
        self._unacknowledged_bytes = 0
        self._ack_asked = False

    @property
    def received(self) -> int:
        """The number of the last frame that was received: what the opening message of the next socket says."""
        return self._received

    @property
    def unacknowledged(self) -> int:
        """Frames that the peer has not acknowledged."""
        return len(self._kept)

    @property
    def all_written(self) -> bool:
        """Whether every frame was written to the current socket."""
        return self._next == self._first + len(self._kept)

    @property
    def has_room(self) -> bool:
        """Whether another frame may be added."""
        return not self._kept or (
            self._kept_bytes < self._limit_bytes and len(self._kept) < self._limit_frames
        )

    @property
    def ack_due(self) -> bool:
        """Whether the peer should be told what was received although there may be no frame to tell it with."""
        frames = self._received - self._acknowledged
        return frames > 0 and (
            self._ack_asked or frames >= ACK_FRAMES or self._unacknowledged_bytes >= ACK_BYTES
        )

    def add(self, payload: bytes) -> None:
        """A frame to send. Raises LinkBroken over the bound: its caller had to wait for room."""
        if not self.has_room:
            raise LinkBroken(
                f"{len(self._kept)} frames of {self._kept_bytes} bytes are unacknowledged, and more came"
            )
        self._kept.append(payload)
        self._kept_bytes += len(payload)

    def ask_ack(self) -> None:
        """Tell the peer soon what was received."""
        self._ack_asked = True

    def next_frame(self) -> bytes | None:
        """What to write now on the current socket: the next frame, or an acknowledgement that is due; None if there is nothing."""
        last = self._first + len(self._kept) - 1
        if self._next <= last:
            payload = self._kept[self._next - self._first]
            number, self._next = self._next, self._next + 1
            self._written = max(self._written, number)
            return self._header(number) + payload
        return self._header(0) if self.ack_due else None

    def resume(self, peer_received: int) -> None:
        """There is a new socket, and the peer has received that frame as the last one: go on behind it. Raises LinkBroken when that
        cannot be."""
        if not self._first - 1 <= peer_received <= self._written:
            raise LinkBroken(
                f"the peer has received frame {peer_received}; "
                f"{self._first - 1} were acknowledged, and {self._written} written"
            )
        self._forget(peer_received)
        self._next = peer_received + 1
        # The opening messages told the peer what was received.
        self._tell()

    def take(self, frame: bytes) -> bytes | None:
        """The payload of a frame that arrived; None for one that only acknowledges or was received before. Raises LinkBroken for
        anything that a peer cannot have sent."""
        if len(frame) < HEADER.size:
            raise LinkBroken("a frame without a header")
        number, acknowledged = HEADER.unpack_from(frame)
        if acknowledged > self._written:
            raise LinkBroken(f"frame {acknowledged} was acknowledged, and {self._written} written")
        self._forget(acknowledged)
        if number <= self._received:
            return None
        if number != self._received + 1:
            raise LinkBroken(f"frame {number} came after {self._received}")
        self._received = number
        self._unacknowledged_bytes += len(frame)
        return frame[HEADER.size :]

    def _header(self, number: int) -> bytes:
        self._tell()
        return HEADER.pack(number, self._received)

    def _tell(self) -> None:
        self._acknowledged = self._received
        self._unacknowledged_bytes = 0
        self._ack_asked = False

    def _forget(self, acknowledged: int) -> None:
        while self._first <= acknowledged:
            self._kept_bytes -= len(self._kept.popleft())
            self._first += 1
        self._next = max(self._next, self._first)
