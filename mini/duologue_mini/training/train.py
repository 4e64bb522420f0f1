"""Trains the network on packed rows for a given wall time, on two CPU cores or one GPU; checkpoints every minute.

Run `python -m duologue_mini.training.train --help`.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from duologue_mini.model import checkpoint, masks
from duologue_mini.model.checkpoint import Progress
from duologue_mini.model.network import SIZES, Model, NetworkShape
from duologue_mini.training import data_loader
from duologue_mini.training.data_loader import DeviceBatch
from duologue_mini.training.muon import optimisers_of

CHECKPOINT_SECONDS = 60
REPORT_STEPS = 20
HELD_OUT_EVERY = 200
HELD_OUT_BATCHES = 10
LOWEST_RATE = 0.01
PAUSE_SECONDS = 120

MASKS = {"extents": masks.extents, "flex": masks.blocks, "dense": masks.dense}

Loss = Callable[[DeviceBatch], Tensor]


def loss_of(model: Model, batch: DeviceBatch, precision: torch.dtype, attention: str) -> Tensor:
    """Mean loss over the ids that count."""
    device = batch.ids.device.type
    with torch.autocast(device, precision, enabled=precision != torch.float32):
        states = model(batch.ids, batch.positions, MASKS[attention](batch.documents))
        if device == "cuda":  # all positions: fixed sizes compile, and no index forces a synchronisation
            logits = model.logits(states).flatten(0, 1)
            return F.cross_entropy(logits.float(), batch.targets.flatten(), ignore_index=-100)
        is_target = batch.targets >= 0
        return F.cross_entropy(model.logits(states[is_target]).float(), batch.targets[is_target])


def rate_factor(done: float, step: int, warmup_steps: int, decay_share: float) -> float:
    """The factor on the learning rates: rising over the first steps, constant, falling over the last part."""
    warm = min(1.0, (step + 1) / warmup_steps)
    return warm * max(LOWEST_RATE, min(1.0, (1.0 - done) / decay_share))


class Trainer:
    """One run: a model, its optimisers, its progress, and the folder they are saved in."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.ticked = time.monotonic()
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.precision = torch.bfloat16 if arguments.precision == "bf16" else torch.float32
        torch.manual_seed(arguments.seed)
        torch.set_float32_matmul_precision("high")
        self.folder: Path = arguments.data
        self.progress = Progress()
        state = self._load_start()
        self.model = Model(NetworkShape(**state["shape"]) if state else SIZES[arguments.size]).to(self.device)
        self.optimisers = optimisers_of(self.model, arguments.optimiser, arguments.rate)
        self.peaks = [[group["lr"] for group in optimiser.param_groups] for optimiser in self.optimisers]
        if state:
            self._load(state)
        self.loss, self.flat = self._choose_loss()

    def _load_start(self) -> dict[str, Any] | None:
        """The state this run starts from, if any."""
        if self.arguments.resume:
            return checkpoint.load(self.folder, self.device)
        return weights_of(self.arguments.start) if self.arguments.start else None

    def _load(self, checkpoint_state: dict[str, Any]) -> None:
        self.model.load_state_dict(checkpoint_state["model"])
        if self.arguments.resume:
            for optimiser, state in zip(self.optimisers, checkpoint_state["optimisers"], strict=True):
                optimiser.load_state_dict(state)
            self.progress = Progress(**checkpoint_state["progress"])

    def _choose_loss(self) -> tuple[Loss, bool]:
        """The fastest loss function that works on this machine, and whether it takes rows concatenated."""
        ways = [("extents", False)]
        if self.device.type == "cuda":
            ways = [("flex", True), ("dense", True), ("dense", False)]
        (rows,) = data_loader.held_out(self.folder / "held-out", self.arguments.batch_tokens, 1)
        for attention, compiled in ways:

            def plain(batch: DeviceBatch, attention: str = attention) -> Tensor:
                return loss_of(self.model, batch, self.precision, attention)

            loss = torch.compile(plain, dynamic=False) if compiled else plain
            flat = attention != "dense"
            try:
                loss(data_loader.to_device(rows, self.device, flat=flat)).backward()
            except Exception as error:  # a compiler may raise anything; the next way is slower but safer
                print(f"{attention}, compiled {compiled}: {type(error).__name__}: {error}"[:2000], flush=True)
                if (attention, compiled) == ways[-1]:
                    raise
                continue
            finally:
                self.model.zero_grad(set_to_none=True)
            print(
                f"attention {attention}, compiled {compiled}, {self.model.size / 1e6:.1f} M weights",
                flush=True,
            )
            return loss, flat
        raise AssertionError("the last way either works or raises")

    def save(self) -> None:
        """Writes the checkpoint, and the parcel if one is requested."""
        weights = self.model.state_dict()
        states = [optimiser.state_dict() for optimiser in self.optimisers]
        checkpoint.save(self.folder, self.model.shape, weights, states, self.progress)
        if self.arguments.parcel:
            checkpoint.pack(weights, self.model.shape, self.progress, self.folder, self.arguments.parcel)

    def _set_rates(self) -> None:
        done = min(1.0, self.progress.seconds / (60 * self.arguments.minutes))
        factor = rate_factor(
            done, self.progress.step, self.arguments.warmup_steps, self.arguments.decay_share
        )
        for optimiser, peaks in zip(self.optimisers, self.peaks, strict=True):
            for group, peak in zip(optimiser.param_groups, peaks, strict=True):
                group["lr"] = peak * factor

    def step(self, batches: Iterable[DeviceBatch]) -> Tensor:
        """Makes one update from these batches; returns their loss before it, on the device."""
        self._set_rates()
        losses = []
        for batch in batches:
            loss = self.loss(batch)
            (loss / self.arguments.accumulate).backward()
            losses.append(loss.detach())
            self.progress.tokens += batch.ids.numel()
            self.progress.shard = batch.shard
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimiser in self.optimisers:
            optimiser.step()
            optimiser.zero_grad(set_to_none=True)
        self.progress.step += 1
        return torch.stack(losses).mean()

    def held_out_loss(self) -> float:
        """Mean loss over the held-out batches. Gradients stay enabled: without them torch.compile would compile once more."""
        rows = data_loader.held_out(self.folder / "held-out", self.arguments.batch_tokens, HELD_OUT_BATCHES)
        losses = [self.loss(data_loader.to_device(it, self.device, flat=self.flat)).detach() for it in rows]
        return float(torch.stack(losses).mean())

    def run(self) -> None:
        """Trains until the time of the whole run or of this call is used up."""
        arguments, progress = self.arguments, self.progress
        source = data_loader.DataLoader(
            self.folder / "rows", arguments.batch_tokens, arguments.seed, progress.shard, arguments.window
        )
        batches = data_loader.prefetch(source, self.device, flat=self.flat)
        saved_at = time.monotonic()
        recent: list[Tensor] = []
        until = min(60 * arguments.minutes, progress.seconds + 60 * arguments.stop_after)
        self._tick(longest=float("inf"))  # the time of compiling and waiting for data counts too
        while progress.seconds < until:
            recent.append(self.step(islice(batches, arguments.accumulate)))
            if progress.step % REPORT_STEPS == 0:
                loss = float(torch.stack(recent).mean())  # synchronises with the device
                recent.clear()
                self._report(loss)
            self._tick()
            if time.monotonic() - saved_at > CHECKPOINT_SECONDS:
                self.save()
                saved_at = time.monotonic()
        self.save()
        print(f"held-out loss {self.held_out_loss():.4f} after {progress}", flush=True)

    def _tick(self, longest: float = PAUSE_SECONDS) -> None:
        """Adds the time since the last tick; a gap longer than `longest` means that the process was suspended and is ignored."""
        now = time.monotonic()
        if now - self.ticked <= longest:
            self.progress.seconds += now - self.ticked
        self.ticked = now

    def _report(self, loss: float) -> None:
        progress = self.progress
        line = {
            "step": progress.step,
            "loss": round(loss, 4),
            "tokens": progress.tokens,
            "minutes": round(progress.seconds / 60, 2),
            "shard": progress.shard,
            "rate": round(self.optimisers[0].param_groups[0]["lr"], 6),
        }
        if progress.step % HELD_OUT_EVERY == 0:
            line["held_out"] = round(self.held_out_loss(), 4)
        with (self.folder / "log.jsonl").open("a") as log:
            log.write(json.dumps(line) + "\n")
        print(json.dumps(line), flush=True)


def weights_of(path: Path) -> dict[str, Any]:
    """Shape and weights of a model file, a checkpoint, or a checkpoint's folder."""
    if path.suffix == ".gguf":
        from duologue_mini.model import restore  # needs the gguf package, which a GPU machine may lack

        model_file = restore.read(path)
        return {"shape": vars(model_file.shape), "model": model_file.weights}
    return checkpoint.load(path)


def parse_arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description="Train duologue-mini on the packed rows.")
    parser.add_argument("--data", type=Path, default=Path("build/mini"), help="folder with rows/, held-out/")
    parser.add_argument("--size", choices=sorted(SIZES), default="mini", help="the size of a new network")
    begin = parser.add_mutually_exclusive_group()
    begin.add_argument("--resume", action="store_true", help="continue from the checkpoint")
    begin.add_argument(
        "--from", type=Path, dest="start", help="start with the weights of this GGUF, checkpoint or folder"
    )
    parser.add_argument(
        "--minutes", type=float, default=45, help="length of the whole run, which the schedule spans"
    )
    parser.add_argument(
        "--stop-after",
        type=float,
        default=float("inf"),
        help="minutes after which this call ends; --resume continues",
    )
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--batch-tokens", type=int, default=4096, help="ids per pass (a GPU: 65536)")
    parser.add_argument("--accumulate", type=int, default=1, help="passes per update")
    parser.add_argument("--window", type=int, default=4, help="number of shards shuffled together")
    parser.add_argument("--warmup-steps", type=int, default=60)
    parser.add_argument(
        "--decay-share", type=float, default=0.7, help="share of the run, at its end, in which the rate falls"
    )
    parser.add_argument("--optimiser", choices=["adamw", "muon"], default="muon")
    parser.add_argument("--rate", type=float, default=1.0, help="factor on the learning rates")
    parser.add_argument(
        "--precision",
        choices=["bf16", "fp32"],
        default="bf16",
        help="precision of the products; weights stay fp32",
    )
    parser.add_argument("--parcel", type=Path, help="also write a parcel to this folder with each checkpoint")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    """Trains as the command line says."""
    arguments = parse_arguments()
    torch.set_num_threads(arguments.threads)
    trainer = Trainer(arguments)
    with suppress(KeyboardInterrupt):
        trainer.run()


if __name__ == "__main__":
    main()
