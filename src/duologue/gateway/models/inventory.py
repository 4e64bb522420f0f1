"""What there is of models: loaded, in the folder, unfinished, and worth having; one picture of it for the page.

Owns the field names of that picture. Looks and changes nothing; the headers of files are read once for each state of
theirs. What reads the disk or asks the machine blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from pathlib import Path, PurePosixPath
from typing import Any

from duologue.errors import Problem, StartFailed
from duologue.gateway.models.available import named_files, path_of
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.workers.worker_status import WorkerStatus
from duologue.models import catalogue, local
from duologue.models.fit import Hardware, fit_of, recommend
from duologue.models.gguf import header
from duologue.models.gguf.header import GgufHeader
from duologue.models.hub.repository import gigabytes, plain
from duologue.models.recommended import RECOMMENDED, Recommended
from duologue.wire.worker_protocol import LoadSpec

Seen = tuple[Hardware, str]
"""This machine, in figures and in a line for people."""


class Headers:
    """The headers of model files, each read again only when its file has changed."""

    def __init__(self) -> None:
        self._known: dict[Path, tuple[tuple[int, int], GgufHeader | str]] = {}

    def read(self, path: Path) -> GgufHeader | str:
        """The header, or a sentence about what is wrong with the file."""
        try:
            status = path.stat()
            state = (status.st_size, status.st_mtime_ns)
            known = self._known.get(path)
            if known is None or known[0] != state:
                known = self._known[path] = (state, header.read(path))
            return known[1]
        except OSError as error:
            return f"{path.name} cannot be read: {error.strerror}."
        except Problem as problem:
            # Not kept: of a model in parts the first may be there before the others are.
            return problem.message

    def forget(self, there: set[Path]) -> None:
        """Forget all files but these."""
        self._known = {path: known for path, known in self._known.items() if path in there}


def files_row(folder: Path, headers: Headers, loadouts: Iterable[LoadSpec]) -> dict[str, Any]:
    """What lies in `folder`, whole and unfinished, and the bundled model before it. `loadouts` are what the workers have
    loaded."""
    rows, users = [], users_of_files(loadouts)
    try:
        bundled = catalogue.bundled_model()
        rows.append(_file_row(catalogue.BUNDLED, bundled, headers, users, bundled=True))
        there = {bundled}
    except StartFailed:
        there = set()
    for name, path in named_files(folder):
        rows.append(_file_row(name, path, headers, users))
        there.add(path)
    headers.forget(there)
    unfinished = [{"name": entry.name, "size": entry.size} for entry in local.unfinished(folder)]
    return {"folder": str(folder), "here": rows, "unfinished": unfinished}


def _file_row(
    name: str, path: Path, headers: Headers, users: Mapping[Path, list[str]], *, bundled: bool = False
) -> dict[str, Any]:
    header = headers.read(path)
    row: dict[str, Any] = {
        "name": name,
        "size": 0,
        "parameters": 0,
        "architecture": "",
        "quantisation": "",
        "trained_context": 0,
        "bundled": bundled,
        "loaded": users.get(path.resolve(), []),
        "problem": None,
    }
    if isinstance(header, str):
        return row | {"size": _size(path), "problem": header}
    return row | {
        "size": header.size,
        "parameters": header.parameters,
        "architecture": plain(header.architecture),
        "quantisation": header.quantisation,
        "trained_context": header.trained_context,
    }


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def users_of_files(loadouts: Iterable[LoadSpec]) -> dict[Path, list[str]]:
    """The workers by the file that they have loaded, or load."""
    users: dict[Path, list[str]] = {}
    for loadout in loadouts:
        if (path := path_of(loadout)) is not None:
            users.setdefault(path.resolve(), []).append(loadout.worker)
    return users


def loaded_rows(pool: Pool) -> list[dict[str, Any]]:
    """Every worker, the default model's first."""
    return [_loaded_row(pool, view) for view in pool.workers.values()]


def _loaded_row(pool: Pool, view: WorkerStatus) -> dict[str, Any]:
    card = view.card
    return {
        "name": card.name if card else view.model,
        "worker": view.worker,
        "engine": view.engine,
        "state": view.state,
        "detail": view.detail,
        "progress": view.progress,
        "slots": pool.scheduler.slots(view.worker),
        "busy": pool.scheduler.busy(view.worker),
        "context": card.context if card else 0,
        "size": card.size if card else 0,
        "removable": view.added or len(pool.workers) > 1,
    }


def available_rows(folder: Path, hardware: Hardware | None) -> list[dict[str, Any]]:
    """The models worth downloading, with how each would do here; `fit` is None where nobody has looked."""
    return [
        {
            "name": model.name,
            "repository": model.repository,
            "size": model.size,
            "parameters": model.parameters,
            "active": model.active_parameters,
            "context": model.context,
            "abilities": list(model.abilities),
            "licence": model.licence,
            "description": model.description,
            "fit": fit_of(model, hardware) if hardware else None,
            "here": _is_here(model, folder),
        }
        for model in RECOMMENDED
    ]


def hardware_row(seen: Seen | None) -> dict[str, Any] | None:
    """This machine: free bytes of memory, on the cards and on the disk of the models, and its cores."""
    if seen is None:
        return None
    hardware, words = seen
    return {
        "memory": hardware.memory,
        "card": hardware.card_memory,
        "disk": hardware.disk,
        "cores": hardware.cores,
        "words": words,
    }


def engine_rows(
    pool: Pool, available: Iterable[dict[str, Any]], hardware: Hardware | None
) -> list[dict[str, Any]]:
    """What answers in chats; where that is the bundled model, how to get a better one. `available` are the rows of what
    could be had."""
    first = next(iter(pool.workers.values()), None)
    if first is None:
        return []
    bundled = bool(pool.load_spec(first.worker).options.get("bundled"))
    proposed = recommend(RECOMMENDED, hardware) if bundled and hardware else None
    return [
        {
            "kind": "chat",
            "engine": first.engine,
            "bundled": bundled,
            "better": _better(proposed, {row["name"] for row in available if row["here"]}) if bundled else "",
            "proposed": proposed.name if proposed else None,
        }
    ]


def _better(proposed: Recommended | None, here: Set[str]) -> str:
    small = f"{catalogue.BUNDLED} is small and knows little."
    if proposed is None:
        return f"{small} `duologue setup` on the server's machine looks for a better one."
    if proposed.name in here:
        return f"{small} {proposed.name} is here and can be loaded."
    return (
        f"{small} {proposed.name} fits this machine: download it here ({gigabytes(proposed.size)}), or say "
        "`duologue setup` on the server's machine."
    )


def _is_here(model: Recommended, folder: Path) -> bool:
    return (folder / PurePosixPath(model.file).name).is_file()
