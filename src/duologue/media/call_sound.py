"""Both sides of a call as one compressed file: Opus in Ogg, the caller on the left, the assistant on the right.

Used by `gateway/recordings`. What `feed` returns can be appended to a file that is readable at every moment. Blocks for about
a hundredth of the sound's time: call it by `threads.encoding`.
"""

from __future__ import annotations

from array import array
from functools import cache
from importlib.util import find_spec

from duologue.media.recordings import Compressor
from duologue.resampler import Resampler
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, SPOKEN_RATE


@cache
def available() -> bool:
    """Whether PyAV is installed. It is not imported."""
    return find_spec("av") is not None


MOST_JOINED = 10 * SPOKEN_RATE * SAMPLE_BYTES
"""Bytes of each side that are compressed in one go."""
HEADERS = 2
"""Pages of an Ogg stream of Opus before its first sound."""
PAGE_HEAD, SEGMENTS_AT = 27, 26
"""Bytes of a page before the sizes of its segments; the last of them is the number of segments."""
LARGEST_START = 1 << 18
"""Bytes in which the first page of sound is, whatever the pages before it hold."""


def has_sound(start: bytes) -> bool:
    """Whether the first LARGEST_START bytes of such a file have a whole page of sound. A file that was cut off in its first second has
    only headers."""
    at = pages = 0
    while start[at : at + 4] == b"OggS" and len(start) > at + SEGMENTS_AT:
        body = at + PAGE_HEAD + start[at + SEGMENTS_AT]
        at = body + sum(start[at + PAGE_HEAD : body])
        if at > len(start):
            return False
        pages += 1
        if pages > HEADERS:
            return True
    return False


class CallSoundEncoder:
    """Sound of both sides, fed in pieces of the same length. Raises Unsupported without PyAV."""

    def __init__(self) -> None:
        self._compressor = Compressor("opus_stereo", SPOKEN_RATE)
        self._resampler = Resampler(HEARD_RATE, SPOKEN_RATE)
        self._caller, self._reply = bytearray(), bytearray()

    def feed(self, caller: bytes, reply: bytes) -> bytes:
        """The bytes of the file that these complete: 16-bit mono, at 16 and at 24 kHz."""
        self._caller += self._resampler.feed(caller)
        self._reply += reply
        return self._compressed()

    def finish(self) -> bytes:
        """The rest of the file. Nothing may follow."""
        self._caller += self._resampler.finish()
        length = max(len(self._caller), len(self._reply))
        for side in (self._caller, self._reply):
            side += bytes(length - len(side))
        return self._compressed() + self._compressor.finish()

    def _compressed(self) -> bytes:
        """What both sides have, a moment at a time: a chat may have a quarter of an hour at once."""
        made = bytearray()
        while joined := self._joined():
            made += self._compressor.feed(joined)
        return bytes(made)

    def _joined(self) -> bytes:
        """What both sides have, MOST_JOINED of it: their samples in turn."""
        length = min(len(self._caller), len(self._reply), MOST_JOINED) // SAMPLE_BYTES * SAMPLE_BYTES
        both = array("h", bytes(2 * length))
        for number, side in enumerate((self._caller, self._reply)):
            both[number::2] = array("h", bytes(side[:length]))
            del side[:length]
        return both.tobytes()
