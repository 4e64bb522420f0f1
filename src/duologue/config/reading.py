"""Reading the settings: duologue.yaml < environment < flags, each value with the place it came from.

Owns where the file is searched, what the variables are called and what their text means. Knows no setting by name
but the few with a short form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from duologue.config.settings import Settings, default_data
from duologue.config.words import PREFIX, Place, all_settings, nearest, sentence
from duologue.errors import StartFailed

FILE_NAME = "duologue.yaml"
OTHER_VARIABLES = frozenset({"DUOLOGUE_CONFIG", "DUOLOGUE_SERVER"})
"""Variables of the same prefix that are no settings: the path of the file, and the server `say` talks to."""
SHORT_VARIABLES: dict[str, Place] = {
    "DUOLOGUE_UPSTREAM": ("upstream", "url"),
    "DUOLOGUE_UI": ("ui", "enabled"),
}
SHORT_PLACES: dict[Place, Place] = {("ui",): ("ui", "enabled")}
"""Tables that may be one value in the file, and which of their settings that is."""

FLAGS = {
    "ui.enabled": "no-ui",
    "upstream.url": "upstream",
    "upstream.key": "upstream-key",
    "upstream.model": "upstream-model",
    "host_names": "host-name",
    "allow_origins": "allow-origin",
    "proxies": "proxy",
    "log.level": "log-level",
    "log.format": "log-format",
}
"""Settings whose flag is not their name with hyphens."""


def load(path: Path | None, environ: Mapping[str, str], flags: Mapping[str, object]) -> Settings:
    """The settings of this start. `path` names the file (else it is searched for), `flags` go by dotted name and
    None is "not given". Raises StartFailed with the setting, where it came from and what is allowed."""
    values: dict[str, Any] = {}
    origins: dict[Place, str] = {}

    def put(where: Place, value: object, origin: str) -> None:
        place = values
        for name in where[:-1]:
            place = place.setdefault(name, {})
            if not isinstance(
                place, dict
            ):  # the file gave a value where a table belongs: let validation say so
                return
        place[where[-1]] = value
        origins[where] = origin

    file = find_file(path, environ, flags.get("data"))
    if file is not None:
        for where, value in _leaves(_set_only(_read_file(file))):
            short = where in SHORT_PLACES and not isinstance(value, dict | list)
            put(SHORT_PLACES[where] if short else where, value, f"in {file}")
    for where, value, variable in _from_environment(environ):
        put(where, value, f"from the environment variable {variable}")
    for name, value in flags.items():
        if value is not None:
            put(tuple(name.split(".")), value, f"from --{FLAGS.get(name, name.replace('_', '-'))}")
    try:
        settings = Settings(**values)
    except ValidationError as error:
        raise sentence(error, origins) from None
    _check_workers(settings)
    return settings


def find_file(path: Path | None, environ: Mapping[str, str], data: object = None) -> Path | None:
    """The settings file: `path`, then DUOLOGUE_CONFIG, then the working folder's, then the data folder's; or None.
    Raises StartFailed when one was named and is not there."""
    named = path or (Path(environ["DUOLOGUE_CONFIG"]) if environ.get("DUOLOGUE_CONFIG") else None)
    if named is not None:
        named = named.expanduser()
        if not named.is_file():
            raise StartFailed(f"There is no settings file {named}.", param="config")
        return named
    folder = data or environ.get("DUOLOGUE_DATA") or default_data()
    candidates = (Path(FILE_NAME), Path(str(folder)).expanduser() / FILE_NAME)
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def _read_file(file: Path) -> dict[str, Any]:
    import yaml

    try:
        content = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise StartFailed(f"{file} cannot be read: {error}.") from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" line {mark.line + 1}" if mark else ""
        raise StartFailed(f"{file}{line} is not valid YAML: {getattr(error, 'problem', error)}.") from None
    if content is None:
        return {}
    if not isinstance(content, dict) or not all(isinstance(name, str) for name in content):
        raise StartFailed(f"{file} must hold settings, one `name: value` a line.")
    return content


def _leaves(tree: Mapping[str, Any], where: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every value of a nested mapping with its place; lists are values."""
    for name, value in tree.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, (*where, str(name)))
        else:
            yield (*where, str(name)), value


def _set_only(tree: Any) -> Any:
    """The tree without empty values: `model:` with nothing behind it was not set."""
    if isinstance(tree, dict):
        return {name: _set_only(value) for name, value in tree.items() if value is not None}
    return [_set_only(value) for value in tree] if isinstance(tree, list) else tree


def _from_environment(environ: Mapping[str, str]) -> Iterator[tuple[Place, object, str]]:
    known = {setting.variable: setting for setting in all_settings()}
    for variable in sorted(environ):
        text = environ[variable]
        if not variable.startswith(PREFIX) or variable in OTHER_VARIABLES or text == "":
            continue
        table, _, entry = variable.rpartition("__")
        if variable in SHORT_VARIABLES:
            yield SHORT_VARIABLES[variable], text, variable
        elif variable in known:
            yield known[variable].place, _parse(text, known[variable].field, variable), variable
        elif entry and table in known and get_origin(known[table].field.annotation) is dict:
            is_text = get_args(known[table].field.annotation)[1] is str
            value = text if is_text else _yaml(text, variable)
            yield (*known[table].place, entry.lower()), value, variable
        else:
            close = nearest(variable, [*known, *SHORT_VARIABLES, *OTHER_VARIABLES])
            raise StartFailed(f"There is no setting {variable} (environment).{close}", param=variable)


def _parse(text: str, field: FieldInfo, variable: str) -> object:
    """A variable's text as the setting wants it: lists by commas, lists and tables also as YAML or JSON."""
    kind = get_origin(field.annotation)
    if kind not in (tuple, dict):
        return text
    if text.lstrip().startswith(("[", "{")):
        return _yaml(text, variable)
    if kind is tuple and get_args(field.annotation)[0] is str:
        return [part.strip() for part in text.split(",") if part.strip()]
    return text


def _yaml(text: str, variable: str) -> object:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        raise StartFailed(f"The environment variable {variable} is not valid YAML or JSON.") from None


def _check_workers(settings: Settings) -> None:
    names = [entry.name for entry in settings.worker_entries]
    for entry in settings.worker_entries:
        if names.count(entry.name) > 1:
            raise StartFailed(
                f"Two workers are called {entry.name}; give each its own name.", param="workers"
            )
        if entry.engine == "remote" and not entry.upstream.url:
            raise StartFailed(
                f"{entry.name} has the engine remote but no upstream: give --upstream URL or upstream.url.",
                param="upstream.url",
            )
