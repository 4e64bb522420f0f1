"""Files for tests, made as the real ones are: pictures, PDF documents, WAV sound."""

from __future__ import annotations

import base64
import io
import math
import struct
from array import array
from typing import Any

from PIL import Image, ImageDraw

from duologue.values.audio import wav_header

SVG = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'

# 64 x 48 pixels, blue on the left and red on the right. No library of ours writes HEIC; pillow-heif made these.
HEIC = base64.b64decode(
    """
    AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAX1tZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAA
    ACJpbG9jAAAAAERAAAEAAQAAAAABoQABAAAAAAAAACUAAAAjaWluZgAAAAAAAQAAABVpbmZlAgAAAAABAABodmMxAAAAAA5waXRt
    AAAAAAABAAAA/WlwcnAAAADdaXBjbwAAAHZodmNDAQNwAAAAkAAAAAAAHvAA/P34+AAADwNgAAEAGEABDAH//wNwAAADAJAAAAMA
    AAMAHroCQGEAAQAqQgEBA3AAAAMAkAAAAwAAAwAeoCCBBZbq5Ka5uAhoMCAAAAMDIAAAAwAhYgABAAZEAcFzwIkAAAATY29scm5j
    bHgAAQANAAaAAAAAFGlzcGUAAAAAAAAAQAAAAEAAAAAoY2xhcAAAAEAAAAABAAAAMAAAAAEAAAAAAAAAAv////AAAAACAAAAEHBp
    eGkAAAAAAwgICAAAABhpcG1hAAAAAAAAAAEAAQWBAgMFhAAAAC1tZGF0AAAAISgBrxmA70mlv//wryEfdlG/hrIXhfLxR/4kd+fW
    5ENtbw==
    """
)
HEIC_TURNED = base64.b64decode(
    """
    AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAchtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAA
    ADRpbG9jAAAAAERAAAIAAQAAAAAB7AABAAAAAAAAACUAAgAAAAACEQABAAAAAAAAACQAAAA4aWluZgAAAAAAAgAAABVpbmZlAgAA
    AAABAABodmMxAAAAABVpbmZlAgAAAQACAABFeGlmAAAAAA5waXRtAAAAAAABAAABB2lwcnAAAADmaXBjbwAAAHZodmNDAQNwAAAA
    kAAAAAAAHvAA/P34+AAADwNgAAEAGEABDAH//wNwAAADAJAAAAMAAAMAHroCQGEAAQAqQgEBA3AAAAMAkAAAAwAAAwAeoCCBBZbq
    5Ka5uAhoMCAAAAMDIAAAAwAhYgABAAZEAcFzwIkAAAATY29scm5jbHgAAQANAAaAAAAAFGlzcGUAAAAAAAAAQAAAAEAAAAAoY2xh
    cAAAAEAAAAABAAAAMAAAAAEAAAAAAAAAAv////AAAAACAAAAEHBpeGkAAAAAAwgICAAAAAlpcm90AwAAABlpcG1hAAAAAAAAAAEA
    AQaBAgMFhIYAAAAaaXJlZgAAAAAAAAAOY2RzYwACAAEAAQAAAFFtZGF0AAAAISgBrxmA70mlv//wryEfdlG/hrIXhfLxR/4kd+fW
    5ENtbwAAAAZFeGlmAABNTQAqAAAACAABARIAAwAAAAEABgAAAAAAAA==
    """
)
"""The same, taken with the camera turned: it is looked at as 48 x 64."""


def drawing(width: int = 64, height: int = 48, mode: str = "RGB") -> Image.Image:
    """Blue on the left, red on the right."""
    image = Image.new(mode, (width, height), "red")
    ImageDraw.Draw(image).rectangle((0, 0, width // 2 - 1, height - 1), fill="blue")
    return image


def encoded(image: Image.Image, kind: str = "PNG", **options: Any) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, kind, **options)
    return buffer.getvalue()


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def pixel(image: Image.Image, x: int, y: int) -> tuple[int, ...]:
    """The channels of one pixel of a coloured picture."""
    channels = image.getpixel((x, y))
    assert isinstance(channels, tuple)
    return channels


def turned(orientation: int = 6) -> bytes:
    """A JPEG of 64 x 48 pixels that says it is to be turned."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    return encoded(drawing(), "JPEG", exif=exif)


def svg(inside: str, attributes: str = 'width="20" height="10"') -> bytes:
    return f"<svg {SVG} {attributes}>{inside}</svg>".encode()


def pdf(*pages: str, size: tuple[int, int] = (612, 792)) -> bytes:
    """A document with one line of Helvetica on each page, or nothing where that is empty."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    kids = []
    for line in pages:
        stream = f"BT /F1 24 Tf 72 700 Td ({line}) Tj ET".encode() if line else b""
        objects.append(b"<< /Length %d >>\nstream\n%b\nendstream" % (len(stream), stream))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % (*size, len(objects))
        )
        kids.append(b"%d 0 R" % len(objects))
    objects[1] = b"<< /Type /Pages /Kids [%b] /Count %d >>" % (b" ".join(kids), len(kids))
    return pdf_file(objects)


def locked_pdf() -> bytes:
    """A document that wants a password: its encryption dictionary is right in form, and no password opens it."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [] /Count 0 >>",
        b"<< /Filter /Standard /V 1 /R 2 /P -4 /O <" + b"41" * 32 + b"> /U <" + b"42" * 32 + b"> >>",
    ]
    return pdf_file(objects, b"/Encrypt 3 0 R /ID [<00> <00>]")


def scanned_pdf(pages: int = 1) -> bytes:
    """Pages that are pictures and nothing else."""
    sheets = [drawing(300, 200) for _ in range(pages)]
    return encoded(sheets[0], "PDF", save_all=True, append_images=sheets[1:])


def pdf_file(objects: list[bytes], trailer: bytes = b"") -> bytes:
    """A document of these objects, the first of which is its catalogue."""
    out, offsets = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    return (
        out
        + b"xref\n0 %d\n0000000000 65535 f \n%b" % (len(objects) + 1, table)
        + b"trailer\n<< /Size %d /Root 1 0 R %b >>\n" % (len(objects) + 1, trailer)
        + b"startxref\n%d\n%%%%EOF\n" % len(out)
    )


def wav(
    rate: int = 16_000,
    *,
    channels: int = 1,
    bits: int = 16,
    seconds: float = 0.5,
    hertz: float = 1000.0,
    floats: bool = False,
    extensible: bool = False,
) -> bytes:
    """A tone at half of full scale, the same on every channel."""
    samples = bytearray()
    for place in range(int(rate * seconds)):
        value = 0.5 * math.sin(2 * math.pi * hertz * place / rate)
        samples += _sample(value, bits, floats) * channels
    frame = channels * bits // 8
    kind = 3 if floats else 1
    form = struct.pack("<HHIIHH", 0xFFFE if extensible else kind, channels, rate, rate * frame, frame, bits)
    if extensible:
        form += struct.pack("<HHIH", 22, bits, 0, kind) + b"\0\0\0\0\x10\0\x80\0\0\xaa\0\x38\x9b\x71"
    chunks = (
        b"fmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(samples)) + samples
    )
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks


def wav_file(samples: bytes, rate: int = 16_000) -> bytes:
    """A WAV file of 16-bit mono samples."""
    return wav_header(rate, len(samples)) + samples


def tone(rate: int, seconds: float, hertz: float = 1000.0) -> bytes:
    """16-bit samples of the tone of `wav`."""
    step = 2 * math.pi * hertz / rate
    return b"".join(
        struct.pack("<h", round(16_384 * math.sin(step * at))) for at in range(round(rate * seconds))
    )


def loudness(samples: bytes) -> float:
    """The amplitude of a tone in float32 samples, its ends left out."""
    values = array("f", samples)[200:-200]
    return math.sqrt(2 * sum(value * value for value in values) / len(values))


def _sample(value: float, bits: int, floats: bool) -> bytes:
    if floats:
        return struct.pack("<f" if bits == 32 else "<d", value)
    if bits == 8:
        return bytes([round(128 + value * 127)])
    return round(value * (2 ** (bits - 1) - 1)).to_bytes(bits // 8, "little", signed=True)


CODECS = {
    "audio/mpeg": ("mp3", "libmp3lame", "s16p"),
    "audio/flac": ("flac", "flac", "s16"),
    "audio/ogg": ("ogg", "libopus", "s16"),
    "audio/mp4": ("ipod", "aac", "fltp"),
}


def recorded(mime: str, seconds: float = 0.5) -> bytes:
    """Half a second of a tone, compressed."""
    import av

    container, codec, samples = CODECS[mime]
    made = io.BytesIO()
    with (
        av.open(io.BytesIO(wav(48_000, seconds=seconds))) as source,
        av.open(made, "w", format=container) as file,
    ):
        stream: Any = file.add_stream(codec, rate=48_000, layout="mono", format=samples)
        resampler = av.AudioResampler(
            format=samples, layout="mono", rate=48_000, frame_size=stream.frame_size or 1024
        )
        for frame in source.decode(audio=0):
            for piece in resampler.resample(frame):
                file.mux(stream.encode(piece))
        for piece in resampler.resample(None):
            file.mux(stream.encode(piece))
        file.mux(stream.encode(None))
    return made.getvalue()
