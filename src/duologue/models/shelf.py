"""The models in a folder: what is there whole, what is there in part, and taking one away.

Reads the headers of files and removes files. Knows neither where they came from nor who uses them.
"""

from __future__ import annotations

import fcntl
from pathlib import Path

from msgspec import Struct

from duologue.errors import BadRequest, Busy, ModelNotFound, Problem
from duologue.models.catalogue import BUNDLED, SUFFIX, list_models, model_name
from duologue.models.download import PART, RECORD
from duologue.models.gguf import SPLIT, GgufHeader, read


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
        Unfinished(name, tuple(paths), sum(path.stat().st_size for path in paths))
        for (_, name), paths in sorted(found.items(), key=lambda entry: entry[0][1].lower())
    ]


def remove(name: str, folder: Path) -> tuple[str, int]:
    """Remove the model called `name` (with or without `.gguf`), all its parts, and what is unfinished of it.

    Answers with its name and the bytes that were freed. Raises ModelNotFound, BadRequest (the bundled one, or several
    of that name), Busy (it is being downloaded).
    """
    wanted = model_name(Path(name)).lower()
    groups: dict[Path, tuple[str, list[Path]]] = {}
    for path in list_models(folder):
        if wanted == model_name(path).lower() or _is_at(path, name, folder):
            groups[path.parent] = (model_name(path), _files_of(path))
    for entry in unfinished(folder):
        if entry.name.lower() == wanted:
            _, files = groups.setdefault(entry.paths[0].parent, (entry.name, []))
            files += [path for path in entry.paths if path not in files]
    if not groups:
        raise _unknown(name, folder)
    if len(groups) > 1:
        places = ", ".join(str(parent.relative_to(folder) / wanted) for parent in groups)
        raise BadRequest(f"Several models are called {name!r} ({places}). Remove the files yourself.")
    ((called, files),) = groups.values()
    _check_idle(files)
    freed = sum(path.lstat().st_size for path in files)
    for path in files:
        path.unlink(missing_ok=True)
        path.with_name(path.name.removesuffix(PART) + RECORD).unlink(missing_ok=True)
    return called, freed


def _is_at(path: Path, name: str, folder: Path) -> bool:
    return str(path.relative_to(folder)) in (name, f"{name}{SUFFIX}")


def _files_of(path: Path) -> list[Path]:
    """All parts of a model."""
    split = SPLIT.match(path.name)
    if split is None:
        return [path]
    return sorted(path.parent.glob(f"{_literal(split['stem'])}-?????-of-{split['count']}{SUFFIX}"))


def _literal(text: str) -> str:
    return "".join(f"[{character}]" if character in "*?[" else character for character in text)


def _target(part: Path) -> Path:
    return part.with_name(part.name.removesuffix(PART))


def _check_idle(files: list[Path]) -> None:
    """Raises Busy when one of the parts is being written."""
    for path in files:
        if path.name.endswith(PART):
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
