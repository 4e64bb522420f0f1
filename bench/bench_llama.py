"""Measure the llama engine alone: time to first token, prefill, and tokens per second, without gateway, worker or socket.

    python bench/bench_llama.py MODEL.gguf [--slots 8] [--runs 30] [--tokens 64] [--threads 1] [--prompt-cache 0] [--json]

The same prompt and the same sampling as a chat over the server: another benchmark can subtract these figures from
its own. Without MODEL it uses the bundled model.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Awaitable, Callable

import anyio

from duologue.engines.contracts import Generation, GenerationEnded, Piece
from duologue.engines.llama.engine import LlamaEngine, load
from duologue.values.requests import Sampling

PROMPT = "<|im_start|>user\n{}<|im_end|>\n<|im_start|>assistant\n"


async def main() -> None:
    options = parse()
    settings = {
        "model": options.model,
        "slots": options.slots,
        "threads": options.threads,
        "prompt_cache": options.prompt_cache,
    }
    began = time.perf_counter()
    engine = await load({name: value for name, value in settings.items() if value is not None})
    figures: dict[str, float] = {"load_ms": ms(began)}
    tokens = await engine.tokenize(PROMPT.format("Hello there, who are you?"))
    figures["prompt_tokens"] = len(tokens)
    long = await engine.tokenize(PROMPT.format("word " * engine.card.context))
    long = long[: engine.card.context // 2]
    runs = options.runs
    figures["tokenize_ms_p50"] = await median(runs, lambda run: timed(engine.tokenize(PROMPT.format(run))))
    figures["prefill_cold_ms_p50"] = await median(runs, lambda run: prefill(engine, (run + 1, *tokens[1:])))
    figures["prefill_cached_ms_p50"] = await median(runs, lambda run: prefill(engine, tokens))
    figures["prefill_long_tokens"] = len(long)
    figures["prefill_long_cold_ms_p50"] = await median(
        min(runs, 5), lambda run: prefill(engine, (run + 1, *long[1:]))
    )
    figures["prefill_long_cached_ms_p50"] = await median(min(runs, 5), lambda run: prefill(engine, long))
    figures["first_token_cached_ms_p50"] = await median(runs, lambda run: first_token(engine, tokens))
    figures["first_token_cold_ms_p50"] = await median(
        # Other prompts than above: the engine keeps those of earlier conversations in memory.
        runs,
        lambda run: first_token(engine, (run + 1, run + 1, *tokens[2:])),
    )
    figures["tokens_per_s_one"] = await rate(engine, tokens, options.tokens, 1)
    figures[f"tokens_per_s_{engine.card.slots}_together"] = await rate(
        engine, tokens, options.tokens, engine.card.slots
    )
    began = time.perf_counter()
    await engine.close()
    figures["close_ms"] = ms(began)
    show(figures, engine, as_json=options.json)


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("model", nargs="?")
    parser.add_argument("--slots", type=int)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--prompt-cache", type=int)
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--json", action="store_true")
    return parser.parse_args()


def ms(began: float) -> float:
    return (time.perf_counter() - began) * 1000


async def median(runs: int, measure: Callable[[int], Awaitable[float]]) -> float:
    """The median of `runs` measurements, after one that does not count."""
    await measure(runs)
    return statistics.median([await measure(run) for run in range(runs)])


async def timed(step: Awaitable[object]) -> float:
    began = time.perf_counter()
    await step
    return ms(began)


async def prefill(engine: LlamaEngine, tokens: tuple[int, ...]) -> float:
    began = time.perf_counter()
    async with engine.prefill(0, tokens) as steps:
        async for _ in steps:
            pass
    return ms(began)


async def first_token(engine: LlamaEngine, tokens: tuple[int, ...]) -> float:
    """Milliseconds from asking to the first token, as a chat does it: prefill, then generate."""
    began = time.perf_counter()
    await prefill(engine, tokens[:-3])
    async with engine.generate(0, tokens, Generation(Sampling(max_tokens=8, ignore_eos=True))) as items:
        async for item in items:
            if isinstance(item, GenerationEnded) or (isinstance(item, Piece) and item.tokens):
                return ms(began)
    raise AssertionError("no token came")


async def rate(engine: LlamaEngine, tokens: tuple[int, ...], count: int, together: int) -> float:
    """Tokens a second of `together` replies at the same time, prefill left out."""
    total = 0

    async def reply(slot: int) -> None:
        nonlocal total
        sampling = Sampling(max_tokens=count, ignore_eos=True, seed=slot)
        async with engine.generate(slot, tokens, Generation(sampling)) as items:
            async for item in items:
                total += item.tokens if isinstance(item, Piece) else 0

    for slot in range(together):
        async with engine.prefill(slot, tokens) as steps:
            async for _ in steps:
                pass
    began = time.perf_counter()
    async with anyio.create_task_group() as group:
        for slot in range(together):
            group.start_soon(reply, slot)
    return total / (ms(began) / 1000)


def show(figures: dict[str, float], engine: LlamaEngine, *, as_json: bool) -> None:
    if as_json:
        print(
            json.dumps(
                {"model": engine.card.name, **{name: round(value, 3) for name, value in figures.items()}}
            )
        )
        return
    print(f"{engine.card.description}; {engine.card.slots} slots of {engine.card.context} tokens")
    for name, value in figures.items():
        print(f"  {name:32} {value:10.2f}")


if __name__ == "__main__":
    anyio.run(main)
