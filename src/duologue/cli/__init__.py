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
Model = Annotated[
    str | None, typer.Option(metavar="FILE", help="A GGUF file, or the name of a model in the data folder.")
]
Slots = Annotated[int | None, typer.Option(metavar="N", help="Replies generated at the same time.")]
Context = Annotated[int | None, typer.Option(metavar="N", help="Context size of one chat, in tokens.")]
Threads = Annotated[int | None, typer.Option(metavar="N", help="Number of threads the engine uses.")]
GpuLayers = Annotated[
    int | None, typer.Option(metavar="N", help="Layers of the model to run on the GPU; -1 for all.")
]
DeviceName = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The device of the model: auto, cpu, or a card such as cuda:1."),
]
Copies = Annotated[
    str | None, typer.Option(metavar="N|all", help="Workers with the same model; all: one for each card.")
]
LogLevel = Annotated[str | None, typer.Option(metavar="LEVEL", help="debug, info, warning or error.")]
LogFormat = Annotated[
    str | None, typer.Option(metavar="FORMAT", help="text, or json for one object per line.")
]
