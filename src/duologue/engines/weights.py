"""Where the weights of a speech model lie: a folder of its own, or one below the server's folder of models.

Owns the looking, and where they are to be put when they are not there. Nothing is ever downloaded from here: a server that
fetches gigabytes because a name was misspelt helps nobody. Knows no format.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from duologue.errors import StartFailed


def folder_of(model: str, models: str, names: Sequence[str] = ()) -> Path | None:
    """The folder `model` means: its path, or below the folder `models` its name or another of `names`. None: it is not
    there."""
    return next((place for place in _places(model, models, names) if place.is_dir()), None)


def target(model: str, models: str, name: str = "") -> Path:
    """Where a model is to be put so that it is found: below `models`, by `name` or its own."""
    return Path(models or "models").expanduser() / (name or Path(model).name)


def missing(engine: str, model: str, commands: Iterable[str], place: Path) -> StartFailed:
    """The error for weights that are not there: what fetches them."""
    steps = " && ".join(commands)
    how = f"Fetch them with: {steps}" if steps else f"Put its folder there: {place}"
    return StartFailed(
        f"The weights of {engine}'s model {model!r} are not at {place}. {how}",
        code="weights_missing",
        param="model",
    )


def hub_command(repository: str, place: Path, *files: str) -> str:
    """The command that fetches a repository of the hub; it comes with the packages that need it."""
    return " ".join(["hf download", repository, *files, "--local-dir", quoted(place)])


def fetch_command(url: str, place: Path) -> str:
    """The command that fetches one file."""
    return f"curl -L --fail --create-dirs -o {quoted(place)} {shlex.quote(url)}"


def quoted(path: Path) -> str:
    """A path as a shell takes it."""
    return shlex.quote(str(path))


def check_files(engine: str, folder: Path, files: Iterable[str]) -> None:
    """Raises StartFailed for the first of `files` that `folder` lacks, or that is empty."""
    for file in files:
        path = folder / file
        if not path.is_file() or not path.stat().st_size:
            raise StartFailed(
                f"The folder {folder} is no whole model of {engine}: {file} is missing or empty. Fetch it again.",
                code="weights_missing",
                param="model",
            )


def _places(model: str, models: str, names: Sequence[str]) -> Iterable[Path]:
    if "/" in model or model.startswith((".", "~")):
        yield Path(model).expanduser()
    for name in (model, Path(model).name, *names):
        if name and models:
            yield Path(models).expanduser() / name
