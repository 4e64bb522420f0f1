"""Measure rendering a prompt in the process of its template, alternating with rendering it in this one.

    python bench/bench_templates.py [--rounds 300] [--model FILE.gguf]

The template is the model's own. A short chat, and chats of about 1,000, 10,000 and 100,000 tokens; each is rendered with
and without the generation prompt, as a reply needs it. Also how long the process takes to start, and what it and a renderer weigh.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import anyio

from duologue.engines.templates.template_renderer import TemplateRenderer
from duologue.models.catalogue import bundled_model
from duologue.models.gguf.header import read
from duologue.text.templates.chat_template import ChatTemplate
from duologue.text.templates.prompt_request import PromptRequest
from duologue.values.messages import assistant, system, user

TURN = "The quick brown fox jumps over the lazy dog, and then it thinks about what it has done. " * 8
"""About 170 tokens."""


def chat(turns: int) -> PromptRequest:
    """A chat of so many turns of the user and the assistant."""
    turn = [message for number in range(turns) for message in (user(f"{number} {TURN}"), assistant(TURN))]
    return PromptRequest((system("Be brief."), *turn, user("Hello, what is 2 + 3?")))


def memory(pid: int) -> tuple[float, float]:
    """Resident and private MB of a process."""
    figures = dict(
        line.split(":", 1) for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    )
    private = sum(int(figures[name].split()[0]) for name in ("Private_Clean", "Private_Dirty"))
    return int(figures["Rss"].split()[0]) / 1024, private / 1024


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


async def compare(rounds: int, model: str | None) -> None:
    header = read(Path(model) if model else bundled_model())
    began = time.perf_counter()
    renderer = TemplateRenderer(header.template, bos=header.bos, eos=header.eos)
    await renderer.start()
    spawned = time.perf_counter()
    await renderer.compiled()
    print(
        f"started in {(time.perf_counter() - began) * 1000:.0f} ms, {(spawned - began) * 1000:.1f} of them here"
    )
    own = ChatTemplate(header.template, bos=header.bos, eos=header.eos)
    now = datetime.now().astimezone()
    for turns in (0, 3, 30, 300):
        request = chat(turns)
        size = len(own.prompt(request, now).text)
        here: list[float] = []
        there: list[float] = []
        for _ in range(max(10, rounds // max(1, turns // 10))):
            here.append(timed(lambda request=request: own.prompt(request, now)))  # type: ignore[misc]
            began = time.perf_counter()
            await renderer.render(request, now)
            there.append((time.perf_counter() - began) * 1000)
        print(f"{size:>8} characters: here {spread(here)}, there {spread(there)}")
    assert renderer.process is not None
    pid = renderer.process.pid
    for name, each in (("the process", pid), *(("a renderer", child) for child in children(pid))):
        print("{}: {:.1f} MB resident, {:.1f} MB of them its own".format(name, *memory(each)))
    began = time.perf_counter()
    for _ in range(20):
        fresh = await renderer._fork()
        assert fresh is not None
        fresh.close()
    print(f"a fresh renderer in {(time.perf_counter() - began) * 50:.2f} ms")
    await renderer.close()


def spread(figures: list[float]) -> str:
    tenths = statistics.quantiles(figures, n=10)
    return f"{statistics.median(figures):.3f} ms ({tenths[0]:.3f} to {tenths[-1]:.3f})"


def timed(function: Callable[[], object]) -> float:
    began = time.perf_counter()
    function()
    return (time.perf_counter() - began) * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--model")
    options = parser.parse_args()
    anyio.run(compare, options.rounds, options.model, backend_options={"use_uvloop": True})


if __name__ == "__main__":
    main()
