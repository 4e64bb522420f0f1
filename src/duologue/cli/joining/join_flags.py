"""The flags of `duologue worker`.

Imported for every command, so the command imports its implementation only when it runs.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from duologue.cli import (
    Config,
    Context,
    Copies,
    Data,
    DeviceName,
    GpuLayers,
    LogFormat,
    LogLevel,
    Model,
    Slots,
    Threads,
)

Text = str | None
Join = Annotated[
    str, typer.Option(metavar="URL", help="The address of the server to join, such as https://gateway:8006.")
]
Key = Annotated[
    Text,
    typer.Option(
        metavar="KEY",
        help="A key of the role worker. Other users of this machine can see flags; prefer --key-file or DUOLOGUE_JOIN_KEY.",
    ),
]
KeyFile = Annotated[Path | None, typer.Option(metavar="FILE", help="File with that key.")]
Fingerprints = Annotated[
    list[str] | None,
    typer.Option(
        metavar="SHA256",
        help="The fingerprint of the server's own certificate or authority, which is then the only one trusted; may be repeated.",
    ),
]
ServedName = Annotated[
    Text,
    typer.Option(
        metavar="NAME", help="Serve this model of the server; its files are downloaded from there once."
    ),
]
Voice = Annotated[bool, typer.Option("--voice", help="Serve the voice of this machine instead of a model.")]
Name = Annotated[Text, typer.Option(metavar="NAME", help="The worker's name on its machine (worker_0).")]
Machine = Annotated[Text, typer.Option(metavar="NAME", help="The machine's name (its host name).")]
Projector = Annotated[
    Text, typer.Option(metavar="FILE", help="The projector with which the model sees or hears.")
]
Upstream = Annotated[
    Text, typer.Option(metavar="URL", help="Serve the models of this OpenAI-compatible server instead.")
]
Engine = Annotated[Text, typer.Option(metavar="NAME", help="The engine, as for `duologue serve`.")]
InsecureHttp = Annotated[
    bool, typer.Option("--insecure-http", help="Allow plain HTTP to a server on another machine.")
]


def worker(
    join: Join,
    key: Key = None,
    key_file: KeyFile = None,
    fingerprint: Fingerprints = None,
    serve: ServedName = None,
    voice: Voice = False,
    name: Name = None,
    machine: Machine = None,
    model: Model = None,
    mmproj: Projector = None,
    upstream: Upstream = None,
    engine: Engine = None,
    slots: Slots = None,
    context: Context = None,
    threads: Threads = None,
    gpu_layers: GpuLayers = None,
    device: DeviceName = None,
    copies: Copies = None,
    insecure_http: InsecureHttp = False,
    data: Data = None,
    config: Config = None,
    log_level: LogLevel = None,
    log_format: LogFormat = None,
) -> None:
    """Join a server on another machine with a model of this one.

    Starts the workers that the settings of this machine describe. They connect to the server, so this machine opens no port, and reconnect when a connection breaks. When this command is stopped, running replies may finish first.
    """
    from duologue.cli.joining.join_command import JoinFlags
    from duologue.cli.joining.join_command import join as run

    settings = {
        "model": model,
        "mmproj": mmproj,
        "upstream.url": upstream,
        "engine": engine,
        "slots": slots,
        "context": context,
        "threads": threads,
        "gpu_layers": gpu_layers,
        "device": device,
        "copies": copies,
        "data": data,
        "log.level": log_level,
        "log.format": log_format,
    }
    flags = JoinFlags(
        url=join,
        key=key or "",
        key_file=key_file,
        fingerprints=tuple(fingerprint or ()),
        insecure_http=insecure_http,
        serve=serve or "",
        voice=voice,
        name=name or "",
        machine=machine or "",
        config=config,
        settings=settings,
    )
    code = run(flags, os.environ, sys.stderr)
    if code:
        raise typer.Exit(code)
