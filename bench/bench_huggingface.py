"""Measure the engine `transformers` beside the library's own `generate`: four replies together, and a second turn with a kept cache.

    python bench/bench_huggingface.py [--model FOLDER | --billion] [--device cpu] [--tokens 64] [--rounds 5]

Without `--model` it runs on a tiny Llama with random weights, which it makes: that shows what the engine itself costs, and nothing of a real
model. `--billion` makes one of 1.1 billion weights in half precision, for a graphics card. Each round measures everything once, in turns, so that a busy machine slows all of it alike; printed are medians of the rounds' ratios.
Every time includes reading the prompts. Needs PyTorch and transformers (pip install 'duologue[transformers]').
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import anyio

from duologue.engines.contracts import Generation
from duologue.engines.registry import load_language_engine
from duologue.values.requests import Sampling

SLOTS = 4
BILLION = {
    "hidden_size": 2048,
    "intermediate_size": 5632,
    "num_hidden_layers": 22,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "head_dim": 64,
}
"""The sizes of a Llama of 1.1 billion weights, but for the vocabulary."""
TEXT = "All happy families are alike; each unhappy family is unhappy in its own way. "
"""A prompt of some hundred tokens for a tokenizer of bytes, repeated for the second turn."""


async def reply(engine: Any, slot: int, prompt: tuple[int, ...], count: int) -> float:
    """Seconds of one reply of so many tokens."""
    sampling = Sampling(temperature=0.0, max_tokens=count, ignore_eos=True)
    start = time.perf_counter()
    async with engine.generate(slot, prompt, Generation(sampling)) as items:
        async for _ in items:
            pass
    return time.perf_counter() - start


async def four_replies(engine: Any, prompts: list[tuple[int, ...]], count: int) -> float:
    """Seconds until the last of four replies that began together."""
    start = time.perf_counter()
    async with anyio.create_task_group() as group:
        for slot, prompt in enumerate(prompts):
            group.start_soon(reply, engine, slot, prompt, count)
    return time.perf_counter() - start


def generate(torch: Any, model: Any, prompts: list[tuple[int, ...]], count: int) -> float:
    """Seconds of the library's `generate` for these prompts, of one length, in one batch."""
    start = time.perf_counter()
    with torch.inference_mode():
        model.generate(
            torch.tensor(prompts, device=model.device),
            attention_mask=torch.ones(len(prompts), len(prompts[0]), dtype=torch.long, device=model.device),
            do_sample=False,
            min_new_tokens=count,
            max_new_tokens=count,
            pad_token_id=0,
        )
    return time.perf_counter() - start


async def run(model: str, device: str, count: int, rounds: int) -> None:
    """Measure and print."""
    import torch

    options = {"model": model, "device": device, "slots": SLOTS, "context": 4096}
    engine: Any = await load_language_engine("transformers", options)
    network = engine._open().rows._model
    print(f"{engine.card.parameters:,} weights on {network.device}, {network.dtype}")
    base = await engine.tokenize(TEXT)
    turn: list[float] = []
    sequential: list[float] = []
    batched: list[float] = []
    for number in range(rounds + 1):
        # Prompts that no slot has cached, of one length.
        prompts = [(5 + number, 9 + slot, *base) for slot in range(SLOTS)]
        ours = await four_replies(engine, prompts, count)
        one_by_one = sum(generate(torch, network, [prompt], count) for prompt in prompts)
        together = generate(torch, network, prompts, count)
        long = (30 + number, *(base * 12))
        fresh = await reply(engine, 0, long, 4)
        kept = await reply(engine, 0, (*long, *base[:40]), 4)
        if number:  # the first round warms up
            sequential.append(one_by_one / ours)
            batched.append(together / ours)
            turn.append(fresh / kept)
            print(
                f"round {number}: {SLOTS * count / ours:.0f} tokens/s of four replies, {fresh * 1000:.0f} ms for the long prompt"
            )
    await engine.close()
    for name, ratios in (
        ("four sequential generate() / four replies of the engine", sequential),
        ("one generate() of a batch of four / four replies of the engine", batched),
        (f"a prompt of {len(base) * 12} tokens and 4 written / the next turn of it", turn),
    ):
        print(f"{name}: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--model", default="", help="a folder with a causal model; without it a tiny one")
    parser.add_argument("--billion", action="store_true", help="a random model of 1.1 billion weights")
    parser.add_argument("--device", default="cpu", help="cpu, cuda or cuda:1")
    parser.add_argument("--tokens", type=int, default=64, help="tokens of each reply")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        model = arguments.model
        if not model:
            sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
            import torch
            from tests.support.tiny_causal import make_causal

            chosen = {"sizes": BILLION, "dtype": torch.bfloat16} if arguments.billion else {}
            model = str(make_causal(Path(place) / "made", **chosen))
        anyio.run(run, model, arguments.device, arguments.tokens, arguments.rounds)


if __name__ == "__main__":
    main()
