"""`duologue models`: what is here and what could be, bringing a model and taking one away.

Owns the words and tables a person sees of it. Knows how models are found, fetched and read only by asking the models
room.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from duologue.cli.download_progress import Display, watch_on
from duologue.config import Settings
from duologue.engines.hardware import describe, probe_hardware
from duologue.errors import Problem, StartFailed
from duologue.models import catalogue, local
from duologue.models.fit import Fit, Hardware, fit_of
from duologue.models.gguf.header import GgufHeader
from duologue.models.hub import http, pull, reference
from duologue.models.hub.http import HubConnection
from duologue.models.hub.pull import Pulled
from duologue.models.hub.reference import UrlReference
from duologue.models.hub.repository import gigabytes, plain
from duologue.models.local import Shelved
from duologue.models.recommended import BILLION, RECOMMENDED, Recommended

VERDICTS: dict[Fit, str] = {
    "card": "yes, on the card",
    "good": "yes",
    "slow": "slowly",
    "memory": "no, memory",
    "disk": "no, disk",
}


def models_folder(settings: Settings) -> Path:
    """Where downloaded models are kept, and found by name."""
    return settings.data / "models"


def connect(notice: Callable[[str], None], environ: Mapping[str, str] = os.environ) -> HubConnection:
    """The way to the hub, as the variables of its own tools say: HF_ENDPOINT and HF_TOKEN."""
    return http.connect(environ, notice=notice)


def listed(settings: Settings) -> str:
    """The models that are here, as a table, and what is unfinished."""
    folder = models_folder(settings)
    rows = [("", "MODEL", "SIZE", "PARAMETERS", "ARCHITECTURE", "QUANTISATION", "CONTEXT")]
    used = _in_use(settings)
    entries = local.shelved(folder)
    with suppress(StartFailed):
        entries.insert(0, local.shelve(catalogue.bundled_model()))
    broken = []
    for entry in entries:
        mark = "*" if entry.path in used else ""
        if entry.header is None:
            broken.append(f"{entry.name}: {entry.problem}")
        else:
            rows.append((mark, _called(entry), *_facts(entry.header)))
    parts = [table(rows)]
    if used:
        parts.append("* answers when `duologue serve` starts with the settings as they are.")
    parts += broken
    parts += [
        f"{entry.name}: a download that was not finished, {gigabytes(entry.size)} so far. Pull it again to go on, "
        f"or `duologue models rm {entry.name}`."
        for entry in local.unfinished(folder)
    ]
    return "\n".join(parts)


def available(hardware: Hardware, marked: Recommended | None = None) -> str:
    """The models worth downloading, as a table, with how they would do here; `marked` gets an asterisk."""
    rows = [("", "NAME", "SIZE", "PARAMETERS", "CONTEXT", "CAN", "LICENCE", "FITS HERE")]
    for model in RECOMMENDED:
        active = f" ({_count(model.active)})" if model.active else ""
        rows.append(
            (
                "*" if model is marked else "",
                model.name,
                f"~{gigabytes(model.size)}",
                _count(model.parameters) + active,
                f"{model.context // 1024}k",
                " ".join(model.abilities),
                model.licence,
                VERDICTS[fit_of(model, hardware)],
            )
        )
    return table(rows)


def offered(settings: Settings) -> str:
    """`available`, with the machine it was judged for and what to do with it."""
    folder = models_folder(settings)
    hardware = probe_hardware(folder)
    return (
        f"{available(hardware)}\n\nHere: {describe(hardware, folder)}.\n"
        "Bring one: `duologue models pull NAME`, or any other GGUF model as OWNER/REPOSITORY or by its address."
    )


def fetch(wanted: str, settings: Settings, output: TextIO, asides: TextIO) -> Pulled:
    """Bring the model a person named, with its progress on `asides` and the outcome on `output`. Raises Problem."""
    folder = models_folder(settings)
    watch = watch_on(asides)
    with connect(watch.say) as http:
        meant = reference.parse(wanted, http.hub)
        if there := pull.there_already(meant, folder):
            output.write(_outcome(there) + "\n")
            return there
        order = pull.order(http, meant, probe_hardware(folder))
        place = reference.shown(meant.url) if isinstance(meant, UrlReference) else meant.repository
        facts = [place, order.quantisation, gigabytes(order.size) if order.size else "", order.licence]
        watch.say(f"{order.name}: {', '.join(fact for fact in facts if fact)}")
        if order.warning:
            watch.say(order.warning)
        with _kept(order.name, folder, watch):
            pulled = pull.bring(http, order, folder, watch)
    output.write(_outcome(pulled) + "\n")
    return pulled


@contextmanager
def _kept(name: str, folder: Path, watch: Display) -> Iterator[None]:
    """Say what is kept of a download that ends here without being whole, by a failure or by Ctrl-C."""
    try:
        yield
    except (Problem, KeyboardInterrupt) as ended:
        if isinstance(ended, Problem) and ended.code == "download_running":
            raise  # what is there is another process's
        for entry in local.unfinished(folder):
            if entry.name == name and entry.size:
                watch.say(f"{gigabytes(entry.size)} of it are kept. The same command goes on from there.")
        raise


def drop(name: str, settings: Settings) -> str:
    """Remove a model and say so. Raises Problem."""
    used = {path.resolve() for path in _in_use(settings)}
    called, freed = local.remove(name, models_folder(settings))
    said = f"{called} is removed, {gigabytes(freed)} freed."
    if any(catalogue.model_name(path) == called and not path.exists() for path in used):
        said += " The settings still name it: the next start needs another `model`."
    return said


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Rows with their columns in line, the first row as the heading."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
    return "\n".join(lines)


def _in_use(settings: Settings) -> list[Path]:
    """The files that the workers of these settings would load, where they are there."""
    found = []
    for entry in settings.worker_entries:
        if entry.engine == "llama":
            with suppress(Problem):
                found.append(
                    catalogue.find_model(entry.model, models_folder(settings))
                    if entry.model
                    else catalogue.bundled_model()
                )
    return found


def _called(entry: Shelved) -> str:
    return f"{entry.name} (bundled)" if entry.name == catalogue.BUNDLED else entry.name


def _facts(header: GgufHeader) -> tuple[str, str, str, str, str]:
    context = f"{header.trained_context:,}" if header.trained_context else "unknown"
    return (
        gigabytes(header.size),
        _count(header.parameters),
        plain(header.architecture),
        header.quantisation,
        context,
    )


def _outcome(pulled: Pulled) -> str:
    size, parameters, architecture, quantisation, context = _facts(pulled.header)
    state = "was here already" if pulled.was_there else "is here"
    checked = ", its checksum is right" if pulled.checked else ""
    return (
        f"{pulled.name} {state}: {size}, {parameters} parameters, {architecture}, {quantisation}, context {context}"
        f"{checked}."
    )


def _count(parameters: int) -> str:
    """A number of parameters for people: 4.0B, 360M."""
    return f"{parameters / BILLION:.1f}B" if parameters >= BILLION else f"{parameters / 10**6:.0f}M"
