"""The container of a VRM figure: binary glTF, a JSON document and one chunk of bytes in one file.

Owns what the document may name: nothing outside the file. Used by `media.vrm_file`, in a decoder process.
"""

from __future__ import annotations

import struct
from typing import Any

import msgspec

from duologue.errors import BadRequest, TooLarge

MAGIC = b"glTF"
_HEADER, _CHUNK = struct.Struct("<4sII"), struct.Struct("<I4s")
JSON_BYTES = 16 * 2**20
"""Bytes of a document; one of a large figure has about 2 MB."""
DEPTH = 64
"""Levels of a document."""


def unreadable(why: str) -> BadRequest:
    return BadRequest(
        f"The figure cannot be read: {why}. Export it again as VRM 0.x or VRM 1.0.", code="avatar_unreadable"
    )


def read_glb(data: bytes) -> tuple[dict[str, Any], memoryview]:
    """The document and the bytes of a file of version 2. Raises BadRequest (`avatar_unreadable`, `avatar_refers_outside`), TooLarge."""
    if len(data) < _HEADER.size or data[:4] != MAGIC:
        raise unreadable("it is no binary glTF file")
    _, version, length = _HEADER.unpack_from(data)
    if version != 2:
        raise unreadable(f"it is glTF {version}, and only version 2 is known")
    if length > len(data):
        raise unreadable("its end is missing")
    chunks = _chunks(memoryview(data)[:length])
    if [kind for kind, _ in chunks] != [b"JSON", b"BIN\0"]:
        raise unreadable("it needs one document and one chunk of bytes, in this order")
    document = _document(chunks[0][1])
    _refuse_outside(document)
    return document, chunks[1][1]


def _chunks(data: memoryview) -> list[tuple[bytes, memoryview]]:
    """The kinds and bytes of the chunks, at most three of them."""
    chunks: list[tuple[bytes, memoryview]] = []
    at = _HEADER.size
    while at < len(data) and len(chunks) < 3:
        if at + _CHUNK.size > len(data):
            raise unreadable("a chunk is cut off")
        size, kind = _CHUNK.unpack_from(data, at)
        at += _CHUNK.size
        if at + size > len(data):
            raise unreadable("a chunk is longer than the file")
        chunks.append((bytes(kind), data[at : at + size]))
        at += size
    return chunks


def _document(data: memoryview) -> dict[str, Any]:
    if len(data) > JSON_BYTES:
        raise TooLarge(
            f"The document in the figure has more than {JSON_BYTES // 2**20} MB.", code="avatar_too_large"
        )
    try:
        return msgspec.json.decode(data, type=dict[str, Any])
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        raise unreadable("its document is no valid JSON") from None


def _refuse_outside(document: dict[str, Any]) -> None:
    """Nothing may have an address, `data:` included: pictures of a figure are in its own chunk of bytes. Raises BadRequest."""
    level: list[Any] = [document]
    for _ in range(DEPTH):
        below: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                if "uri" in value:
                    raise BadRequest(
                        "The figure refers to something outside its file (a `uri`), which is never loaded. "
                        "Export it as one VRM file with everything inside.",
                        code="avatar_refers_outside",
                    )
                below.extend(each for each in value.values() if isinstance(each, dict | list))
            else:
                below.extend(each for each in value if isinstance(each, dict | list))
        if not below:
            return
        level = below
    raise unreadable(f"its document has more than {DEPTH} levels")
