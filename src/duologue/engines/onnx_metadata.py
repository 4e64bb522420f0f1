"""The metadata of an ONNX file, read without an ONNX library: the key-value properties its exporter stored.

Called by the recognisers and speakers of sherpa-onnx. Parses only protobuf's outermost level; the weights of a file of gigabytes are skipped, not read.
"""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

_PROPERTIES = 14
"""The field number of `metadata_props` in `ModelProto`."""
_VARINT, _LONG, _BYTES, _SHORT = 0, 1, 2, 5
LARGEST = 1 << 20
"""Bytes of one property that are read."""


def read_metadata(path: Path) -> dict[str, str]:
    """The properties of the model in the file at `path`."""
    with path.open("rb") as file:
        return onnx_metadata(file)


def onnx_metadata(file: BinaryIO) -> dict[str, str]:
    """The properties of the model in `file`. Empty for anything but an ONNX file."""
    properties: dict[str, str] = {}
    try:
        while (head := _read_varint(file)) is not None:
            field, kind = head >> 3, head & 7
            if kind == _BYTES:
                size = _read_varint(file) or 0
                if field == _PROPERTIES and size <= LARGEST:
                    key, value = _property(file.read(size))
                    properties[key] = value
                else:
                    file.seek(size, 1)
            elif kind == _VARINT:
                _read_varint(file)
            elif kind in (_LONG, _SHORT):
                file.seek(8 if kind == _LONG else 4, 1)
            else:
                return {}
    except ValueError:
        return {}
    return properties


def _read_varint(file: BinaryIO) -> int | None:
    """The next varint; None at the end of the file. Raises ValueError for one that never ends."""
    value = 0
    for shift in range(0, 70, 7):
        byte = file.read(1)
        if not byte:
            return None
        value |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return value
    raise ValueError("not a varint")


def _property(data: bytes) -> tuple[str, str]:
    """A key and its value. Raises ValueError for anything else."""
    texts = {1: "", 2: ""}
    at = 0
    while at < len(data):
        head, at = _varint(data, at)
        size, at = _varint(data, at)
        if head & 7 != _BYTES or head >> 3 not in texts:
            raise ValueError("not a property")
        texts[head >> 3] = data[at : at + size].decode("utf-8", "replace")
        at += size
    return texts[1], texts[2]


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        value, at, shift = value | (byte & 0x7F) << shift, at + 1, shift + 7
        if byte < 0x80:
            return value, at
    raise ValueError("not a varint")
