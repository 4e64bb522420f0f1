"""The entry point of the command line, and the commands `serve`, `say`, `parse`, `doctor` and `health`.

Each command reads its flags, then imports and calls the code that does the work, so that `duologue --help` stays fast. A
`Problem` becomes one sentence on the error stream and exit code 1.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from duologue import __version__
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
    avatar,
    backup,
    keys,
    models,
)
from duologue.cli import voice as voice_commands
from duologue.cli.accounts import audit, users
from duologue.cli.files import storage
from duologue.cli.joining import join_flags, machines
from duologue.cli.life import flags as life
from duologue.cli.usage import key_commands, usage_command
from duologue.errors import BadRequest, Problem

if TYPE_CHECKING:
    from duologue.config import Settings
    from duologue.engines.hardware import HardwareProbe
    from duologue.models.fit import Hardware
    from duologue.models.placement import Card
    from duologue.supervisor.link import SupervisorLink

app = typer.Typer(
    name="duologue",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def main() -> None:
    """The entry point of the program."""
    try:
        app()
    except Problem as problem:
        print(f"duologue: {problem.message}", file=sys.stderr)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)
    except BrokenPipeError:
        # The reader of our output has closed it. Without this, the interpreter fails once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _show_version(requested: bool) -> None:
    if requested:
        print(f"duologue {__version__}")
        raise typer.Exit


@app.callback()
def duologue(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    """Duologue: a self-hosted server you can talk to, with any model."""


Host = Annotated[
    str | None,
    typer.Option(metavar="ADDRESS", help="Address to listen on (127.0.0.1); any other needs a key."),
]
Port = Annotated[int | None, typer.Option(metavar="N", help="Port to listen on (8006).")]
Projector = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="The projector (mmproj) with which the model sees or hears, or none (the one beside the model).",
    ),
]
KeyFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="File with the key that every request must send.")
]

Aliases = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME=MODEL", help="Another name of a model; * in NAME is any characters; may be repeated."
    ),
]
HostNames = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="Another host name of this server; may be repeated."),
]
Origins = Annotated[
    list[str] | None,
    typer.Option(
        metavar="ORIGIN", help="Another web origin whose pages may use this server; may be repeated."
    ),
]
BasePath = Annotated[
    str | None, typer.Option(metavar="PATH", help="Serve everything under this path, such as /talk.")
]
ProxyAddresses = Annotated[
    list[str] | None,
    typer.Option(metavar="ADDRESS", help="A proxy whose X-Forwarded headers are trusted; may be repeated."),
]

NoSupervise = Annotated[
    bool,
    typer.Option(
        "--no-supervise",
        help="Do not restart the gateway when it crashes: systemd or a container does.",
    ),
]

Upstreams = Annotated[
    list[str] | None,
    typer.Option(
        metavar="URL",
        help="Forward to this OpenAI-compatible server instead; may be repeated for servers with the same model.",
    ),
]
UpstreamKey = Annotated[
    str | None,
    typer.Option(
        metavar="KEY",
        help="The upstream's key. Other users of this machine can see flags; prefer DUOLOGUE_UPSTREAM__KEY.",
    ),
]
UpstreamModel = Annotated[
    str | None, typer.Option(metavar="NAME", help="Which of its models to use (the first).")
]
Engine = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="llama, transformers (extra transformers), remote, minicpmo, qwen_omni (extra omni) or scripted, instead of choosing one "
        "automatically.",
    ),
]

InsecureHttp = Annotated[
    bool, typer.Option("--insecure-http", help="Allow plain HTTP on an address other machines can reach.")
]
Tls = Annotated[
    bool, typer.Option("--tls", help="Serve HTTPS, with a certificate generated for this machine.")
]


@app.command()
def serve(
    config: Config = None,
    host: Host = None,
    port: Port = None,
    data: Data = None,
    model: Model = None,
    mmproj: Projector = None,
    alias: Aliases = None,
    upstream: Upstreams = None,
    upstream_key: UpstreamKey = None,
    upstream_model: UpstreamModel = None,
    engine: Engine = None,
    slots: Slots = None,
    context: Context = None,
    threads: Threads = None,
    gpu_layers: GpuLayers = None,
    device: DeviceName = None,
    copies: Copies = None,
    key_file: KeyFile = None,
    insecure_http: InsecureHttp = False,
    tls: Tls = False,
    host_name: HostNames = None,
    allow_origin: Origins = None,
    base_path: BasePath = None,
    proxy: ProxyAddresses = None,
    no_ui: Annotated[bool, typer.Option("--no-ui", help="Serve the APIs without the page.")] = False,
    no_supervise: NoSupervise = False,
    log_level: LogLevel = None,
    log_format: LogFormat = None,
) -> None:
    """Start the server.

    The page, the sockets and the APIs are served on http://127.0.0.1:8006.

    Settings come from duologue.yaml, the environment (DUOLOGUE_*) and these flags; later ones override earlier ones.
    """
    from duologue.config.loader import pairs
    from duologue.supervisor.link import SupervisorLink

    supervisor = SupervisorLink.from_environment(os.environ)
    settings = _settings(
        config,
        {
            "host": host,
            "port": port,
            "data": data,
            "model": model,
            "mmproj": mmproj,
            "aliases": pairs(alias or (), "--alias"),
            "upstream.url": upstream[0] if upstream else None,
            "upstream.replicas": upstream[1:] if upstream else None,
            "upstream.key": upstream_key,
            "upstream.model": upstream_model,
            "engine": engine,
            "slots": slots,
            "context": context,
            "threads": threads,
            "gpu_layers": gpu_layers,
            "device": device,
            "copies": copies,
            "key_file": key_file,
            "insecure_http": insecure_http or None,
            "tls.enabled": tls or None,
            "host_names": host_name or None,
            "allow_origins": allow_origin or None,
            "base_path": base_path,
            "proxies": proxy or None,
            "ui.enabled": False if no_ui else None,
            "supervise": False if no_supervise else None,
            "log.level": log_level,
            "log.format": log_format,
        },
    )
    if supervisor is not None and not settings.supervise:
        supervisor.unwatched()
    from duologue.gateway.server import serve as run

    announce = _announce(supervisor)
    run(settings, announce=announce, probe_hardware=_look, list_cards=_list_cards, supervisor=supervisor)


@app.command()
def say(
    text: Annotated[
        list[str],
        typer.Argument(metavar="TEXT", help="What to say; `-` reads standard input."),
    ],
    server: voice_commands.Address = None,
    model: Annotated[
        str | None, typer.Option(metavar="NAME", help="Which of its models to use (its default).")
    ] = None,
    system: Annotated[
        str | None, typer.Option(metavar="TEXT", help="A system message to put before yours.")
    ] = None,
    thinking: Annotated[
        bool | None,
        typer.Option("--thinking/--no-thinking", help="Whether the model thinks before it answers."),
    ] = None,
    voice: Annotated[
        bool, typer.Option("--voice", help="Speak the reply too, through the loudspeaker.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write the spoken reply to this WAV file instead.")
    ] = None,
    config: Config = None,
) -> None:
    """Talk to the running server.

    The reply goes to standard output, everything else to standard error. The key is read from DUOLOGUE_KEY.
    """
    from duologue.cli.say import Question
    from duologue.cli.say import say as ask

    data = sys.stdin.buffer.read() if text == ["-"] else os.fsencode(" ".join(text))
    question = Question(
        text=data.decode("utf-8", "replace"),
        model=model or "",
        system=system or "",
        thinking=thinking,
        voice=voice or out is not None,
        out=out,
    )
    if not question.text.strip():
        raise BadRequest("There is nothing to say: pass a text, or `-` to read it from standard input.")
    ask(question, voice_commands.client(server, config), sys.stdout, sys.stderr)


@app.command()
def parse(
    format: Annotated[
        str,
        typer.Option(
            "--format",
            metavar="NAME",
            help="The tool-call format the model writes, such as hermes; list prints them all, auto recognises it in --template.",
        ),
    ],
    file: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]",
            exists=True,
            dir_okay=False,
            allow_dash=True,
            show_default=False,
            help="The raw output; without it, standard input.",
        ),
    ] = None,
    template: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The model's chat template, or its tokenizer_config.json; tells how thoughts are marked.",
        ),
    ] = None,
    start_in_reasoning: Annotated[
        bool, typer.Option("--start-in-reasoning", help="The prompt ends inside a reasoning span.")
    ] = False,
    chunk: Annotated[
        int, typer.Option(metavar="N", min=0, help="Feed this many characters at a time; 0 for all at once.")
    ] = 0,
    tools: Annotated[
        Path | None, typer.Option(metavar="FILE", help="JSON file with the tools of the request.")
    ] = None,
    trace: Annotated[
        bool,
        typer.Option(
            "--trace",
            help="Print after each piece what came out, and what is held back and why, to standard error.",
        ),
    ] = False,
) -> None:
    """Split a model's raw output into its parts.

    Prints reasoning, content and tool calls as JSON. Use it when you add a tool-call format: run recorded output through it, whole and one character at a time.
    """
    from duologue.cli.parse import ParseOptions
    from duologue.cli.parse import parse as read

    options = ParseOptions(format, template, tools, start_in_reasoning, chunk, trace)
    with sys.stdin.buffer if file in (None, Path("-")) else file.open("rb") as source:
        read(options, source, sys.stdout, sys.stderr)


@app.command()
def doctor(
    config: Config = None,
    host: Host = None,
    port: Port = None,
    data: Data = None,
    model: Model = None,
    key_file: KeyFile = None,
) -> None:
    """Check whether a server can run on this machine.

    Each line is ok, a warning, or a problem with advice.
    """
    from duologue.cli.doctor import examine, report

    flags = {"host": host, "port": port, "data": data, "model": model, "key_file": key_file}
    findings = examine(lambda: _settings(config, flags))
    print(report(findings))
    if any(finding.state == "problem" for finding in findings):
        raise typer.Exit(1)


@app.command()
def health(
    ready: Annotated[
        bool, typer.Option("--ready", help="Fail too while no chat with the default model would be answered.")
    ] = False,
    server: voice_commands.Address = None,
    seconds: Annotated[
        float, typer.Option("--timeout", metavar="S", min=0.1, help="Seconds to wait for the answer.")
    ] = 5.0,
    config: Config = None,
) -> None:
    """Check whether the running server answers.

    Exit code 0 if it does, else 1 and the reason. For the checks of containers and service managers; needs no key.
    """
    from duologue.client.health import check

    address = server or voice_commands.own_address(_settings(config, {}))
    check(address, ready=ready, seconds=seconds)
    print(f"The server at {address} {'is ready' if ready else 'answers'}.")


app.command()(voice_commands.transcribe)
app.command("listen", hidden=True)(voice_commands.transcribe)
app.command()(voice_commands.call)
app.command()(voice_commands.clip)
app.command()(models.setup)
app.command()(join_flags.worker)
app.command("machines")(machines.machines)
app.command()(life.drain)
app.command()(life.restart)
app.add_typer(models.models)
keys.keys.command()(key_commands.show)
keys.keys.command()(key_commands.limit)
app.add_typer(keys.keys)
app.add_typer(users.users)
app.command()(audit.audit)
app.command()(usage_command.usage)
app.add_typer(avatar.avatars)
app.command()(backup.backup)
app.add_typer(storage.storage)


def _announce(supervisor: SupervisorLink | None) -> Callable[[str], None]:
    """Where the lines of the start go: to the terminal, and to the log when the gateway was started again."""
    if supervisor is None or not supervisor.restarts.number:
        return lambda line: print(line, flush=True)
    return logging.getLogger(__name__).info


@cache
def _lookout() -> HardwareProbe:
    from duologue.engines.hardware import HardwareProbe

    return HardwareProbe()


def _list_cards() -> tuple[Card, ...]:
    """The graphics cards of this machine, for the server's workers."""
    from duologue.engines.hardware import list_cards

    return list_cards()


def _look(folder: Path, processes: Iterable[int]) -> tuple[Hardware, str]:
    """The hardware of this machine, for the server. Probed when the models page first asks, so that starting stays fast."""
    return _lookout()(folder, processes)


def _settings(config: Path | None, flags: dict[str, Any]) -> Settings:
    from duologue.config import load

    return load(config, os.environ, flags)
