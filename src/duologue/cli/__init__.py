"""The flags that more than one file of commands has, so that they are called and explained alike everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Config = Annotated[
    Path | None,
    typer.Option("--config", metavar="FILE", help="The settings file; else duologue.yaml is searched."),
]
Data = Annotated[Path | None, typer.Option(metavar="FOLDER", help="Folder for everything the server writes.")]
