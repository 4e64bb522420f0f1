"""The models in a folder: complete ones, unfinished downloads, and removal.

Used by the models commands and the models API. Whether a model is in use is for the caller to check before removal.
"""

from __future__ import annotations

import fcntl
from pathlib import Path

from msgspec import Struct

from duologue.errors import BadRequest, Busy, ModelNotFound, Problem
from duologue.models.catalogue import (
    BUNDLED,
    PART,
    RECORD,
    SUFFIX,
    is_projector,
    list_models,
    model_name,
    owner_name,
    projector_name,
)
from duologue.models.gguf.header import SPLIT, GgufHeader, read


class LocalModel(Struct, frozen=True):
    """A model in the folder: its header, or what is wrong with it."""

    name: str
    path: Path
    header: GgufHeader | None = None
    problem: str = ""


class UnfinishedDownload(Struct, frozen=True):
    """An unfinished download: its files, and their bytes together."""

    name: str
    paths: tuple[Path, ...]
    size: int


def local_models(folder: Path) -> list[LocalModel]:
    """Every model in `folder`, by name, each with its header read."""
    started = {path for entry in unfinished_downloads(folder) for path in entry.paths}
    return [read_model(path) for path in list_models(folder) if path not in started]


def read_model(path: Path) -> LocalModel:
    """The model in this file."""
    try:
        return LocalModel(model_name(path), path, read(path))
    except Problem as problem:
        return LocalModel(model_name(path), path, problem=problem.message)


def unfinished_downloads(folder: Path) -> list[UnfinishedDownload]:
    """Every unfinished download in `folder`, by name; of a split model with the parts that are complete."""
    if not folder.is_dir():
        return []
    groups: dict[tuple[Path, str], list[Path]] = {}
    for path in sorted(folder.rglob(f"*{SUFFIX}{PART}")):
        if path.is_file():
            groups.setdefault((path.parent, owner_name(_target(path))), []).append(path)
    for path in sorted(folder.rglob(f"*{SUFFIX}")):
        split = SPLIT.match(path.name)
        first = path.with_name(f"{split['stem']}-00001-of-{split['count']}.gguf") if split else path
        key = (path.parent, model_name(path))
        # `pull` downloads the last part first: a first part means that all are there, or that a person put it there.
        if split and (key in groups or not first.exists()):
            groups.setdefault(key, []).append(path)
        # It downloads the projector before all of them.
        if is_projector(path) and (owner := (path.parent, owner_name(path))) in groups:
            groups[owner].append(path)
    return [
        UnfinishedDownload(name, tuple(paths), sum(map(_size, paths)))
        for (_, name), paths in sorted(groups.items(), key=lambda entry: entry[0][1].lower())
    ]


def remove(name: str, folder: Path) -> tuple[str, int]:
    """Remove the model called `name`: its own name and the bytes that were freed. Raises as `files_of` and
    `remove_files`."""
    called, files = files_of(name, folder)
    return called, remove_files(files)


def files_of(name: str, folder: Path) -> tuple[str, list[Path]]:
    """The own name and all files of the model called `name`: every part, and an unfinished download of it. `name` is
    matched without regard to case and `.gguf`; with folders before it, it is a path below `folder`.

    Raises ModelNotFound, BadRequest (the bundled one, or several of that name).
    """
    parent, slash, last = name.rpartition("/")
    target = f"{parent}{slash}{model_name(Path(last))}".lower()
    groups: dict[tuple[Path, str], list[Path]] = {}
    candidates = [(path.parent, model_name(path), _files_of(path)) for path in list_models(folder)]
    candidates += [
        (entry.paths[0].parent, entry.name, list(entry.paths)) for entry in unfinished_downloads(folder)
    ]
    for above, called, files in candidates:
        place = str(above.relative_to(folder) / called)
        if target in (called.lower(), place.lower()):
            paths = groups.setdefault((above, called), [])
            paths += [path for path in files if path not in paths]
    if not groups:
        raise _unknown(name, folder)
    if len(groups) > 1:
        places = ", ".join(str(above.relative_to(folder) / called) for above, called in groups)
        raise BadRequest(
            f"Several models are called {name!r} ({places}). Name one with its folder, or remove the files yourself."
        )
    (((_, called), files),) = groups.items()
    return called, files


def remove_files(files: list[Path]) -> int:
    """Remove these files of one model, and the records of unfinished ones: the bytes that were freed. Raises Busy while it
    is being downloaded, Problem (`write_failed`) where they cannot be removed."""
    _check_idle(files)
    try:
        freed = sum(path.lstat().st_size for path in files)
        for path in files:
            path.unlink(missing_ok=True)
            path.with_name(path.name.removesuffix(PART) + RECORD).unlink(missing_ok=True)
    except OSError as error:
        raise Problem(
            f"{files[0].name} cannot be removed: {error.strerror}.", code="write_failed", status=500
        ) from error
    return freed


def _files_of(path: Path) -> list[Path]:
    """All parts of a model, and the projector that was downloaded with it."""
    projector = path.with_name(projector_name(path.name))
    also = [projector] if projector.is_file() else []
    split = SPLIT.match(path.name)
    if split is None:
        return [path, *also]
    return [*sorted(path.parent.glob(f"{_literal(split['stem'])}-?????-of-{split['count']}{SUFFIX}")), *also]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # the download has ended in the meantime
        return 0


def _literal(text: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in text)


def _target(part: Path) -> Path:
    return part.with_name(part.name.removesuffix(PART))


def _check_idle(files: list[Path]) -> None:
    """Raises Busy when one of the parts is being written."""
    for path in files:
        if path.name.endswith(PART) and path.exists():
            with path.open("rb") as file:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    raise Busy(
                        f"{_target(path).name} is being downloaded. Stop the download first.",
                        code="download_running",
                    ) from None


def _unknown(name: str, folder: Path) -> Problem:
    if model_name(Path(name)) == BUNDLED:
        return BadRequest(f"{BUNDLED} is part of Duologue itself and stays.")
    names = sorted(
        {model_name(path) for path in list_models(folder)} | {e.name for e in unfinished_downloads(folder)}
    )
    has = f"There are: {', '.join(names[:10])}." if names else "There are none."
    return ModelNotFound(f"There is no model called {name!r} in {folder}. {has}")
