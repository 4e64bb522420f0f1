"""Loads packed rows for the trainer: shards in order, shuffled within a window, prefetched by a thread.

While the next shard does not exist yet, earlier ones are read again, so that after the first shards training never waits
for the generators.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from threading import Thread

import numpy
import torch
from torch import Tensor

from duologue_mini.data.packing import Batch, PackedRows, open_shard, shards, unpack

AGAIN_FROM = 0.25
"""Shards before this share of the corpus hold the first lessons and are not repeated."""
AHEAD = 6


@dataclass(frozen=True)
class DeviceBatch:
    """A batch on its device; `shard` is where a later run should resume."""

    ids: Tensor
    positions: Tensor
    documents: Tensor
    targets: Tensor
    shard: int


class DataLoader:
    """Endless batches of equal size in tokens: many short rows, or a few long ones."""

    def __init__(self, folder: Path, tokens: int, seed: int, shard: int = 0, window: int = 4) -> None:
        self.folder, self.tokens, self.seed = folder, tokens, seed
        self.shard, self.window = shard, window
        self._again = 0
        self._left: dict[int, PackedRows] = {}

    def batches(self) -> Iterator[PackedRows]:
        """Endless batches, each of rows of one length."""
        while True:
            for index in range(self.window):
                if index and not self._is_there(self.shard):
                    break
                self.take(open_shard(self.folder, self._next()))
            yield from self.shuffled(numpy.random.default_rng([self.seed, self.shard, self._again]))

    def _is_there(self, index: int) -> bool:
        return (self.folder / f"{index:05d}.done").exists()

    def _next(self) -> int:
        """The next shard in order, or an earlier one while that does not exist yet."""
        while not (self._is_there(self.shard) or (there := shards(self.folder))):
            time.sleep(0.5)
        if self._is_there(self.shard):
            self.shard += 1
            return self.shard - 1
        later = there[int(AGAIN_FROM * len(there)) :]
        turn, place = divmod(self._again, len(later))
        self._again += 1
        return int(numpy.random.default_rng([self.seed, turn]).permutation(later)[place])

    def take(self, shard: dict[int, PackedRows]) -> None:
        """Adds the rows of a shard to the window."""
        for length, rows in shard.items():
            left = self._left.get(length)
            self._left[length] = numpy.array(rows) if left is None else numpy.concatenate([left, rows])

    def shuffled(self, random: numpy.random.Generator) -> Iterator[PackedRows]:
        """All full batches of the window in random order; the remaining rows wait for the next window."""
        batches = []
        for length, rows in self._left.items():
            size, order = max(1, self.tokens // length), random.permutation(len(rows))
            full = len(rows) - len(rows) % size
            batches += [rows[order[start : start + size]] for start in range(0, full, size)]
            self._left[length] = rows[order[full:]]
        random.shuffle(batches)
        yield from batches


def held_out(folder: Path, tokens: int, count: int) -> list[PackedRows]:
    """Some batches of the held-out shard; waits until it exists."""
    while not shards(folder):
        time.sleep(0.5)
    loader = DataLoader(folder, tokens, seed=0)
    loader.take(open_shard(folder, 0))
    return list(loader.shuffled(numpy.random.default_rng(0)))[:count]


def to_device(rows: PackedRows, device: torch.device, shard: int = 0, *, flat: bool = False) -> DeviceBatch:
    """Moves rows to a device; `flat` concatenates them into one, with dialogues still separate."""
    batch = unpack(rows)
    arrays: list[numpy.ndarray] = (
        _flat(batch) if flat else [batch.ids, batch.positions, batch.documents, batch.targets]
    )
    ids, positions, documents, targets = (_tensor(array, device) for array in arrays)
    return DeviceBatch(ids, positions, documents, targets, shard)


def _tensor(array: numpy.ndarray, device: torch.device) -> Tensor:
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor


def _flat(batch: Batch) -> list[numpy.ndarray]:
    count, length = batch.ids.shape
    apart = batch.documents + (numpy.arange(count, dtype=numpy.int32) * (length + 1))[:, None]
    return [array.reshape(1, -1) for array in (batch.ids, batch.positions, apart, batch.targets)]


def prefetch(loader: DataLoader, device: torch.device, *, flat: bool) -> Iterator[DeviceBatch]:
    """The loader's batches, prepared in advance by a thread."""
    queue: Queue[DeviceBatch | BaseException] = Queue(maxsize=AHEAD)

    def work() -> None:
        try:
            for rows in loader.batches():
                queue.put(to_device(rows, device, max(0, loader.shard - loader.window), flat=flat))
        except BaseException as error:  # noqa: BLE001 (raised again in the trainer's thread)
            queue.put(error)

    Thread(target=work, daemon=True).start()
    while True:
        item = queue.get()
        if isinstance(item, BaseException):
            raise item
        yield item
