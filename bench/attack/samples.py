"""Real small files of every kind the server reads, made in the run: what the fuzzer begins with.

`samples()` gives them by kind; a kind is what `delivery` sends the file as. `TOKENS` are the words of the formats.
"""

from __future__ import annotations

import io
import json
import math
import struct
import zipfile
from typing import Any

from PIL import Image
from tests.support import sample_files
from tests.support.sample_files import HEIC, drawing, encoded, pdf, recorded, scanned_pdf, svg, turned, wav

TEXT = "Grüße aus Köln, 東京 and Москва. " * 20
TOKENS: dict[str, tuple[bytes, ...]] = {
    "png": (b"IHDR", b"PLTE", b"IDAT", b"IEND", b"tRNS", b"iCCP", b"zTXt", b"acTL", b"fdAT", b"eXIf"),
    "jpeg": (b"\xff\xc0", b"\xff\xc2", b"\xff\xc4", b"\xff\xda", b"\xff\xdb", b"\xff\xdd", b"\xff\xe1", b"\xff\xd0", b"Exif\0\0"),
    "gif": (b"\x21\xff\x0bNETSCAPE2.0", b"\x21\xf9\x04", b",", b";", b"\xff\xff"),
    "webp": (b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ANIM", b"ANMF", b"EXIF"),
    "avif": (b"ftyp", b"meta", b"iloc", b"ispe", b"av1C", b"irot", b"grid", b"iref"),
    "heic": (b"ftyp", b"meta", b"iloc", b"ispe", b"hvcC", b"clap", b"grid", b"iref", b"iovl"),
    "svg": (b'<use href="#a"/>', b"url(#a)", b'transform="scale(1e9)"', b"<g id='a'>", b"stroke-dasharray='.01'",
            b"<pattern id='a'>", b"<mask id='a'>", b"NaN", b"1e999", b"&#0;", b"<![CDATA["),
    "tiff": (b"II*\0", b"MM\0*", b"\x00\x01\x03\x00", b"\x11\x01\x04\x00", b"\x17\x01\x04\x00"),
    "pdf": (b"/Length 99999", b"/Kids [1 0 R]", b"/Filter /FlateDecode", b"obj", b"endobj", b"stream\n", b"/Count -1",
            b"1 0 R", b"<<", b">>", b"[", b"q ", b"Do ", b"1e38 0 0 1e38 0 0 cm ", b"/Type /ObjStm", b"/Predictor 15"),
    "json": (b'"mapping":', b'"parent":', b"null", b"{", b"[", b'"\\ud800"', b"1e999", b'"children":', b'"messages":', b"NaN"),
    "zip": (b"PK\1\2", b"PK\3\4", b"PK\5\6", b"conversations.json", b"../"),
    "wav": (b"fmt ", b"data", b"LIST", b"\xfe\xff", b"\xff\xff\xff\xff"),
    "ogg": (b"OggS", b"OpusHead", b"OpusTags", b"\1vorbis", b"theora"),
    "flac": (b"fLaC", b"\xff\xf8", b"\x84\0\0\x28"),
    "mp3": (b"ID3", b"\xff\xfb", b"Xing", b"TAG", b"APIC"),
    "m4a": (b"moov", b"trak", b"stsz", b"stts", b"stsc", b"stco", b"co64", b"esds", b"mdat", b"moof", b"cmov", b"dref"),
    "webm": (b"\x1a\x45\xdf\xa3", b"\x18\x53\x80\x67", b"\x16\x54\xae\x6b", b"\xa3", b"\x1f\x43\xb6\x75", b"\x01\xff\xff\xff\xff\xff\xff\xff"),
    "text": (b"\xff\xfe", b"\xfe\xff", b"\x1b$B", b"\0", b"\xed\xa0\x80", b"+ADw-"),
    "gguf": (b"GGUF", b"general.architecture", b"tokenizer.ggml.tokens", b"tokenizer.chat_template", b"\x09\0\0\0"),
}  # fmt: skip
TOKENS["m4a"] += (b"ftyp",)
TOKENS |= {
    "mp4": TOKENS["m4a"],
    "aac": (b"\xff\xf1",),
    "jsonl": TOKENS["json"],
    "bmp": (b"BM",),
    "ico": (b"\x89PNG\r\n\x1a\n",),
}


def samples() -> dict[str, list[bytes]]:
    """A few real files of each kind."""
    return {
        "png": [encoded(drawing()), encoded(drawing(mode="RGB").convert("P")), _alpha(), _sixteen_bits()],
        "jpeg": [turned(), encoded(drawing(300, 200), "JPEG", progressive=True), encoded(drawing(), "JPEG", icc_profile=bytes(300))],
        "gif": [encoded(drawing(), "GIF"), _animated("GIF")],
        "webp": [encoded(drawing(), "WEBP"), encoded(drawing(), "WEBP", lossless=True), _animated("WEBP")],
        "avif": [encoded(drawing(), "AVIF")],
        "heic": [HEIC, sample_files.HEIC_TURNED],
        "svg": _drawings(),
        "bmp": [encoded(drawing(), "BMP"), encoded(drawing().convert("P"), "BMP")],
        "tiff": [encoded(drawing(), "TIFF"), encoded(drawing(), "TIFF", compression="tiff_lzw"), _animated("TIFF")],
        "ico": [encoded(drawing(32, 32), "ICO")],
        "pdf": [pdf("Hello", "", "World"), scanned_pdf(2)],
        "zip": [_chatgpt_zip(), _archive()],
        "json": [_chatgpt(), _open_webui()],
        "jsonl": [_archive_lines(), _llama_page()],
        "wav": [wav(seconds=0.1), wav(44_100, channels=2, bits=24, seconds=0.05), wav(bits=32, floats=True, seconds=0.1, extensible=True)],
        "mp3": [recorded("audio/mpeg", 0.2)],
        "flac": [recorded("audio/flac", 0.2)],
        "ogg": [recorded("audio/ogg", 0.2)],
        "m4a": [recorded("audio/mp4", 0.2)],
        "aac": [_sound("adts", "aac", "fltp")],
        "mp4": [_sound("mp4", "aac", "fltp")],
        "webm": [_sound("webm", "libopus", "s16")],
        "text": [TEXT.encode(code) for code in ("utf-8", "utf-16", "utf-8-sig", "utf-32")]
        + ["こんにちは世界".encode(code) * 30 for code in ("shift_jis", "euc_jp", "iso2022_jp")]
        + ["Grüße, naïve café".encode("latin-1") * 30, "Привет мир".encode("koi8-r") * 30, b"<html><body>x</body></html>"],
    }  # fmt: skip


def gguf_header() -> bytes:
    """The header of a model file without its tensors."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    fields: list[tuple[str, int, bytes]] = [
        ("general.architecture", 8, text("llama")),
        ("general.name", 8, text("Tiny")),
        ("llama.context_length", 4, struct.pack("<I", 512)),
        ("llama.block_count", 4, struct.pack("<I", 2)),
        ("llama.embedding_length", 4, struct.pack("<I", 64)),
        ("tokenizer.ggml.model", 8, text("gpt2")),
        (
            "tokenizer.ggml.tokens",
            9,
            struct.pack("<IQ", 8, 300) + b"".join(text(f"t{n}") for n in range(300)),
        ),
        ("tokenizer.chat_template", 8, text("{% for m in messages %}{{ m.content }}{% endfor %}")),
    ]
    body = b"".join(text(name) + struct.pack("<I", kind) + value for name, kind, value in fields)
    tensor = text("token_embd.weight") + struct.pack("<IQQIQ", 2, 64, 300, 0, 0)
    return b"GGUF" + struct.pack("<IQQ", 3, 1, len(fields)) + body + tensor + bytes(64)


def _alpha() -> bytes:
    return encoded(Image.new("RGBA", (40, 30), (10, 200, 30, 90)))


def _sixteen_bits() -> bytes:
    return encoded(Image.new("I;16", (30, 20), 40_000))


def _animated(kind: str) -> bytes:
    out = io.BytesIO()
    frames = [Image.new("RGB", (20, 20), (60 * number, 9, 9)) for number in range(4)]
    frames[0].save(out, kind, save_all=True, append_images=frames[1:])
    return out.getvalue()


def _drawings() -> list[bytes]:
    shapes = '<circle cx="5" cy="5" r="3" fill="url(#a)"/><path d="M0 0L9 9Q3 4 5 6Z" stroke="red" stroke-dasharray="1 2"/>'
    paint = (
        '<defs><linearGradient id="a"><stop offset="0" stop-color="red"/></linearGradient>'
        '<clipPath id="c"><rect width="5" height="5"/></clipPath><mask id="m"><rect width="9" height="9" fill="white"/>'
        '</mask><pattern id="p" width="2" height="2"><rect width="1" height="1"/></pattern></defs>'
    )
    return [
        svg(paint + shapes),
        svg(paint + f'<g clip-path="url(#c)" mask="url(#m)" opacity=".5">{shapes}<text x="2" y="9">Hi</text></g>'),
        svg(paint + '<rect fill="url(#p)" width="20" height="10" transform="rotate(30)"/><use href="#a"/>', 'viewBox="0 0 20 10"'),
    ]  # fmt: skip


def _said(role: str, text: str) -> dict[str, Any]:
    return {
        "author": {"role": role},
        "content": {"content_type": "text", "parts": [text]},
        "create_time": 1.7e9,
    }


def _chatgpt() -> bytes:
    mapping: dict[str, Any] = {
        "a": {"id": "a", "parent": None, "children": ["b"], "message": None},
        "b": {"id": "b", "parent": "a", "children": ["c"], "message": {"id": "b", **_said("user", "Hello")}},
        "c": {"id": "c", "parent": "b", "children": [], "message": {"id": "c", **_said("assistant", "Hi")}},
    }
    return json.dumps(
        [{"id": "g1", "title": "T", "create_time": 1.7e9, "current_node": "c", "mapping": mapping}]
    ).encode()


def _open_webui() -> bytes:
    messages = {
        "a": {
            "id": "a",
            "parentId": None,
            "childrenIds": ["b"],
            "role": "user",
            "content": "Hello",
            "timestamp": 1_700_000_000,
        },
        "b": {
            "id": "b",
            "parentId": "a",
            "childrenIds": [],
            "role": "assistant",
            "content": "Hi",
            "model": "x",
        },
    }
    return json.dumps(
        [{"id": "w1", "title": "T", "chat": {"history": {"messages": messages, "currentId": "b"}}}]
    ).encode()


def _llama_page() -> bytes:
    talk = {"id": "l1", "name": "T", "lastModified": 1_700_000_000_000, "currNode": "b"}
    rows = [
        {
            "id": "a",
            "convId": "l1",
            "role": "user",
            "content": "Hello",
            "parent": None,
            "children": ["b"],
            "timestamp": 1,
        },
        {
            "id": "b",
            "convId": "l1",
            "role": "assistant",
            "content": "Hi",
            "parent": "a",
            "children": [],
            "timestamp": 2,
        },
    ]
    return json.dumps({"conv": talk, "messages": rows}).encode()


def _archive_lines() -> bytes:
    lines = [
        {"type": "conversation", "duologue": 1, "conversation": {"id": "d1", "title": "T", "leaf": "b", "created": 1, "updated": 1}},
        {"type": "message", "message": {"id": "a", "conversation": "d1", "role": "user", "content": [{"type": "text", "text": "Hello"}]}},
        {"type": "message", "message": {"id": "b", "conversation": "d1", "parent": "a", "role": "assistant", "content": []}},
        {"type": "file", "hash": "0" * 64, "name": "x.png", "mime": "image/png", "data": "iVBORw0KGgo="},
    ]  # fmt: skip
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def _zip(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "."), data)
    return out.getvalue()


def _chatgpt_zip() -> bytes:
    return _zip(conversations__json=_chatgpt(), chat__html=b"<html>", picture__png=encoded(drawing(8, 8)))


def _archive() -> bytes:
    return _zip(conversations__jsonl=_archive_lines())


def _sound(container: str, codec: str, samples: str) -> bytes:
    """A fifth of a second of a tone in a container of FFmpeg."""
    import av

    out = io.BytesIO()
    with av.open(out, "w", format=container) as file:
        stream: Any = file.add_stream(codec, rate=48_000, layout="mono", format=samples)
        tone = b"".join(struct.pack("<h", round(9000 * math.sin(n / 9))) for n in range(9600))
        frame = av.AudioFrame(format="s16", layout="mono", samples=9600)
        frame.sample_rate = 48_000
        frame.planes[0].update(tone)
        resampler = av.AudioResampler(
            format=samples, layout="mono", rate=48_000, frame_size=stream.frame_size or 960
        )
        for piece in (*resampler.resample(frame), *resampler.resample(None)):
            file.mux(stream.encode(piece))
        file.mux(stream.encode(None))
    return out.getvalue()
