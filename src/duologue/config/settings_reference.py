"""Describes the settings: what each allows, the error message for a wrong value, and the table in docs/running.md.

Used by `loader`, which also supplies the origin of each value, and by the tests of the documentation.
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
    """One setting: its path in the tree and its pydantic field."""

    place: Place
    field: FieldInfo

    @property
    def name(self) -> str:
        return ".".join(self.place)

    @property
    def variable(self) -> str:
        return PREFIX + str.upper("__".join(self.place))


def all_settings(section: type[BaseModel] = Settings, where: Place = ()) -> Iterator[Setting]:
    """Every setting below `section`, in the order of the documentation."""
    for name, field in section.model_fields.items():
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, Section):
            yield from all_settings(kind, (*where, name))
        else:
            yield Setting((*where, name), field)


def allowed(field: FieldInfo) -> str:
    """The allowed values of a setting, as a phrase: "a whole number from 1 to 65535"."""
    kind = field.annotation
    if get_origin(kind) in (Union, UnionType):
        kind, *others = (part for part in get_args(kind) if part is not type(None))
        words = (f" or {word}" for other in others for word in get_args(other))
        return _kind(kind, list(field.metadata)) + "".join(words)
    return _kind(kind, list(field.metadata))


def _kind(kind: Any, bounds: list[Any]) -> str:
    if get_origin(kind) is Annotated:
        kind, *inner = get_args(kind)
        bounds += [part for note in inner for part in getattr(note, "metadata", [note])]
    if get_origin(kind) is Literal:
        return "one of " + ", ".join(map(str, get_args(kind)))
    if get_origin(kind) is dict:
        return "a table of names and values"
    if get_origin(kind) is tuple:
        element = get_args(kind)[0]
        if get_origin(element) is Literal:
            return "a list of " + ", ".join(map(str, get_args(element)))
        return "a list of names" if getattr(element, "__origin__", element) is str else "a list of tables"
    names = {bool: "true or false", int: "a whole number", float: "a number", Path: "a path"}
    return names.get(kind, "text") + _range(bounds)


def _range(bounds: list[Any]) -> str:
    def bound(name: str) -> Any:
        return next((getattr(note, name) for note in bounds if getattr(note, name, None) is not None), None)

    low, above, high = bound("ge"), bound("gt"), bound("le")
    phrase = f" from {low}" if low is not None else f" above {above}" if above is not None else ""
    if high is not None:
        phrase += f" to {high}" if low is not None else f", at most {high}"
    elif low is not None:
        phrase += " up"
    return phrase


def settings_table() -> str:
    """The Markdown table of docs/running.md."""
    lines = ["| setting | environment | allowed | default | what it does |", "|---|---|---|---|---|"]
    for setting in all_settings():
        default = "" if setting.name == "data" else _default_text(setting.field.default)
        lines.append(
            f"| `{setting.name}` | `{setting.variable}` | {allowed(setting.field)} | {default} "
            f"| {setting.field.description} |"
        )
    return "\n".join(lines) + "\n"


def _default_text(default: object) -> str:
    if default in (None, "", (), {}):
        return ""
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    if isinstance(default, tuple):
        return f"`{', '.join(map(str, default))}`"
    return f"`{default:g}`" if isinstance(default, float) else f"`{default}`"


def suggestion(word: str, known: list[str]) -> str:
    """ " Did you mean NAME?" for the closest of the `known` names; empty if none is close."""
    from difflib import get_close_matches

    close = get_close_matches(word, known, n=1, cutoff=0.6)
    return f" Did you mean {close[0]}?" if close else ""


def start_error(error: ValidationError, origins: Mapping[Place, str]) -> StartFailed:
    """The first validation error as one sentence, with the setting's name and origin."""
    first = error.errors(include_url=False)[0]
    where = tuple(first["loc"])
    names = tuple(part for part in where if isinstance(part, str))
    name = _dotted(where)
    origin = _origin(names, origins)
    section = _section(names[:-1])
    if first["type"] == "extra_forbidden":
        prefix = name.removesuffix(names[-1])
        hint = suggestion(name, [prefix + known for known in section.model_fields] if section else [])
        return StartFailed(f"Unknown setting {name} ({origin}).{hint}", param=name)
    field = section.model_fields.get(names[-1]) if section else None
    if first["type"] == "value_error":
        rule = str(first["ctx"]["error"])
    elif field is not None and isinstance(field.annotation, type) and issubclass(field.annotation, Section):
        rule = "must be a table of settings: " + ", ".join(field.annotation.model_fields)
    else:
        rule = f"must be {allowed(field)}" if field else first["msg"]
    secret = "key" in names[-1]
    actual = "" if secret or isinstance(first["input"], dict | list) else f", not {first['input']!r}"
    return StartFailed(f"{name} {rule}{actual} ({origin}).", param=name)


def _origin(names: Place, origins: Mapping[Place, str]) -> str:
    """The origin of the setting itself, else of the table that contains it, else of a value inside it."""
    for end in range(len(names), 0, -1):
        if names[:end] in origins:
            return origins[names[:end]]
    return next((origin for place, origin in origins.items() if place[: len(names)] == names), "")


def _dotted(where: tuple[int | str, ...]) -> str:
    """("workers", 0, "slots") as "workers[0].slots"."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in where)
    return text.removeprefix(".")


def _section(names: Place) -> type[BaseModel] | None:
    section: type[BaseModel] = Settings
    is_table = False
    for name in names:
        if is_table:  # the name of an entry
            is_table = False
            continue
        field = section.model_fields.get(name)
        if field is None:
            return None
        kinds = (field.annotation, *get_args(field.annotation))
        subsection = next(
            (kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Section)), None
        )
        if subsection is None:
            return None
        section, is_table = subsection, get_origin(field.annotation) is dict
    return section
