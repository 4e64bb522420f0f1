"""Videos: measured, and read as moments, each a picture and the sound until the next one. By FFmpeg through PyAV.

Used for attachments and by `gateway/media`, for models that see pictures but take no video file: jobs for `decoder.service`. Owns which
moments of a video are looked at and the size of what is decoded at all. PyAV is an extra: without it the error names the command that
installs it. Memory does not grow with the length of a video: pictures and sound are read side by side, as they are asked for.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from duologue.decoder.job import decoder_job
from duologue.errors import BadRequest, TooLarge, Unsupported
from duologue.media import sniff
from duologue.media.frames import Jpeg, collage, encode_frame, fitted_size
from duologue.media.recordings import FORMATS
from duologue.media.wav import RATE, check_finite

PIXELS = 16_000_000
"""Of a frame: a few of them are in memory while a video is decoded. 4K has 9 million, 8K has 33."""
MEMORY_MB = 1536
"""A file of 256 MB, and the frames of 4K that a decoder refers back to."""
SEEK_SECONDS = 4.0
"""A gap between two moments from which on the file is searched for the next key frame instead of decoding all that is between."""
SKIP_SECONDS = 0.2
"""A gap from which on frames that no other refers to are not decoded: a moment is then a tenth of a second early at most."""
EARLY = 0.02
"""Seconds: the clocks of containers are rounded."""
PACKETS = 4_000_000
"""Packets of a file without a length that are counted."""
FRAME_RATES = (0.1, 10.0)
"""Pictures a second that can be asked for."""
SOUND_GAP = 0.1
"""Seconds: sound that begins later than the pictures is preceded by silence."""
_BROKEN = "The video is broken, or cut off before its first picture."


class MeasuredVideo(Struct, frozen=True):
    """`seconds` as the file claims, or as long as its packets are. Pixels, upright; 0 where it has no pictures."""

    seconds: float
    width: int
    height: int
    has_sound: bool


class VideoReading(Struct, frozen=True):
    """How a video is read: `frame_rate` pictures a second, at most `most` of them (then spread over its whole length), each of at most
    `megapixels`. `stack` over 1: so many pictures a moment, those after the first as one collage. `minutes`: the longest video."""

    most: int
    megapixels: float
    minutes: float
    frame_rate: float = 1.0
    stack: int = 1
    sound: bool = True


class Moment(Struct, frozen=True):
    """A picture at `at` seconds, as JPEG. `stacked`: a collage of pictures until the next moment, b"" without. `samples`: the sound until
    the next moment, mono float32 at 16 kHz."""

    at: float
    width: int
    height: int
    picture: bytes
    stacked: bytes = b""
    samples: bytes = b""


_job = decoder_job(
    seconds=60, cpu_seconds=240, memory_mb=MEMORY_MB, preload=("av", "PIL.Image", "PIL.JpegImagePlugin")
)


@_job
def measure_video(data: bytes) -> MeasuredVideo:
    """Raises Unsupported (`video_unsupported`), BadRequest (`video_unreadable`), TooLarge (`video_too_large`)."""
    with _opened(data) as file:
        return _measured(file)


@_job
def read_moments(data: bytes, reading: VideoReading) -> Iterator[Moment]:
    """The moments of a video, in order. Raises as `measure_video`; BadRequest (`video_without_pictures`, `sound_unreadable`) and TooLarge
    (`video_too_long`) too. A video that breaks off gives the moments before that."""
    with _opened(data) as file, _opened(data) as second:
        measured = _measured(file)
        check_measured(measured, reading.minutes)
        times = moments_of(measured.seconds, reading)
        pictures = _Pictures(file, gap=times[1] if len(times) > 1 else math.inf, stack=reading.stack)
        sound = _Sound(second) if reading.sound and measured.has_sound else None
        for number, at in enumerate(times):
            until = times[number + 1] if number + 1 < len(times) else measured.seconds
            frame = pictures.at(at)
            if frame is None:
                if not number:
                    raise BadRequest(_BROKEN, code="video_unreadable")
                return
            width, height = fitted_size(frame.width, frame.height, reading.megapixels)
            # Turned and encoded at once: the next frame may reuse the memory of this one.
            picture = encode_frame(frame, width, height)
            stacked = _stacked(pictures, at, until, reading)
            samples = sound.until(until) if sound is not None else b""
            yield Moment(at, picture.width, picture.height, picture.data, stacked, samples)


def moments_of(seconds: float, reading: VideoReading) -> list[float]:
    """The times of the pictures: the first at 0, at the frame rate, or evenly over the whole length where those would be too many."""
    count = max(1, math.ceil(seconds * reading.frame_rate - EARLY))
    if count <= reading.most:
        return [number / reading.frame_rate for number in range(count)]
    return [number * seconds / reading.most for number in range(reading.most)]


def _stacked(pictures: _Pictures, at: float, until: float, reading: VideoReading) -> bytes:
    """The pictures between a moment and the next as one, b"" without."""
    count = reading.stack - 1
    if count < 1:
        return b""
    step = (until - at) / reading.stack
    cells: list[Jpeg] = []
    for number in range(1, count + 1):
        if (frame := pictures.at(at + number * step)) is not None:
            cells.append(
                encode_frame(frame, *fitted_size(frame.width, frame.height, reading.megapixels / count))
            )
    return collage(cells).data if cells else b""


class _Pictures:
    """The pictures of a file at growing times."""

    def __init__(self, file: Any, *, gap: float, stack: int) -> None:
        self._file = file
        self._stream = _picture_stream(file)
        self._start = _start_of(file)
        self._seeks = gap > SEEK_SECONDS
        context = self._stream.codec_context
        # Two threads: each takes memory for frames of its own.
        self._stream.thread_type, context.thread_count = "AUTO", 2
        if gap / stack > SKIP_SECONDS:
            context.skip_frame = "NONREF"
        self._frames = self._decoded()
        self._shown: Any = None
        self._next = next(self._frames, None)

    def at(self, seconds: float) -> Any:
        """The frame that is shown at this time; None after the last."""
        if self._seeks and self._next is not None and seconds - self._time(self._next) > SEEK_SECONDS:
            self._seek(seconds)
        while self._next is not None and self._time(self._next) <= seconds + EARLY:
            self._shown = self._next
            self._next = next(self._frames, None)
        if (
            self._next is None
            and self._shown is not None
            and seconds > self._time(self._shown) + SEEK_SECONDS
        ):
            return None  # the file is shorter than it claims
        frame = self._shown if self._shown is not None else self._next
        if frame is not None and frame.width * frame.height > PIXELS:
            raise too_large()
        return frame

    def _seek(self, seconds: float) -> None:
        av = _av()
        try:
            self._file.seek(round((seconds + self._start) * av.time_base), backward=True)
        except av.FFmpegError:
            self._seeks = False  # a file without an index: everything is decoded
            return
        frames = self._decoded()
        after = next(frames, None)
        if after is not None and self._time(after) > self._time(self._next):
            self._frames, self._shown, self._next = frames, None, after
        else:
            # The same key frame again: reading on is as good.
            self._frames, self._next = frames, after

    def _time(self, frame: Any) -> float:
        return float(frame.time or 0.0) - self._start

    def _decoded(self) -> Iterator[Any]:
        """Every frame; what cannot be decoded ends them."""
        av = _av()
        try:
            yield from self._file.decode(self._stream)
        except (av.FFmpegError, ValueError):
            return


class _Sound:
    """The sound of a file, up to growing times."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self._start = _start_of(file)
        self._taken = 0
        self._buffer = bytearray()
        self._pieces = self._decoded()

    def until(self, seconds: float) -> bytes:
        """The samples from where the last ended to this time. Raises BadRequest (`sound_unreadable`)."""
        size = 4 * max(0, round(seconds * RATE) - self._taken)
        while len(self._buffer) < size and (piece := next(self._pieces, None)) is not None:
            self._buffer += piece
        samples = bytes(self._buffer[:size])
        del self._buffer[:size]
        self._taken += len(samples) // 4
        check_finite(samples)
        return samples

    def _decoded(self) -> Iterator[bytes]:
        av = _av()
        resampler = av.AudioResampler(format="flt", layout="mono", rate=RATE)
        is_first = True
        try:
            for frame in self._file.decode(audio=0):
                if is_first and (gap := float(frame.time or 0.0) - self._start) > SOUND_GAP:
                    yield bytes(4 * round(min(gap, 60.0) * RATE))
                is_first = False
                for piece in resampler.resample(frame):
                    yield bytes(piece.planes[0])[: piece.samples * 4]
            for piece in resampler.resample(None):
                yield bytes(piece.planes[0])[: piece.samples * 4]
        except (av.FFmpegError, IndexError, ValueError):
            return


def check_measured(measured: MeasuredVideo, minutes: float) -> None:
    """Raises BadRequest (`video_without_pictures`) and TooLarge (`video_too_long`)."""
    if not measured.width:
        raise BadRequest("The video has no pictures in it.", code="video_without_pictures")
    if measured.seconds > minutes * 60 + 1:
        raise TooLarge(
            f"The video is longer than {minutes:g} minutes; cut it, or raise the setting limits.video_minutes.",
            code="video_too_long",
        )


def too_large() -> TooLarge:
    return TooLarge("The video's pictures are larger than 4K; scale it down first.", code="video_too_large")


def _measured(file: Any) -> MeasuredVideo:
    stream = _picture_stream(file)
    has_sound = bool(file.streams.audio)
    seconds = float(file.duration or 0) / 1_000_000 or _counted_seconds(file)
    if stream is None:
        return MeasuredVideo(seconds, 0, 0, has_sound)
    width, height = int(stream.codec_context.width), int(stream.codec_context.height)
    if width * height > PIXELS:
        raise too_large()
    if not width or not height:
        raise BadRequest(_BROKEN, code="video_unreadable")
    return MeasuredVideo(max(0.0, seconds), width, height, has_sound)


def _counted_seconds(file: Any) -> float:
    """The length by the packets: browsers write recordings without it."""
    start, end = math.inf, 0.0
    for number, packet in enumerate(file.demux()):
        if packet.pts is not None and packet.time_base is not None:
            begins = float(packet.pts * packet.time_base)
            start = min(start, begins)
            end = max(end, begins + float((packet.duration or 0) * packet.time_base))
        if number > PACKETS:
            break
    file.seek(0)
    return max(0.0, end - start)


def _picture_stream(file: Any) -> Any:
    """The first stream of pictures that is not a cover; None without."""
    av = _av()
    cover = av.stream.Disposition.attached_pic
    return next((stream for stream in file.streams.video if not stream.disposition & cover), None)


def _start_of(file: Any) -> float:
    return float(file.start_time or 0) / 1_000_000


@contextmanager
def _opened(data: bytes) -> Iterator[Any]:
    """The file; what FFmpeg cannot read is a Problem."""
    av, mime = _av(), sniff.kind(data[: sniff.HEAD])
    if not mime.startswith("video/") or mime not in _FORMATS:
        raise Unsupported(
            "A video of this kind cannot be read. MP4, WebM, MKV, MOV, OGG and AVI can.",
            code="video_unsupported",
        )
    try:
        with av.open(io.BytesIO(data), mode="r", format=_FORMATS[mime]) as file:
            yield file
    except (av.FFmpegError, IndexError, ValueError, OverflowError):
        raise BadRequest(_BROKEN, code="video_unreadable") from None


_FORMATS = FORMATS | {"video/x-msvideo": "avi"}


def _av() -> Any:
    try:
        import av
    except ImportError:
        raise Unsupported(
            "Videos need one more package on the server: pip install 'duologue[voice]'.",
            code="video_unsupported",
        ) from None
    return av
