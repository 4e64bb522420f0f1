"""Measure the timing of a call: turns, pauses, interruptions and false alarms, with callers over the real socket.

    python bench/bench_duplex.py [--only NAME] [--save FOLDER] [--quick] [--histories 200] [--cancels 1000]
    python bench/bench_duplex.py --people FOLDER

Synthetic callers (espeak) perform the scenarios of bench/duplex/scenarios in real time against a server of this checkout; both
sides are recorded on one clock and scored by arithmetic. The histories and the cancels run by the hundred in process, on a
faster clock. `--people` plays recordings of people (recogniser/recordings.py) to the recogniser as it comes; without it, the
recogniser is adapted to espeak, unless `--as-it-comes`. Figures are only meaningful on an otherwise idle machine: its load is printed.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import anyio

from duologue.client.http import Client
from duplex import counts, table
from duplex.caller import perform
from duplex.people import People
from duplex.recording import Recording
from duplex.scenario import Scenario, read
from duplex.server import ARGUMENTS, HEARS_ESPEAK, HEARS_PEOPLE, Server, machine_load, serving
from duplex.sounds import Voices


async def recorded(
    server: Server, scenarios: list[Scenario], voices: Voices, folder: Path | None
) -> list[Recording]:
    """These scenarios, one after the other."""
    recordings = []
    for number, scenario in enumerate(each for each in scenarios for _ in range(each.times)):
        async with Client(server.url) as client:
            recording = await perform(client, scenario, voices)
        recordings.append(recording)
        print(
            f"  {scenario.name}: {recording.seconds:.1f} s {recording.problem}", file=sys.stderr, flush=True
        )
        if folder is not None:
            recording.save(folder / f"{number:03} {scenario.name.replace('/', ' ')[:80]}.wav")
    return recordings


async def spoken(
    scenarios: list[Scenario], voices: Voices, folder: Path | None, environment: dict[str, str]
) -> table.Figures:
    """Everything that is measured at the pace of time."""
    figures = table.Figures()
    for kind in ARGUMENTS:
        if chosen := [each for each in scenarios if each.server == kind]:
            with serving(kind, "--log-level", "info", **environment) as server:
                for recording in await recorded(server, chosen, voices, folder):
                    figures.add(recording)
    return figures


async def run(options: argparse.Namespace) -> bool:
    voices = People(options.people) if options.people else Voices()
    scenarios = voices.scenarios() if isinstance(voices, People) else read()
    scenarios = [each for each in scenarios if not options.only or each.name.startswith(options.only)]
    if options.quick:
        # One of each file: whether everything still works, and no figures.
        scenarios = list({each.name.split()[0]: each for each in reversed(scenarios)}.values())
    began, load = time.monotonic(), machine_load()
    rows: list[table.Row] = []
    if scenarios:
        hears = HEARS_PEOPLE if options.people or options.as_it_comes else HEARS_ESPEAK
        figures = await spoken(scenarios, voices, options.save, hears)
        rows += table.rows(figures)
        rows.append(table.Row("callers behind their own clock", "", f"{figures.late * 1000:.0f} ms worst"))
        rows += [table.Row("a call broke", "", problem, reached=False) for problem in figures.problems]
    if not options.only and not options.people:
        rows.append(
            table.counted(
                "history equals the words heard, in process", await counts.histories(options.histories)
            )
        )
        rows.append(
            table.counted("nothing stale after a cancel, in process", await counts.cancels(options.cancels))
        )
    print(f"\n{time.monotonic() - began:.0f} s; before: {load}; after: {machine_load()}\n")
    return table.printed(rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="scenarios whose name begins like this, and no counts")
    parser.add_argument(
        "--people", type=Path, metavar="FOLDER", help="recordings of people instead of espeak"
    )
    parser.add_argument("--as-it-comes", action="store_true", help="espeak, but no adaptation to it")
    parser.add_argument("--save", type=Path, help="keep every recording here, as stereo WAV")
    parser.add_argument("--quick", action="store_true", help="one scenario of each file")
    parser.add_argument("--histories", type=int, default=200)
    parser.add_argument("--cancels", type=int, default=1000)
    options = parser.parse_args()
    if options.save is not None:
        options.save.mkdir(parents=True, exist_ok=True)
    raise SystemExit(0 if anyio.run(run, options) else 1)


if __name__ == "__main__":
    main()
