"""Measure what the recording of a call costs: processor time of the gateway, and the bytes it leaves.

    python bench/bench_recording.py [--seconds 60]

Two servers with the scripted model and the bundled voice are called at the same time by the same caller, who speaks with espeak's
voice in real time; one call is recorded, the other is not. The difference between both gateways' processor time is the cost. Figures
for ten minutes are those of the measured call times their length: nothing in the recorder grows with the length of a call.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import httpx

from duologue.client.call import open_call
from duologue.client.http import Client
from duologue.values.audio import HEARD_RATE, SAMPLE_BYTES, SPOKEN_RATE
from duplex.crowd import clips
from duplex.server import Server, machine_load, serving
from duplex.sounds import Voices
from duplex.table import Row, printed

PAUSE = 4.0
"""Seconds the caller leaves for an answer."""
MINUTES = 10
ALONE = {"DUOLOGUE_SUPERVISE": "false"}
"""Without the parent that watches the gateway: the process is the gateway itself."""


@dataclass
class Caller:
    """What one call came to. Sounds in seconds of the call."""

    record: bool
    spoken: bytes
    messages: list[dict[str, Any]] = field(default_factory=list)
    cpu: float = 0.0
    """Processor seconds of the gateway."""
    heard: float = 0.0
    """Seconds of the assistant's sound."""
    late: float = 0.0
    at: int = 0

    def microphone(self, count: int) -> bytes:
        """The next samples of what is said, over and over."""
        start, size = self.at, count * SAMPLE_BYTES
        self.at = (start + size) % len(self.spoken)
        return (self.spoken[start:] + self.spoken)[:size]

    def listen(self, spoken: bytes, heard: bytes) -> None:
        if heard.strip(b"\0"):
            self.heard += len(heard) / SAMPLE_BYTES / SPOKEN_RATE

    async def call(self, server: Server, seconds: float) -> None:
        start = {"record": True} if self.record else {}
        async with Client(server.url) as client:
            before = gateway_seconds(server.process.pid)
            async with open_call(client, on_message=self.messages.append, start=start) as call:
                with anyio.move_on_after(seconds):
                    await call.run(self.microphone, self.listen)
                self.late = call.late
            # The end of the recording is part of its cost.
            await anyio.sleep(2.0)
            self.cpu = gateway_seconds(server.process.pid) - before


def gateway_seconds(process: int) -> float:
    """Processor seconds that this process took so far, without its children."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def rows(recorded: Caller, plain: Caller, row: dict[str, Any], seconds: float) -> Iterator[Row]:
    minutes = row["duration"] / 60_000
    extra = recorded.cpu - plain.cpu
    yield Row("call", "", f"{row['duration'] / 1000:.1f} s recorded, ended: {row['ended']}")
    yield Row(
        "the assistant's sound, recorded and not", "", f"{recorded.heard:.1f} s and {plain.heard:.1f} s"
    )
    yield Row(
        "the gateway's processor time, recorded and not", "", f"{recorded.cpu:.2f} s and {plain.cpu:.2f} s"
    )
    yield Row("cost of the recording", "", f"{extra / seconds:.1%} of a core")
    yield Row("its size", "", f"{row['size'] / 1000:.0f} kB, {row['size'] / 1000 / minutes:.0f} kB a minute")
    yield Row(
        f"extrapolated to {MINUTES} minutes",
        "",
        f"{row['size'] / 1e6 / minutes * MINUTES:.1f} MB, {extra / seconds * MINUTES * 60:.0f} s of a core",
    )
    yield Row("the callers behind their clock, at the worst", "", f"{max(recorded.late, plain.late):.2f} s")


async def measured(servers: tuple[Server, Server], seconds: float) -> tuple[Caller, Caller]:
    silence = bytes(round(PAUSE * HEARD_RATE) * SAMPLE_BYTES)
    spoken = b"".join(clip.sound.astype("<i2").tobytes() + silence for clip in await clips(Voices()))
    callers = Caller(True, spoken), Caller(False, spoken)
    async with anyio.create_task_group() as tasks:
        for caller, server in zip(callers, servers, strict=True):
            tasks.start_soon(caller.call, server, seconds)
    return callers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0, help="length of the calls")
    options = parser.parse_args()
    with serving("scripted", **ALONE) as recording, serving("scripted", **ALONE) as other:
        print(f"{machine_load()}\n")
        recorded, plain = anyio.run(measured, (recording, other), options.seconds)
        with httpx.Client(base_url=recording.url, timeout=30) as client:
            [row] = client.get("/api/recordings").json()["recordings"]
        printed(rows(recorded, plain, row, options.seconds))


if __name__ == "__main__":
    main()
