"""The files that admins choose from: chat templates (`templates/*.jinja`) and sampling presets (`sampling/*.yaml`) in the data folder.

A name from a client is compared with the files that are there and never used as a path. Everything blocks.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from duologue.config.model_preset import entries_of
from duologue.errors import BadRequest, NotFound
from duologue.values.requests import ModelPreset

MOST_FILES = 1000
LARGEST_TEMPLATE = 1024 * 1024
LARGEST_PRESET = 64 * 1024
TEMPLATE_SUFFIX, PRESET_SUFFIXES = ".jinja", (".yaml", ".yml")


def list_names(folder: Path, suffixes: tuple[str, ...]) -> list[str]:
    """The names of the files in a folder, without their suffix."""
    return sorted(_files(folder, suffixes))[:MOST_FILES]


def template_file(folder: Path, name: str) -> tuple[Path, str]:
    """The file of a template and its text. Raises NotFound, BadRequest."""
    path = _find(folder, name, (TEMPLATE_SUFFIX,), "template")
    return path, _text(path, LARGEST_TEMPLATE)


def preset_file(folder: Path, name: str) -> ModelPreset:
    """The preset in a file. Raises NotFound, BadRequest."""
    path = _find(folder, name, PRESET_SUFFIXES, "preset")
    try:
        fields = yaml.safe_load(_text(path, LARGEST_PRESET))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise BadRequest(f"{path.name} is not YAML: {str(error).splitlines()[0]}.", param="preset") from None
    return preset_of({} if fields is None else fields, path.name)


def preset_of(fields: Any, name: str) -> ModelPreset:
    """The preset that these entries are. Raises BadRequest."""
    if not isinstance(fields, dict) or not all(isinstance(key, str) for key in fields):
        raise BadRequest(f"{name} must be a table of sampling parameters.", param="preset")
    try:
        return ModelPreset(entries_of(fields))
    except ValueError as error:
        raise BadRequest(f"{name}: {error}.", param="preset") from None


def _files(folder: Path, suffixes: tuple[str, ...]) -> dict[str, Path]:
    if not folder.is_dir():
        return {}
    return {
        path.stem: path for path in sorted(folder.iterdir()) if path.suffix in suffixes and path.is_file()
    }


def _find(folder: Path, name: str, suffixes: tuple[str, ...], what: str) -> Path:
    files = _files(folder, suffixes)
    wanted = next((name.removesuffix(suffix) for suffix in suffixes if name.endswith(suffix)), name)
    if (path := files.get(wanted)) is None:
        known = (
            f"There are: {', '.join(sorted(files)[:20])}." if files else f"The folder {folder.name} is empty."
        )
        raise NotFound(f"There is no {what} {name[:80]!r}. {known}", code=f"{what}_not_found", param="name")
    return path


def _text(path: Path, most: int) -> str:
    try:
        if path.stat().st_size > most:
            raise BadRequest(f"{path.name} has more than {most:,} bytes.", param="name")
        return path.read_text("utf-8")
    except OSError as error:
        raise BadRequest(f"{path.name} cannot be read: {error.strerror}.", param="name") from error
    except UnicodeError:
        raise BadRequest(f"{path.name} is not UTF-8 text.", param="name") from None
