"""Sound from one rate to another while it is being made, by FFmpeg's resampler through PyAV.

Owns the promise that pieces join without a click, and that there are exactly as many samples as there ought to be: what
comes out does not depend on where the input was cut. Knows no file format. PyAV is an extra of the package.
"""

from __future__ import annotations

from typing import Any

from duologue.errors import StartFailed
from duologue.values.audio import SAMPLE_BYTES, samples

LARGEST_PIECE = 1 << 16
"""Samples given to the resampler at once."""


class Resampler:
    """16-bit mono sound at `source` Hz, fed in pieces, as the same sound at `target` Hz.

    It is a few samples (under a millisecond) behind what it was fed until `finish`. Raises StartFailed without PyAV.
    """

    def __init__(self, source: int, target: int) -> None:
        if source < 1 or target < 1:
            raise ValueError(f"no sound has a rate of {source} or {target} Hz")
        self._source = source
        self._target = target
        self._odd = b""
        self._fed = 0
        self._given = 0
        self._av: Any = None
        self._filter: Any = None
        if source != target:
            self._av = _av()
            self._filter = self._av.AudioResampler(format="s16", layout="mono", rate=target)

    def feed(self, pcm: bytes) -> bytes:
        """The sound that `pcm` completes; half a sample at its end waits for the next piece."""
        data = self._odd + pcm
        whole = samples(data)
        self._odd = data[whole * SAMPLE_BYTES :]
        self._fed += whole
        if self._filter is None:
            return data[: whole * SAMPLE_BYTES]
        made = bytearray()
        for at in range(0, whole, LARGEST_PIECE):
            made += self._through(data[at * SAMPLE_BYTES : min(at + LARGEST_PIECE, whole) * SAMPLE_BYTES])
        self._given += samples(bytes(made))
        return bytes(made)

    def finish(self) -> bytes:
        """What is left: in all there are exactly `at_rate(samples fed, source, target)` samples. Nothing may follow."""
        if self._filter is None or not self._fed:
            return b""
        rest = _sound(self._filter.resample(None))
        missing = at_rate(self._fed, self._source, self._target) - self._given
        return rest[: max(0, missing) * SAMPLE_BYTES].ljust(max(0, missing) * SAMPLE_BYTES, b"\0")

    def _through(self, pcm: bytes) -> bytes:
        frame = self._av.AudioFrame(format="s16", layout="mono", samples=samples(pcm))
        plane = frame.planes[0]
        # A plane may be longer than its samples, and is replaced as a whole.
        plane.update(pcm.ljust(plane.buffer_size, b"\0"))
        frame.sample_rate = self._source
        return _sound(self._filter.resample(frame))


def at_rate(sample: int, source: int, target: int) -> int:
    """The sample at `target` Hz that sounds when `sample` does at `source` Hz; a half is rounded up."""
    return (sample * target * 2 + source) // (source * 2)


def resampled(pcm: bytes, source: int, target: int) -> bytes:
    """A whole recording at another rate. Blocks, about a thousandth of the recording's time. Raises StartFailed without
    PyAV."""
    resampler = Resampler(source, target)
    return resampler.feed(pcm) + resampler.finish()


def _sound(frames: Any) -> bytes:
    return b"".join(bytes(frame.planes[0])[: frame.samples * SAMPLE_BYTES] for frame in frames)


def _av() -> Any:
    try:
        import av
    except ImportError:
        raise StartFailed(
            "Sound at this rate needs one more package: pip install 'duologue[voice]'.", code="engine_missing"
        ) from None
    return av
