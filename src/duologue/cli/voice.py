"""The commands for the voice, `duologue listen` and `duologue call`, and how any command finds the running server. Thin, as
`cli` is, and imported as cheaply.

Owns their flags. Each command imports what it needs when it runs.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from duologue.cli import Config

if TYPE_CHECKING:
    from duologue.client.http import Client
    from duologue.config import Settings

Address = Annotated[
    str | None,
    typer.Option(
        metavar="URL", envvar="DUOLOGUE_SERVER", help="The server's address (the one of the settings)."
    ),
]
Language = Annotated[str, typer.Option(metavar="TAG", help="The language that is spoken, such as en or de.")]


def listen(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A recording: WAV, MP3, Ogg, MP4 and others.")],
    format: Annotated[
        str,
        typer.Option("--format", metavar="NAME", help="text, json, verbose_json (with times), srt or vtt."),
    ] = "text",
    language: Language = "",
    hint: Annotated[str, typer.Option(metavar="TEXT", help="Names and terms that may well occur.")] = "",
    server: Address = None,
    config: Config = None,
) -> None:
    """Write down a recording.

    The running server does it; the transcript goes to the output. The key comes from DUOLOGUE_KEY.
    """
    from duologue.cli.transcribe import Recording
    from duologue.cli.transcribe import listen as run

    run(Recording(file, format, language, hint), client(server, config), sys.stdout)


def call(
    model: Annotated[
        str, typer.Option(metavar="NAME", help="Which of its models answers (its default).")
    ] = "",
    voice: Annotated[
        str, typer.Option(metavar="NAME", help="Which of its voices speaks (its default).")
    ] = "",
    language: Language = "",
    conversation: Annotated[
        str, typer.Option(metavar="ID", help="Go on with this conversation, and keep in it what is said.")
    ] = "",
    server: Address = None,
    config: Config = None,
) -> None:
    """Talk to the running server by microphone and loudspeaker.

    What both sides say is written to the output. A line typed meanwhile is said too, an empty one interrupts, Ctrl-C hangs up. Use headphones: a terminal does not take the reply out of what the microphone hears. The key comes from DUOLOGUE_KEY.
    """
    from duologue.cli.call import Setup, phone

    phone(client(server, config), Setup(model, voice, language, conversation), sys.stdout, sys.stderr)


def client(address: str | None, config: Path | None) -> Client:
    """The server that is meant, the settings' own without an address, with the key of the environment or the settings."""
    from duologue.client.http import Client
    from duologue.config import load
    from duologue.gateway.tls import trusting

    settings = load(config, os.environ, {})
    return Client(address or _own_address(settings), _own_key(settings), trusting(settings))


def _own_address(settings: Settings) -> str:
    """Where the server of these settings is reached from this machine."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(settings.host, settings.host)
    from duologue.gateway.tls import is_on

    scheme = "https" if is_on(settings.tls) else "http"
    name = f"[{host}]" if ":" in host else host
    return f"{scheme}://{name}:{settings.port}{settings.base_path}"


def _own_key(settings: Settings) -> str | None:
    from duologue.gateway.auth.keys import read_key

    return read_key(settings.key.get_secret_value() if settings.key else None, settings.key_file)
