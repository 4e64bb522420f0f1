"""The folder of a model of sherpa-onnx: found, its kind recognised, its files there; and a card that it cannot use, refused. For the
recogniser and the speaker alike.

The kinds they know differ; how a folder becomes a model of one of them does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TypeVar

from duologue.engines.devices import Device, numbered_cards, require_card
from duologue.engines.onnx_metadata import read_metadata
from duologue.engines.weights import (
    archive_command,
    check_files,
    files_below,
    find_folder,
    missing_weights,
    target_folder,
)
from duologue.errors import StartFailed

Kind = TypeVar("Kind")


def find_sherpa_model(
    model: str,
    models: str,
    releases: str,
    *,
    detect: Callable[[Sequence[str], Callable[[str], dict[str, str]]], Kind | None],
    files: Callable[[Kind], Iterable[str]],
    known: str,
) -> tuple[Path, Kind]:
    """The folder of `model` (a name in the folder `models`, or a path) and its kind. `detect` tells the kind from the names of the
    files and the metadata of each; `files` are those that a model of it needs; `known` names all kinds. Raises StartFailed, with
    the command that fetches the model from `releases` if it is not there."""
    folder = find_folder(model, models)
    if folder is None:
        target = target_folder(model, models)
        raise missing_weights("sherpa", model, archive_command(releases, target), target)
    kind = detect(files_below(folder), lambda name: read_metadata(folder / name))
    if kind is None:
        raise StartFailed(f"The files in {folder} are not {known}.", param="model")
    check_files("sherpa", folder, files(kind))
    return folder, kind


def check_precision(precision: str) -> None:
    """Raises StartFailed for what is neither int8 nor float; "" leaves the choice to the device."""
    if precision not in ("", "int8", "float"):
        raise StartFailed("sherpa's option 'precision' is int8 or float.", param="precision")


def require_sherpa_card(device: Device) -> None:
    """Raises StartFailed for a card that sherpa-onnx would leave alone, and use the processor without a word. Only builds for cards use
    one, and always the first; they have it in the version of the package."""
    if device.kind == "cuda":
        require_card(device, numbered_cards(int("cuda" in version("sherpa-onnx"))))
