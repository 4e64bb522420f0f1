"""Images, audio and video inside JSON: base64 and data URLs to message parts.

Owns the checks that bytes are what they claim to be. A web address is a `MediaReference`: nothing is fetched here. `where` is the
part's path in the request, for the error. Used by the chat dialects and the sockets of calls.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
import sys
from array import array
from typing import Literal

from msgspec import Struct

from duologue.errors import BadRequest, Unsupported
from duologue.values.audio import is_finite
from duologue.values.messages import AudioPart, Detail, ImagePart, VideoPart

RATE = 16_000
"""Hz of raw audio in the chat socket's messages."""

PIECE = 1024 * 1024
"""Characters of base64 that are decoded at a time: a multiple of four."""
FRAMES = 64 * 1024
"""Samples of each channel that are mixed at a time; as Python's numbers they take many times their room."""

_DATA_URL = re.compile(r"data:(?P<mime>[\w.+-]+/[\w.+-]+)?(?:;[\w.+-]+=[^;,]*)*;base64,", re.ASCII)
_MAGIC = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))


class MediaReference(Struct, frozen=True):
    """A part that has to be fetched from `url`, is the stored file with the id `stored`, or whose `data` have to be read, before it is
    known what it is. `name`: the file's; `detail`: a picture's."""

    where: str
    kind: Literal["image", "audio", "video", "file"]
    data: bytes = b""
    url: str = ""
    name: str = ""
    detail: Detail = ""
    stored: str = ""


def file(given: str, where: str, place: str, name: str) -> MediaReference:
    """A file as a request gives it: in base64, as a `data:` URL, or at an address. `place`: the path of the field."""
    if is_address(given):
        return MediaReference(where, "file", url=given, name=name)
    data = from_data_url(given, place)[1] if given.startswith("data:") else from_base64(given, place)
    return MediaReference(where, "file", data, name=name)


def is_address(text: str) -> bool:
    """Whether a text is a web address."""
    return text[:8].lower().startswith(("http://", "https://"))


def image(data: bytes, where: str, detail: Detail = "") -> ImagePart:
    """An image file. Its first bytes decide the type, whatever the client claims."""
    for magic, mime in _MAGIC:
        if data.startswith(magic):
            return ImagePart(data, mime, detail)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return ImagePart(data, "image/webp", detail)
    raise BadRequest(f"{where} is not a PNG, JPEG, GIF or WebP image.", param=where)


def pcm(data: bytes, rate: int, where: str) -> AudioPart:
    """Raw little-endian float32 mono samples at 16 kHz."""
    if rate != RATE:
        raise BadRequest(f"{where}.sample_rate must be {RATE}.", param=f"{where}.sample_rate")
    if not data or len(data) % 4:
        raise BadRequest(f"{where}.data must be float32 samples, 4 bytes each.", param=f"{where}.data")
    return _finite(AudioPart(data, rate), f"{where}.data")


def voice_sample(data: bytes, where: str) -> AudioPart:
    """A recording of a voice: raw little-endian float32 mono samples at 16 kHz."""
    if len(data) % 4:
        raise BadRequest(f"{where} must be float32 samples at 16 kHz, 4 bytes each.", param=where)
    return AudioPart(data, RATE)


def video(data: bytes, where: str, mime: str = "video/mp4", stack_frames: int = 1) -> VideoPart:
    """A video file, unchanged."""
    if not data:
        raise BadRequest(f"{where} is empty.", param=where)
    return VideoPart(data, mime, stack_frames)


def to_base64(data: bytes) -> str:
    """Bytes as base64 text."""
    return base64.b64encode(data).decode()


def from_base64(text: str, where: str) -> bytes:
    """The bytes of base64 text. Decoded in pieces, between which other threads run: 50 MB at once stopped the loop for 0.2 s."""
    pieces: list[bytes] = []
    try:
        for start in range(0, len(text), PIECE):
            piece = base64.b64decode(text[start : start + PIECE], validate=True)
            if start + PIECE < len(text) and len(piece) != PIECE // 4 * 3:
                raise ValueError("padding before the end")
            pieces.append(piece)
    except (binascii.Error, ValueError):
        raise BadRequest(f"{where} is not valid base64.", param=where) from None
    return b"".join(pieces)


def from_data_url(url: str, where: str) -> tuple[str, bytes]:
    """The media type (may be empty) and bytes of a `data:` URL."""
    head = _DATA_URL.match(url)
    if head is None:
        raise BadRequest(f"{where} must be a base64 data: URL, or an address with https://.", param=where)
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
    return _finite(AudioPart(_mono(samples, kind, channels), rate), where)


def _finite(part: AudioPart, where: str) -> AudioPart:
    """The part. Raises BadRequest for samples that are no numbers: they would spoil everything an engine computes of them."""
    if not is_finite(part.data):
        raise BadRequest(f"{where} has samples that are no numbers.", code="sound_unreadable", param=where)
    return part


def _mono(data: bytes, kind: int, channels: int) -> bytes:
    """Little-endian float32 mono of interleaved int16 (kind 1) or float32 (kind 3) samples."""
    frame = (2 if kind == 1 else 4) * channels
    whole = len(data) // frame * frame
    if kind == 3 and channels == 1:
        return data[:whole]
    mixed = bytearray()
    for start in range(0, whole, FRAMES * frame):
        mixed += _mixed(data[start : min(whole, start + FRAMES * frame)], kind, channels)
    return bytes(mixed)


def _mixed(data: bytes, kind: int, channels: int) -> bytes:
    """As `_mono`, for a few whole frames."""
    samples: array[int] | array[float] = array("h" if kind == 1 else "f")
    samples.frombytes(data)
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
