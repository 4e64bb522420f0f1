"""Sound from one sample rate to another, by FFmpeg's resampler through PyAV. Engines and `media` use it.

Guarantees that pieces join without a click and that the number of samples is exact: the output does not depend on where
the input was cut. PyAV is an extra of the package (`voice`).
"""

from __future__ import annotations

from typing import Any, Literal

from duologue.errors import StartFailed

SampleFormat = Literal["s16", "flt"]
"""FFmpeg's names of 16-bit samples and of float32."""

LARGEST_PIECE = 1 << 16
"""Samples given to the resampler at once."""
WIDTHS: dict[SampleFormat, int] = {"s16": 2, "flt": 4}
"""Bytes of a sample."""


class Resampler:
    """Mono sound at `source` Hz, fed in pieces, as the same sound at `target` Hz.

    It is a few samples (under a millisecond) behind what it was fed until `finish`. Raises StartFailed without PyAV.
    """

    def __init__(self, source: int, target: int, sample_format: SampleFormat = "s16") -> None:
        if source < 1 or target < 1:
            raise ValueError(f"no sound has a rate of {source} or {target} Hz")
        self._source = source
        self._target = target
        self._format = sample_format
        self._width = WIDTHS[sample_format]
        self._odd = b""
        self._fed = 0
        self._given = 0
        self._av: Any = None
        self._filter: Any = None
        if source != target:
            self._av = _av()
            self._filter = self._av.AudioResampler(format=sample_format, layout="mono", rate=target)

    def feed(self, sound: bytes) -> bytes:
        """The sound that `sound` completes; a part of a sample at its end waits for the next piece."""
        data = self._odd + sound
        whole = len(data) // self._width
        self._odd = data[whole * self._width :]
        self._fed += whole
        if self._filter is None:
            return data[: whole * self._width]
        made = bytearray()
        for at in range(0, whole, LARGEST_PIECE):
            made += self._through(data[at * self._width : min(at + LARGEST_PIECE, whole) * self._width])
        self._given += len(made) // self._width
        return bytes(made)

    def finish(self) -> bytes:
        """What is left: in all there are exactly `at_rate(samples fed, source, target)` samples. Nothing may follow."""
        if self._filter is None or not self._fed:
            return b""
        rest = self._samples(self._filter.resample(None))
        missing = max(0, at_rate(self._fed, self._source, self._target) - self._given) * self._width
        return rest[:missing].ljust(missing, b"\0")

    def _through(self, sound: bytes) -> bytes:
        frame = self._av.AudioFrame(format=self._format, layout="mono", samples=len(sound) // self._width)
        plane = frame.planes[0]
        # A plane may be longer than its samples, and is replaced as a whole.
        plane.update(sound.ljust(plane.buffer_size, b"\0"))
        frame.sample_rate = self._source
        return self._samples(self._filter.resample(frame))

    def _samples(self, frames: Any) -> bytes:
        return b"".join(bytes(frame.planes[0])[: frame.samples * self._width] for frame in frames)


def available() -> bool:
    """Whether PyAV is installed."""
    try:
        _av()
    except StartFailed:
        return False
    return True


def at_rate(sample: int, source: int, target: int) -> int:
    """The sample at `target` Hz that sounds when `sample` does at `source` Hz; a half is rounded up."""
    return (sample * target * 2 + source) // (source * 2)


def resampled(sound: bytes, source: int, target: int, sample_format: SampleFormat = "s16") -> bytes:
    """A whole recording at another rate. Blocks, about a thousandth of the recording's time. Raises StartFailed without
    PyAV."""
    resampler = Resampler(source, target, sample_format)
    return resampler.feed(sound) + resampler.finish()


def _av() -> Any:
    try:
        import av
    except ImportError:
        raise StartFailed(
            "Sound at this rate needs one more package: pip install 'duologue[voice]'.", code="engine_missing"
        ) from None
    return av
