"""PDF documents written to hurt: pages that draw more than they say, trees without end, streams that unpack for ever.

Each function gives the bytes of one file; `PAPERS` names them.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

from attack.bombs.pictures import zeros

CATALOG = b"<< /Type /Catalog /Pages 2 0 R >>"


def document(objects: list[bytes], trailer: bytes = b"/Root 1 0 R") -> bytes:
    """A PDF of these objects, numbered from 1."""
    out, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, 1):
        places.append(len(out))
        out += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(objects) + 1
    return out + b"xref\n0 %d\n0000000000 65535 f \n%btrailer\n<< /Size %d %b >>\nstartxref\n%d\n%%%%EOF\n" % (
        size, table, size, trailer, len(out),
    )  # fmt: skip


def stream(data: bytes, fields: bytes = b"", *, packed: bool = False) -> bytes:
    if packed:
        data, fields = zlib.compress(data, 9), fields + b" /Filter /FlateDecode"
    return b"<< %b /Length %d >>\nstream\n%b\nendstream" % (fields, len(data), data)


def page(
    content: bytes, *objects: bytes, resources: bytes = b"", side: int = 600, packed: bool = True
) -> bytes:
    """One page with this content; further objects are numbered from 5."""
    return document(
        [
            CATALOG,
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 %d %d] /Contents 4 0 R /Resources << %b >> >>"
            % (side, side, resources),
            stream(content, packed=packed),
            *objects,
        ]
    )


def form(content: bytes, inner: bytes = b"") -> bytes:
    return stream(
        content,
        b"/Type /XObject /Subtype /Form /BBox [0 0 600 600] /Resources << /XObject << %b >> >>" % inner,
    )


def forms(count: int = 13, times: int = 10) -> bytes:
    """Forms that each draw the next one ten times: 10^13 rectangles in 4 KB."""
    objects = [form(b"/F Do " * times, b"/F %d 0 R" % (6 + at)) for at in range(count - 1)]
    objects.append(form(b"0 0 5 5 re f "))
    return page(b"/F Do", *objects, resources=b"/XObject << /F 5 0 R >>")


def forms_text() -> bytes:
    """The same with text, so that reading the text takes as long as drawing."""
    font = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    objects = [font] + [form(b"/F Do " * 10, b"/F %d 0 R" % (7 + at)) for at in range(9)]
    text = stream(
        b"BT /T 9 Tf (hello hello hello) Tj ET",
        b"/Type /XObject /Subtype /Form /BBox [0 0 600 600] /Resources << /Font << /T 5 0 R >> >>",
    )
    return page(b"/F Do", *objects, text, resources=b"/XObject << /F 6 0 R >>")


def form_of_itself() -> bytes:
    return page(b"/F Do", form(b"/F Do /F Do", b"/F 5 0 R"), resources=b"/XObject << /F 5 0 R >>")


def fills() -> bytes:
    """400,000 fills of the whole page."""
    return page(b"0 0 600 600 re f\n" * 400_000)


def blended_fills() -> bytes:
    state = b"/ExtGState << /G << /BM /Luminosity /ca .5 >> >>"
    return page(b"/G gs\n" + b"0 0 600 600 re f\n" * 100_000, resources=state)


def states() -> bytes:
    """A million saved graphics states."""
    return page(b"q " * 1_000_000)


def path_points() -> bytes:
    points = b"".join(b"%d %d l " % ((i * 7919) % 600, (i * 104729) % 600) for i in range(200_000))
    return page(b"0 0 m " + points + b"b*")


def dashes() -> bytes:
    return page(b"[.0001 .0001] 0 d 5 w " + b"0 0 m 600 600 l S\n" * 5000)


def tilings() -> bytes:
    """A pattern of a thousandth of a point over the page, made of itself."""
    fields = (
        b"/Type /Pattern /PatternType 1 /PaintType 1 /TilingType 1 /BBox [0 0 1 1] /XStep .001 /YStep .001"
        b" /Resources << /Pattern << /P 5 0 R >> >>"
    )
    tile = stream(b"/Pattern cs /P scn 0 0 1 1 re f", fields)
    return page(b"/Pattern cs /P scn 0 0 600 600 re f", tile, resources=b"/Pattern << /P 5 0 R >>")


def shadings() -> bytes:
    shade = b"<< /ShadingType 1 /ColorSpace /DeviceRGB /Function 6 0 R /Domain [0 1 0 1] /Matrix [600 0 0 600 0 0] >>"
    function = stream(
        b"{" + b"dup mul exch dup mul exch " * 20_000 + b"0 }",
        b"/FunctionType 4 /Domain [0 1 0 1] /Range [0 1 0 1 0 1]",
    )
    return page(b"/S sh " * 50, shade, function, resources=b"/Shading << /S 5 0 R >>")


def page_tree_loop() -> bytes:
    """A tree of pages that contains itself."""
    return document(
        [
            CATALOG,
            b"<< /Type /Pages /Kids [2 0 R 2 0 R 3 0 R] /Count 999999999 >>",
            b"<< /Type /Pages /Kids [2 0 R] /Count 5 >>",
        ]
    )


def page_tree_deep() -> bytes:
    objects = [CATALOG]
    objects += [b"<< /Type /Pages /Kids [%d 0 R] /Count 1 >>" % (at + 3) for at in range(5000)]
    return document([*objects, b"<< /Type /Page /MediaBox [0 0 9 9] >>"])


def page_count() -> bytes:
    return document(
        [
            CATALOG,
            b"<< /Type /Pages /Kids [3 0 R] /Count 2147483647 >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>",
        ]
    )


def many_pages() -> bytes:
    kids = b"3 0 R " * 100_000
    return document(
        [
            CATALOG,
            b"<< /Type /Pages /Kids [%b] /Count 100000 >>" % kids,
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>",
        ]
    )


def huge_page() -> bytes:
    return page(b"0 0 9 9 re f", side=2_000_000_000)


def thin_page() -> bytes:
    return document(
        [CATALOG, b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
         b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100000000 .0001] >>"]
    )  # fmt: skip


def flate() -> bytes:
    """A page whose content unpacks to a thousand million blanks."""
    packed = zeros(1_000_000_000)
    body = b"<< /Length %d /Filter /FlateDecode >>\nstream\n%b\nendstream" % (len(packed), packed)
    return document(
        [CATALOG, b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
         b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 600] /Contents 4 0 R >>", body]
    )  # fmt: skip


def filters() -> bytes:
    """A content packed forty times over."""
    data = bytes(10_000_000)
    for _ in range(40):
        data = zlib.compress(data, 9)
    names = b"/FlateDecode " * 40
    body = b"<< /Length %d /Filter [%b] >>\nstream\n%b\nendstream" % (len(data), names, data)
    return document(
        [CATALOG, b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
         b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 600] /Contents 4 0 R >>", body]
    )  # fmt: skip


def image(fields: bytes, data: bytes, width: int = 30_000, height: int = 30_000) -> bytes:
    shown = stream(data, b"/Type /XObject /Subtype /Image /Width %d /Height %d %b" % (width, height, fields))
    return page(b"600 0 0 600 0 0 cm /I Do", shown, resources=b"/XObject << /I 5 0 R >>")


def image_flate() -> bytes:
    return image(b"/ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /FlateDecode", zeros(900_000_000))


def image_jbig2() -> bytes:
    """A JBIG2 picture that says it is 2^32 high, with a text region of 2^31 symbols."""
    info = b"\0\0\0\0\x30\0\1\0\0\0\x13" + b"\xff\xff\xff\xff" * 2 + bytes(11)
    region = b"\0\0\0\1\x06\0\1\0\0\0\x20" + b"\x7f\xff\xff\xff" * 4 + bytes(16)
    return image(b"/ColorSpace /DeviceGray /BitsPerComponent 1 /Filter /JBIG2Decode", info + region)


def image_jpx() -> bytes:
    """A JPEG 2000 header of 2^31 x 2^31 with 16,384 components."""
    size = (
        b"\0\0"
        + b"\x7f\xff\xff\xff" * 2
        + bytes(8)
        + b"\0\0\0\1" * 2
        + bytes(8)
        + b"\x40\0"
        + b"\7\1\1" * 16_384
    )
    data = b"\xff\x4f\xff\x51" + (len(size) + 2).to_bytes(2, "big") + size + b"\xff\xd9"
    return image(b"/Filter /JPXDecode", data)


def image_fax() -> bytes:
    return image(
        b"/ColorSpace /DeviceGray /BitsPerComponent 1 /Filter /CCITTFaxDecode"
        b" /DecodeParms << /K -1 /Columns 65000 /Rows 65000 >>", b"\x55" * 10_000, 65_000, 65_000,
    )  # fmt: skip


def image_lzw() -> bytes:
    return image(
        b"/ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /LZWDecode", b"\x80\x0b\x60\x50" * 50_000
    )


def font() -> bytes:
    """A Type 3 font whose letters draw the page, a hundred thousand times."""
    letter = stream(b"600 0 0 0 600 600 d1 " + b"0 0 600 600 re f " * 200)
    fields = (
        b"<< /Type /Font /Subtype /Type3 /FontBBox [0 0 600 600] /FontMatrix [1 0 0 1 0 0] /CharProcs << /a 6 0 R >>"
        b" /Encoding << /Differences [97 /a] >> /FirstChar 97 /LastChar 97 /Widths [1] >>"
    )
    text = b"BT /T 1 Tf (" + b"a" * 20_000 + b") Tj ET"
    return page(text, fields, letter, resources=b"/Font << /T 5 0 R >>")


def font_file() -> bytes:
    """A TrueType file whose tables say they are 4 GB."""
    data = b"\0\1\0\0\xff\xff" + bytes(6) + b"glyf" + b"\xff" * 12 + b"loca" + b"\xff" * 12
    descriptor = b"<< /Type /FontDescriptor /FontName /X /Flags 4 /FontFile2 7 0 R >>"
    fields = (
        b"<< /Type /Font /Subtype /TrueType /BaseFont /X /FirstChar 0 /LastChar 255 /FontDescriptor 6 0 R >>"
    )
    return page(
        b"BT /T 9 Tf (hello) Tj ET", fields, descriptor, stream(data * 100), resources=b"/Font << /T 5 0 R >>"
    )


def unicode_map() -> bytes:
    """A map from letters to texts with ranges of 2^32."""
    lines = b"1000000 beginbfrange\n" + b"<0000> <FFFFFFFF> <0041>\n" * 20_000 + b"endbfrange"
    fields = b"<< /Type /Font /Subtype /Type0 /BaseFont /X /Encoding /Identity-H /ToUnicode 6 0 R >>"
    return page(
        b"BT /T 9 Tf <0041004200430044> Tj ET",
        fields,
        stream(lines, packed=True),
        resources=b"/Font << /T 5 0 R >>",
    )


def object_streams() -> bytes:
    """An object stream that says it has 2^31 objects, extends itself, and holds blanks."""
    held = stream(b"1 0 " * 100_000, b"/Type /ObjStm /N 2147483647 /First 100 /Extends 3 0 R", packed=True)
    return document([CATALOG, b"<< /Type /Pages /Kids [] /Count 0 >>", held])


def references_loop() -> bytes:
    return document([b"2 0 R", b"1 0 R"], b"/Root 1 0 R /Prev 9")


def lengths_loop() -> bytes:
    return document(
        [
            CATALOG,
            b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            b"<< /Type /Page /Contents 4 0 R /Parent 2 0 R /MediaBox [0 0 9 9] >>",
            b"<< /Length 4 0 R >>\nstream\nq\nendstream",
        ]
    )


def arrays_deep() -> bytes:
    return document([CATALOG, b"<< /Type /Pages /Kids " + b"[" * 100_000 + b"]" * 100_000 + b" >>"])


def table_huge() -> bytes:
    return (
        b"%PDF-1.4\nxref\n0 2147483647\n"
        + b"0000000000 65535 f \n" * 10
        + b"trailer\n<< /Size 2147483647 /Root 1 0 R >>\nstartxref\n9\n%%EOF"
    )


def table_loop() -> bytes:
    return b"%PDF-1.4\nxref\n0 1\n0000000000 65535 f \ntrailer\n<< /Size 1 /Root 1 0 R /Prev 9 >>\nstartxref\n9\n%%EOF"


def stamps() -> bytes:
    """A page of 50,000 annotations, each the forms of `forms`."""
    looks = b"<< /Type /Annot /Subtype /Stamp /Rect [0 0 600 600] /AP << /N 5 0 R >> >> "
    return document(
        [CATALOG, b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
         b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 600] /Annots [%b] >>" % (looks * 20_000),
         b"<< >>", form(b"0 0 600 600 re f " * 100)]
    )  # fmt: skip


def text_pages() -> bytes:
    """A thousand pages, each with a megabyte of text, from one packed stream."""
    shown = stream(b"BT /T 9 Tf " + b"(hello hello hello hello) Tj\n" * 40_000 + b"ET", packed=True)
    face = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    leaf = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 600] /Contents 4 0 R /Resources << /Font << /T 5 0 R >> >> >>"
    return document(
        [CATALOG, b"<< /Type /Pages /Kids [%b] /Count 1000 >>" % b"".join(b"%d 0 R " % (6 + i) for i in range(1000)),
         leaf, shown, face, *([leaf] * 1000)]
    )  # fmt: skip


PAPERS: dict[str, Callable[[], bytes]] = {
    "pdf " + function.__name__.replace("_", " "): function
    for function in (
        forms, forms_text, form_of_itself, fills, blended_fills, states, path_points, dashes, tilings, shadings,
        page_tree_loop, page_tree_deep, page_count, many_pages, huge_page, thin_page, flate, filters, image_flate,
        image_jbig2, image_jpx, image_fax, image_lzw, font, font_file, unicode_map, object_streams, references_loop,
        lengths_loop, arrays_deep, table_huge, table_loop, stamps, text_pages,
    )
}  # fmt: skip
