"""The commands for models, `duologue models` and `duologue setup`. Thin, as `cli` is, and imported as cheaply.

Owns their flags. Each command imports what it needs when it runs.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from duologue.cli import Config, Data

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
        bool, typer.Option("--available", help="Those worth downloading, and which fit here.")
    ] = False,
    config: Config = None,
    data: Data = None,
) -> None:
    """List the models that are here. With --available those that could be."""
    from duologue.cli import model_commands

    settings = _settings(config, data)
    print(model_commands.offered(settings) if available else model_commands.listed(settings))


@models.command()
def pull(
    model: Annotated[
        str,
        typer.Argument(
            metavar="NAME|OWNER/REPOSITORY[:FILE]|URL",
            help="A name from `list --available`, a repository of Hugging Face (with a file or a quantisation "
            "such as Q4_K_M behind a colon), or the address of a .gguf file.",
        ),
    ],
    config: Config = None,
    data: Data = None,
) -> None:
    """Download a model. What an earlier try left is used; HF_TOKEN and HF_ENDPOINT are understood."""
    from duologue.cli import model_commands

    pulled = model_commands.fetch(model, _settings(config, data), sys.stdout, sys.stderr)
    print(f"Start with it: duologue serve --model {pulled.name}")


@models.command()
def rm(
    model: Annotated[str, typer.Argument(metavar="NAME", help="The model's name, as `list` has it.")],
    config: Config = None,
    data: Data = None,
) -> None:
    """Remove a downloaded model. An unfinished download goes by its name too."""
    from duologue.cli import model_commands

    print(model_commands.drop(model, _settings(config, data)))


def setup(
    model: Annotated[
        str | None, typer.Option(metavar="MODEL", help="This model, by any name that `models pull` takes.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Ask nothing; take what is proposed.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only look and say; download and change nothing.")
    ] = False,
    config: Config = None,
    data: Data = None,
) -> None:
    """Find a model that fits this machine. It is downloaded and, if you like, answers from the next start on."""
    from duologue.cli.setup import SettingLocation, Talk, Wish, set_up
    from duologue.config import find_file

    settings = _settings(config, data)
    place = SettingLocation(find_file(config, os.environ, data), os.environ)
    ask = input if sys.stdin.isatty() and sys.stdout.isatty() else None
    set_up(
        settings,
        place,
        Wish(model=model or "", yes=yes, dry_run=dry_run),
        Talk(sys.stdout, sys.stderr, ask),
    )


def _settings(config: Path | None, data: Path | None) -> Settings:
    from duologue.config import load

    return load(config, os.environ, {"data": data})
