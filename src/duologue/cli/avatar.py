"""`duologue avatar`: what can be made ahead for the faces of a server.

Imported for every command, so the command imports its implementation only when it runs.
"""

from __future__ import annotations

import os
import sys
from typing import Annotated

import typer

from duologue.cli import Config, Data, voice

avatars = typer.Typer(
    name="avatar",
    help="Render clips for faces ahead.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@avatars.callback()
def _group() -> None:
    """Without it, a single command would have no name of its own."""


@avatars.command()
def render(
    face: Annotated[
        str,
        typer.Argument(metavar="ID", help="A face of the server that is a picture: its id in /api/avatars."),
    ],
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="A folder of diffusers with Wan 2.2, or its name in the folder of models (Wan2.2-TI2V-5B-Diffusers).",
        ),
    ] = "",
    gguf: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="A GGUF file in place of the model's transformer; of a model with two, twice: that for high noise first.",
        ),
    ] = None,
    seconds: Annotated[float, typer.Option(metavar="N", help="Length of the clip, 0.5 to 10 seconds.")] = 5.0,
    prompt: Annotated[
        str, typer.Option(metavar="TEXT", help="What is seen in the clip (a person who listens calmly).")
    ] = "",
    seed: Annotated[int, typer.Option(metavar="N", help="Another number makes another clip.")] = 0,
    size: Annotated[int, typer.Option(metavar="N", help="Pixels of the longer side.")] = 832,
    steps: Annotated[
        int | None,
        typer.Option(metavar="N", help="Steps of the noise schedule (40 or 50; 4 with a LoRA for it)."),
    ] = None,
    guidance: Annotated[
        float | None,
        typer.Option(
            metavar="N", help="How closely the prompt is followed (3.5 or 5; 1 with a LoRA for few steps)."
        ),
    ] = None,
    loras: Annotated[
        bool, typer.Option("--loras/--no-loras", help="Use the LoRAs of the setting video.loras.")
    ] = True,
    offload: Annotated[
        bool,
        typer.Option("--offload/--no-offload", help="Keep parts that do not compute in main memory."),
    ] = True,
    server: voice.Address = None,
    config: Config = None,
    data: Data = None,
) -> None:
    """Render the clip in which a face idles, with Wan 2.2.

    Run it on the server's own machine: the clip is stored in the server's data folder, where the engine musetalk finds it when it next prepares the face. It takes minutes on a large graphics card. Ctrl-C stops it. The key is read from DUOLOGUE_KEY.
    """
    from duologue.cli.render_clip import Order, render_clip
    from duologue.config import load

    order = Order(face, seconds, prompt, seed, loras)
    chosen = {
        "model": model,
        "gguf": gguf,
        "size": size,
        "steps": steps,
        "guidance": guidance,
        "offload": offload,
    }
    settings = load(config, os.environ, {"data": data})
    render_clip(order, chosen, settings, voice.client(server, config), sys.stderr)
