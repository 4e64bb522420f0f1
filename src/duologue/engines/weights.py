"""Where the weights of a speech model are: at a path of its own, or below the server's folder of models.

Called by the recognisers and speakers. Owns the search, and the error that names the command to fetch what is missing.
Nothing is ever downloaded here: a server that fetches gigabytes because a name was misspelt helps nobody.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from duologue.errors import StartFailed

DEEPEST = 3
"""Levels of folders below a model's that are searched."""


def find_folder(model: str, models: str, names: Sequence[str] = ()) -> Path | None:
    """The folder of `model`: its path, or a folder below `models` by its name or another of `names`. None: not found."""
    return next((folder for folder in _candidates(model, models, names) if folder.is_dir()), None)


def find_hub_folder(engine: str, model: str, models: str, repository: str, files: Iterable[str]) -> Path:
    """The folder of a model that a hub distributes as `repository` ("" where no repository is known), with all `files`.

    Raises StartFailed with the command that fetches it, or naming the file it lacks.
    """
    name = repository.rpartition("/")[2]
    folder = find_folder(model, models, (name,))
    if folder is None:
        target = target_folder(model, models, name)
        raise missing_weights(engine, model, [hub_command(repository, target)] if repository else [], target)
    check_files(engine, folder, files)
    return folder


def target_folder(model: str, models: str, name: str = "") -> Path:
    """Where a model has to be stored to be found: below `models`, by `name` or its own."""
    return Path(models or "models").expanduser() / (name or Path(model).name)


def missing_weights(engine: str, model: str, commands: Iterable[str], target: Path) -> StartFailed:
    """The error for weights that are not there, with the commands that fetch them."""
    steps = " && ".join(commands)
    advice = f"Fetch them with: {steps}" if steps else f"Put its folder there: {target}"
    return StartFailed(
        f"The weights of {engine}'s model {model!r} are not at {target}. {advice}",
        code="weights_missing",
        param="model",
    )


def hub_command(repository: str, target: Path, *files: str) -> str:
    """The command that fetches a repository of the hub; it comes with the packages that need it."""
    return " ".join(["hf download", repository, *files, "--local-dir", quote(target)])


def fetch_command(url: str, target: Path) -> str:
    """The command that fetches one file."""
    return f"curl -L --fail --create-dirs -o {quote(target)} {shlex.quote(url)}"


def archive_command(address: str, target: Path) -> list[str]:
    """The commands that fetch a model from an archive called after its folder `target`, at this address."""
    there = quote(target.parent)
    return [
        f"mkdir -p {there}",
        f"curl -L --fail {address}/{target.name}.tar.bz2 | tar -xj -C {there}",
    ]


def files_below(folder: Path) -> list[str]:
    """The files of a model's folder, relative to it, a few levels deep."""
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and len(path.relative_to(folder).parts) <= DEEPEST
    )


def quote(path: Path) -> str:
    """A path quoted for a shell."""
    return shlex.quote(str(path))


def check_files(engine: str, folder: Path, files: Iterable[str]) -> None:
    """Raises StartFailed for the first of `files` that `folder` lacks, or that is empty."""
    for file in files:
        path = folder / file
        # An interrupted download leaves an empty file behind.
        if not path.is_file() or not path.stat().st_size:
            raise StartFailed(
                f"The folder {folder} is not a complete {engine} model: {file} is missing or empty. Fetch it again.",
                code="weights_missing",
                param="model",
            )


def _candidates(model: str, models: str, names: Sequence[str]) -> Iterable[Path]:
    if "/" in model or model.startswith((".", "~")):
        yield Path(model).expanduser()
    for name in (model, Path(model).name, *names):
        if name and models:
            yield Path(models).expanduser() / name
