"""Measure each attack that once succeeded on a server of its own: what others felt, peak memory, what the sender was answered.

    PYTHONPATH=bench python -m attack.before_after [--python INTERPRETER] [--only TEXT] [--seconds 70]

Prints one row of a table for each. With `--python` of another checkout the same is measured there.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
from time import monotonic

from attack.answer_counts import AnswerCounts
from attack.findings import FINDINGS, Attack, Finding
from attack.probe import Latency, Probe, latencies
from attack.processes import MEGABYTE, Watch
from attack.server import PEOPLE, Server, serving

QUIET_SECONDS = 3.0
AFTER_SECONDS = 3.0
LONG_SECONDS = {"5": 80.0, "10": 32.0, "13": 90.0}


def milliseconds(latency: Latency, *, of: float | None = None) -> str:
    """The slowest answer, or that none came."""
    if not latency.asked:
        return "none"
    value = latency.slowest if of is None else of
    note = f", {latency.unanswered} of {latency.asked} unanswered" if latency.unanswered else ""
    return (f"{value * 1000:.0f} ms" if value < 10 else f"{value:.0f} s") + note


async def measure(server: Server, finding: Finding, seconds: float) -> str:
    """The row of one finding."""
    answers = AnswerCounts()
    probe = Probe(server.port, server.keys["alice"], model=finding.model)
    await probe.start()
    watch = Watch(server.process.pid, server.port, await server.workers())
    await asyncio.sleep(QUIET_SECONDS)
    attacked, ended = monotonic(), ""
    try:
        async with asyncio.timeout(LONG_SECONDS.get(finding.number, seconds)):
            await finding.attack(Attack(server, answers))
    except TimeoutError:
        ended = "no end"
    except Exception as error:  # noqa: BLE001
        # The server may be gone, which is what is to be measured.
        ended = f"{type(error).__name__}: {error}"
    took = monotonic() - attacked
    await asyncio.sleep(AFTER_SECONDS)
    watch.stop()
    await probe.stop()
    now = monotonic()
    quiet = [
        latencies(probe.questions, kind, attacked - QUIET_SECONDS + 1, attacked - 0.3)
        for kind in ("health", "token")
    ]
    felt = [latencies(probe.questions, kind, attacked - 0.1, now) for kind in ("health", "token")]
    fell = f"gone after {watch.gone_after - QUIET_SECONDS:.1f} s" if watch.gone_after is not None else "stays"
    peaks = [watch.peak_gateway, watch.peak_worker, watch.peak_child]
    cells = [
        finding.number, finding.name, fell, milliseconds(felt[0]), milliseconds(quiet[1], of=quiet[1].median),
        milliseconds(felt[1]), *(f"{peak / MEGABYTE:.0f}" for peak in peaks), f"{took:.1f} s {ended}".strip(),
        f"{server.traces()}", answers.summary(),
    ]  # fmt: skip
    return "| " + " | ".join(cells) + " |"


async def main(options: argparse.Namespace) -> None:
    print(
        "| | attack | gateway | slowest /health | first token before | slowest first token | gateway MB | worker MB | decoder MB | took | traces | answer |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    for finding in FINDINGS:
        if options.only and options.only not in f"{finding.number} {finding.name}":
            continue
        with contextlib.suppress(SystemExit) if not options.only else contextlib.nullcontext():
            async with serving(
                *finding.arguments,
                python=options.python,
                files=finding.files,
                settings=finding.settings,
                people=PEOPLE[:3],
            ) as server:
                print(await measure(server, finding, options.seconds), flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--python", default=sys.executable, help="the interpreter of the checkout to be measured"
    )
    parser.add_argument("--only", default="", help="findings whose number and name have this text")
    parser.add_argument("--seconds", type=float, default=70.0, help="how long one attack may take")
    asyncio.run(main(parser.parse_args()))
