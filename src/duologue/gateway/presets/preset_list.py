"""The presets, read from `presets.toml`, and how the MiniCPM-o demo's front end expects them. No I/O but that file.

A preset of turn-based chat is a list of parts, one of a duplex mode a prompt; either may have a sample of the voice. In lists a sample has a
`path` and no data: the front end fetches it when the preset is chosen.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any, Literal

import msgspec
from msgspec import Struct

PresetMode = Literal["turnbased", "omni", "audio_duplex"]


class Preset(Struct, frozen=True, forbid_unknown_fields=True):
    """A way to begin. `prompt` and `after` surround the sample of the voice; `language` is that of its voice."""

    mode: PresetMode
    id: str
    name: str
    description: str
    language: str
    prompt: str
    after: str = ""


class SampleText(Struct, frozen=True, forbid_unknown_fields=True):
    """What a voice says in its sample."""

    language: str
    text: str


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    presets: tuple[Preset, ...]
    samples: tuple[SampleText, ...]


@cache
def _file() -> _File:
    text = resources.files("duologue.gateway.presets").joinpath("presets.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), _File)


def presets() -> tuple[Preset, ...]:
    """Every preset, in order."""
    return _file().presets


def find(mode: str, id: str) -> Preset | None:
    """The preset of this mode and id."""
    return next((preset for preset in presets() if (preset.mode, preset.id) == (mode, id)), None)


def sample_text(language: str) -> str:
    """What a voice of this language says in its sample."""
    texts = {sample.language: sample.text for sample in _file().samples}
    return texts.get(language.split("-")[0].lower(), texts["en"])


def preset_lists(has_voice: Callable[[str], bool]) -> dict[str, list[dict[str, Any]]]:
    """The presets of each mode. `has_voice`: whether there is a voice for a language."""
    lists: dict[str, list[dict[str, Any]]] = {}
    for preset in presets():
        rows = lists.setdefault(preset.mode, [])
        rows.append(_row(preset, len(rows) + 1, has_voice(preset.language)))
    return lists


def _row(preset: Preset, order: int, has_voice: bool) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": preset.id,
        "order": order,
        "name": preset.name,
        "description": preset.description,
    }
    sample = {
        "data": None,
        "path": f"voices/{preset.language}",
        "name": sample_name(preset.language),
        "duration": 0,
    }
    if preset.mode != "turnbased":
        return row | {"system_prompt": preset.prompt} | ({"ref_audio": sample} if has_voice else {})
    texts = [{"type": "text", "text": text} for text in (preset.prompt, preset.after) if text]
    audio = [{"type": "audio", **sample}] if has_voice else []
    return row | {"system_content": [*texts[:1], *audio, *texts[1:]]}


def sample_name(language: str) -> str:
    """The name under which the sample is shown."""
    return f"Duologue ({language})"
