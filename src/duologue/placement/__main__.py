"""The placement process: `python -m duologue.placement`, started by the gateway.

Reads its options from the environment (PLACEMENT_OPTIONS), orders from standard input, and writes news to standard output; what Ray and its
processes print goes to standard error. It is a process of its own so that Ray's threads, signals and faults stay out of the gateway.
"""

from __future__ import annotations

import logging
import os
import signal
import sys
from collections.abc import AsyncIterator

import anyio
import anyio.to_thread
import msgspec

from duologue import telemetry
from duologue.placement.cluster import ClusterProblem
from duologue.placement.ray_cluster import RayCluster
from duologue.placement.service import PlacementService
from duologue.wire.machines.placement_protocol import (
    LINE_LIMIT,
    PLACEMENT_OPTIONS,
    ClusterOptions,
    Trouble,
    encode_line,
)

log = logging.getLogger("duologue.placement")


async def _lines(descriptor: int) -> AsyncIterator[bytes]:
    """The lines of the standard input, until it ends."""
    pending = b""
    while True:
        await anyio.wait_readable(descriptor)
        read = os.read(descriptor, 65536)
        if not read:
            return
        *lines, pending = (pending + read).split(b"\n")
        if len(pending) > LINE_LIMIT:
            log.error("an order has more than %d bytes", LINE_LIMIT)
            return
        for line in lines:
            yield line


async def _serve(options: ClusterOptions, output: int) -> int:
    async def write(line: bytes) -> None:
        left = memoryview(line)
        while left:
            await anyio.wait_writable(output)
            left = left[os.write(output, left) :]

    os.set_blocking(output, False)
    service = PlacementService(RayCluster(options), write)
    problem: ClusterProblem | None = None
    try:
        await service.run(_lines(sys.stdin.fileno()))
    except* ClusterProblem as group:
        problem = next(error for error in group.exceptions if isinstance(error, ClusterProblem))
    except* BrokenPipeError:
        pass  # the gateway is gone
    if problem is None:
        return 0
    log.error("%s", problem.message)
    with anyio.move_on_after(5):
        await write(encode_line(Trouble(problem.code, problem.message)))
    return 1


def main() -> int:
    options = msgspec.json.decode(os.environ.pop(PLACEMENT_OPTIONS), type=ClusterOptions)
    telemetry.set_up_logging(*options.log)  # type: ignore[arg-type]
    # Ray and its libraries print where they like; the lines of the protocol keep a descriptor of their own.
    output = os.dup(1)
    os.dup2(2, 1)
    # The gateway ends this process by closing its standard input; Ctrl-C of a terminal is the gateway's.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    return anyio.run(_serve, options, output)


if __name__ == "__main__":
    sys.exit(main())
