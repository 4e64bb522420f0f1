"""Packed rows on disk: two rows of 16-bit numbers for ids with their marks, and positions.

A row holds whole dialogues one after the other; the rest of it is a dialogue without loss. Written by `corpus.py`, read by
the data loader.
"""

import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy
import numpy.typing as npt

LENGTHS = (512, 2048, 4096)
"""A dialogue goes into a row of the first length it fits; longer dialogues are left out."""
OPENS = 0x4000
"""Set on the first id of a dialogue."""
LEARNED = 0x8000
"""Set on ids that count for the loss."""
ID_MASK = OPENS - 1
"""Masks the id; also the limit of the vocabulary."""

PackedRows = npt.NDArray[numpy.uint16]


@dataclass
class EncodedDialogue:
    """One dialogue as ids; `loss_mask` marks what the model writes; `positions` may jump between messages."""

    ids: list[int]
    loss_mask: list[bool]
    positions: list[int]


@dataclass
class Row:
    """A row being filled."""

    length: int
    tokens: list[int] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)

    @property
    def room(self) -> int:
        """The number of ids that still fit."""
        return self.length - len(self.tokens)

    def add(self, dialogue: EncodedDialogue) -> None:
        """Appends a dialogue, which must fit."""
        tokens = [
            identity | (LEARNED if counts_for_loss else 0)
            for identity, counts_for_loss in zip(dialogue.ids, dialogue.loss_mask, strict=True)
        ]
        tokens[0] |= OPENS
        self.tokens += tokens
        self.positions += dialogue.positions

    def pack(self) -> PackedRows:
        """The row in its format on disk: ids with their marks, then positions."""
        left = self.room
        tokens, positions = self.tokens, self.positions
        if left:
            tokens = [*tokens, OPENS, *[0] * (left - 1)]
            positions = [*positions, *range(left)]
        return numpy.array([tokens, positions], numpy.uint16)


class Packer:
    """Fills rows with whole dialogues, best fit first: each goes into the open row with the least room that suffices."""

    def __init__(self, open_rows: int = 32) -> None:
        self._limit = open_rows
        self._open: list[Row] = []
        self.done: dict[int, list[PackedRows]] = {length: [] for length in LENGTHS}
        self.too_long = 0

    def add(self, dialogue: EncodedDialogue) -> None:
        """Puts a dialogue into a row; one longer than the longest row is counted and left out."""
        need = len(dialogue.ids)
        if need > LENGTHS[-1]:
            self.too_long += 1
            return
        fitting = [row for row in self._open if row.room >= need]
        if fitting:
            row = min(fitting, key=lambda row: row.room)
        else:
            row = Row(next(length for length in LENGTHS if length >= need))
            self._open.append(row)
        row.add(dialogue)
        if row.room < 8 or len(self._open) > self._limit:
            fullest = min(self._open, key=lambda row: row.room / row.length)
            self._open.remove(fullest)
            self.done[fullest.length].append(fullest.pack())

    def finish(self) -> dict[int, PackedRows]:
        """All rows, by length; lengths without rows are left out."""
        for row in self._open:
            self.done[row.length].append(row.pack())
        self._open.clear()
        return {length: numpy.stack(rows) for length, rows in self.done.items() if rows}


@dataclass(frozen=True)
class Batch:
    """Rows as the network takes them; all arrays have the same shape."""

    ids: npt.NDArray[numpy.int64]
    positions: npt.NDArray[numpy.int32]
    documents: npt.NDArray[numpy.int32]
    targets: npt.NDArray[numpy.int64]
    """The next id at each position; -100 where it does not count for the loss."""


def unpack(rows: PackedRows) -> Batch:
    """Turns rows from disk into arrays for the network. Dialogues are numbered from 1 within each row."""
    tokens = rows[:, 0]
    ids = (tokens & ID_MASK).astype(numpy.int64)
    documents = ((tokens & OPENS) != 0).cumsum(axis=1, dtype=numpy.int32)
    targets = numpy.full(ids.shape, -100, numpy.int64)
    same = documents[:, 1:] == documents[:, :-1]
    is_target = same & ((tokens[:, 1:] & LEARNED) != 0)
    targets[:, :-1][is_target] = ids[:, 1:][is_target]
    return Batch(ids, rows[:, 1].astype(numpy.int32), documents, targets)


def shard_path(folder: Path, index: int, length: int) -> Path:
    """The file with the rows of one length of a shard."""
    return folder / f"{index:05d}-{length}.npy"


def save_shard(folder: Path, index: int, rows: dict[int, PackedRows]) -> None:
    """Writes a shard. `NNNNN.done` comes last, so that a reader never sees an incomplete shard."""
    folder.mkdir(parents=True, exist_ok=True)
    for length, array in rows.items():
        numpy.save(shard_path(folder, index, length), array)
    partial = folder / f"{index:05d}.partial"
    partial.write_text("")
    os.replace(partial, folder / f"{index:05d}.done")


def shards(folder: Path) -> list[int]:
    """The shards that are complete."""
    return sorted(int(path.stem) for path in folder.glob("*.done"))


def open_shard(folder: Path, index: int) -> dict[int, PackedRows]:
    """The rows of a shard by length, mapped into memory."""
    paths = {length: shard_path(folder, index, length) for length in LENGTHS}
    return {length: numpy.load(path, mmap_mode="r") for length, path in paths.items() if path.exists()}
