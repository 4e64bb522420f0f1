"""The flags of `duologue models` and `duologue setup`.

Imported for every command, so each command imports its implementation only when it runs.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from duologue.cli import Config, Data
from duologue.cli.accounts.account_store import RecordedAct, record

if TYPE_CHECKING:
    from duologue.config import Settings

models = typer.Typer(
    name="models",
    help="List, download and remove models.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@models.command("list")
def list_(
    available: Annotated[
        bool,
        typer.Option("--available", help="Models worth downloading, and which of them fit this machine."),
    ] = False,
    config: Config = None,
    data: Data = None,
) -> None:
    """List the models on this machine, or with --available those you can download."""
    from duologue.cli import model_commands

    settings = _settings(config, data)
    print(model_commands.available_models(settings) if available else model_commands.local_models(settings))


@models.command()
def pull(
    model: Annotated[
        str,
        typer.Argument(
            metavar="NAME|OWNER/REPOSITORY[:FILE]|URL",
            help="A name from `list --available`, a Hugging Face repository (optionally with a file or a quantisation "
            "such as Q4_K_M after a colon), or the URL of a .gguf file.",
        ),
    ],
    config: Config = None,
    data: Data = None,
) -> None:
    """Download a model, resuming an unfinished download. HF_TOKEN and HF_ENDPOINT are respected."""
    from duologue.cli import model_commands

    settings = _settings(config, data)
    pulled = model_commands.fetch(model, settings, sys.stdout, sys.stderr)
    record(settings, RecordedAct("model.download", pulled.name))
    print(f"Start with it: duologue serve --model {pulled.name}")


@models.command()
def rm(
    model: Annotated[str, typer.Argument(metavar="NAME", help="The model's name, as shown by `list`.")],
    config: Config = None,
    data: Data = None,
) -> None:
    """Remove a downloaded model or an unfinished download."""
    from duologue.cli import model_commands

    settings = _settings(config, data)
    print(model_commands.remove(model, settings))
    record(settings, RecordedAct("model.delete", model))


def setup(
    what: Annotated[
        str, typer.Argument(metavar="[model|voice]", help="What to set up: a model, or a voice pack.")
    ] = "model",
    model: Annotated[
        str | None, typer.Option(metavar="MODEL", help="The model to download, named as for `models pull`.")
    ] = None,
    pack: Annotated[
        str | None, typer.Option(metavar="NAME", help="The voice pack to use, with `setup voice`.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Accept the proposal without asking.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be done.")] = False,
    config: Config = None,
    data: Data = None,
) -> None:
    """Find, download and set a model, or with `voice` a voice."""
    if what == "voice":
        _setup_voice(_settings(config, data), pack or "", yes=yes, dry_run=dry_run)
        return
    if what != "model":
        raise typer.BadParameter(f"{what!r} cannot be set up: model or voice.")
    from duologue.cli.setup import SettingLocation, SetupOptions, Terminal, set_up
    from duologue.config import find_file

    settings = _settings(config, data)
    location = SettingLocation(find_file(config, os.environ, data), os.environ)
    ask = input if sys.stdin.isatty() and sys.stdout.isatty() else None
    set_up(
        settings,
        location,
        SetupOptions(model=model or "", yes=yes, dry_run=dry_run),
        Terminal(sys.stdout, sys.stderr, ask),
    )


def _setup_voice(settings: Settings, pack: str, *, yes: bool, dry_run: bool) -> None:
    from duologue.cli.setup import Terminal
    from duologue.cli.setup_voice import VoiceSetupOptions, set_up_voice

    ask = input if sys.stdin.isatty() and sys.stdout.isatty() else None
    language = os.environ.get("LC_ALL") or os.environ.get("LANG") or ""
    set_up_voice(
        settings,
        VoiceSetupOptions(pack, yes, dry_run),
        Terminal(sys.stdout, sys.stderr, ask),
        language.partition(".")[0].replace("_", "-"),
    )


def _settings(config: Path | None, data: Path | None) -> Settings:
    from duologue.config import load

    return load(config, os.environ, {"data": data})
