"""The implementation of `duologue drain` and `duologue restart`: asks the running server, and tells how far it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TextIO
from urllib.parse import quote

import anyio

from duologue.cli.say import explained
from duologue.client.http import Client
from duologue.errors import Problem

View = dict[str, Any]
LOOK = 0.5
"""Seconds between two looks at the server."""


def drain(server: Client, workers: Sequence[str], *, undo: bool, wait: bool, asides: TextIO) -> None:
    """Begin or undo a drain of the server, or of these workers, and with `wait` return when nothing runs there. Raises Problem."""
    anyio.run(_drain, server, workers, undo, wait, _teller(asides))


def restart(server: Client, workers: Sequence[str], *, rolling: bool, wait: bool, asides: TextIO) -> None:
    """Restart all workers or these, and with `wait` return when that is done. Raises Problem, also where a worker did not come back."""
    anyio.run(_restart, server, workers, rolling, wait, _teller(asides))


def _teller(asides: TextIO) -> Callable[[str], None]:
    """Writes a line, unless it is the same as the last one."""
    last = ""

    def tell(line: str) -> None:
        nonlocal last
        if line != last:
            last = line
            print(line, file=asides, flush=True)

    return tell


async def _drain(
    server: Client, workers: Sequence[str], undo: bool, wait: bool, tell: Callable[[str], None]
) -> None:
    method = "DELETE" if undo else "POST"
    paths = [f"/api/admin/workers/{quote(name, safe='')}/drain" for name in workers] or ["/api/admin/drain"]
    async with explained(server), server as client:
        for path in paths:
            await client.api(method, path)
        if undo:
            tell("New work is taken again.")
            return
        while wait:
            running = await _running(client, workers)
            if not running:
                break
            tell(f"Still running: {running}.")
            await anyio.sleep(LOOK)
        what = " and ".join(workers) if workers else "The server"
        tell(f"{what} takes no new work{'' if not wait else ', and nothing runs any more'}.")


async def _running(client: Client, workers: Sequence[str]) -> int:
    if not workers:
        return int((await client.api("GET", "/api/admin/life"))["running"])
    rows = (await client.api("GET", "/workers"))["workers"]
    return sum(row["slots_busy"] + row["seats_busy"] for row in rows if row["worker_id"] in workers)


async def _restart(
    server: Client, workers: Sequence[str], rolling: bool, wait: bool, tell: Callable[[str], None]
) -> None:
    async with explained(server), server as client:
        if not rolling:
            names = workers or [row["worker_id"] for row in (await client.api("GET", "/workers"))["workers"]]
            for name in names:
                await client.api("POST", f"/api/admin/workers/{quote(name, safe='')}/restart")
            tell(f"Restarted: {', '.join(names) or 'no worker'}.")
            return
        body = {"workers": list(workers)} if workers else {}
        progress = (await client.api("POST", "/api/admin/restart", body))["restart"]
        while wait and progress["running"]:
            if progress["current"]:
                tell(f"{progress['current']} is being replaced; {len(progress['left'])} are left.")
            await anyio.sleep(LOOK)
            progress = (await client.api("GET", "/api/admin/life"))["restart"]
        if progress["problem"]:
            raise Problem(progress["problem"], code="restart_failed")
        tell(
            f"Replaced: {', '.join(progress['done']) or 'no worker'}."
            if wait
            else "The rolling restart has begun."
        )
