"""Compressed sound (MP3, OGG, FLAC, AAC, M4A, WebM), read and written by FFmpeg through PyAV.

Used by `chunks`, `encoder` and for attachments. PyAV is an extra: without it the error names the command that installs it.
Reading happens in decoder processes only; `Compressor` writes our own sound, in `threads.encoding`.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

from duologue.decoder.job import decoder_job
from duologue.errors import BadRequest, TooLarge, Unsupported
from duologue.media import sniff
from duologue.media.wav import MINUTES, RATE, Sound, check_finite, is_wav, read_wav

# FFmpeg is told the format: left to guess, it would follow a playlist to other files.
FORMATS = {
    "audio/mpeg": "mp3",
    "audio/flac": "flac",
    "audio/ogg": "ogg",
    "audio/mp4": "mov",
    "audio/aac": "aac",
    "audio/wav": "wav",
    "video/mp4": "mov",
    "video/quicktime": "mov",
    "video/ogg": "ogg",
    "video/webm": "matroska",
    "video/x-matroska": "matroska",
}
MOST = MINUTES * 60 * RATE
"""Samples a recording may have."""
# How each format is written: container, codec, options of the container and of the codec. All of them can be streamed:
# none seeks back in the file, and none buffers more than a moment's sound.
_CODECS: dict[str, tuple[str, str, dict[str, str], dict[str, str]]] = {
    "mp3": ("mp3", "libmp3lame", {"write_xing": "0", "id3v2_version": "0"}, {"b": "64k"}),
    "opus": ("ogg", "libopus", {"page_duration": "100000"}, {"b": "32k", "application": "voip"}),
    # Two voices that seldom speak at once; a page of a second is the most that a sudden end can cost.
    "opus_stereo": ("ogg", "libopus", {"page_duration": "1000000"}, {"b": "48k", "application": "voip"}),
    "aac": ("adts", "aac", {}, {"b": "64k"}),
    "flac": ("flac", "flac", {}, {}),
}
_BUFFER = 1024
"""Bytes FFmpeg collects before it passes them on."""
_BROKEN = "The sound file is broken or holds no sound."


@decoder_job(seconds=60, cpu_seconds=60, memory_mb=1024, result_mb=128, preload=("av", "PIL.Image"))
def read_sound(data: bytes) -> Sound:
    """The sound of a file of any known format. Raises as `wav.read_wav` and `read_recording`."""
    return read_wav(data) if is_wav(data) else read_recording(data, sniff.kind(data[: sniff.HEAD]))


@decoder_job(seconds=60, cpu_seconds=60, memory_mb=1024, preload=("av", "PIL.Image"))
def measure_sound(data: bytes) -> int:
    """Milliseconds of a sound file, all of which is read. Raises as `read_sound`."""
    return read_sound(data).duration


def read_recording(data: bytes, mime: str) -> Sound:
    """The sound of a file of one of the FORMATS.

    Raises Unsupported for another kind or without PyAV, BadRequest for a broken file, TooLarge for more than half an hour.
    """
    samples = bytearray()
    for piece in _decode(data, mime, "flt"):
        samples += piece
        if len(samples) > MOST * 4:
            raise TooLarge(f"Sound of more than {MINUTES} minutes cannot be attached.", code="sound_too_long")
    check_finite(samples)
    return Sound(bytes(samples))


def pieces(data: bytes, mime: str, rate: int = RATE) -> Iterator[bytes]:
    """The sound of a file as 16-bit mono at `rate` Hz, in short pieces.

    Raises Unsupported for another kind or without PyAV, BadRequest for a broken file.
    """
    return _decode(data, mime, "s16", rate)


def duration(data: bytes, mime: str) -> float:
    """Seconds of a recording, as its file claims; 0 where it does not. Raises as `pieces`."""
    av = _av(mime)
    try:
        with av.open(io.BytesIO(data), mode="r", format=FORMATS[mime]) as file:
            return float(file.duration or 0) / 1_000_000
    except (av.FFmpegError, IndexError, ValueError):
        raise BadRequest(_BROKEN, code="sound_unreadable") from None


def _decode(data: bytes, mime: str, sample: str, rate: int = RATE) -> Iterator[bytes]:
    av = _av(mime)
    width = 4 if sample == "flt" else 2
    has_sound = False
    try:
        with av.open(io.BytesIO(data), mode="r", format=FORMATS[mime]) as file:
            resampler = av.AudioResampler(format=sample, layout="mono", rate=rate)
            for frame in _frames(file):
                for piece in resampler.resample(frame):
                    has_sound = has_sound or piece.samples > 0
                    yield bytes(piece.planes[0])[: piece.samples * width]
    except (av.FFmpegError, IndexError, ValueError):
        raise BadRequest(_BROKEN, code="sound_unreadable") from None
    if not has_sound:
        raise BadRequest(_BROKEN, code="sound_unreadable")


def _frames(file: Any) -> Iterator[Any]:
    """The frames of a file's sound, and None at its end, which flushes the resampler."""
    yield from file.decode(audio=0)
    yield None


def _av(mime: str) -> Any:
    if mime not in FORMATS:
        raise Unsupported(
            "Sound of this kind cannot be read. WAV, MP3, OGG, FLAC, AAC, M4A, MP4 and WebM can.",
            code="sound_unsupported",
        )
    try:
        import av
    except ImportError:
        raise Unsupported(
            "Only WAV sound at 16 kHz can be read here. For other rates and for MP3, OGG, FLAC and M4A the server needs "
            "one more package: pip install 'duologue[voice]'.",
            code="sound_unsupported",
        ) from None
    return av


class Compressor:
    """16-bit mono sound at `rate` Hz, fed in pieces, as a file of one of "mp3", "opus" (in Ogg), "aac" (ADTS) and "flac"; or
    stereo sound, the samples of both channels in turn, as "opus_stereo".

    What `feed` returns can be played at once. Raises Unsupported without PyAV.
    """

    def __init__(self, kind: str, rate: int) -> None:
        try:
            import av
        except ImportError:
            raise Unsupported(
                f"Sound as {kind} needs one more package on the server: pip install 'duologue[voice]'. "
                "wav and pcm need none.",
                code="sound_unsupported",
            ) from None
        container, codec, options, codec_options = _CODECS[kind]
        self._av: Any = av
        self._rate = rate
        self._sink = _Sink()
        self._file: Any = av.open(self._sink, "w", format=container, options=options, buffer_size=_BUFFER)
        stream: Any = self._file.add_stream(codec, rate=rate, options=codec_options)
        self._layout, self._channels = ("stereo", 2) if kind == "opus_stereo" else ("mono", 1)
        stream.layout = self._layout
        self._stream = stream
        self._samples = 0

    def feed(self, pcm: bytes) -> bytes:
        """The bytes of the file that `pcm` completes."""
        if pcm:
            count = len(pcm) // 2 // self._channels
            frame = self._av.AudioFrame(format="s16", layout=self._layout, samples=count)
            plane = frame.planes[0]
            # A plane may be longer than its samples, and can only be replaced as a whole.
            plane.update(pcm.ljust(plane.buffer_size, b"\0"))
            frame.sample_rate, frame.pts = self._rate, self._samples
            self._samples += frame.samples
            self._write(frame)
        return self._sink.take()

    def finish(self) -> bytes:
        """The rest of the file. Nothing may follow."""
        if self._samples:
            self._write(None)
        self._file.close()
        return self._sink.take()

    def _write(self, frame: Any) -> None:
        for packet in self._stream.encode(frame):
            self._file.mux(packet)


def to_webm(ogg: bytes) -> bytes:
    """A file of Opus in Ogg, whole or broken off, as the same sound in WebM, with an index to seek by. Raises BadRequest for
    anything else, Unsupported without PyAV."""
    av = _av("audio/ogg")
    made = io.BytesIO()
    try:
        with (
            av.open(io.BytesIO(ogg), mode="r", format="ogg") as source,
            av.open(made, mode="w", format="webm") as target,
        ):
            stream = target.add_stream_from_template(source.streams.audio[0])
            for packet in source.demux(audio=0):
                # The one without a time only flushes.
                if packet.dts is not None:
                    packet.stream = stream
                    target.mux(packet)
    except (av.FFmpegError, IndexError, ValueError):
        raise BadRequest(_BROKEN, code="sound_unreadable") from None
    return made.getvalue()


class _Sink:
    """A write-only file whose bytes are taken out as they come."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def write(self, data: bytes) -> int:
        self._buffer += data
        return len(data)

    def take(self) -> bytes:
        data = bytes(self._buffer)
        self._buffer.clear()
        return data
