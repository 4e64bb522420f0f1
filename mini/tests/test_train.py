"""Small training runs on a processor, from data to GGUF and back."""

import json
import sys
from argparse import Namespace
from itertools import count
from pathlib import Path
from random import Random
from types import SimpleNamespace

import numpy
import pytest

pytest.importorskip("torch")
pytest.importorskip("tokenizers")

import torch

from duologue_mini.data import corpus
from duologue_mini.data.packing import EncodedDialogue, Packer, save_shard
from duologue_mini.model import checkpoint, export, masks, restore, tokenizer
from duologue_mini.model.network import SIZES, Model, NetworkShape
from duologue_mini.training import data_loader, train
from duologue_mini.training.muon import Muon, orthogonal

SMALL = NetworkShape(vocabulary=2048, layers=2, width=64, heads=2, key_value_heads=1, feed_forward=96)


def shard(seed: int, dialogues: int = 60) -> dict[int, numpy.ndarray]:
    """Dialogues that count upwards: easy to learn."""
    random, packer = Random(seed), Packer()
    for _ in range(dialogues):
        start, length = random.randrange(9, 60), random.randrange(20, 200)
        packer.add(
            EncodedDialogue([start + index for index in range(length)], [True] * length, [*range(length)])
        )
    return packer.finish()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for index in range(3):
        save_shard(tmp_path / "rows", index, shard(index))
    save_shard(tmp_path / "held-out", 0, shard(99))
    return tmp_path


@pytest.fixture
def arguments(data: Path, monkeypatch: pytest.MonkeyPatch) -> Namespace:
    monkeypatch.setitem(SIZES, "mini", SMALL)
    command = (
        f"train --data {data} --minutes 0.05 --batch-tokens 1024 --window 2 --precision fp32 --warmup-steps 5"
    )
    monkeypatch.setattr(sys, "argv", command.split())
    monkeypatch.setattr(train, "REPORT_STEPS", 2)
    # A clock that only moves when the trainer reads it: the run has as many steps on any machine.
    ticks = count(step=0.04)
    monkeypatch.setattr(train, "time", SimpleNamespace(monotonic=lambda: next(ticks)))
    return train.parse_arguments()


def test_a_run_learns_and_resumes_from_its_checkpoint(arguments: Namespace, data: Path) -> None:
    trainer = train.Trainer(arguments)
    before = trainer.held_out_loss()
    trainer.run()
    after = trainer.held_out_loss()
    assert after < before - 0.5
    arguments.resume, arguments.minutes = True, 0.08
    again = train.Trainer(arguments)
    assert again.progress == trainer.progress
    assert again.held_out_loss() == pytest.approx(after)
    again.run()
    assert again.progress.step > trainer.progress.step
    lines = [json.loads(line) for line in (data / "log.jsonl").read_text().splitlines()]
    assert [line["step"] for line in lines] == sorted({line["step"] for line in lines})


def test_time_in_which_the_process_was_suspended_does_not_count(arguments: Namespace) -> None:
    trainer = train.Trainer(arguments)
    trainer.ticked -= 5
    trainer._tick()
    assert 5 <= trainer.progress.seconds < 60
    before = trainer.progress.seconds
    trainer.ticked -= 1000
    trainer._tick()
    assert trainer.progress.seconds == before


def test_three_kinds_of_mask_give_the_same_attention() -> None:
    torch.manual_seed(1)
    documents = torch.sort(torch.randint(0, 9, (1, 1024))).values
    query, key, value = torch.randn(3, 1, 2, 1024, 16).unbind()
    expected = masks.attend(query, key, value, masks.dense(documents))
    assert torch.allclose(masks.attend(query, key, value, masks.extents(documents)), expected, atol=1e-5)
    assert torch.allclose(masks.attend(query, key, value, masks.blocks(documents)), expected, atol=1e-5)


def test_attention_does_not_cross_dialogues() -> None:
    torch.manual_seed(1)
    model = Model(SMALL)
    ids, documents = torch.randint(0, 99, (1, 40)), torch.tensor([[1] * 15 + [2] * 25])
    positions = torch.cat([torch.arange(15), torch.arange(25)])[None]
    with torch.no_grad():
        whole = model(ids, positions, masks.extents(documents))
        alone = model(ids[:, 15:], positions[:, 15:], masks.extents(documents[:, 15:]))
    assert torch.allclose(whole[:, 15:], alone, atol=1e-5)


def test_concatenated_rows_have_the_same_loss() -> None:
    torch.manual_seed(1)
    model, rows = Model(SMALL), next(iter(shard(5).values()))
    device = torch.device("cpu")
    wide = train.loss_of(model, data_loader.to_device(rows, device), torch.float32, "dense")
    flat = train.loss_of(model, data_loader.to_device(rows, device, flat=True), torch.float32, "extents")
    assert wide.item() == pytest.approx(flat.item(), rel=1e-5)


def test_the_loader_yields_new_shards_once_and_then_repeats_old_ones(data: Path) -> None:
    source = data_loader.DataLoader(data / "rows", 512, seed=1, window=1)
    every = [row.tobytes() for index in range(3) for row in data_loader.open_shard(data / "rows", index)[512]]
    batches = source.batches()
    seen = [row.tobytes() for _ in range(len(every)) for row in next(batches)]
    assert sorted(seen) == sorted(every)
    assert next(batches)[0].tobytes() in every
    assert source.shard == 3


def test_the_rate_rises_stays_and_falls() -> None:
    rates = [
        train.rate_factor(done, step, 10, 0.5) for done, step in ((0, 0), (0.1, 9), (0.5, 99), (0.75, 99))
    ]
    assert rates == pytest.approx([0.1, 1.0, 1.0, 0.5])
    assert train.rate_factor(1.0, 999, 10, 0.5) == train.LOWEST_RATE


def test_muon_turns_matrices_nearly_orthogonal() -> None:
    torch.manual_seed(1)
    values = torch.linalg.svdvals(orthogonal(torch.randn(3, 96, 32)).float())
    assert values.min() > 0.5
    assert values.max() < 1.3
    weight = torch.nn.Parameter(torch.zeros(8, 4))
    weight.grad = torch.randn(8, 4)
    Muon([weight], lr=0.1).step()
    assert weight.abs().max() > 0


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer's file."""
    random, path = Random(6), tmp_path_factory.mktemp("pieces") / "tokenizer.json"
    texts = (corpus.render_dialogue(corpus.dialogues.draw(random, {})) for _ in range(1000))
    tokenizer.train(texts, SMALL.vocabulary).save(str(path))
    return path


@pytest.fixture
def run(tmp_path: Path, pieces: Path) -> Path:
    """The folder of a finished run."""
    torch.manual_seed(2)
    (tmp_path / "tokenizer.json").write_bytes(pieces.read_bytes())
    checkpoint.save(tmp_path, SMALL, Model(SMALL).state_dict(), [], checkpoint.Progress(step=3))
    return tmp_path


@pytest.mark.parametrize(("kind", "near"), [("f16", 1e-4), ("q8_0", 1e-3)])
def test_a_model_file_is_read_back(run: Path, kind: str, near: float) -> None:
    export.write(run, run / "model.gguf", kind, "v1")
    restored = restore.read(run / "model.gguf")
    assert restored.shape == SMALL
    expected = checkpoint.load(run)["model"]
    assert set(restored.weights) == set(expected)
    assert all(torch.allclose(restored.weights[name], weight, atol=near) for name, weight in expected.items())
    original = tokenizer.load(run / "tokenizer.json")
    for text in ("Bruvok said 123 things,\n\n  didn't he? ", "<|im_start|>user\nhé<|im_end|>"):
        assert restored.tokenizer.encode(text).ids == original.encode(text).ids


def test_a_parcel_can_be_joined(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkpoint, "PART_BYTES", 100_000)
    checkpoint.make_parcel(run, run / "parcel")
    assert len(list((run / "parcel").glob("weights-*.bin"))) > 2
    checkpoint.open_parcel(run / "parcel", run / "again")
    expected, restored = checkpoint.load(run), checkpoint.load(run / "again")
    assert restored["shape"] == expected["shape"]
    assert restored["progress"] == expected["progress"]
    assert all(
        torch.equal(restored["model"][name], weight.half().float())
        for name, weight in expected["model"].items()
    )
    assert (run / "again" / "tokenizer.json").read_bytes() == (run / "tokenizer.json").read_bytes()


def test_every_size_divides_into_blocks_and_fits_the_package() -> None:
    for name, shape in SIZES.items():
        with torch.device("meta"):
            model = Model(shape)
        assert all(weight.shape[-1] % 32 == 0 for weight in model.parameters() if weight.dim() == 2)
        bytes_of = {"mini": 2, "large": 34 / 32}[name]
        assert model.size * bytes_of < {"mini": 16e6, "large": 27e6}[name]


def test_shards_are_seeded_and_apart_from_the_held_out_one(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corpus, "SHARD", 60)
    plan = corpus.Plan(run, 4, 1)
    for rows in ("rows", corpus.HELD_OUT):
        corpus.make_shard((corpus.replace(plan, rows=rows), 0))
    made = (run / "rows" / "00000-512.npy").read_bytes()
    assert made != (run / corpus.HELD_OUT / "00000-512.npy").read_bytes()
    counts = corpus.make_shard((plan, 0))
    assert (run / "rows" / "00000-512.npy").read_bytes() == made
    assert counts["dialogues"] == 60
    assert 0 < counts["learned"] < counts["tokens"] <= counts["room"]
