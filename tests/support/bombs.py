"""Small files that are large, slow or endless to read."""

from __future__ import annotations

import io
import struct
import zipfile


def zipped(name: str, *pieces: bytes, times: int = 1) -> bytes:
    """A zip of one member: the pieces, the last of them so many times."""
    buffer = io.BytesIO()
    with (
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as target,
        target.open(name, "w", force_zip64=True) as member,
    ):
        for piece in pieces[:-1]:
            member.write(piece)
        for _ in range(times):
            member.write(pieces[-1])
    return buffer.getvalue()


def wav_header(
    *, channels: int = 1, rate: int = 16_000, bits: int = 16, kind: int = 1, size: int = 0xFFFFFFFF
) -> bytes:
    """The header of a WAV file that claims anything."""
    frame = channels * bits // 8
    fields = struct.pack(
        "<HHIIHH", kind, channels & 0xFFFF, rate, (rate * frame) & 0xFFFFFFFF, frame & 0xFFFF, bits
    )
    return (
        b"RIFF" + struct.pack("<I", size) + b"WAVEfmt \x10\0\0\0" + fields + b"data" + struct.pack("<I", size)
    )


def flac_header(samples: int = 2**36 - 1, rate: int = 655_350, channels: int = 8) -> bytes:
    """A FLAC file's first block, with the claims of its stream."""
    packed = (rate << 44) | ((channels - 1) << 41) | (15 << 36) | samples
    stream = struct.pack(">HH", 4096, 4096) + bytes(6) + packed.to_bytes(8, "big") + bytes(16)
    return b"fLaC" + b"\x80" + len(stream).to_bytes(3, "big") + stream


def id3(size: int, body: bytes) -> bytes:
    """An MP3 with a tag that claims `size` bytes."""
    safe = bytes((size >> shift) & 0x7F for shift in (21, 14, 7, 0))
    return b"ID3\x04\0\0" + safe + body


def mp4_playlist(url: bytes) -> bytes:
    """An MP4 whose sound is said to be in another file."""
    reference = struct.pack(">I4sI", 12 + len(url) + 1, b"url ", 0) + url + b"\0"
    dref = struct.pack(">I4sII", 16 + len(reference), b"dref", 0, 1) + reference
    dinf = struct.pack(">I4s", 8 + len(dref), b"dinf") + dref
    minf = struct.pack(">I4s", 8 + len(dinf), b"minf") + dinf
    mdia = struct.pack(">I4s", 8 + len(minf), b"mdia") + minf
    trak = struct.pack(">I4s", 8 + len(mdia), b"trak") + mdia
    moov = struct.pack(">I4s", 8 + len(trak), b"moov") + trak
    return struct.pack(">I4s4sI4s", 20, b"ftyp", b"isom", 0, b"isom") + moov


def nested_atoms(depth: int) -> bytes:
    """An MP4 of atoms inside atoms."""
    body = b""
    for _ in range(depth):
        body = struct.pack(">I4s", 8 + len(body), b"moov") + body
    return struct.pack(">I4s4sI4s", 20, b"ftyp", b"isom", 0, b"isom") + body
