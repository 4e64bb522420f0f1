"""Frames and sound as files and streams, by PyAV: clips in fragmented MP4, and segments of H.264 for streamed video.

`clip.py` and the calls use them. Frame `n` belongs to sample `n * 24000 / rate` of the sound, also in the file: an edit list takes the
encoder's delay out of the sound. Encoding blocks, so it runs in a thread lane; the encoders let other threads run. PyAV is an extra of
the package (`voice`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from fractions import Fraction
from typing import Any

from duologue.engines.video_contracts import Figure
from duologue.errors import StartFailed
from duologue.resampler import Resampler
from duologue.sessions.video.film_encoder import EncodedFrames
from duologue.threads import ThreadLane
from duologue.values.audio import SAMPLE_BYTES, SPOKEN_RATE

MP4_RATE = 48_000
"""Hz of the sound in a clip: what players expect of AAC."""
SOUND_BITS = 96_000
"""Bits a second of that sound."""
FLAGS = "frag_keyframe+empty_moov+delay_moov+default_base_moof+skip_trailer"
"""Fragments that need no seeking, each from a key frame on. `delay_moov` brings the edit list, without which the lips would be 21 ms late."""
ENCODER = {
    "preset": "veryfast",
    # A frame goes in and comes out at once, and there are no B-frames: a segment can end anywhere.
    "tune": "zerolatency",
    "crf": "21",
    "x264-params": "colorprim=smpte170m:transfer=smpte170m:colormatrix=smpte170m:keyint=infinite:scenecut=0",
}
PIXEL_BYTES = 3
SECOND = SPOKEN_RATE * SAMPLE_BYTES
"""Bytes of a second of sound."""


class VideoEncoders:
    """Implements `film_encoder.FilmEncoders` in a thread lane."""

    def __init__(self, lane: ThreadLane) -> None:
        self._lane = lane

    @asynccontextmanager
    async def segment(self, figure: Figure) -> AsyncIterator[SegmentMuxer]:
        """An encoder of one segment of this figure."""
        yield SegmentMuxer(figure.width, figure.height, figure.rate, self._lane)

    @asynccontextmanager
    async def clip(self, figure: Figure) -> AsyncIterator[ReplyMuxer]:
        """An encoder of one clip of this figure."""
        yield ReplyMuxer(ClipMuxer(figure.width, figure.height, figure.rate, self._lane))


class ClipMuxer:
    """One clip: fragmented MP4 of H.264 (yuv420p) and AAC, in pieces."""

    def __init__(self, width: int, height: int, rate: int, lane: ThreadLane) -> None:
        self._lane = lane
        self._width, self._height, self._rate = width, height, rate
        self._file: _ClipFile | None = None

    async def write(self, frames: Sequence[bytes], pcm: bytes) -> bytes:
        """Append frames (RGB, rows from the top) and sound (16-bit mono, 24 kHz). Returns the next bytes of the file, often none: pictures
        wait for their sound. Raises StartFailed without PyAV."""
        return await self._lane.run(self._write, frames, pcm)

    async def finish(self) -> bytes:
        """The rest of the file. Nothing may follow."""
        return await self._lane.run(self._finish)

    def _write(self, frames: Sequence[bytes], pcm: bytes) -> bytes:
        if self._file is None:
            self._file = _ClipFile(self._width, self._height, self._rate)
        return self._file.write(frames, pcm)

    def _finish(self) -> bytes:
        return self._file.finish() if self._file is not None else b""


class ReplyMuxer:
    """A clip whose sound comes at its end. Implements `film_encoder.ClipEncoder`."""

    def __init__(self, muxer: ClipMuxer) -> None:
        self._muxer = muxer

    async def add(self, frame: bytes) -> None:
        """The next frame."""
        await self._muxer.write((frame,), b"")

    async def finish(self, pcm: bytes) -> bytes:
        """The file."""
        return await self._muxer.write((), pcm) + await self._muxer.finish()


class SegmentMuxer:
    """One segment. Implements `film_encoder.SegmentEncoder`."""

    def __init__(self, width: int, height: int, rate: int, lane: ThreadLane) -> None:
        self._lane = lane
        self._width, self._height, self._rate = width, height, rate
        self._codec: Any = None
        self._frames: list[bytes] = []

    async def add(self, frame: bytes) -> None:
        """The next frame. Raises StartFailed without PyAV."""
        await self._lane.run(self._encode, frame)

    async def finish(self) -> EncodedFrames:
        """The segment, all frames of which have gone through the encoder at once."""
        return EncodedFrames(b"".join(self._frames), tuple(map(len, self._frames)))

    def _encode(self, frame: bytes) -> None:
        av = _av()
        if self._codec is None:
            self._codec = codec = av.CodecContext.create("libx264", "w")
            codec.width, codec.height, codec.pix_fmt = self._width, self._height, "yuv420p"
            codec.framerate, codec.time_base = self._rate, Fraction(1, self._rate)
            codec.options, codec.thread_count = ENCODER, 1
        picture = _picture(av, frame, self._width, self._height)
        picture.pts = len(self._frames)
        self._frames.append(b"".join(bytes(packet) for packet in self._codec.encode(picture)))


class _Sink:
    """Where the muxer writes: what was written and not taken yet."""

    def __init__(self) -> None:
        self._waiting = bytearray()

    def write(self, data: bytes) -> int:
        self._waiting += data
        return len(data)

    def take(self) -> bytes:
        data = bytes(self._waiting)
        self._waiting.clear()
        return data


class _ClipFile:
    """The open file, in the thread that encodes."""

    def __init__(self, width: int, height: int, rate: int) -> None:
        self._av = _av()
        self._width, self._height = width, height
        self._sink = _Sink()
        self._file: Any = self._av.open(self._sink, "w", format="mp4", options={"movflags": FLAGS})
        options = {**ENCODER, "forced-idr": "1"}
        self._video = self._file.add_stream("libx264", rate=rate, options=options)
        self._video.width, self._video.height, self._video.pix_fmt = width, height, "yuv420p"
        self._video.codec_context.thread_count = 1
        self._audio = self._file.add_stream("aac", rate=MP4_RATE)
        self._audio.layout, self._audio.bit_rate = "mono", SOUND_BITS
        self._resampler = Resampler(SPOKEN_RATE, MP4_RATE)
        self._rate = rate
        self._frames = self._samples = 0
        self._waiting: deque[Any] = deque()
        """Pictures whose sound is not there yet."""

    def write(self, frames: Sequence[bytes], pcm: bytes) -> bytes:
        for pixels in frames:
            picture = _picture(self._av, pixels, self._width, self._height)
            picture.pts = self._frames
            if self._frames % self._rate == 0:
                # A fragment each second: players begin before the file is complete.
                picture.pict_type = self._av.video.frame.PictureType.I
            self._frames += 1
            self._waiting.extend(self._video.encode(picture))
        for at in range(0, len(pcm), SECOND):
            self._sound(self._resampler.feed(pcm[at : at + SECOND]))
        return self._sink.take()

    def finish(self) -> bytes:
        self._sound(self._resampler.finish())
        self._waiting.extend(self._video.encode(None))
        self._file.mux(self._waiting)
        self._file.mux(self._audio.encode(None))
        self._file.close()
        return self._sink.take()

    def _sound(self, pcm: bytes) -> None:
        if not pcm:
            return
        count = len(pcm) // SAMPLE_BYTES
        sound = self._av.AudioFrame(format="s16", layout="mono", samples=count)
        plane = sound.planes[0]
        plane.update(pcm.ljust(plane.buffer_size, b"\0"))
        sound.sample_rate, sound.pts = MP4_RATE, self._samples
        self._samples += count
        # The file has pictures and sound in turns, so that it plays while it arrives.
        while self._waiting and self._waiting[0].pts * MP4_RATE <= self._samples * self._rate:
            self._file.mux(self._waiting.popleft())
        self._file.mux(self._audio.encode(sound))


def _picture(av: Any, pixels: bytes, width: int, height: int) -> Any:
    """The frame in the colours of the encoder."""
    picture = av.VideoFrame(width, height, "rgb24")
    plane = picture.planes[0]
    row = width * PIXEL_BYTES
    if plane.line_size != row:
        # FFmpeg's rows begin at round addresses.
        rows = (pixels[at : at + row].ljust(plane.line_size, b"\0") for at in range(0, row * height, row))
        pixels = b"".join(rows)
    plane.update(pixels.ljust(plane.buffer_size, b"\0"))
    return picture.reformat(format="yuv420p")


def _av() -> Any:
    try:
        import av
    except ImportError:
        raise StartFailed(
            "Video needs one more package: pip install 'duologue[voice]'.", code="engine_missing"
        ) from None
    return av
