"""The models in a folder: what is there whole, what is there in part, and taking one away.

Reads the headers of files and removes files. Knows neither where they came from nor who uses them.
"""

from __future__ import annotations

import fcntl
from pathlib import Path

from msgspec import Struct

from duologue.errors import BadRequest, Busy, ModelNotFound, Problem
from duologue.models.catalogue import BUNDLED, PART, RECORD, SUFFIX, list_models, model_name
from duologue.models.gguf.header import SPLIT, GgufHeader, read


class Shelved(Struct, frozen=True):
    """A model in the folder: its header, or what is wrong with it."""

    name: str
    path: Path
    header: GgufHeader | None = None
    problem: str = ""


class Unfinished(Struct, frozen=True):
    """A download that was not finished: the files of it, and their bytes together."""

    name: str
    paths: tuple[Path, ...]
    size: int


def shelved(folder: Path) -> list[Shelved]:
    """Every model in `folder`, by name, each with its header read."""
    started = {path for entry in unfinished(folder) for path in entry.paths}
    return [shelve(path) for path in list_models(folder) if path not in started]


def shelve(path: Path) -> Shelved:
    try:
        return Shelved(model_name(path), path, read(path))
    except Problem as problem:
        return Shelved(model_name(path), path, problem=problem.message)


def unfinished(folder: Path) -> list[Unfinished]:
    """Every unfinished download in `folder`, by name. Of a split model that is also the parts that are whole."""
    if not folder.is_dir():
        return []
    found: dict[tuple[Path, str], list[Path]] = {}
    for path in sorted(folder.rglob(f"*{SUFFIX}{PART}")):
        if path.is_file():
            found.setdefault((path.parent, model_name(_target(path))), []).append(path)
    for path in sorted(folder.rglob(f"*{SUFFIX}")):
        split = SPLIT.match(path.name)
        first = path.with_name(f"{split['stem']}-00001-of-{split['count']}.gguf") if split else path
        key = (path.parent, model_name(path))
        # Parts come last first (see pull), so a first part that is there means that all are, or that someone put it there.
        if split and (key in found or not first.exists()):
            found.setdefault(key, []).append(path)
    return [
        Unfinished(name, tuple(paths), sum(map(_size, paths)))
        for (_, name), paths in sorted(found.items(), key=lambda entry: entry[0][1].lower())
    ]


def remove(name: str, folder: Path) -> tuple[str, int]:
    """Remove the model that `name` means, as `files_of` finds it: its name and the bytes that were freed. Raises what
    `files_of` and `take_away` do."""
    called, files = files_of(name, folder)
    return called, take_away(files)


def files_of(name: str, folder: Path) -> tuple[str, list[Path]]:
    """The model called `name`, or, with folders before it, at that place below `folder`; in any case, with or without
    `.gguf`. Its own name and all its files: every part, and what is unfinished of it.

    Raises ModelNotFound, BadRequest (the bundled one, or several of that name).
    """
    parent, slash, last = name.rpartition("/")
    wanted = f"{parent}{slash}{model_name(Path(last))}".lower()
    groups: dict[tuple[Path, str], list[Path]] = {}
    found = [(path.parent, model_name(path), _files_of(path)) for path in list_models(folder)]
    found += [(entry.paths[0].parent, entry.name, list(entry.paths)) for entry in unfinished(folder)]
    for above, called, files in found:
        place = str(above.relative_to(folder) / called)
        if wanted in (called.lower(), place.lower()):
            known = groups.setdefault((above, called), [])
            known += [path for path in files if path not in known]
    if not groups:
        raise _unknown(name, folder)
    if len(groups) > 1:
        places = ", ".join(str(above.relative_to(folder) / called) for above, called in groups)
        raise BadRequest(
            f"Several models are called {name!r} ({places}). Name one with its folder, or remove the files yourself."
        )
    (((_, called), files),) = groups.items()
    return called, files


def take_away(files: list[Path]) -> int:
    """Remove these files of one model, and what is written down of an unfinished one: the bytes that were freed. Raises
    Busy while it is being downloaded, Problem (`write_failed`) where they may not be removed."""
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
    """All parts of a model."""
    split = SPLIT.match(path.name)
    if split is None:
        return [path]
    return sorted(path.parent.glob(f"{_literal(split['stem'])}-?????-of-{split['count']}{SUFFIX}"))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # the download has ended since we looked
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
                        f"{_target(path).name} is being downloaded at this moment. Stop that first.",
                        code="download_running",
                    ) from None


def _unknown(name: str, folder: Path) -> Problem:
    if model_name(Path(name)) == BUNDLED:
        return BadRequest(f"{BUNDLED} is part of Duologue itself and stays.")
    names = sorted({model_name(path) for path in list_models(folder)} | {e.name for e in unfinished(folder)})
    has = f"There are: {', '.join(names[:10])}." if names else "There is none."
    return ModelNotFound(f"There is no model called {name!r} in {folder}. {has}")
