"""The files of deploy/, read for the tests: the Dockerfile's instructions, the Compose files as Compose merges them, the unit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from duologue.config import Settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
DOCKERFILE = DEPLOY / "Dockerfile"
UNIT = DEPLOY / "systemd/duologue.service"
COMPOSE = DEPLOY / "compose.yaml"
OVERLAYS = tuple(sorted(DEPLOY.glob("compose.*.yaml")))
DOMAIN = "chat.example.org"
VARIABLE = re.compile(r"\$\{(\w+)(?:(:-|:\?)([^}]*))?\}")


class Instruction(NamedTuple):
    """One instruction of a Dockerfile, its lines joined; `stage` is the name or the number of its stage."""

    stage: str
    name: str
    text: str


def instructions() -> Iterator[Instruction]:
    text = re.sub(r"^\s*#.*\n", "", DOCKERFILE.read_text(), flags=re.MULTILINE)
    stage = ""
    for line in re.sub(r"\\\n\s*", "", text).splitlines():
        if not line.strip():
            continue
        name, _, rest = line.partition(" ")
        if name == "FROM":
            named = re.search(r" AS (\w+)$", rest)
            stage = named[1] if named else "last"
        yield Instruction(stage, name, rest)


def texts(name: str, stage: str | None = None) -> list[str]:
    """What follows each instruction of this name, in all stages or in one."""
    return [one.text for one in instructions() if one.name == name and stage in (None, one.stage)]


def image_environment() -> dict[str, str]:
    return dict(pair.split("=", 1) for text in texts("ENV", "last") for pair in text.split())


def compose(*files: Path, environ: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The Compose files, with their variables filled in, later ones laid over earlier ones as Compose does."""
    merged: dict[str, Any] = {}
    for file in files:
        merged = _over(merged, yaml.safe_load(_filled(file.read_text(), environ or {})))
    return merged


def _filled(text: str, environ: Mapping[str, str]) -> str:
    def value(match: re.Match[str]) -> str:
        name, operator, default = match.groups()
        return environ.get(name) or (DOMAIN if operator == ":?" else default or "")

    return VARIABLE.sub(value, text)


def _over(below: Any, above: Any) -> Any:
    if isinstance(below, dict) and isinstance(above, dict):
        return below | {name: _over(below.get(name), value) for name, value in above.items()}
    if isinstance(below, list) and isinstance(above, list):
        return [*below, *(value for value in above if value not in below)]
    return above


def unit() -> dict[str, list[str]]:
    """The lines of the unit: what each name is set to, in order."""
    lines: dict[str, list[str]] = {}
    for line in UNIT.read_text().splitlines():
        if line and not line.startswith(("#", "[")):
            name, _, value = line.partition("=")
            lines.setdefault(name, []).append(value)
    return lines


def seconds(text: str) -> float:
    """A time as Compose and systemd write it."""
    found = re.fullmatch(r"(\d+)\s*(s|min|m|)", text)
    assert found is not None, text
    return int(found[1]) * (60 if found[2].startswith("m") else 1)


def drain_seconds() -> float:
    """How long the server lets running replies finish when it is stopped."""
    lifecycle = getattr(Settings(), "lifecycle", None)
    return 0.0 if lifecycle is None else float(lifecycle.drain_s)
