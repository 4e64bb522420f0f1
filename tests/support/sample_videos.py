"""Small videos for tests, written by PyAV: a picture whose colour tells the second, and a tone."""

import io
from array import array
from fractions import Fraction
from math import pi, sin
from typing import Any

COLOURS = ((255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 0), (255, 0, 255), (0, 255, 255))
"""The colour of each second, over and over."""
WRITTEN = {
    "video/mp4": ("mp4", "mpeg4", "aac"),
    "video/quicktime": ("mov", "mpeg4", "aac"),
    "video/webm": ("webm", "libvpx", "libopus"),
    "video/x-matroska": ("matroska", "mpeg4", "aac"),
    "video/ogg": ("ogv", "libvpx", "libopus"),
    "video/x-msvideo": ("avi", "mpeg4", "mp2"),
}
"""How a video of each type is written: container, codec of the pictures, codec of the sound."""


def video(
    mime: str = "video/mp4",
    seconds: float = 3.0,
    size: tuple[int, int] = (64, 48),
    *,
    rate: int = 10,
    sound: bool = True,
    pictures: bool = True,
    hertz: float = 440.0,
    sound_codec: str = "",
    codec: str = "",
) -> bytes:
    """A video file; its colour changes each second."""
    import av

    container, picture_codec, audio_codec = WRITTEN[mime]
    buffer = io.BytesIO()
    with av.open(buffer, "w", format=container) as file:
        shown: Any = None
        if pictures:
            shown = file.add_stream(codec or picture_codec, rate=rate)
            shown.width, shown.height, shown.pix_fmt = *size, "yuv420p"
        heard: Any = None
        if sound:
            heard = file.add_stream(sound_codec or audio_codec, rate=48_000)
            heard.layout = "mono"
        for second in range(max(1, round(seconds))):
            if heard is not None:
                _tone(file, heard, second, hertz)
            if shown is not None:
                _colour(file, shown, second, size, rate)
        for stream in (shown, heard):
            if stream is not None:
                file.mux(stream.encode(None))
    return buffer.getvalue()


def _colour(file: Any, stream: Any, second: int, size: tuple[int, int], rate: int) -> None:
    import av
    from PIL import Image

    image = Image.new("RGB", size, COLOURS[second % len(COLOURS)])
    for number in range(rate):
        frame = av.VideoFrame.from_image(image)
        frame.pts, frame.time_base = second * rate + number, Fraction(1, rate)
        file.mux(stream.encode(frame))


def _tone(file: Any, stream: Any, second: int, hertz: float) -> None:
    import av

    samples = array("f", (0.5 * sin(2 * pi * hertz * number / 48_000) for number in range(48_000)))
    if hertz != hertz:
        samples = array("f", [float("nan")]) * 48_000
    frame = av.AudioFrame(format="flt", layout="mono", samples=48_000)
    frame.planes[0].update(samples.tobytes())
    frame.sample_rate, frame.pts = 48_000, second * 48_000
    file.mux(stream.encode(frame))
