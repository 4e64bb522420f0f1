"""Measure the second turn about a picture against the second turn of a chat of text: the time to the first token.

    python bench/bench_picture_turns.py [--requests 6] [--model FILE.gguf] [--embedding 256]

Without a model it writes a random one with eyes, large enough that reading is not free. Both chats have a first turn, then a second
one that continues it, and about the same number of tokens; A B A B, each time with another picture and another text. The budget is 1.2.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

import anyio

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.support.tiny_model import TinyModel, write_tiny_model
from tests.support.tiny_projectors import picture, write_projector

from duologue.engines.llama.engine import LlamaEngine, load
from duologue.sessions.chat.chat import reply
from duologue.values.events import Event, Failed, Prefilled, ReasoningDelta, TextDelta
from duologue.values.messages import Message, Part, TextPart, assistant, user
from duologue.values.requests import ChatRequest, Sampling

BUDGET = 1.2


async def first_token(engine: LlamaEngine, *messages: Message) -> tuple[float, Prefilled]:
    """Milliseconds to the first token, and what of the prompt was cached."""
    began = time.perf_counter()
    times: list[float] = []
    prefilled: list[Prefilled] = []

    async def emit(event: Event) -> None:
        if isinstance(event, Failed):
            raise RuntimeError(event.message)
        if isinstance(event, Prefilled):
            prefilled.append(event)
        if isinstance(event, TextDelta | ReasoningDelta):
            times.append(time.perf_counter() - began)

    # A random model may write half characters, which are no text yet: this one writes "a".
    sampling = Sampling(max_tokens=4, temperature=0.0, ignore_eos=True, logit_bias={"97": 1000.0})
    request = ChatRequest(messages, sampling=sampling)
    await reply(engine, 0, request, emit, now=datetime.now().astimezone(), clock=time.monotonic)
    return times[0] * 1000, prefilled[0]


async def turns(engine: LlamaEngine, part: Part) -> tuple[float, float, Prefilled]:
    """The first token of the first and of the second turn."""
    asked = Message("user", (part, TextPart("What is it? " * 20)))
    first, _ = await first_token(engine, asked)
    second, prefilled = await first_token(engine, asked, assistant("A cat."), user("What colour is it?"))
    return first, second, prefilled


async def compare(model: str, requests: int) -> float:
    engine = await load({"model": model, "slots": 1, "log": 1})
    figures: dict[str, list[tuple[float, float]]] = {"text": [], "picture": []}
    looked = 0
    for number in range(requests + 1):
        text = TextPart(f"{number} text " * 5)
        for name, part in (("text", text), ("picture", picture(number, size=512))):
            first, second, prefilled = await turns(engine, part)
            looked += (prefilled.input or 0) - prefilled.cached > 120
            if number:
                figures[name].append((first, second))
    await engine.close()
    for name, measured in figures.items():
        firsts, seconds = (statistics.median(column) for column in zip(*measured, strict=True))
        print(f"{name:<8} turn 1 {firsts:8.1f} ms   turn 2 {seconds:8.1f} ms   (medians of {len(measured)})")
    ratio = statistics.median(each[1] for each in figures["picture"]) / statistics.median(
        each[1] for each in figures["text"]
    )
    print(
        f"turn 2 about a picture: {ratio:.2f} of a turn 2 of text; budget {BUDGET}; {looked} turns read it again"
    )
    return ratio


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=6)
    parser.add_argument("--model")
    parser.add_argument("--embedding", type=int, default=256)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(options.model or Path(folder) / "seer.gguf")
        if not options.model:
            width = options.embedding
            write_tiny_model(
                path,
                TinyModel(
                    context=4096, blocks=8, embedding=width, heads=8, kv_heads=4, feed_forward=4 * width
                ),
            )
            write_projector(path.with_name("mmproj-seer.gguf"), embedding=width)
        ratio = anyio.run(compare, str(path), options.requests)
    sys.exit(0 if ratio <= BUDGET else 1)


if __name__ == "__main__":
    main()
