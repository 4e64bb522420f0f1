"""The implementation of `duologue models`: tables of local and available models, downloading, removing.

`duologue setup` uses it too.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from duologue.cli.progress import Display, watch_on
from duologue.config import Settings
from duologue.engines.hardware import describe, probe_hardware
from duologue.errors import Problem, StartFailed
from duologue.models import catalogue, local
from duologue.models.fit import Fit, Hardware, fit_of
from duologue.models.gguf.header import GgufHeader
from duologue.models.hub import http, pull, reference
from duologue.models.hub.http import HubConnection
from duologue.models.hub.pull import DownloadPlan, PulledModel
from duologue.models.hub.reference import UrlReference
from duologue.models.hub.repository import gigabytes, plain
from duologue.models.local import LocalModel
from duologue.models.recommended import BILLION, RECOMMENDED, Recommended

VERDICTS: dict[Fit, str] = {
    "card": "yes, on the card",
    "good": "yes",
    "slow": "slowly",
    "memory": "no, memory",
    "disk": "no, disk",
}


def models_folder(settings: Settings) -> Path:
    """The folder of downloaded models, which are found there by name."""
    return settings.data / "models"


def connect(notice: Callable[[str], None], environ: Mapping[str, str] = os.environ) -> HubConnection:
    """A connection to the hub, configured by HF_ENDPOINT and HF_TOKEN as its own tools are."""
    return http.connect(environ, notice=notice)


def local_models(settings: Settings) -> str:
    """The local models as a table, and unfinished downloads."""
    folder = models_folder(settings)
    rows = [("", "MODEL", "SIZE", "PARAMETERS", "ARCHITECTURE", "QUANTISATION", "CONTEXT")]
    used = _in_use(settings)
    entries = local.local_models(folder)
    with suppress(StartFailed):
        entries.insert(0, local.read_model(catalogue.bundled_model()))
    broken = []
    for entry in entries:
        mark = "*" if entry.path in used else ""
        if entry.header is None:
            broken.append(f"{entry.name}: {entry.problem}")
        else:
            rows.append((mark, _label(entry), *_facts(entry.header)))
    parts = [table(rows)]
    if used:
        parts.append("* is used when `duologue serve` starts with the current settings.")
    parts += broken
    parts += [
        f"{entry.name}: unfinished download, {gigabytes(entry.size)} so far. Pull it again to resume, "
        f"or remove it with `duologue models rm {entry.name}`."
        for entry in local.unfinished_downloads(folder)
    ]
    return "\n".join(parts)


def available(hardware: Hardware, marked: Recommended | None = None) -> str:
    """The recommended models as a table, with how they fit this machine; `marked` gets an asterisk."""
    rows = [("", "NAME", "SIZE", "PARAMETERS", "CONTEXT", "CAN", "LICENCE", "FITS HERE")]
    for model in RECOMMENDED:
        active = f" ({_count(model.active)})" if model.active else ""
        rows.append(
            (
                "*" if model is marked else "",
                model.name,
                f"~{gigabytes(model.download_size)}",
                _count(model.parameters) + active,
                f"{model.context // 1024}k",
                " ".join(model.abilities),
                model.licence,
                VERDICTS[fit_of(model, hardware)],
            )
        )
    return table(rows)


def available_models(settings: Settings) -> str:
    """`available`, with a description of the machine and the command to download one."""
    folder = models_folder(settings)
    hardware = probe_hardware(folder)
    return (
        f"{available(hardware)}\n\nThis machine: {describe(hardware, folder)}.\n"
        "Download one with `duologue models pull NAME`, or any other GGUF model by OWNER/REPOSITORY or URL."
    )


def fetch(name: str, settings: Settings, output: TextIO, asides: TextIO) -> PulledModel:
    """Download the model called `name`, with progress on `asides` and the result on `output`. Raises Problem."""
    folder = models_folder(settings)
    watch = watch_on(asides)
    with connect(watch.say) as http:
        source = reference.parse(name, http.hub)
        names: list[str] = []

        def planned(plan: DownloadPlan) -> None:
            place = (
                reference.redact_url(source.url) if isinstance(source, UrlReference) else source.repository
            )
            facts = [place, plan.quantisation, gigabytes(plan.size) if plan.size else "", plan.licence]
            watch.say(f"{plan.name}: {', '.join(fact for fact in facts if fact)}")
            if plan.warning:
                watch.say(plan.warning)
            names.append(plan.name)

        with _report_partial_download(names, folder, watch):
            pulled = pull.pull_model(http, source, folder, lambda: probe_hardware(folder), watch, planned)
    output.write(_outcome(pulled) + "\n")
    return pulled


@contextmanager
def _report_partial_download(names: Sequence[str], folder: Path, watch: Display) -> Iterator[None]:
    """Say how much of a download is kept when it fails or is stopped with Ctrl-C."""
    try:
        yield
    except (Problem, KeyboardInterrupt) as ended:
        if isinstance(ended, Problem) and ended.code == "download_running":
            raise  # the partial file belongs to the other process
        for entry in local.unfinished_downloads(folder):
            if entry.name in names and entry.size:
                watch.say(f"{gigabytes(entry.size)} were kept. Run the same command again to resume.")
        raise


def remove(name: str, settings: Settings) -> str:
    """Remove a model; the sentence to print. Raises Problem."""
    used = {path.resolve() for path in _in_use(settings)}
    removed, freed = local.remove(name, models_folder(settings))
    message = f"Removed {removed}, {gigabytes(freed)} freed."
    if any(catalogue.model_name(path) == removed and not path.exists() for path in used):
        message += " The settings still name it: set another `model` before the next start."
    return message


def table(rows: Sequence[tuple[str, ...]]) -> str:
    """Rows as aligned columns; the first row is the heading."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )
    return "\n".join(lines)


def _in_use(settings: Settings) -> list[Path]:
    """The existing files that the workers of these settings would load."""
    paths = []
    for entry in settings.worker_entries:
        if entry.engine == "llama":
            with suppress(Problem):
                paths.append(
                    catalogue.find_model(entry.model, models_folder(settings))
                    if entry.model
                    else catalogue.bundled_model()
                )
    return paths


def _label(entry: LocalModel) -> str:
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


def _outcome(pulled: PulledModel) -> str:
    size, parameters, architecture, quantisation, context = _facts(pulled.header)
    state = "is already here" if pulled.was_there else "is here"
    checked = ", checksum verified" if pulled.checked else ""
    return (
        f"{pulled.name} {state}: {size}, {parameters} parameters, {architecture}, {quantisation}, context {context}"
        f"{checked}."
    )


def _count(parameters: int) -> str:
    """A number of parameters in short form: 4.0B, 360M."""
    return f"{parameters / BILLION:.1f}B" if parameters >= BILLION else f"{parameters / 10**6:.0f}M"
