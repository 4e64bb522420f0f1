"""Measure time to first token through gateway and worker, alternating with the same engine in this process.

    python bench/bench_first_token.py [--requests 60] [--model FILE.gguf]

Both process the same prompts with greedy sampling, one client, one request at a time: A B A B. The engine alone receives the
rendered prompt's tokens and does not render, split or count. The server's time runs from before the request is sent, over a
persistent connection, to the first content.
"""

from __future__ import annotations

import argparse
import http.client
import json
import statistics
import time
from datetime import datetime
from functools import partial

import anyio

from duologue.engines.contracts import Generation, Piece
from duologue.engines.llama.engine import LlamaEngine, load
from duologue.text.templates.prompt_request import PromptRequest
from duologue.values.messages import user
from duologue.values.requests import Sampling
from load import duologue


def ours(connection: http.client.HTTPConnection, text: str) -> float:
    """Milliseconds to the first content of a streamed reply; the rest is read and thrown away."""
    body = {
        "messages": [{"role": "user", "content": text}],
        "stream": True,
        "max_tokens": 8,
        "temperature": 0,
    }
    began = time.perf_counter()
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"Content-Type": "application/json"})
    answer = connection.getresponse()
    first = 0.0
    while line := answer.readline():
        if not first and b'"content":"' in line and b'"content":""' not in line:
            first = time.perf_counter() - began
    return first * 1000


async def alone(engine: LlamaEngine, text: str) -> float:
    """Milliseconds from the tokens to the first piece of text."""
    request = PromptRequest((user(text),), form="full")
    prompt = await engine.template.render(request, datetime.now().astimezone())
    tokens = await engine.tokenize(prompt.text)
    began = time.perf_counter()
    first = 0.0
    async with engine.generate(0, tokens, Generation(Sampling(max_tokens=8, temperature=0.0))) as items:
        async for item in items:
            if not first and isinstance(item, Piece) and item.text:
                first = time.perf_counter() - began
    return first * 1000


async def compare(port: int, requests: int, model: str | None) -> None:
    engine = await load({"model": model, "name": "alone"})
    connection = http.client.HTTPConnection("127.0.0.1", port)
    engines, servers = [], []
    for number in range(requests + 3):
        text = f"Hello number {number}, what is 2 + 3?"
        one = await alone(engine, text)
        two = await anyio.to_thread.run_sync(partial(ours, connection, text))
        if number >= 3:
            engines.append(one)
            servers.append(two)
    await engine.close()
    added = [two - one for one, two in zip(engines, servers, strict=True)]
    for name, figures in (("engine alone", engines), ("through ours", servers), ("added", added)):
        quarter = statistics.quantiles(figures, n=4)
        print(
            f"{name:<14} {statistics.median(figures):>7.2f} ms median   ({quarter[0]:.2f} to {quarter[2]:.2f})"
        )
    print("budget: 5 ms added, median")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=60)
    parser.add_argument("--model")
    options = parser.parse_args()
    with duologue(*(["--model", options.model] if options.model else [])) as port:
        anyio.run(compare, port, options.requests, options.model)


if __name__ == "__main__":
    main()
