"""Packed rows hold whole dialogues, none lost and none leaking into the next, and can be read back."""

from pathlib import Path
from random import Random

import numpy
import pytest

from duologue_mini.data.packing import (
    LENGTHS,
    EncodedDialogue,
    Packer,
    open_shard,
    save_shard,
    shards,
    unpack,
)


def dialogue(random: Random, length: int) -> EncodedDialogue:
    ids = [random.randrange(9, 2000) for _ in range(length)]
    loss_mask = [random.random() < 0.4 for _ in ids]
    return EncodedDialogue(ids, loss_mask, [index * 2 % 4096 for index in range(length)])


@pytest.fixture(scope="module")
def dialogues() -> list[EncodedDialogue]:
    random = Random(3)
    lengths = [random.choice([20, 90, 150, 400, 513, 900, 2047, 2049, 4096]) for _ in range(300)]
    return [dialogue(random, length) for length in lengths]


@pytest.fixture(scope="module")
def packed(dialogues: list[EncodedDialogue]) -> dict[int, numpy.ndarray]:
    packer = Packer()
    for it in dialogues:
        packer.add(it)
    return packer.finish()


def test_every_dialogue_is_in_exactly_one_row(
    dialogues: list[EncodedDialogue], packed: dict[int, numpy.ndarray]
) -> None:
    found = []
    for rows in packed.values():
        batch = unpack(rows)
        for row in range(len(rows)):
            for number in range(1, batch.documents[row].max() + 1):
                inside = batch.documents[row] == number
                found.append((tuple(batch.ids[row][inside]), tuple(batch.positions[row][inside])))
    expected = {(tuple(it.ids), tuple(it.positions)) for it in dialogues}
    assert expected <= set(found)
    rest = [ids for ids, _ in found if (ids, _) not in expected]
    assert all(set(ids) == {0} for ids in rest), "what is left of a row is padding"


def test_ids_with_loss_are_the_targets_of_the_id_before(dialogues: list[EncodedDialogue]) -> None:
    packer = Packer()
    for it in dialogues[:40]:
        packer.add(it)
    expected = sum(sum(it.loss_mask[1:]) for it in dialogues[:40])
    actual = 0
    for rows in packer.finish().values():
        batch = unpack(rows)
        taught = batch.targets >= 0
        actual += int(taught.sum())
        assert (batch.targets[:, :-1][taught[:, :-1]] == batch.ids[:, 1:][taught[:, :-1]]).all()
        assert (batch.documents[:, 1:] == batch.documents[:, :-1])[taught[:, :-1]].all()
        assert not taught[:, -1].any()
    assert actual == expected


def test_rows_are_well_filled_and_of_the_shortest_length(packed: dict[int, numpy.ndarray]) -> None:
    assert set(packed) == set(LENGTHS)
    tokens = sum(rows.shape[0] * rows.shape[2] for rows in packed.values())
    padding = sum(int((unpack(rows).ids == 0).sum()) for rows in packed.values())
    assert padding / tokens < 0.2


def test_a_dialogue_longer_than_the_longest_row_is_left_out() -> None:
    packer = Packer()
    packer.add(dialogue(Random(1), LENGTHS[-1] + 1))
    assert packer.too_long == 1
    assert packer.finish() == {}


def test_a_shard_exists_only_when_it_is_complete(tmp_path: Path, packed: dict[int, numpy.ndarray]) -> None:
    assert shards(tmp_path) == []
    numpy.save(tmp_path / "00000-512.npy", packed[512])
    assert shards(tmp_path) == []
    save_shard(tmp_path, 7, packed)
    assert shards(tmp_path) == [7]
    again = open_shard(tmp_path, 7)
    assert all((again[length] == rows).all() for length, rows in packed.items())
