"""Settings in words: what each may be, the sentence about a wrong one, the table of the documentation.

Knows the tree; does not know where values come from, only the origin it is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from duologue.config.section import Section
from duologue.config.settings import Settings
from duologue.errors import StartFailed

Place = tuple[str, ...]
PREFIX = "DUOLOGUE_"


class Setting(NamedTuple):
    """One setting as the documentation shows it."""

    place: Place
    field: FieldInfo

    @property
    def name(self) -> str:
        return ".".join(self.place)

    @property
    def variable(self) -> str:
        return PREFIX + str.upper("__".join(self.place))


def all_settings(section: type[BaseModel] = Settings, where: Place = ()) -> Iterator[Setting]:
    """Every setting of the tree, in the order of the documentation."""
    for name, field in section.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, Section):
            yield from all_settings(kind, (*where, name))
        else:
            yield Setting((*where, name), field)


def allowed(field: FieldInfo) -> str:
    """What a setting may be, in words: "a whole number from 1 to 65535"."""
    kind = field.annotation
    if get_origin(kind) in (Union, UnionType):
        kind = next(part for part in get_args(kind) if part is not type(None))
    bounds = list(field.metadata)
    if get_origin(kind) is Annotated:
        kind, *inner = get_args(kind)
        bounds += [part for note in inner for part in getattr(note, "metadata", [note])]
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(map(str, get_args(kind)))
    if get_origin(kind) is dict:
        return "a table of names and values"
    if get_origin(kind) is tuple:
        of = get_args(kind)[0]
        if get_origin(of) is Literal:
            return "a list of " + ", ".join(map(str, get_args(of)))
        return "a list of names" if of is str else "a list of tables"
    words = {bool: "true or false", int: "a whole number", float: "a number", Path: "a path"}
    return words.get(kind, "text") + _range(bounds)  # type: ignore[arg-type]


def _range(bounds: list[Any]) -> str:
    def bound(name: str) -> Any:
        return next((getattr(note, name) for note in bounds if getattr(note, name, None) is not None), None)

    low, above, high = bound("ge"), bound("gt"), bound("le")
    words = f" from {low}" if low is not None else f" above {above}" if above is not None else ""
    if high is not None:
        words += f" to {high}" if low is not None else f", at most {high}"
    elif low is not None:
        words += " up"
    return words


def settings_table() -> str:
    """The Markdown table of docs/running.md."""
    lines = ["| setting | environment | allowed | default | what it does |", "|---|---|---|---|---|"]
    for setting in all_settings():
        default = "" if setting.name == "data" else _shown(setting.field.default)
        lines.append(
            f"| `{setting.name}` | `{setting.variable}` | {allowed(setting.field)} | {default} "
            f"| {setting.field.description} |"
        )
    return "\n".join(lines) + "\n"


def _shown(default: object) -> str:
    if default in (None, "", (), {}):
        return ""
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if isinstance(default, tuple):
        return f"`{', '.join(map(str, default))}`"
    return f"`{default:g}`" if isinstance(default, float) else f"`{default}`"


def nearest(word: str, known: list[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(word, known, n=1, cutoff=0.6)
    return f" Did you mean {close[0]}?" if close else ""


def sentence(error: ValidationError, origins: Mapping[Place, str]) -> StartFailed:
    """The first thing that is wrong, as one sentence."""
    first = error.errors(include_url=False)[0]
    where = tuple(first["loc"])
    named = tuple(part for part in where if isinstance(part, str))
    name = _dotted(where)
    origin = _origin(named, origins)
    section = _section(named[:-1])
    if first["type"] == "extra_forbidden":
        prefix = name.removesuffix(named[-1])
        close = nearest(name, [prefix + known for known in section.model_fields] if section else [])
        return StartFailed(f"There is no setting {name} ({origin}).{close}", param=name)
    field = section.model_fields.get(named[-1]) if section else None
    if first["type"] == "value_error":
        must = str(first["ctx"]["error"])
    elif field is not None and isinstance(field.annotation, type) and issubclass(field.annotation, Section):
        must = "must be a table of settings: " + ", ".join(field.annotation.model_fields)
    else:
        must = f"must be {allowed(field)}" if field else first["msg"]
    secret = "key" in named[-1]
    shown = "" if secret or isinstance(first["input"], dict | list) else f", not {first['input']!r}"
    return StartFailed(f"{name} {must}{shown} ({origin}).", param=name)


def _origin(named: Place, origins: Mapping[Place, str]) -> str:
    """Where the nearest value came from: the setting's own, a table's it stands in, or one that stands in it."""
    for end in range(len(named), 0, -1):
        if named[:end] in origins:
            return origins[named[:end]]
    return next((origin for place, origin in origins.items() if place[: len(named)] == named), "")


def _dotted(where: tuple[int | str, ...]) -> str:
    """("workers", 0, "slots") as "workers[0].slots"."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in where)
    return text.removeprefix(".")


def _section(names: Place) -> type[BaseModel] | None:
    section: type[BaseModel] = Settings
    for name in names:
        field = section.model_fields.get(name)
        if field is None:
            return None
        kinds = (field.annotation, *get_args(field.annotation))
        found = next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Section)), None)
        if found is None:
            return None
        section = found
    return section
