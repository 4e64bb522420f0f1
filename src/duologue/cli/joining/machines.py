"""`duologue machines`: the machines whose workers have joined a running server, with their devices and workers."""

from __future__ import annotations

from typing import Any

import typer

from duologue.cli import Config, voice

GIGA = 1e9


def machines(server: voice.Address = None, config: Config = None) -> None:
    """List the machines whose workers have joined.

    The key, which must be an admin's, is read from DUOLOGUE_KEY.
    """
    import anyio

    from duologue.cli.accounts.account_store import print_table
    from duologue.cli.say import explained

    client = voice.client(server, config)

    async def ask() -> dict[str, Any]:
        async with explained(client), client:
            answer: dict[str, Any] = await client.api("GET", "/api/machines")
            return answer

    told = anyio.run(ask)
    print_table(rows(told))
    for machine in told["machines"]:
        for device in machine["devices"]:
            print(f"{machine['machine']}: {device_line(device)}")
    if not told["join"]:
        typer.echo("Workers on other machines cannot join: machines.join is off.", err=True)


def rows(told: dict[str, Any]) -> list[tuple[str, ...]]:
    """The table of workers."""
    table: list[tuple[str, ...]] = [
        ("MACHINE", "WORKER", "STATE", "MODEL", "DEVICE", "SLOTS", "VERSION", "PROTOCOL", "NOTE")
    ]
    for machine in told["machines"]:
        for worker in machine["workers"]:
            shown = (machine["machine"] or "this one", worker["worker"], worker["state"], worker["model"])
            slots = f"{worker['busy']}/{worker['slots']}"
            table.append(
                (*shown, worker["device"], slots, worker["version"], str(worker["protocol"]), note(worker))
            )
    return table


def note(worker: dict[str, Any]) -> str:
    """What else there is to say about a worker."""
    if worker["lease_left"] is not None:
        return f"unreachable, given up in {worker['lease_left']:.0f} s"
    if worker["reach"] == "gone":
        return f"gone: {worker['detail']}"
    return "draining" if worker["draining"] else str(worker["detail"]) or "-"


def device_line(device: dict[str, Any]) -> str:
    """A device, with its memory where that is known."""
    free, of = (
        f"{device['free'] / GIGA:.1f}",
        f" of {device['memory'] / GIGA:.1f}" if device["memory"] else "",
    )
    memory = f", {free}{of} GB free" if device["free"] or device["memory"] else ""
    return f"{device['name']} {device['description']}".strip() + memory
