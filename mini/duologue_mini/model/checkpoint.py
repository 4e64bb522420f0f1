"""The files of a training run: the checkpoint it resumes from, and the parcel that is carried to another machine.

A checkpoint is one file with the network in full precision and the optimisers. A parcel is a folder with the weights in half
precision, in parts small enough to be copied one by one, and the tokenizer: all that export needs.
Run `python -m duologue_mini.model.checkpoint --help` to make a parcel or to join one.
"""

import argparse
import json
import os
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy
import torch

from duologue_mini.model.network import NetworkShape

NAME = "checkpoint.pt"
PART_BYTES = 15_000_000
SIDE_FILES = ("tokenizer.json", "log.jsonl")


@dataclass
class Progress:
    """The progress of a run."""

    step: int = 0
    tokens: int = 0
    seconds: float = 0.0
    shard: int = 0


def save(
    folder: Path, shape: NetworkShape, model: dict[str, Any], optimisers: list[Any], progress: Progress
) -> None:
    """Writes the checkpoint and renames it, so that a kill never leaves a partial one."""
    state = {
        "shape": asdict(shape),
        "model": model,
        "optimisers": optimisers,
        "progress": asdict(progress),
    }
    partial = folder / f"{NAME}.partial"
    torch.save(state, partial)
    os.replace(partial, folder / NAME)


def load(path: Path, device: torch.device | str = "cpu") -> dict[str, Any]:
    """Loads a checkpoint; `path` may be its folder."""
    file = path / NAME if path.is_dir() else path
    state: dict[str, Any] = torch.load(file, map_location=device, weights_only=True)
    return state


def make_parcel(folder: Path, target: Path) -> None:
    """Makes a parcel of the run in `folder`: weights-1-of-N.bin ..., parcel.json, tokenizer.json, log.jsonl."""
    state = load(folder)
    pack(state["model"], NetworkShape(**state["shape"]), Progress(**state["progress"]), folder, target)


def pack(
    weights: dict[str, torch.Tensor], shape: NetworkShape, progress: Progress, folder: Path, target: Path
) -> None:
    """Writes these weights as a parcel, with the run's other files."""
    target.mkdir(parents=True, exist_ok=True)
    halves = {name: weight.detach().half().cpu().numpy() for name, weight in weights.items()}
    content = b"".join(array.tobytes() for array in halves.values())
    parts = [content[start : start + PART_BYTES] for start in range(0, len(content), PART_BYTES)]
    for old in target.glob("weights-*.bin"):
        old.unlink()
    for number, part in enumerate(parts, start=1):
        (target / f"weights-{number}-of-{len(parts)}.bin").write_bytes(part)
    listing = {"shape": asdict(shape), "progress": asdict(progress), "parts": len(parts)}
    listing["weights"] = [[name, list(array.shape)] for name, array in halves.items()]
    (target / "parcel.json").write_text(json.dumps(listing) + "\n")
    for name in SIDE_FILES:
        if (folder / name).exists():
            shutil.copyfile(folder / name, target / name)


def open_parcel(parcel: Path, folder: Path) -> None:
    """Joins a parcel into a checkpoint without optimisers, and copies the other files."""
    listing = json.loads((parcel / "parcel.json").read_text())
    count = listing["parts"]
    content = b"".join((parcel / f"weights-{it}-of-{count}.bin").read_bytes() for it in range(1, count + 1))
    flat = torch.from_numpy(numpy.frombuffer(content, numpy.float16).astype(numpy.float32))
    model, start = {}, 0
    for name, sizes in listing["weights"]:
        end = start + int(numpy.prod(sizes))
        model[name] = flat[start:end].reshape(sizes).clone()
        start = end
    if start != len(flat):
        raise ValueError(f"{parcel}: {len(flat)} weights, {start} expected")
    folder.mkdir(parents=True, exist_ok=True)
    save(folder, NetworkShape(**listing["shape"]), model, [], Progress(**listing["progress"]))
    for name in SIDE_FILES:
        if (parcel / name).exists():
            shutil.copyfile(parcel / name, folder / name)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Make a parcel of a run, or put one together.")
    parser.add_argument("action", choices=["parcel", "join"])
    parser.add_argument("--data", type=Path, default=Path("build/mini"), help="the run's folder")
    parser.add_argument("--parcel", type=Path, required=True, help="the parcel's folder")
    arguments = parser.parse_args()
    if arguments.action == "parcel":
        make_parcel(arguments.data, arguments.parcel)
    else:
        open_parcel(arguments.parcel, arguments.data)


if __name__ == "__main__":
    main()
