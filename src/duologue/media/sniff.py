"""The media type of a file, by its first bytes.

Called for every upload, download and import. Owns the media types of this program; a file's name or the sender's claim
only chooses between kinds of plain text.
"""

from __future__ import annotations

import re
from typing import Literal

from duologue.decoder.job import decoder_job
from duologue.media.texts import decode_text, is_plain, is_text

Family = Literal["image", "audio", "video", "pdf", "text", "other"]

HEAD = 65_536
"""Bytes of a file's beginning that are enough to tell its type."""
SVG, HTML, PDF, PLAIN, BINARY = (
    "image/svg+xml",
    "text/html",
    "application/pdf",
    "text/plain",
    "application/octet-stream",
)

_MAGIC: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"%PDF-", PDF),
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"OggS", "audio/ogg"),
    (b"PK\x03\x04", "application/zip"),
    (b"\x1f\x8b", "application/gzip"),
)
# Major brands of ISO files: bytes 8 to 12, after the box's size and type.
_BRANDS: dict[bytes, str] = {
    **dict.fromkeys((b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"), "image/heic"),
    **dict.fromkeys((b"avif", b"avis"), "image/avif"),
    **dict.fromkeys((b"M4A ", b"M4B "), "audio/mp4"),
    b"qt  ": "video/quicktime",
}
_TEXTS = {
    "csv": "text/csv",
    "css": "text/css",
    "htm": HTML,
    "html": HTML,
    "js": "text/javascript",
    "json": "application/json",
    "md": "text/markdown",
    "markdown": "text/markdown",
    "tsv": "text/tab-separated-values",
    "xhtml": HTML,
    "xml": "application/xml",
    "yaml": "application/yaml",
    "yml": "application/yaml",
}
_TEXT_TYPES = frozenset(_TEXTS.values())
# Atomic and possessive, so that hostile text before the first element is scanned once and not over and over.
_SVG = re.compile(
    r"(?>\s+|<\?xml[^>]*>|<!--.*?-->|<!DOCTYPE\s+svg[^\[>]*(?:\[[^\]]*\])?[^>]*>)*+<(?:\w+:)?svg[\s/>]",
    re.DOTALL,
)
_HTML = re.compile(
    r"(?>\s+|<!--.*?-->)*+<(?:!doctype\s+html|html|head|body|script|iframe)\b", re.DOTALL | re.IGNORECASE
)


def quick_kind(head: bytes, name: str = "", claimed: str = "") -> str | None:
    """As `kind`; None for a text of an old encoding, which only `kind` tells from other bytes."""
    if not _binary(head) and is_plain(head) is None:
        return None
    return kind(head, name, claimed)


@decoder_job(preload=("charset_normalizer",))
def kind(head: bytes, name: str = "", claimed: str = "") -> str:
    """The media type of a file that begins with `head`. `name` and `claimed` count only where it is plain text.

    Guessing an old encoding is slow, and no work for the gateway: a job for `decoder.service.decode`.
    """
    binary = _binary(head)
    if binary:
        return binary
    if not is_text(head):
        return BINARY
    text, _ = decode_text(head)
    if _SVG.match(text):
        return SVG
    if _HTML.match(text):
        return HTML
    ending = name.rpartition(".")[2].lower() if "." in name else ""
    if ending in _TEXTS:
        return _TEXTS[ending]
    claim = claimed.partition(";")[0].strip().lower()
    return claim if claim in _TEXT_TYPES else PLAIN


def family(mime: str) -> Family:
    """What can be done with a file of this type."""
    if mime == PDF:
        return "pdf"
    if mime.startswith("text/") or mime in _TEXT_TYPES:
        return "text"
    for known in ("image", "audio", "video"):
        if mime.startswith(known + "/"):
            return known
    return "other"


def _binary(head: bytes) -> str:
    """The type of a file with a signature; "" for any other."""
    for magic, mime in _MAGIC:
        if head.startswith(magic):
            return _ogg(head) if mime == "audio/ogg" else mime
    if head[:4] == b"RIFF":
        return {b"WEBP": "image/webp", b"WAVE": "audio/wav", b"AVI ": "video/x-msvideo"}.get(
            head[8:12], BINARY
        )
    if head[4:8] == b"ftyp":
        if head[8:12] in (b"mif1", b"msf1") and b"avif" in head[16:64]:
            return "image/avif"
        return _BRANDS.get(head[8:12], "video/mp4")
    if head.startswith(b"\x1a\x45\xdf\xa3"):
        return "video/webm" if b"webm" in head[:64] else "video/x-matroska"
    if head[:2] == b"BM" and len(head) >= 18 and head[6:10] == bytes(4):
        return "image/bmp"
    if len(head) >= 3 and head[0] == 0xFF and head[1] & 0xE6 == 0xE2:
        return "audio/mpeg"
    if len(head) >= 7 and head[0] == 0xFF and head[1] & 0xF6 == 0xF0:
        return "audio/aac"
    if b"%PDF-" in head[:1024]:
        return PDF
    return ""


def _ogg(head: bytes) -> str:
    return "video/ogg" if b"theora" in head[:256] or b"OVP80" in head[:256] else "audio/ogg"
