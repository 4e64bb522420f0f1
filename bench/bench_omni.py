"""Measure an omni engine: the switch between its chats and a call, and 600 units of a call.

    python bench/bench_omni.py [--model FOLDER] [--switches 200] [--units 600] [--family qwen2_5] [--device cpu]

Without `--model` it runs on a tiny model with random weights, which it makes: that shows what the engine itself costs, and nothing of a real
model. A switch enters the duplex view, or leaves it, and touches no weights, so this share does not grow with them; `prepare` reads the
system's prompt, which does. Units come a second apart on a clock that does not wait: one that is read later than its second is late. The memory
is that of the process, after each hundredth unit. Needs PyTorch and transformers (pip install 'duologue[omni]').
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import anyio

from duologue.engines.contracts import DuplexOptions, Generation, UnitAnswer
from duologue.engines.registry import load_language_engine
from duologue.values.messages import ImagePart, system
from duologue.values.requests import Sampling

SECOND = 16_000
GREETING = (system("You hold a call. Answer in one short sentence."),)
SPEAKS_EVERY = 12
"""Units from one reply to the next: five of listening at least."""


def describe(name: str, seconds: list[float]) -> str:
    """A line with the median and the worst of these times, in milliseconds."""
    ordered = sorted(seconds)
    return f"{name}: median {statistics.median(ordered) * 1000:.2f} ms, worst {ordered[-1] * 1000:.2f} ms of {len(ordered)}"


def memory() -> int:
    """Bytes of this process in memory; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def sound(number: int, samples: int = SECOND) -> bytes:
    """A tone of its own for each unit."""
    import numpy

    times = numpy.arange(samples) / SECOND
    wave = numpy.sin(2 * numpy.pi * (150 + 7 * (number % 100)) * times) * 8000
    return bytes(wave.astype("<i2").tobytes())


def frame(number: int) -> ImagePart:
    """A picture of 448 by 336 in one colour."""
    import io

    from PIL import Image

    Image.new("RGB", (448, 336), (number * 7 % 256, number * 3 % 256, 90)).save(file := io.BytesIO(), "JPEG")
    return ImagePart(file.getvalue())


async def measure_switches(engine: Any, count: int) -> None:
    """Enter and leave the duplex view between replies in a slot, whose cache must stay."""
    prompt = await engine.tokenize("<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n")
    generation = Generation(Sampling(max_tokens=4, ignore_eos=True, seed=1))
    into, back, prepared = [], [], []
    for number in range(count):
        async with engine.generate(0, prompt, generation) as items:
            async for _ in items:
                pass
        began = time.perf_counter()
        async with engine.duplex() as view:
            into.append(time.perf_counter() - began)
            began = time.perf_counter()
            await view.prepare(GREETING, DuplexOptions())
            prepared.append(time.perf_counter() - began)
            if number % 10 == 0:
                await view.unit(sound(number), decision="listen")
            began = time.perf_counter()
        back.append(time.perf_counter() - began)
        assert engine.cached_tokens(0, prompt) == len(prompt), "the slot's cache is lost"
    print(describe("switch from chat to call", into))
    print(describe("switch from call to chat", back))
    print(describe("prepare the call", prepared))


async def measure_units(engine: Any, count: int) -> None:
    """A call at the pace of time, with a frame in each unit and a reply now and then, some of them cut."""
    options = DuplexOptions(Sampling(max_tokens=60, ignore_eos=True, seed=1), window=2048)
    spent: list[float] = []
    late, worst, cuts, speaking, seen = 0, 0.0, 0, False, []
    async with engine.duplex() as view:
        await view.prepare(GREETING, options)
        began = time.perf_counter()
        for number in range(count):
            due = began + number + 1
            await anyio.sleep(max(0.0, due - time.perf_counter()))
            started = time.perf_counter()
            worst = max(worst, started - due)
            if speaking and number % (4 * SPEAKS_EVERY) == 2:
                await view.cut(SECOND // 2)
                cuts, speaking = cuts + 1, False
            decision = "speak" if speaking or number % SPEAKS_EVERY == 0 else "listen"
            answer: UnitAnswer = await view.unit(sound(number), [frame(number)], decision=decision)
            await view.finalize()
            speaking = not answer.listens and not answer.end_of_turn
            spent.append(time.perf_counter() - started)
            late += time.perf_counter() > due + 1
            if number % 100 == 99:
                seen.append((memory(), answer.cached))
    print(describe("unit", spent))
    print(
        f"late units: {late} of {count}, {cuts} replies cut; the last second began at most {worst * 1000:.1f} ms late"
    )
    print(
        "memory and tokens in the cache after each hundred: "
        + ", ".join(f"{size / 1e6:.0f} MB {cached}" for size, cached in seen)
    )


async def run(arguments: argparse.Namespace) -> None:
    """Load the engine and measure."""
    with tempfile.TemporaryDirectory() as folder:
        model = arguments.model
        if not model:
            from tests.support.tiny_omni import make_omni

            model = str(make_omni(Path(folder) / "tiny", arguments.family))
        options = {"model": model, "device": arguments.device, "context": 4096, "slots": 2}
        engine: Any = await load_language_engine("qwen_omni", options)
        print(
            f"{engine.card.description}, {engine.card.parameters:,} parameters, on {engine.card.device}; load {os.getloadavg()[0]:.1f}"
        )
        await measure_switches(engine, arguments.switches)
        await measure_units(engine, arguments.units)
        await engine.close()


def main() -> None:
    """Parse the arguments and run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="", help="a folder of real weights")
    parser.add_argument("--family", choices=("qwen2_5", "qwen3"), default="qwen2_5", help="of the tiny model")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--switches", type=int, default=200)
    parser.add_argument("--units", type=int, default=600)
    arguments = parser.parse_args()
    if find_spec("torch") is None or find_spec("transformers") is None:
        print("This benchmark needs PyTorch and transformers: pip install 'duologue[omni]'.")
        return
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    anyio.run(run, arguments)


if __name__ == "__main__":
    main()
