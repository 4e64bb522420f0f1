"""One run: a server, a warm-up, a quiet phase, each kind of attack in turn, a look at what is left, and the verdict.

    PYTHONPATH=bench python -m attack.runner [--files N] [--requests N] [--frames N] [--seconds S] [--kinds A,B] [--seed N]

`make attack` runs the full form; tests/e2e/test_attack.py a short one. Everything stays on loopback; counts, sizes, seconds and
connections (at most fifty at once) are bounded. `--strict` also judges the times, which only a quiet machine should.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from time import monotonic

from attack import verdict
from attack.answer_counts import AnswerCounts
from attack.findings import SCRIPTED, SCRIPTED_VOICE
from attack.kinds import KINDS, Share
from attack.probe import Latency, Probe, latencies
from attack.processes import Held, Watch
from attack.server import Server, serving
from attack.verdict import Leftovers, Round

QUIET_SECONDS = 5.0
BRIEF_SECONDS = 1.0
BRIEF_COUNT = 12
SETTLE_SECONDS = 4.0
NICENESS = 5
"""The attackers' own work is not to keep the server from the processor."""
WARM_UP = 0.02


def counts(options: argparse.Namespace) -> dict[str, int]:
    """How much of each kind is sent."""
    return {
        "files": options.files,
        "bombs": options.bombs,
        "model-files": options.files // 25,
        "requests": options.requests,
        "frames": options.frames,
        "connections": options.connections,
        "guesses": options.guesses,
    }


async def attack(server: Server, kind: str, count: int, options: argparse.Namespace, probe: Probe) -> Round:
    """One kind, watched."""
    share = Share(server, options.seed, count, monotonic() + options.seconds)
    watch = Watch(server.process.pid, server.port, await server.workers())
    began = monotonic()
    try:
        async with asyncio.timeout(options.seconds + 120):
            await KINDS[kind](share)
    except TimeoutError:
        share.answers.fault("the attack did not end", kind)
    ended = monotonic()
    await server.rest()
    watch.stop()
    health, token = (latencies(probe.questions, what, began, ended) for what in ("health", "token"))
    answers = share.answers
    for fault in answers.faults:
        print(f"  fault during {kind}: {fault}", flush=True)
    return Round(
        kind, share.sent, ended - began, health, token, watch.peak_gateway, watch.peak_worker, watch.peak_child,
        watch.gone_after is not None, answers.fault_count, answers.summary(),
    )  # fmt: skip


async def warm_up(server: Server, chosen: list[str], options: argparse.Namespace) -> None:
    """A little of everything, so that what is loaded on first use is not taken for something left behind."""
    for kind in chosen:
        count = max(BRIEF_COUNT if options.brief else 30, round(counts(options)[kind] * WARM_UP))
        share = Share(
            server, options.seed + 1, min(count, counts(options)[kind]), monotonic() + 20, AnswerCounts()
        )
        await KINDS[kind](share)
    if not options.brief:
        # Duplex sessions outlive their sockets by half a minute.
        await server.rest()
    await asyncio.sleep(SETTLE_SECONDS)


async def settle(server: Server) -> None:
    """Give it the seconds that idle processes and kept connections need to go."""
    await server.rest()
    await asyncio.sleep(SETTLE_SECONDS)


async def run(options: argparse.Namespace) -> list[str]:
    chosen = [kind for kind in KINDS if not options.kinds or kind in options.kinds.split(",")]
    if not chosen:
        raise SystemExit(f"there are these kinds: {', '.join(KINDS)}")
    async with serving(*SCRIPTED, python=options.python, settings=SCRIPTED_VOICE) as server:
        # Damaged files start what the bombs need too.
        await warm_up(server, ["files" if kind == "bombs" else kind for kind in chosen], options)
        probe = Probe(server.port, server.keys["alice"])
        await probe.start()
        try:
            began = monotonic()
            await asyncio.sleep(BRIEF_SECONDS if options.brief else QUIET_SECONDS)
            quiet = [latencies(probe.questions, kind, began, monotonic()) for kind in ("health", "token")]
            before = server.held()
            restarts = await server.worker_restarts()
            rounds = []
            for kind in chosen:
                rounds.append(await attack(server, kind, counts(options)[kind], options, probe))
                print(f"  {kind}: {rounds[-1].sent:,} in {rounds[-1].seconds:.0f} s", flush=True)
        finally:
            await probe.stop()
        leftovers = await look(server, before, restarts)
    return report(rounds, leftovers, quiet, options)


async def look(server: Server, before: Held, restarts: int) -> Leftovers:
    """What is left when the attackers have gone, and whether the server then ends properly."""
    await settle(server)
    after, is_idle = server.held(), await server.rest()
    restarted = await server.worker_restarts() - restarts
    files = server.left_files()
    code = await asyncio.to_thread(server.end)
    if server.traces():
        print(server.trace_excerpts(), flush=True)
    return Leftovers(before, after, files, server.traces(), restarted, is_idle, code)


def report(
    rounds: list[Round], leftovers: Leftovers, quiet: list[Latency], options: argparse.Namespace
) -> list[str]:
    """Print the table; the sentences about what fell."""
    print(verdict.table(rounds, *quiet))
    before, after = leftovers.before, leftovers.after
    print(
        f"* left: processes {before.processes} -> {after.processes}, open files {before.files} -> {after.files}, "
        f"memory {before.memory / 2**20:.0f} -> {after.memory / 2**20:.0f} MB, {len(leftovers.files)} temporary files, "
        f"{leftovers.traces} traces, {leftovers.worker_restarts} restarts of workers"
    )
    late = verdict.slow(rounds, quiet[1])
    for sentence in late:
        print(f"* slow: {sentence}")
    return verdict.failures(rounds, leftovers) + (late if options.strict else [])


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=10_000, help="mutated files")
    parser.add_argument(
        "--bombs", type=int, default=1000, help="files written by hand, at most; there are about 150"
    )
    parser.add_argument("--requests", type=int, default=40_000, help="HTTP requests")
    parser.add_argument("--frames", type=int, default=60_000, help="frames of WebSockets")
    parser.add_argument("--connections", type=int, default=2000, help="broken connections")
    parser.add_argument("--guesses", type=int, default=1000, help="wrong keys")
    parser.add_argument("--seconds", type=float, default=420.0, help="the longest that one kind may take")
    parser.add_argument("--kinds", default="", help=f"some of {','.join(KINDS)}")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--brief", action="store_true", help="with less of a warm-up and less waiting")
    parser.add_argument("--strict", action="store_true", help="judge the times too, on a quiet machine")
    parser.add_argument(
        "--python", default=sys.executable, help="the interpreter of the checkout to be attacked"
    )
    return parser.parse_args()


def main() -> None:
    os.nice(NICENESS)
    # asyncio warns of every write to a connection that the server has closed.
    logging.getLogger("asyncio").setLevel(logging.ERROR)
    found = asyncio.run(run(options()))
    if found:
        raise SystemExit("attack: " + "; ".join(found))
    print("attack: the server stood")


if __name__ == "__main__":
    main()
