"""Pictures of pixels written to hurt: a few kilobytes that claim, or are, far more than they look.

Each function gives the bytes of one file; `PICTURES` names them with the ending their kind usually has.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable
from functools import cache

WIDE, HIGH = 9990, 10_000
"""99.9 million pixels: just below the limit of the server."""


def chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(
    width: int, height: int, *more: bytes, depth: int = 8, colour: int = 2, data: bytes | None = None
) -> bytes:
    """A PNG of these chunks before its pixels; all pixels black."""
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))
    pixels = data if data is not None else zeros(height * (1 + width * (3 if colour == 2 else 4)))
    return b"\x89PNG\r\n\x1a\n" + header + b"".join(more) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def zeros(count: int) -> bytes:
    """So many zeros, deflated: one packed megabyte again and again, so that making the file takes no time."""
    return b"\x78\xda" + _packed_megabyte() * (count // 2**20) + _end(count)


@cache
def _packed_megabyte() -> bytes:
    packer = zlib.compressobj(9, wbits=-15)
    return packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH)


def _end(count: int) -> bytes:
    """What is left of the zeros, the end mark, and the check sum of all."""
    packer = zlib.compressobj(9, wbits=-15)
    rest = packer.compress(bytes(count % 2**20)) + packer.flush()
    return rest + struct.pack(">I", (count % 65_521) << 16 | 1)


def png_huge() -> bytes:
    """99.9 megapixels in 300 KB."""
    return png(WIDE, HIGH)


def png_huge_alpha() -> bytes:
    return png(WIDE, HIGH, colour=6)


def png_huge_deep() -> bytes:
    return png(WIDE, HIGH, depth=16, data=zeros(HIGH * (1 + WIDE * 6)))


def png_claims() -> bytes:
    """Two thousand million pixels a side, in the header alone."""
    return png(2**31 - 1, 2**31 - 1, data=zlib.compress(bytes(100)))


def png_strip() -> bytes:
    return png(99_000_000, 1, data=zeros(1 + 99_000_000 * 3))


def png_text_bomb() -> bytes:
    """A compressed comment that unpacks to 500 MB."""
    return png(1, 1, chunk(b"zTXt", b"a\0\0" + zeros(500_000_000)))


def png_texts() -> bytes:
    """A hundred comments of 10 MB each."""
    return png(1, 1, *(chunk(b"zTXt", b"a\0\0" + zeros(10_000_000)) for _ in range(100)))


def png_itext() -> bytes:
    return png(1, 1, chunk(b"iTXt", b"a\0\1\0\0\0" + zeros(500_000_000)))


def png_profile_bomb() -> bytes:
    """A colour profile that unpacks to 500 MB."""
    return png(1, 1, chunk(b"iCCP", b"a\0\0" + zeros(500_000_000)))


def png_many_chunks() -> bytes:
    return png(1, 1, *(chunk(b"tEXt", b"a\0b") for _ in range(100_000)))


def png_long_chunk() -> bytes:
    return png(1, 1)[:33] + struct.pack(">I", 2**31 - 1) + b"zTXt" + b"a" * 100


def apng_frames() -> bytes:
    """An animated PNG that says it has four thousand million frames."""
    return png(1, 1, chunk(b"acTL", struct.pack(">II", 2**32 - 1, 0)))


def gif(*blocks: bytes, width: int = 1, height: int = 1) -> bytes:
    return b"GIF89a" + struct.pack("<HHBBB", width, height, 0x80, 0, 0) + bytes(6) + b"".join(blocks) + b";"


def gif_frame(width: int, height: int) -> bytes:
    return b"," + struct.pack("<HHHHB", 0, 0, width, height, 0) + b"\x02\x02\x44\x01\x00"


def gif_frames() -> bytes:
    """100,000 frames of one pixel."""
    return gif(gif_frame(1, 1) * 100_000)


def gif_large_frames() -> bytes:
    """2,000 frames as large as a GIF can be, a few bytes each."""
    return gif(gif_frame(65_535, 1500) * 2000, width=65_535, height=1500)


def gif_lzw() -> bytes:
    """A frame whose codes never end."""
    data = b"\x02" + (b"\xff" + b"\x92" * 255) * 2000 + b"\0"
    return gif(b"," + struct.pack("<HHHHB", 0, 0, 9000, 9000, 0) + data, width=9000, height=9000)


def gif_comments() -> bytes:
    return gif(b"\x21\xfe" + (b"\xff" + b"a" * 255) * 4000 + b"\0", gif_frame(1, 1))


def tiff(entries: list[tuple[int, int, int, int]], following: int = 0, more: bytes = b"") -> bytes:
    """A TIFF of one directory: (tag, type, count, value) each, and where the next directory is."""
    fields = b"".join(struct.pack("<HHII", *entry) for entry in entries)
    return (
        b"II*\0"
        + struct.pack("<I", 8)
        + struct.pack("<H", len(entries))
        + fields
        + struct.pack("<I", following)
        + more
    )


def tiff_pixels(width: int = 1, height: int = 1) -> list[tuple[int, int, int, int]]:
    return [(256, 4, 1, width), (257, 4, 1, height), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1)]


def tiff_loop() -> bytes:
    """A directory whose next one is itself."""
    return tiff([*tiff_pixels(), (273, 4, 1, 8), (278, 4, 1, 1), (279, 4, 1, 1)], following=8)


def tiff_huge_tag() -> bytes:
    """A tag of two thousand million numbers."""
    return tiff([*tiff_pixels(), (273, 4, 2**31 - 1, 8), (279, 4, 2**31 - 1, 8), (700, 1, 2**32 - 1, 8)])


def tiff_strips() -> bytes:
    """A million strips that are all the same byte."""
    count = 200_000
    places = struct.pack("<I", 8) * count
    base = 8 + 2 + 8 * 12 + 4
    return tiff(
        [*tiff_pixels(100, count), (273, 4, count, base), (278, 4, 1, 1), (279, 4, count, base)], more=places
    )


def tiff_huge() -> bytes:
    return tiff([*tiff_pixels(WIDE, HIGH), (273, 4, 1, 8), (278, 4, 1, HIGH), (279, 4, 1, WIDE * HIGH)])


def tiff_deflate() -> bytes:
    packed = zeros(WIDE * HIGH)
    fields = [*tiff_pixels(WIDE, HIGH)[:3], (259, 3, 1, 8), (262, 3, 1, 1)]
    base = 8 + 2 + 8 * 12 + 4
    return tiff([*fields, (273, 4, 1, base), (278, 4, 1, HIGH), (279, 4, 1, len(packed))], more=packed)


def tiff_directories() -> bytes:
    """50,000 pages of one pixel, each 100 bytes."""
    size = 2 + 8 * 12 + 4
    pages = []
    for number in range(50_000):
        fields = [*tiff_pixels(), (273, 4, 1, 8), (278, 4, 1, 1), (279, 4, 1, 1)]
        at = 8 + size * (number + 1)
        body = b"".join(struct.pack("<HHII", *entry) for entry in fields)
        pages.append(struct.pack("<H", len(fields)) + body + struct.pack("<I", at))
    return b"II*\0" + struct.pack("<I", 8) + b"".join(pages)


def ico(entries: list[tuple[int, int, bytes]]) -> bytes:
    """An icon of these pictures: (announced width, announced height, data)."""
    at, table, body = 6 + 16 * len(entries), b"", b""
    for width, height, data in entries:
        table += struct.pack("<BBBBHHII", width, height, 0, 0, 1, 32, len(data), at + len(body))
        body += data
    return b"\0\0\1\0" + struct.pack("<H", len(entries)) + table + body


def ico_huge() -> bytes:
    """An icon that says 1 x 1 and holds 99.9 megapixels."""
    return ico([(1, 1, png_huge())])


def ico_beyond() -> bytes:
    return ico([(0, 0, png(20_000, 20_000, data=zeros(1000)))])


def ico_many() -> bytes:
    table = struct.pack("<BBBBHHII", 255, 255, 0, 0, 1, 32, 2**31, 6)
    return b"\0\0\1\0\xff\xff" + table * 65_535


def bmp(width: int, height: int, compression: int = 0, data: bytes = b"") -> bytes:
    header = struct.pack(
        "<IiiHHIIiiII", 40, width, height, 1, 8 if compression else 24, compression, 0, 1, 1, 0, 0
    )
    start = 14 + len(header) + (1024 if compression else 0)
    palette = bytes(1024) if compression else b""
    return b"BM" + struct.pack("<IHHI", start + len(data), 0, 0, start) + header + palette + data


def bmp_huge() -> bytes:
    return bmp(WIDE, HIGH)


def bmp_runs() -> bytes:
    """Run lengths that move the pen to the end of 99.9 megapixels."""
    return bmp(WIDE, HIGH, 1, b"\0\2\xff\xff" * 100_000 + b"\0\1")


def bmp_negative() -> bytes:
    return bmp(-(2**31), -(2**31))


def jpeg_huge() -> bytes:
    """A JPEG header of 65,535 x 1,500 with a progressive scan that never ends."""
    table = b"\xff\xdb\0\x43\0" + b"\1" * 64
    frame = b"\xff\xc2\0\x11\x08" + struct.pack(">HH", 1500, 65_535) + b"\3\1\x22\0\2\x11\0\3\x11\0"
    codes = b"\xff\xc4\0\x15\0\1" + bytes(15) + b"\0\0\0"
    scan = b"\xff\xda\0\x0c\3\1\0\2\0\3\0\0\0\0"
    return b"\xff\xd8" + table + frame + codes[:23] + (scan + bytes(30)) * 5000 + b"\xff\xd9"


def jpeg_markers() -> bytes:
    return b"\xff\xd8" + (b"\xff\xe1\xff\xff" + bytes(65_533)) * 60 + b"\xff\xd9"


def webp_claims() -> bytes:
    body = b"VP8X" + struct.pack("<I", 10) + b"\x10\0\0\0" + b"\xff\xff\xff" * 2
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body


def webp_frames() -> bytes:
    """20,000 frames of an animation, each empty."""
    frame = b"ANMF" + struct.pack("<I", 24) + bytes(16) + b"VP8 " + bytes(4)
    body = (
        b"VP8X"
        + struct.pack("<I", 10)
        + b"\2\0\0\0"
        + b"\xff\x1f\0" * 2
        + b"ANIM"
        + struct.pack("<I", 6)
        + bytes(6)
    )
    body += frame * 20_000
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body


def box(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body) + 8) + kind + body


def heic_grid(brand: bytes = b"heic") -> bytes:
    """A picture that says it is a grid of 256 x 256 tiles, all of them itself."""
    entry = box(b"infe", b"\2\0\0\0\0\1\0\0grid\0")
    refs = struct.pack(">HHH", 1, 65_535, 1) + struct.pack(">H", 1) * 65_535
    meta = box(b"hdlr", bytes(8) + b"pict" + bytes(13)) + box(b"pitm", b"\0\0\0\0\0\1")
    meta += box(b"iinf", b"\0\0\0\0\0\1" + entry)
    meta += box(b"iref", bytes(4) + box(b"dimg", refs[:4] + refs[4:]))
    meta += box(b"iprp", box(b"ipco", box(b"ispe", bytes(4) + struct.pack(">II", 65_535, 65_535))))
    return (
        box(b"ftyp", brand + bytes(4) + b"mif1" + brand)
        + box(b"meta", bytes(4) + meta)
        + box(b"mdat", bytes(64))
    )


def heic_depth() -> bytes:
    """Boxes within boxes, 2,000 deep."""
    data = b""
    for _ in range(2000):
        data = box(b"meta", bytes(4) + data)
    return box(b"ftyp", b"heic" + bytes(4) + b"mif1heic") + data


def avif_grid() -> bytes:
    return heic_grid(b"avif")


PICTURES: dict[str, Callable[[], bytes]] = {
    function.__name__.replace("_", " "): function
    for function in (
        png_huge, png_huge_alpha, png_huge_deep, png_claims, png_strip, png_text_bomb, png_texts, png_itext,
        png_profile_bomb, png_many_chunks, png_long_chunk, apng_frames, gif_frames, gif_large_frames, gif_lzw,
        gif_comments, tiff_loop, tiff_huge_tag, tiff_strips, tiff_huge, tiff_deflate, tiff_directories, ico_huge,
        ico_beyond, ico_many, bmp_huge, bmp_runs, bmp_negative, jpeg_huge, jpeg_markers, webp_claims, webp_frames,
        heic_grid, heic_depth, avif_grid,
    )
}  # fmt: skip
