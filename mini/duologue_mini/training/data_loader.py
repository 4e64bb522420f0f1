"""Hands the packed rows to the trainer: shards in the order of the course, shuffled within a window, made ready ahead.

Knows which rows come when; knows neither how they are made nor what is done with them. While the next shard is not
there yet, earlier ones are read again, so that training never waits for the generators after their first shards.
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
"""Shards before this share of the corpus hold the first lessons and are not read again."""
AHEAD = 6


@dataclass(frozen=True)
class DeviceBatch:
    """A batch on its device; `shard` is where a later run should go on."""

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
        """Rows of one length each, batch after batch."""
        while True:
            for index in range(self.window):
                if index and not self._is_there(self.shard):
                    break
                self.take(open_shard(self.folder, self._next()))
            yield from self.shuffled(numpy.random.default_rng([self.seed, self.shard, self._again]))

    def _is_there(self, index: int) -> bool:
        return (self.folder / f"{index:05d}.done").exists()

    def _next(self) -> int:
        """The next shard in order, or one read before where that is not there."""
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
        """All full batches of the window, in random order; what is left over waits for the next window."""
        batches = []
        for length, rows in self._left.items():
            size, order = max(1, self.tokens // length), random.permutation(len(rows))
            full = len(rows) - len(rows) % size
            batches += [rows[order[start : start + size]] for start in range(0, full, size)]
            self._left[length] = rows[order[full:]]
        random.shuffle(batches)
        yield from batches


def held_out(folder: Path, tokens: int, count: int) -> list[PackedRows]:
    """Some batches of the shard that is never trained on; waits until it is made."""
    while not shards(folder):
        time.sleep(0.5)
    feed = DataLoader(folder, tokens, seed=0)
    feed.take(open_shard(folder, 0))
    return list(feed.shuffled(numpy.random.default_rng(0)))[:count]


def to_device(rows: PackedRows, device: torch.device, shard: int = 0, *, flat: bool = False) -> DeviceBatch:
    """Rows as tensors on a device; `flat` lays them in one line, dialogues still apart."""
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


def prefetch(feed: DataLoader, device: torch.device, *, flat: bool) -> Iterator[DeviceBatch]:
    """The feed's batches, prepared by a thread of their own."""
    queue: Queue[DeviceBatch | BaseException] = Queue(maxsize=AHEAD)

    def work() -> None:
        try:
            for rows in feed.batches():
                queue.put(to_device(rows, device, max(0, feed.shard - feed.window), flat=flat))
        except BaseException as error:  # noqa: BLE001 (the trainer must hear of it)
            queue.put(error)

    Thread(target=work, daemon=True).start()
    while True:
        item = queue.get()
        if isinstance(item, BaseException):
            raise item
        yield item
