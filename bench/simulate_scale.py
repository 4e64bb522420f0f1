"""Simulate a department, a city and more on the project's own scheduler: what is used up first, and how many gateways it takes.

    python bench/simulate_scale.py --calibrate     measures what this code costs (five minutes of a quiet machine) into scale_costs.json
    python bench/simulate_scale.py --check         two workers and a hundred clients, simulated and for real
    python bench/simulate_scale.py                 the table of docs/scaling.md

The scheduler and the limiter run here as they are; everything else is arithmetic with the measured costs (`scale_model.py`). How people and models are is
assumed: `--think`, `--tokens`, `--slots`, `--speed`.
"""

from __future__ import annotations

import argparse
import asyncio
import dataclasses
import json
import time
from collections.abc import Callable
from pathlib import Path

from scale_costs import calibrate, closed_loop
from scale_model import Costs, Demand, Models, Simulation, Users, demand, gateways_for, rate_of, users_of

FILE = Path(__file__).parent / "scale_costs.json"
SIZES = (10, 100, 1000, 10_000)
LOAD = 0.8


def timed(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def table(costs: Costs, users: Users, models: Models, sizes: tuple[int, ...], events: int) -> list[str]:
    """The lines of the table."""
    lines = [
        f"Costs measured {costs.when} on {costs.machine} (load {costs.load:.1f}); {models.slots} slots a worker, {models.speed:g} tokens/s a reply, "
        f"{users.tokens_mean:.0f} tokens a reply, {users.think_mean:.0f} s between replies, workers {LOAD:.0%} busy.",
        "",
        "| workers | active users | replies/s | chunks/s | an event of the scheduler | the same while some wait | gateways | each, in cores | most of which is | transactions/s | of the database, at most | memory of each gateway |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for workers in sizes:
        active = users_of(workers, users, models, LOAD)
        made = Simulation(workers, models, users, timed=timed).open(
            rate_of(active, users, models), events, LOAD
        )
        waits = Simulation(workers, models, users, timed=timed).waiting()
        lines.append(
            row(
                gateways_for(workers, active, made.cost, costs, users, models, waiting=made.waiting),
                made.cost,
                waits,
                costs,
            )
        )
    return lines


def row(asked: Demand, event: float, waiting: float, costs: Costs) -> str:
    commits = asked.database * costs.commits
    enough = f"{asked.gateways}" if asked.gateway <= 0.6 else f"{asked.gateways} are not enough"
    return (
        f"| {asked.workers:,} | {asked.active:,} | {asked.replies:,.0f} | {asked.chunks:,.0f} | {event * 1e6:,.0f} us | {waiting * 1e3:,.1f} ms | {enough} "
        f"| {asked.gateway:.2f} | {asked.busiest} | {commits:,.0f} | {asked.database:.1f} | {asked.memory:.1f} GiB |"
    )


def check(costs: Costs, seconds: float, clients: int) -> list[str]:
    """Two workers and a hundred clients: what the simulation says, and what a real server does."""
    users = Users(think_median=6.0, think_sigma=0.5, tokens_median=60.0, tokens_sigma=0.0)
    models = Models(slots=4, speed=50.0, reading=0.0)
    said = Simulation(2, models, users, timed=timed).closed(clients, seconds)
    true = asyncio.run(closed_loop(clients, seconds, users, models))
    rate = said.replies / said.seconds
    unqueued = demand(2, clients, 1, said.cost, costs, users, models)
    chunks = rate * users.tokens_mean
    parts = {
        "requests": rate * (costs.request + 2 * said.cost),
        "relay of text": chunks * costs.relayed(chunks),
        "places": costs.places(said.waiting, rate, 2 * models.slots),
        "idle": 2 * costs.worker,
    }
    return [
        f"{clients} clients, two workers with {models.slots} slots, {seconds:g} s:",
        "",
        "| | simulated | real | off by |",
        "|---|---|---|---|",
        off("replies/s", rate, true.replies / true.seconds),
        off("wait, half of them, s", said.wait(0.5), true.wait(0.5)),
        off("wait, 95 %, s", said.wait(0.95), true.wait(0.95)),
        off("the gateway, cores", sum(parts.values()), true.cores),
        "",
        f"({unqueued.replies:.1f} replies/s without waits; computed cores: "
        + ", ".join(f"{name} {part:.3f}" for name, part in parts.items())
        + ")",
    ]


def off(name: str, said: float, true: float) -> str:
    return (
        f"| {name} | {said:.3g} | {true:.3g} | {(said - true) / true:+.0%} |"
        if true
        else f"| {name} | {said:.3g} | 0 | |"
    )


def read_costs(text: str) -> Costs:
    """The costs as a calibration wrote them."""
    values = json.loads(text)
    return Costs(**values | {"paced": tuple((rate, cost) for rate, cost in values.get("paced", ()))})


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calibrate", action="store_true")
    parser.add_argument("--check", action="store_true")
    parser.add_argument(
        "--short", action="store_true", help="a short calibration, or a table up to 1,000 workers"
    )
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60.0, help="of --check")
    parser.add_argument(
        "--think", type=float, default=Users.think_median, help="median seconds between replies"
    )
    parser.add_argument("--tokens", type=float, default=Users.tokens_median, help="median tokens of a reply")
    parser.add_argument("--slots", type=int, default=Models.slots, help="replies of a worker at a time")
    parser.add_argument("--speed", type=float, default=Models.speed, help="tokens a second of a reply")
    options = parser.parse_args()
    if options.calibrate:
        costs = asyncio.run(calibrate(short=options.short))
        FILE.write_text(json.dumps(dataclasses.asdict(costs), indent=1) + "\n")
        print(FILE.read_text())
        return
    costs = read_costs(FILE.read_text())
    if options.check:
        print("\n".join(check(costs, options.seconds, options.clients)))
        return
    users = Users(think_median=options.think, tokens_median=options.tokens)
    models = Models(slots=options.slots, speed=options.speed)
    sizes = SIZES[:3] if options.short else SIZES
    print("\n".join(table(costs, users, models, sizes, 300 if options.short else 2000)))


if __name__ == "__main__":
    main()
