"""What an ONNX file says of itself, read without loading it: the properties its maker wrote down.

Owns the little of the format that is needed (protobuf's outermost level). A file of gigabytes is skipped over, not read.
Knows no model.
"""

from __future__ import annotations

from typing import BinaryIO

_PROPERTIES = 14
"""The field of a model that holds its properties."""
_VARINT, _LONG, _BYTES, _SHORT = 0, 1, 2, 5
LARGEST = 1 << 20
"""Bytes of one property that are read."""


def onnx_metadata(file: BinaryIO) -> dict[str, str]:
    """The properties of the model in `file`. Empty for what is no ONNX file."""
    found: dict[str, str] = {}
    try:
        while (head := _number(file)) is not None:
            field, kind = head >> 3, head & 7
            if kind == _BYTES:
                size = _number(file) or 0
                if field == _PROPERTIES and size <= LARGEST:
                    key, value = _property(file.read(size))
                    found[key] = value
                else:
                    file.seek(size, 1)
            elif kind == _VARINT:
                _number(file)
            elif kind in (_LONG, _SHORT):
                file.seek(8 if kind == _LONG else 4, 1)
            else:
                return {}
    except ValueError:
        return {}
    return found


def _number(file: BinaryIO) -> int | None:
    """The next number of seven-bit bytes; None at the end. Raises ValueError for one that never ends."""
    value = 0
    for shift in range(0, 70, 7):
        byte = file.read(1)
        if not byte:
            return None
        value |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return value
    raise ValueError("no number")


def _property(data: bytes) -> tuple[str, str]:
    """A key and its value. Raises ValueError for anything else."""
    texts = {1: "", 2: ""}
    at = 0
    while at < len(data):
        head, at = _small(data, at)
        size, at = _small(data, at)
        if head & 7 != _BYTES or head >> 3 not in texts:
            raise ValueError("no property")
        texts[head >> 3] = data[at : at + size].decode("utf-8", "replace")
        at += size
    return texts[1], texts[2]


def _small(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < 70:
        byte = data[at]
        value, at, shift = value | (byte & 0x7F) << shift, at + 1, shift + 7
        if byte < 0x80:
            return value, at
    raise ValueError("no number")
