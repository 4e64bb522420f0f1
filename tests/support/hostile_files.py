"""Small files that take endless time, memory or stack to read, by what they do."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Callable

from tests.support.sample_files import SVG, pdf_file, svg

BLANK = '<rect width="20" height="10"/>'


def _nested(kind: str, use: str, inside: str = BLANK) -> bytes:
    """25 definitions, each drawn with the one before, twice."""
    parts = [f'<{kind} id="p0" width="1" height="1">{inside}</{kind}>']
    for number in range(25):
        part = inside.replace("/>", f' {use}="url(#p{number})"/>') * 2
        parts.append(f'<{kind} id="p{number + 1}" width="1" height="1">{part}</{kind}>')
    return svg("<defs>" + "".join(parts) + f'</defs><rect width="20" height="10" {use}="url(#p25)"/>')


def _markers() -> bytes:
    parts = ['<marker id="p0"><path d="M0 0 L9 9"/></marker>']
    for number in range(25):
        path = f'<path d="M0 0 L1 1 L9 9" style="marker:url(#p{number})"/>' * 2
        parts.append(f'<marker id="p{number + 1}">{path}</marker>')
    return svg(f'<defs>{"".join(parts)}</defs><path d="M0 0 L9 9" style="marker:url(#p25)"/>')


def _within(drawing: bytes) -> bytes:
    """A drawing in a picture in a drawing."""
    data = base64.b64encode(drawing).decode()
    return svg(f'<image width="20" height="10" href="data:image/svg+xml;base64,{data}"/>')


def _entities() -> bytes:
    entities = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(12))
    return f'<!DOCTYPE svg [<!ENTITY e0 "ha">{entities}]><svg {SVG}><text>&e12;</text></svg>'.encode()


LAYERS = svg(
    '<g opacity="0.9">' * 400 + '<rect width="2000" height="2000"/>' + "</g>" * 400,
    'width="2000" height="2000"',
)
"""The 8.5 KB that ended the server: 400 layers, one in the other."""
BLUR = '<rect width="2000" height="2000" style="filter/**/:blur(400px)"/>' * 40
DRAWINGS: dict[str, bytes] = {
    "layers": LAYERS,
    "patterns": _nested("pattern", "fill"),
    "clip paths": _nested("clipPath", "clip-path"),
    "masks": _nested("mask", "mask"),
    "markers": _markers(),
    "dashes": svg(
        '<path d="M0 0 H9000000" stroke="red" stroke-dasharray=".002"/>' * 300, 'width="2000" height="2000"'
    ),
    "masked": svg(
        '<mask id="m"><rect width="2000" height="2000" fill="#fff"/></mask>'
        + '<rect width="2000" height="2000" mask="url(#m)"/>' * 1000,
        'width="2000" height="2000"',
    ),
    "blurred": svg(BLUR, 'width="2000" height="2000"'),
    "blurred within": _within(svg(BLUR, 'width="2000" height="2000"')),
    "layers within": _within(LAYERS),
    "morphology": svg(
        '<filter id="f"><feMorphology radius="500"/></filter>'
        + '<rect width="2000" height="2000" filter="url(#f)"/>' * 20,
        'width="2000" height="2000"',
    ),
    "uses": svg(
        '<g id="l0"><rect/></g>'
        + "".join(f'<g id="l{n + 1}">' + f'<use href="#l{n}"/>' * 10 + "</g>" for n in range(20))
    ),
    "groups": svg("<g>" * 50_000 + "</g>" * 50_000),
    "text": svg(f'<text font-size="900000" textLength="9e9">{"Wy&#x0301;" * 40_000}</text>'),
    "entities": _entities(),
    "an entity of a file": f'<!DOCTYPE svg [<!ENTITY f SYSTEM "file:///etc/passwd">]><svg {SVG}><text>&f;</text></svg>'.encode(),
    "numbers": svg(
        f'<path d="M0 0{" L1e38 -1e38" * 2000}" stroke="red" stroke-width="1e30"/>',
        'width="1e30" height="1e-30"',
    ),
}


def _stream(content: bytes, more: bytes = b"") -> bytes:
    return b"<< /Length %d %b >>\nstream\n%b\nendstream" % (len(content), more, content)


def _page(number: int, box: bytes = b"[0 0 612 792]", more: bytes = b"") -> bytes:
    return b"<< /Type /Page /Parent 2 0 R /MediaBox %b /Contents %d 0 R %b >>" % (box, number, more)


def _document(*objects: bytes, kids: bytes = b"[3 0 R]", count: int = 1, trailer: bytes = b"") -> bytes:
    """Objects from number 3, the first of which is the page."""
    tree = b"<< /Type /Pages /Kids %b /Count %d >>" % (kids, count)
    return pdf_file([b"<< /Type /Catalog /Pages 2 0 R >>", tree, *objects], trailer)


def _forms(depth: int, calls: int) -> bytes:
    """Forms that each draw the next one several times: 4 KB that took 8 GB."""
    forms = []
    for number in range(depth):
        is_last = number == depth - 1
        body = b"0 0 9 9 re f" if is_last else b"/X Do " * calls
        more = b"" if is_last else b"/Resources << /XObject << /X %d 0 R >> >>" % (number + 6)
        forms.append(_stream(body, b"/Type /XObject /Subtype /Form /BBox [0 0 612 792] " + more))
    return _document(_page(4, more=b"/Resources << /XObject << /X 5 0 R >> >>"), _stream(b"/X Do"), *forms)


def _many_pages(count: int) -> bytes:
    return _document(_page(4), _stream(b"0 0 9 9 re f"), kids=b"[" + b"3 0 R " * count + b"]", count=count)


def _picture(filter: bytes, data: bytes, side: int = 60_000) -> bytes:
    image = (
        b"/Type /XObject /Subtype /Image /Width %d /Height %d /BitsPerComponent 8 /ColorSpace /DeviceRGB "
        % (
            side,
            side,
        )
    )
    return _document(
        _page(4, more=b"/Resources << /XObject << /X 5 0 R >> >>"),
        _stream(b"600 0 0 600 0 0 cm /X Do"),
        _stream(data, image + b"/Filter " + filter),
    )


DOCUMENTS: dict[str, bytes] = {
    "forms": _forms(13, 10),
    "fills": _document(_page(4), _stream(b"0 0 600 700 re f\n" * 400_000)),
    "a loop of pages": _document(
        b"<< /Type /Pages /Kids [2 0 R 3 0 R] /Count 99 /Parent 2 0 R >>", kids=b"[3 0 R 2 0 R]", count=99
    ),
    "a huge page": _document(_page(4, b"[0 0 1e9 1e9]"), _stream(b"0 0 9 9 re f")),
    "a page of no size": _document(_page(4, b"[5 5 5 5]"), _stream(b"0 0 9 9 re f")),
    "a long page": _document(_page(4, b"[0 0 2000000 1]"), _stream(b"0 0 9 9 re f")),
    "pages": _many_pages(100_000),
    "deflated": _picture(b"/FlateDecode", zlib.compress(bytes(60_000_000))),
    "JBIG2": _picture(b"/JBIG2Decode", bytes(range(256)) * 20),
    "JPX": _picture(
        b"/JPXDecode", b"\xff\x4f\xff\x51\x00\x2f" + struct.pack(">H8I", 0, *(60_000,) * 8) + bytes(99)
    ),
    "encrypted": _document(_page(4), _stream(b""), trailer=b"/Encrypt 4 0 R /ID [<00> <00>]"),
}


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def png(width: int, height: int, *, before: bytes = b"", kind: int = 2, bits: int = 8) -> bytes:
    """One colour, all of it there: a hundred megapixels are some hundred kilobytes."""
    row = (width * {0: 1, 2: 3, 6: 4}[kind] * bits + 7) // 8 + 1
    packer = zlib.compressobj(1)
    rows = b"".join(packer.compress(bytes(row)) for _ in range(height)) + packer.flush()
    header = _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, bits, kind, 0, 0, 0))
    return b"\x89PNG\r\n\x1a\n" + header + before + _chunk(b"IDAT", rows) + _chunk(b"IEND", b"")


def _gif() -> bytes:
    """100,000 frames."""
    frame = b"\x21\xf9\x04\0\0\0\0\0" + b"\x2c\0\0\0\0\x01\0\x01\0\0" + b"\x02\x02\x44\x01\0"
    return b"GIF89a" + struct.pack("<HH", 9999, 9999) + b"\x80\0\0\0\0\0\xff\xff\xff" + frame * 100_000 + b";"


def _tiff() -> bytes:
    """A directory whose next one is itself, and a tag that names it too."""
    entries = [
        (256, 4, 1, 100),
        (257, 4, 1, 100),
        (259, 3, 1, 1),
        (262, 3, 1, 1),
        (330, 4, 1, 8),
        (34665, 4, 1, 8),
    ]
    tags = b"".join(struct.pack("<HHII", *entry) for entry in entries)
    return b"II*\0" + struct.pack("<I", 8) + struct.pack("<H", len(entries)) + tags + struct.pack("<I", 8)


PICTURES: dict[str, Callable[[], bytes]] = {
    "a hundred megapixels": lambda: png(10_000, 10_000),
    "sixteen bits": lambda: png(2_900, 3_000, kind=0, bits=16),
    "texts": lambda: png(9, 9, before=_chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(900_000), 1)) * 200),
    "a profile": lambda: png(9, 9, before=_chunk(b"iCCP", b"a\0\0" + zlib.compress(bytes(60_000_000), 1))),
    "frames": _gif,
    "a loop of directories": _tiff,
}
