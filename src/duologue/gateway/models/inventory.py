"""The list of models for the models page: loaded, on disk, unfinished, and worth downloading.

Owns the field names of `/api/models`. Changes nothing. A file's header is read once until the file changes. What reads the disk blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from duologue.errors import Problem, StartFailed
from duologue.gateway.models.available import named_files, path_of
from duologue.gateway.models.remembered import RememberedModels
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.models import catalogue, local
from duologue.models.fit import Fit, Hardware, fit, fit_of, recommend
from duologue.models.gguf import header
from duologue.models.gguf.header import GgufHeader
from duologue.models.hub.repository import plain
from duologue.models.projectors import find_projector
from duologue.models.recommended import RECOMMENDED, TITLES, Recommended
from duologue.wire.worker_protocol import LoadSpec

HardwareReport = tuple[Hardware, str]
"""This machine: numbers, and a line for people."""


class Headers:
    """A cache of the headers of model files."""

    def __init__(self) -> None:
        self._cache: dict[Path, tuple[tuple[int, int], GgufHeader | str]] = {}

    def read(self, path: Path) -> GgufHeader | str:
        """The header, or a sentence that says what is wrong with the file."""
        try:
            stat = path.stat()
            state = (stat.st_size, stat.st_mtime_ns)
            cached = self._cache.get(path)
            if cached is None or cached[0] != state:
                cached = self._cache[path] = (state, header.read(path))
            return cached[1]
        except OSError as error:
            return f"{path.name} cannot be read: {error.strerror}."
        except Problem as problem:
            # Not cached: the first part of a model may arrive before the others.
            return problem.message

    def forget(self, there: set[Path]) -> None:
        """Drop all files but these from the cache."""
        self._cache = {path: entry for path, entry in self._cache.items() if path in there}


def files_row(
    folder: Path, headers: Headers, load_specs: Iterable[LoadSpec], hardware: Hardware | None = None
) -> dict[str, Any]:
    """The bundled model and the files of `folder`, complete and unfinished. `load_specs`: what the workers load."""
    rows, users = [], users_of_files(load_specs)
    # They are on the disk already.
    roomy = msgspec.structs.replace(hardware, disk=2**62) if hardware else None
    try:
        bundled = catalogue.bundled_model()
        rows.append(_file_row(catalogue.BUNDLED, bundled, headers, users, roomy, bundled=True))
        there = {bundled}
    except StartFailed:
        there = set()
    for name, path in named_files(folder):
        rows.append(_file_row(name, path, headers, users, roomy))
        there.add(path)
    headers.forget(there)
    unfinished = [{"name": entry.name, "size": entry.size} for entry in local.unfinished_downloads(folder)]
    return {"folder": str(folder), "here": rows, "unfinished": unfinished}


def _file_row(
    name: str,
    path: Path,
    headers: Headers,
    users: Mapping[Path, list[str]],
    hardware: Hardware | None,
    *,
    bundled: bool = False,
) -> dict[str, Any]:
    header = headers.read(path)
    row: dict[str, Any] = {
        "name": name,
        "title": TITLES.get(name, name),
        "size": 0,
        "parameters": 0,
        "architecture": "",
        "quantisation": "",
        "trained_context": 0,
        "fit": None,
        "modalities": ["text"],
        "task": "chat",
        "bundled": bundled,
        "loaded": users.get(path.resolve(), []),
        "problem": None,
    }
    if isinstance(header, str):
        return row | {"size": _size(path), "problem": header}
    projector = find_projector(header).projector
    # What removing the model frees: a projector under another name was not downloaded with it, and stays.
    own = projector is not None and projector.path.name == catalogue.projector_name(path.name)
    return row | {
        "size": header.size + (projector.size if projector and own else 0),
        "parameters": header.parameters,
        "architecture": plain(header.architecture),
        "quantisation": header.quantisation,
        "trained_context": header.trained_context,
        "modalities": ["text", *(projector.modalities if projector else ())],
        "task": header.task(),
        "fit": _fit(name, header, hardware, projector.size if projector else 0) if hardware else None,
    }


def _fit(name: str, header: GgufHeader, hardware: Hardware, projector: int) -> Fit:
    known = next((model for model in RECOMMENDED if model.name == name), None)
    share = known.active_parameters / known.parameters if known else 1.0
    return fit(header.size, share, header.parameters, hardware, projector)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def users_of_files(load_specs: Iterable[LoadSpec]) -> dict[Path, list[str]]:
    """The names of the workers by the file that they load."""
    users: dict[Path, list[str]] = {}
    for load_spec in load_specs:
        if (path := path_of(load_spec)) is not None:
            users.setdefault(path.resolve(), []).append(load_spec.worker)
    return users


def loaded_rows(pool: Pool, remembered: RememberedModels) -> list[dict[str, Any]]:
    """Every worker with a model, the default model's first. Those of connected servers are listed with their servers."""
    default = next((status.queue for status in pool.workers_of("")), "")
    return [
        _loaded_row(pool, status, default, remembered)
        for status in pool.workers.values()
        if not status.upstream
    ]


def _loaded_row(
    pool: Pool, status: WorkerStatus, default: str, remembered: RememberedModels
) -> dict[str, Any]:
    card = status.card
    name = card.name if card else status.model
    return {
        "name": name,
        "title": TITLES.get(name, name),
        "worker": status.worker,
        "engine": status.engine,
        "state": status.state,
        "detail": status.detail,
        "progress": status.progress,
        "slots": pool.scheduler.slots(status.worker),
        "busy": pool.scheduler.busy(status.worker),
        "context": card.context if card else 0,
        "size": card.size if card else 0,
        "modalities": list(card.modalities) if card else ["text"],
        "task": status.purpose,
        "removable": status.added or len(pool.workers) > 1,
        "default": status.queue == default,
        "remembered": remembered.has_worker(status.worker),
        "by_request": status.by_request,
        "draining": status.draining,
    }


def remembered_rows(remembered: RememberedModels) -> list[dict[str, Any]]:
    """What is loaded again at the next start and is not loaded now, with the reason if that failed."""
    return [{"name": row.name, "failed": row.failed, "count": row.count} for row in remembered.rows]


def available_rows(folder: Path, hardware: Hardware | None) -> list[dict[str, Any]]:
    """The recommended models, with how well each fits this machine; `fit` is None without hardware data."""
    return [
        {
            "name": model.name,
            "title": model.title,
            "repository": model.repository,
            "size": model.download_size,
            "parameters": model.parameters,
            "active": model.active_parameters,
            "context": model.context,
            "abilities": list(model.abilities),
            "vision": model.vision,
            "sound": model.sound,
            "languages": msgspec.to_builtins(model.languages),
            "released": model.released,
            "licence": model.licence,
            "description": model.description,
            "traits": list(model.traits),
            "fit": fit_of(model, hardware) if hardware else None,
            "here": _is_here(model, folder),
        }
        for model in RECOMMENDED
    ]


def proposed(pool: Pool, hardware: Hardware | None) -> str | None:
    """The name of the recommended model to propose for this machine, while the bundled model answers or none does."""
    first = next(iter(pool.workers.values()), None)
    bundled = first is None or bool(pool.load_spec(first.worker).options.get("bundled"))
    model = recommend(RECOMMENDED, hardware) if hardware and bundled else None
    return model.name if model else None


def hardware_row(report: HardwareReport | None) -> dict[str, Any] | None:
    """This machine: free bytes of memory, on the cards and on the disk of the models, and its cores."""
    if report is None:
        return None
    hardware, words = report
    return {
        "memory": hardware.memory,
        "card": hardware.card_memory,
        "disk": hardware.disk,
        "cores": hardware.cores,
        "words": words,
    }


def _is_here(model: Recommended, folder: Path) -> bool:
    return (folder / PurePosixPath(model.file).name).is_file()
