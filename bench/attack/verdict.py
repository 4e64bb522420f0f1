"""Whether the server stood: the measured facts of a run in, the sentences about what fell out. Pure."""

from __future__ import annotations

from typing import NamedTuple

from attack.probe import Latency
from attack.processes import MEGABYTE, Held

FILES_MORE = 12
PROCESSES_MORE = 0
MEMORY_MORE = 96 * MEGABYTE
"""What the processes may hold in the end beyond what they held after the warm-up."""
GATEWAY_BYTES = 600 * MEGABYTE
HEALTH_SECONDS = 0.5
TOKEN_RATIO = 2.0


class Round(NamedTuple):
    """One kind of attack: how much was sent, in how many seconds, what others felt, the peaks, what was answered."""

    kind: str
    sent: int
    seconds: float
    health: Latency
    token: Latency
    gateway: int
    worker: int
    child: int
    gone: bool
    faults: int
    answers: str


class Leftovers(NamedTuple):
    """What is left when all is over."""

    before: Held
    after: Held
    files: list[str]
    traces: int
    worker_restarts: int
    is_idle: bool
    exit_code: int | None


def failures(rounds: list[Round], leftovers: Leftovers) -> list[str]:
    """What went wrong, a sentence each; nothing if the server stood. Times are not judged here."""
    found = [f"the gateway was gone during {each.kind}" for each in rounds if each.gone]
    found += [f"{each.faults} answers during {each.kind} should not be" for each in rounds if each.faults]
    found += [
        f"the gateway took {each.gateway / MEGABYTE:.0f} MB during {each.kind}"
        for each in rounds
        if each.gateway > GATEWAY_BYTES
    ]
    if leftovers.traces:
        found.append(f"the log has {leftovers.traces} traces")
    if leftovers.worker_restarts:
        found.append(f"workers were restarted {leftovers.worker_restarts} times")
    if not leftovers.is_idle:
        found.append("the server did not become idle")
    if leftovers.files:
        found.append(f"files were left: {', '.join(leftovers.files[:5])}")
    before, after = leftovers.before, leftovers.after
    if after.processes > before.processes + PROCESSES_MORE:
        found.append(f"processes were left: {before.processes} -> {after.processes}")
    if after.files > before.files + FILES_MORE:
        found.append(f"open files were left: {before.files} -> {after.files}")
    if after.memory > before.memory + MEMORY_MORE:
        more = (after.memory - before.memory) / MEGABYTE
        found.append(f"{more:.0f} MB of memory were not given back")
    if leftovers.exit_code != 0:
        found.append(f"the server did not end properly: {leftovers.exit_code}")
    return found


def slow(rounds: list[Round], quiet: Latency) -> list[str]:
    """Where others waited longer than they should, a sentence each; meaningful on a quiet machine only."""
    found = []
    for each in rounds:
        if each.health.unanswered or each.health.slowest > HEALTH_SECONDS:
            found.append(f"/health took {each.health.slowest * 1000:.0f} ms during {each.kind}")
        if each.token.unanswered or each.token.median > TOKEN_RATIO * quiet.median:
            found.append(
                f"the first token took {each.token.median * 1000:.0f} ms during {each.kind}, "
                f"{quiet.median * 1000:.0f} before"
            )
    return found


def table(rounds: list[Round], quiet_health: Latency, quiet_token: Latency) -> str:
    """One row for each kind, and one for the quiet phase; milliseconds and megabytes."""
    lines = [
        "| attack | sent | seconds | /health median, slowest | first token median, slowest | gateway, worker, decoder MB |",
        "|---|---|---|---|---|---|",
        f"| (quiet) | | | {_times(quiet_health)} | {_times(quiet_token)} | |",
    ]
    for each in rounds:
        peaks = ", ".join(f"{size / MEGABYTE:.0f}" for size in (each.gateway, each.worker, each.child))
        lines.append(
            f"| {each.kind} | {each.sent:,} | {each.seconds:.0f} | {_times(each.health)} | {_times(each.token)} | {peaks} |"
        )
    return "\n".join([*lines, "", *(f"* answers during {each.kind}: {each.answers}" for each in rounds)])


def _times(latency: Latency) -> str:
    unanswered = f" ({latency.unanswered} of {latency.asked} unanswered)" if latency.unanswered else ""
    return f"{latency.median * 1000:.0f}, {latency.slowest * 1000:.0f}{unanswered}"
