"""Images, audio and video inside JSON: base64 and data URLs to message parts.

Owns the checks that bytes are what they claim to be. Web addresses are refused, because nothing is fetched here. `where` is the
part's path in the request, for the error. Used by the chat dialects and the sockets of calls.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
import sys
from array import array

from duologue.errors import BadRequest, Unsupported
from duologue.values.messages import AudioPart, ImagePart, VideoPart

RATE = 16_000
"""Hz of raw audio in the chat socket's messages."""

_DATA_URL = re.compile(r"data:(?P<mime>[\w.+-]+/[\w.+-]+)?(?:;[\w.+-]+=[^;,]*)*;base64,", re.ASCII)
_MAGIC = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))


def image(data: bytes, where: str) -> ImagePart:
    """An image file. Its first bytes decide the type, whatever the client claims."""
    for magic, mime in _MAGIC:
        if data.startswith(magic):
            return ImagePart(data, mime)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return ImagePart(data, "image/webp")
    raise BadRequest(f"{where} is not a PNG, JPEG, GIF or WebP image.", param=where)


def pcm(data: bytes, rate: int, where: str) -> AudioPart:
    """Raw little-endian float32 mono samples at 16 kHz."""
    if rate != RATE:
        raise BadRequest(f"{where}.sample_rate must be {RATE}.", param=f"{where}.sample_rate")
    if not data or len(data) % 4:
        raise BadRequest(f"{where}.data must be float32 samples, 4 bytes each.", param=f"{where}.data")
    return AudioPart(data, rate)


def video(data: bytes, where: str, mime: str = "video/mp4", stack_frames: int = 1) -> VideoPart:
    """A video file, unchanged."""
    if not data:
        raise BadRequest(f"{where} is empty.", param=where)
    return VideoPart(data, mime, stack_frames)


def to_base64(data: bytes) -> str:
    """Bytes as base64 text."""
    return base64.b64encode(data).decode()


def from_base64(text: str, where: str) -> bytes:
    """The bytes of base64 text."""
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise BadRequest(f"{where} is not valid base64.", param=where) from None


def from_data_url(url: str, where: str) -> tuple[str, bytes]:
    """The media type (may be empty) and bytes of a `data:` URL."""
    head = _DATA_URL.match(url)
    if head is None:
        if url.startswith(("http://", "https://")):
            raise Unsupported(
                f"{where} is a web address, which this version does not fetch; send a data: URL (data:image/png;base64,...).",
                param=where,
            )
        raise BadRequest(f"{where} must be a base64 data: URL.", param=where)
    return head["mime"] or "", from_base64(url[head.end() :], where)


def wav(data: bytes, where: str) -> AudioPart:
    """A WAV file of 16-bit or float32 samples, mixed to mono at its own rate."""
    if data[:4] != b"RIFF" or data[8:12] != b"WAVE":
        raise BadRequest(f"{where} is not a WAV file.", param=where)
    kind = channels = rate = bits = 0
    samples = b""
    at = 12
    while at + 8 <= len(data):
        name, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        body = data[at + 8 : at + 8 + size]
        if name == b"fmt " and len(body) >= 16:
            kind, channels, rate, _, _, bits = struct.unpack_from("<HHIIHH", body)
            if (
                kind == 0xFFFE and len(body) >= 26
            ):  # WAVE_FORMAT_EXTENSIBLE: the sub-format begins with the real format
                kind = int.from_bytes(body[24:26], "little")
        elif name == b"data":
            samples = body
            break
        at += 8 + size + (size & 1)
    if (kind, bits) not in ((1, 16), (3, 32)) or not channels or not rate:
        raise Unsupported(f"{where} must be a WAV file of 16-bit or float32 samples.", param=where)
    if len(samples) < channels * bits // 8:
        raise BadRequest(f"{where} contains no audio.", param=where)
    return AudioPart(_mono(samples, kind, channels), rate)


def _mono(data: bytes, kind: int, channels: int) -> bytes:
    """Little-endian float32 mono of interleaved int16 (kind 1) or float32 (kind 3) samples."""
    samples: array[int] | array[float] = array("h" if kind == 1 else "f")
    frame = samples.itemsize * channels
    whole = data[: len(data) // frame * frame]
    if kind == 3 and channels == 1:
        return whole
    samples.frombytes(whole)
    if sys.byteorder == "big":
        samples.byteswap()
    scale = 1 / (channels * (32_768 if kind == 1 else 1))
    sums = (
        samples
        if channels == 1
        else map(sum, zip(*(samples[c::channels] for c in range(channels)), strict=True))
    )
    mixed = array("f", [value * scale for value in sums])
    if sys.byteorder == "big":
        mixed.byteswap()
    return mixed.tobytes()
