"""The flags of `duologue drain` and `duologue restart`.

Imported for every command, so each command imports its implementation only when it runs.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from duologue.cli import Config, voice

Worker = Annotated[
    list[str] | None,
    typer.Option("--worker", metavar="NAME", help="Only this worker, as in /workers; may be repeated."),
]
NoWait = Annotated[bool, typer.Option("--no-wait", help="Return at once instead of waiting for the end.")]


def drain(
    worker: Worker = None,
    undo: Annotated[bool, typer.Option("--undo", help="Take new work again.")] = False,
    no_wait: NoWait = False,
    server: voice.Address = None,
    config: Config = None,
) -> None:
    """Let the running server, or one worker, take no new work.

    What runs goes on; the command returns when it has ended. The server stays up: stop it then, or take work again with --undo. The key, which must be an admin's, is read from DUOLOGUE_KEY.
    """
    from duologue.cli.life.commands import drain as begin

    begin(voice.client(server, config), tuple(worker or ()), undo=undo, wait=not no_wait, asides=sys.stderr)


def restart(
    rolling: Annotated[
        bool,
        typer.Option(
            "--rolling/--at-once", help="One worker after another without cutting a reply, or all at once."
        ),
    ] = True,
    worker: Worker = None,
    no_wait: NoWait = False,
    server: voice.Address = None,
    config: Config = None,
) -> None:
    """Restart the workers of the running server.

    With --rolling each is replaced in turn: where memory permits, the new one is ready before the old one goes. The key, which must be an admin's, is read from DUOLOGUE_KEY.
    """
    from duologue.cli.life.commands import restart as begin

    begin(
        voice.client(server, config),
        tuple(worker or ()),
        rolling=rolling,
        wait=not no_wait,
        asides=sys.stderr,
    )
