"""The GGUF format itself: bytes to metadata and tensor descriptions.

Used by `header`. Reads one file from its first byte to where its weights begin. Every count in the file is checked
against a limit or against the file's size before it is used, so that a hostile file can cost neither hours nor gigabytes.
"""

from __future__ import annotations

import struct
from math import prod
from typing import BinaryIO

from msgspec import Struct

from duologue.models.gguf.types import tensor_size

MAGIC = b"GGUF"
VERSIONS = (2, 3)
MAX_ENTRIES = 65_536
MAX_TENSORS = 100_000
"""The largest models have some thousands."""
MAX_ARRAY = 16_000_000
"""Elements of one array; the largest vocabularies have 300,000 tokens."""
MAX_STRINGS = 4_000_000
"""Strings in all arrays of a file together: each takes a step of the reader."""
MAX_KEY = 4_096
MAX_TEXT = 16 * 1024 * 1024
"""Bytes of one string; a chat template is some kilobytes."""
KEPT_ARRAY = 4_096
"""Longer arrays are skipped: only per-block numbers are of interest, and single tokens of a vocabulary."""
MAX_KEPT = 64 * 1024 * 1024
"""Bytes of all texts and arrays in memory together."""
ELEMENT = 32
"""Bytes that an element of an array takes in memory, besides its own."""
MAX_DIMENSIONS = 8

STRING, ARRAY = 8, 9
SCALARS: dict[int, struct.Struct] = {
    0: struct.Struct("<B"),
    1: struct.Struct("<b"),
    2: struct.Struct("<H"),
    3: struct.Struct("<h"),
    4: struct.Struct("<I"),
    5: struct.Struct("<i"),
    6: struct.Struct("<f"),
    7: struct.Struct("<?"),
    10: struct.Struct("<Q"),
    11: struct.Struct("<q"),
    12: struct.Struct("<d"),
}
U32, U64 = SCALARS[4], SCALARS[10]


class Unreadable(Exception):
    """The file is not one this reader can read; the text ends a sentence that begins with its path."""

    def __init__(self, text: str = "", *, truncated: bool = False) -> None:
        super().__init__(text)
        self.truncated = truncated


class TensorInfo(Struct, frozen=True):
    """One tensor: `offset` bytes from where the weights begin; `size` None where its type is not known."""

    name: str
    elements: int
    type: int
    offset: int
    size: int | None
    shape: tuple[int, ...] = ()


class LongArray(Struct, frozen=True):
    """An array that was skipped: its number of elements, and of a vocabulary the texts of its special tokens."""

    count: int
    texts: dict[int, str] = {}


Value = str | int | float | bool | tuple[int | float | bool | str, ...] | LongArray


class Metadata(Struct, frozen=True):
    """The entries of a file by name, with forgiving access: a value of another type counts as absent."""

    entries: dict[str, Value]

    def text(self, key: str) -> str:
        value = self.entries.get(key)
        return value if isinstance(value, str) else ""

    def integer(self, key: str, default: int = 0) -> int:
        value = self.entries.get(key)
        return value if isinstance(value, int) and not isinstance(value, bool) else default

    def boolean(self, key: str) -> bool | None:
        value = self.entries.get(key)
        return value if isinstance(value, bool) else None

    def per_block(self, key: str, blocks: int) -> tuple[int, ...]:
        """A number for each block, whether the file gives one for all or one each; empty where it gives none."""
        value = self.entries.get(key)
        if isinstance(value, tuple):
            return tuple(number for number in value if isinstance(number, int))
        if isinstance(value, int) and not isinstance(value, bool) and 0 < blocks <= MAX_ENTRIES:
            return (value,) * blocks
        return ()

    def count(self, key: str) -> int:
        """How many elements an array has."""
        value = self.entries.get(key)
        if isinstance(value, LongArray):
            return value.count
        return len(value) if isinstance(value, tuple) else 0

    def token(self, key: str) -> str:
        """The vocabulary's text of the token whose id is the value of `key`; "" where there is none."""
        number = self.integer(key, -1)
        tokens = self.entries.get(VOCABULARY)
        if isinstance(tokens, LongArray):
            return tokens.texts.get(number, "")
        if isinstance(tokens, tuple) and 0 <= number < len(tokens):
            return str(tokens[number])
        return ""


VOCABULARY = "tokenizer.ggml.tokens"


def read_part(file: BinaryIO, size: int, kept: str = "") -> tuple[Metadata, list[TensorInfo], int]:
    """Metadata, tensors, and the byte at which the weights begin, of one open file of `size` bytes. `kept`: an array of numbers that is
    not skipped, however long it is.

    Raises Unreadable.
    """
    reader = _Reader(file, size)
    tensors, entries = _preamble(reader)
    metadata = _metadata(reader, entries, kept)
    infos = [_tensor(reader) for _ in range(tensors)]
    alignment = metadata.integer("general.alignment", 32)
    if alignment <= 0 or alignment > 1 << 20:
        raise Unreadable(f"has an impossible alignment ({alignment}); it is damaged. Fetch it again.")
    return metadata, infos, -(-reader.position // alignment) * alignment


def _preamble(reader: _Reader) -> tuple[int, int]:
    """Counts of tensors and of metadata entries."""
    if reader.size == 0:
        raise Unreadable("is empty. Fetch it again.")
    magic = reader.take(min(4, reader.size))
    if magic != MAGIC:
        raise Unreadable(_foreign(magic))
    (version,) = U32.unpack(reader.take(4))
    if version not in VERSIONS:
        if version >> 24 and not version & 0xFFFF:
            raise Unreadable(
                "is a big-endian GGUF file, made for another kind of processor. Fetch the usual one."
            )
        raise Unreadable(
            f"is GGUF version {version}; versions 2 and 3 are supported. Convert the model again, or update Duologue."
        )
    (tensors,) = U64.unpack(reader.take(8))
    (entries,) = U64.unpack(reader.take(8))
    if tensors > MAX_TENSORS or entries > MAX_ENTRIES:
        raise Unreadable(
            f"claims {tensors:,} tensors and {entries:,} entries; it is damaged. Fetch it again."
        )
    return tensors, entries


def _foreign(magic: bytes) -> str:
    """What a file that is not GGUF probably is, as the end of a sentence."""
    if magic == b"vers":
        return "is a Git LFS pointer, not the model itself. Run `git lfs pull` in that folder."
    if magic[:2] == b"PK":
        return "is a zip archive or a PyTorch checkpoint, not a GGUF model. Name a .gguf file."
    if magic[:1] in (b"<", b"{"):
        return "is a web page or JSON, not a GGUF model: the download went wrong. Fetch the file itself."
    return "is not a GGUF model. Name a .gguf file (safetensors and PyTorch weights must be converted first)."


def _metadata(reader: _Reader, count: int, kept: str) -> Metadata:
    entries: dict[str, Value] = {}
    vocabulary: int | None = None
    for _ in range(count):
        key = reader.text(MAX_KEY)
        (kind,) = U32.unpack(reader.take(4))
        if key == VOCABULARY:
            vocabulary = reader.position
        entries[key] = _value(reader, kind, key, kept)
    tokens = entries.get(VOCABULARY)
    if vocabulary is not None and isinstance(tokens, LongArray):
        ids = {
            value for key, value in entries.items() if key.endswith("_token_id") and isinstance(value, int)
        }
        entries[VOCABULARY] = LongArray(tokens.count, reader.strings_at(vocabulary, tokens.count, ids))
    return Metadata(entries)


def _value(reader: _Reader, kind: int, key: str, kept: str) -> Value:
    if kind == STRING:
        return reader.text(MAX_TEXT)
    if kind == ARRAY:
        return _array(reader, key, kept)
    return reader.scalar(kind)


def _array(reader: _Reader, key: str, kept: str) -> Value:
    (kind,) = U32.unpack(reader.take(4))
    (count,) = U64.unpack(reader.take(8))
    if count > MAX_ARRAY:
        raise Unreadable(f"claims an array of {count:,} elements ({key}); it is damaged. Fetch it again.")
    if kind == STRING:
        reader.skip_strings(count)
        return LongArray(count)
    scalar = SCALARS.get(kind)
    if scalar is None:
        raise Unreadable(
            f"holds a value of an unknown type ({key}); it is damaged or newer than this reader."
        )
    if count > KEPT_ARRAY and key != kept:
        reader.skip(count * scalar.size)
        return LongArray(count)
    data = reader.take_limited(count * scalar.size, ELEMENT * count)
    return tuple(value for (value,) in scalar.iter_unpack(data))


def _tensor(reader: _Reader) -> TensorInfo:
    name = reader.text(MAX_KEY)
    (dimensions,) = U32.unpack(reader.take(4))
    if dimensions > MAX_DIMENSIONS:
        raise Unreadable(f"has a tensor of {dimensions:,} dimensions; it is damaged. Fetch it again.")
    shape = tuple(number for (number,) in U64.iter_unpack(reader.take(8 * dimensions)))
    elements = prod(shape)
    (kind,) = U32.unpack(reader.take(4))
    (offset,) = U64.unpack(reader.take(8))
    return TensorInfo(name, elements, kind, offset, tensor_size(kind, elements), shape)


class _Reader:
    """A position in a file that never goes beyond its end. Buffered reads, not mmap: a file that shrinks under a
    mapping kills the process, and model files are downloaded in place."""

    def __init__(self, file: BinaryIO, size: int) -> None:
        self._file = file
        self._strings = 0
        self._kept = 0
        self.size = size
        self.position = 0

    def take(self, count: int) -> bytes:
        """The next `count` bytes."""
        if self.position + count > self.size:
            raise Unreadable(truncated=True)
        data = self._file.read(count)
        if len(data) != count:
            raise Unreadable(truncated=True)
        self.position += count
        return data

    def take_limited(self, count: int, overhead: int = 0) -> bytes:
        """The next `count` bytes, counted towards MAX_KEPT with what their values take besides."""
        self._kept += count + overhead
        if self._kept > MAX_KEPT:
            raise Unreadable(
                f"holds more than {MAX_KEPT:,} bytes of description; it is damaged. Fetch it again."
            )
        return self.take(count)

    def skip(self, count: int) -> None:
        if self.position + count > self.size:
            raise Unreadable(truncated=True)
        self._file.seek(count, 1)
        self.position += count

    def scalar(self, kind: int) -> int | float | bool:
        scalar = SCALARS.get(kind)
        if scalar is None:
            raise Unreadable("holds a value of an unknown type; it is damaged or newer than this reader.")
        value: int | float | bool = scalar.unpack(self.take(scalar.size))[0]
        return value

    def text(self, limit: int) -> str:
        """A string of at most `limit` bytes."""
        (length,) = U64.unpack(self.take(8))
        if self.position + length > self.size:
            raise Unreadable(truncated=True)
        if length > limit:
            raise Unreadable(f"holds a text of {length:,} bytes; it is damaged. Fetch it again.")
        return self.take_limited(length).decode("utf-8", "replace")

    def skip_strings(self, count: int) -> None:
        """Skip `count` strings."""
        self._strings += count
        if self._strings > MAX_STRINGS:
            raise Unreadable(f"claims more than {MAX_STRINGS:,} texts; it is damaged. Fetch it again.")
        take, skip, unpack = self.take, self.skip, U64.unpack
        for _ in range(count):
            skip(unpack(take(8))[0])

    def strings_at(self, start: int, count: int, numbers: set[int]) -> dict[int, str]:
        """Of the string array whose description begins at byte `start`, the elements with these `numbers`."""
        here = self.position
        self._file.seek(start + 4 + 8)
        self.position = start + 4 + 8
        texts: dict[int, str] = {}
        for number in range(min(count, max(numbers, default=-1) + 1)):
            if number in numbers:
                texts[number] = self.text(MAX_TEXT)
            else:
                self.skip(U64.unpack(self.take(8))[0])
        self._file.seek(here)
        self.position = here
        return texts
