"""Fairness between keys when several gateways schedule the same slots: Jain's index of the slot-seconds of each key, simulated on the project's own fair line.

    python bench/bench_gateways.py [--short]

Each gateway has a line of its own over the same slots. A free slot goes to one of the gateways where something waits, by lot: that is what joined workers give. Keys keep as
many requests waiting as they want at each of their gateways. What was charged is told every second and arrives later. Pure: the time is simulated.
"""

from __future__ import annotations

import argparse
import heapq
import random
from collections.abc import Sequence
from typing import Any, NamedTuple

from duologue.gateway.scheduling.queueing.fair_line import FairLine
from duologue.gateway.scheduling.queueing.slots import QueueEntry
from queue_replay import jain

EVERY_S = 1.0


class Load(NamedTuple):
    """`keys`: of each key, how many requests it keeps under way at each gateway."""

    name: str
    keys: dict[str, tuple[int, ...]]


LOADS = (
    Load(
        "two gateways, a with 30 at both, b to d with 4 at one",
        {"a": (30, 30), "b": (4, 0), "c": (0, 4), "d": (4, 0)},
    ),
    Load("two gateways, a with 30 at both, b with 8 at one", {"a": (30, 30), "b": (8, 0)}),
    Load(
        "three gateways, a at all, b at two, c and d at one",
        {"a": (20, 20, 20), "b": (0, 10, 10), "c": (8, 0, 0), "d": (0, 0, 8)},
    ),
    Load("two gateways that have no key in common", {"a": (8, 0), "b": (8, 0), "c": (0, 8)}),
)


def simulate(
    load: Load, slots: int, seconds: float, *, delay: float | None, seed: int = 1
) -> dict[str, float]:
    """The slot-seconds of each key; `delay`: seconds until the others hear what was charged, None where they never do."""
    chance = random.Random(seed)
    count = len(next(iter(load.keys.values())))
    lines = [FairLine() for _ in range(count)]
    served = dict.fromkeys(load.keys, 0.0)
    events: list[tuple[float, int, str, tuple[Any, ...]]] = []
    number = 0

    def at(time: float, kind: str, *data: object) -> None:
        nonlocal number
        number += 1
        heapq.heappush(events, (time, number, kind, data))

    def ask(gateway: int, key: str, now: float) -> None:
        nonlocal number
        number += 1
        entry = QueueEntry(str(number), "m", 1, "chat", (), now, False, share=key, number=number, cost=3.0)
        entry.left = 1
        lines[gateway].add(entry)

    for line in lines:
        line.charged = None if delay is None else {}
    for key, wanted in load.keys.items():
        for gateway, many in enumerate(wanted):
            for _ in range(many):
                ask(gateway, key, 0.0)
    at(EVERY_S, "tell")
    free, now = slots, 0.0
    while now < seconds:
        while free:
            ready = [gateway for gateway, line in enumerate(lines) if len(line)]
            if not ready:
                break
            gateway = chance.choice(ready)
            entry = lines[gateway].first()
            assert entry is not None
            lines[gateway].take(entry)
            free -= 1
            took = chance.expovariate(1 / 3.0)
            at(now + took, "end", gateway, entry.share, took)
        now, _, kind, data = heapq.heappop(events)
        if kind == "end":
            gateway, key, took = data
            lines[gateway].settle(key, 3.0, took)
            served[key] += took
            free += 1
            ask(gateway, key, now)
        elif kind == "tell":
            at(now + EVERY_S, "tell")
            for gateway, line in enumerate(lines):
                if line.charged and delay is not None:
                    at(now + delay, "hear", gateway, line.charged)
                    line.charged = {}
        else:
            gateway, charged = data
            for other, line in enumerate(lines):
                if other != gateway:
                    for key, amount in charged.items():
                        line.served_elsewhere(key, amount)
    return served


def rows(seconds: float, slots: int = 8) -> Sequence[str]:
    """The table, line by line."""
    table = [
        "| gateways and keys | slots | not told | told after 0.05 s | after 2 s | after 10 s |",
        "|---|---|---|---|---|---|",
    ]
    for load in LOADS:
        told = [
            jain(list(simulate(load, slots, seconds, delay=delay).values()))
            for delay in (None, 0.05, 2.0, 10.0)
        ]
        table.append(f"| {load.name} | {slots} | " + " | ".join(f"{index:.3f}" for index in told) + " |")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", action="store_true", help="a tenth of the time")
    print("\n".join(rows(180.0 if parser.parse_args().short else 1800.0)))


if __name__ == "__main__":
    main()
