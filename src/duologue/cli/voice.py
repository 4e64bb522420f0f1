"""The flags of `duologue transcribe`, `duologue call` and `duologue clip`, and how commands find the running server.

Imported for every command, so each command imports its implementation only when it runs.
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
        metavar="URL",
        envvar="DUOLOGUE_SERVER",
        help="The server's address (by default the one in the settings).",
    ),
]
Language = Annotated[str, typer.Option(metavar="TAG", help="The spoken language, such as en or de.")]


def transcribe(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A recording: WAV, MP3, Ogg, MP4 and others.")],
    format: Annotated[
        str,
        typer.Option("--format", metavar="NAME", help="text, json, verbose_json (with times), srt or vtt."),
    ] = "text",
    language: Language = "",
    hint: Annotated[str, typer.Option(metavar="TEXT", help="Names and terms that are likely to occur.")] = "",
    server: Address = None,
    config: Config = None,
) -> None:
    """Transcribe a recording with the running server.

    The transcript goes to standard output. The key is read from DUOLOGUE_KEY.
    """
    from duologue.cli.transcribe import Recording, print_transcript

    print_transcript(Recording(file, format, language, hint), client(server, config), sys.stdout)


def call(
    model: Annotated[
        str, typer.Option(metavar="NAME", help="Which of its models answers (its default).")
    ] = "",
    voice: Annotated[
        str, typer.Option(metavar="NAME", help="Which of its voices speaks (its default).")
    ] = "",
    language: Language = "",
    conversation: Annotated[
        str, typer.Option(metavar="ID", help="Continue this conversation and add the call to it.")
    ] = "",
    server: Address = None,
    config: Config = None,
) -> None:
    """Talk to the running server by microphone and loudspeaker.

    Both sides are transcribed to standard output. A line typed during the call is sent as text, an empty line interrupts, Ctrl-C hangs up. Use headphones: a terminal has no echo cancellation. The key is read from DUOLOGUE_KEY.
    """
    from duologue.cli.call import Setup, run_call

    run_call(client(server, config), Setup(model, voice, language, conversation), sys.stdout, sys.stderr)


def clip(
    text: Annotated[
        list[str] | None, typer.Argument(metavar="TEXT", help="What is said; `-` reads standard input.")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The MP4 file to write.")] = Path("clip.mp4"),
    avatar: Annotated[
        str,
        typer.Option(metavar="ID", help="Who says it: a drawn face or one of yours (the first drawn face)."),
    ] = "",
    audio: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A recording to move the lips to, instead of a text.")
    ] = None,
    voice: Annotated[
        str, typer.Option(metavar="NAME", help="Which of its voices speaks (its default).")
    ] = "",
    speed: Annotated[float, typer.Option(metavar="N", help="1 is the voice's own speed.")] = 1.0,
    language: Language = "",
    server: Address = None,
    config: Config = None,
) -> None:
    """Make a video of a face that speaks, with the running server.

    The progress goes to standard error, Ctrl-C stops the work. Size and frames a second are those of the server (`video.size`, `video.rate`). The key is read from DUOLOGUE_KEY.
    """
    from duologue.cli.clip import ClipWish, make_clip
    from duologue.errors import BadRequest

    said = sys.stdin.read() if text == ["-"] else " ".join(text or ())
    if bool(said.strip()) == (audio is not None):
        raise BadRequest("Pass either a text to say or a recording with --audio.", param="text")
    wish = ClipWish(out, said, audio, avatar, voice, speed, language)
    make_clip(wish, client(server, config), sys.stderr)


def client(address: str | None, config: Path | None) -> Client:
    """A client of the server at `address`, or without one of the server the settings describe. The key is that of the
    environment or the settings."""
    from duologue.client.http import Client
    from duologue.config import load
    from duologue.gateway.tls import trusting

    settings = load(config, os.environ, {})
    return Client(address or own_address(settings), _own_key(settings), trusting(settings))


def own_address(settings: Settings) -> str:
    """The address under which this machine reaches the server of these settings."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(settings.host, settings.host)
    scheme = "https" if settings.tls.is_on else "http"
    name = f"[{host}]" if ":" in host else host
    return f"{scheme}://{name}:{settings.port}{settings.base_path}"


def _own_key(settings: Settings) -> str | None:
    from duologue.gateway.auth.keys import read_key

    return read_key(settings.key.get_secret_value() if settings.key else None, settings.key_file)
