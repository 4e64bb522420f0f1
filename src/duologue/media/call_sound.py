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
        return self._compressor.feed(self._joined())

    def finish(self) -> bytes:
        """The rest of the file. Nothing may follow."""
        self._caller += self._resampler.finish()
        length = max(len(self._caller), len(self._reply))
        for side in (self._caller, self._reply):
            side += bytes(length - len(side))
        return self._compressor.feed(self._joined()) + self._compressor.finish()

    def _joined(self) -> bytes:
        """What both sides have, their samples in turn."""
        length = min(len(self._caller), len(self._reply)) // SAMPLE_BYTES * SAMPLE_BYTES
        both = array("h", bytes(2 * length))
        for number, side in enumerate((self._caller, self._reply)):
            both[number::2] = array("h", bytes(side[:length]))
            del side[:length]
        return both.tobytes()
