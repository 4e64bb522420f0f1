"""The command line: `main` collects the commands, each command is in a file of its own.

Here are the flags that several commands share.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Config = Annotated[
    Path | None,
    typer.Option(
        "--config", metavar="FILE", help="The settings file. Without it, duologue.yaml is searched for."
    ),
]
Data = Annotated[
    Path | None, typer.Option(metavar="FOLDER", help="The folder for everything the server writes.")
]
