"""Loads the settings from duologue.yaml, the environment and the flags; later sources override earlier ones.

Owns the search for the file, the names of the environment variables and how their text is parsed. Records the origin of
each value for error messages. Called by the command line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from duologue.config.settings import Settings, default_data
from duologue.config.settings_reference import PREFIX, Place, all_settings, start_error, suggestion
from duologue.errors import StartFailed

FILE_NAME = "duologue.yaml"
OTHER_VARIABLES = frozenset({"DUOLOGUE_CONFIG", "DUOLOGUE_SERVER"})
"""Variables of the same prefix that are not settings: the path of the file, and the server that `say` connects to."""
SHORT_VARIABLES: dict[str, Place] = {
    "DUOLOGUE_UPSTREAM": ("upstream", "url"),
    "DUOLOGUE_UI": ("ui", "enabled"),
}
SHORT_PLACES: dict[Place, Place] = {("ui",): ("ui", "enabled")}
"""Tables that the file may give as a single value, and the setting that value sets: `ui: false` is `ui.enabled: false`."""

FLAGS = {
    "ui.enabled": "no-ui",
    "supervise": "no-supervise",
    "upstream.url": "upstream",
    "upstream.replicas": "upstream",
    "upstream.key": "upstream-key",
    "upstream.model": "upstream-model",
    "host_names": "host-name",
    "allow_origins": "allow-origin",
    "proxies": "proxy",
    "aliases": "alias",
    "log.level": "log-level",
    "log.format": "log-format",
}
"""Flags that differ from the setting's name with hyphens."""


def load(path: Path | None, environ: Mapping[str, str], flags: Mapping[str, object]) -> Settings:
    """The validated settings. `path` is the settings file (None: search for it); `flags` maps dotted names to values,
    None for a flag that is not on the command line. Raises StartFailed naming the setting, its origin and what is allowed."""
    values: dict[str, Any] = {}
    origins: dict[Place, str] = {}

    def put(where: Place, value: object, origin: str) -> None:
        place = values
        for name in where[:-1]:
            place = place.setdefault(name, {})
            if not isinstance(place, dict):
                # The file has a value where a table belongs; validation reports it with a better message.
                return
        place[where[-1]] = value
        origins[where] = origin

    file = find_file(path, environ, flags.get("data"))
    if file is not None:
        for where, value in _leaves(_without_nulls(_read_file(file))):
            short = where in SHORT_PLACES and not isinstance(value, dict | list)
            put(SHORT_PLACES[where] if short else where, value, f"in {file}")
    for where, value, variable in _from_environment(environ):
        put(where, value, f"from the environment variable {variable}")
    for name, value in flags.items():
        origin = f"from --{FLAGS.get(name, name.replace('_', '-'))}"
        if isinstance(value, Mapping):  # what a flag says of a table is added to it
            for entry, content in value.items():
                put((name, entry), content, origin)
        elif value is not None:
            put(tuple(name.split(".")), value, origin)
    try:
        settings = Settings(**values)
    except ValidationError as error:
        raise start_error(error, origins) from None
    _check_workers(settings)
    return settings


def find_file(path: Path | None, environ: Mapping[str, str], data: object = None) -> Path | None:
    """The settings file: `path`, else DUOLOGUE_CONFIG, else the one in the working folder, else in the data folder; or
    None. Raises StartFailed when an explicitly named file does not exist."""
    explicit = path or (Path(environ["DUOLOGUE_CONFIG"]) if environ.get("DUOLOGUE_CONFIG") else None)
    if explicit is not None:
        explicit = explicit.expanduser()
        if not explicit.is_file():
            raise StartFailed(f"The settings file {explicit} does not exist.", param="config")
        return explicit
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
        raise StartFailed(f"{file} must contain settings, one `name: value` per line.")
    return content


def _leaves(tree: Mapping[str, Any], where: Place = ()) -> Iterator[tuple[Place, Any]]:
    """Every value of a nested mapping with its path; lists are values."""
    for name, value in tree.items():
        if isinstance(value, dict) and value:
            yield from _leaves(value, (*where, str(name)))
        else:
            yield (*where, str(name)), value


def _without_nulls(tree: Any) -> Any:
    """The tree without nulls: `model:` with nothing after it counts as not set."""
    if isinstance(tree, dict):
        return {name: _without_nulls(value) for name, value in tree.items() if value is not None}
    return [_without_nulls(value) for value in tree] if isinstance(tree, list) else tree


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
            hint = suggestion(variable, [*known, *SHORT_VARIABLES, *OTHER_VARIABLES])
            raise StartFailed(f"Unknown setting {variable} (environment).{hint}", param=variable)


def _parse(text: str, field: FieldInfo, variable: str) -> object:
    """A variable's text as a value: names, or pairs NAME=VALUE of a table of texts, separated by commas; lists and tables also as YAML
    or JSON."""
    kind = get_origin(field.annotation)
    if kind not in (tuple, dict):
        return text
    if text.lstrip().startswith(("[", "{")):
        return _yaml(text, variable)
    if kind is dict and get_args(field.annotation)[1] is str:
        return pairs(text.split(","), variable)
    item = get_args(field.annotation)[0] if kind is tuple else None
    if get_origin(item) is Annotated:
        item = get_args(item)[0]
    if item is str or get_origin(item) is Literal:
        return [part.strip() for part in text.split(",") if part.strip()]
    return text


def pairs(texts: Iterable[str], origin: str) -> dict[str, str]:
    """A table of texts from `NAME=VALUE` each. Raises StartFailed."""
    table = {}
    for text in texts:
        name, is_pair, value = (part.strip() for part in text.partition("="))
        if not name and not is_pair:
            continue
        if not name or not is_pair:
            raise StartFailed(f"{origin}: {text.strip()!r} must be NAME=VALUE.", param=origin)
        table[name] = value
    return table


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
                f"Two workers are named {entry.name}; worker names must be unique.", param="workers"
            )
        if entry.engine == "remote" and not entry.upstream.url:
            raise StartFailed(
                f"{entry.name} uses the remote engine but has no upstream: set --upstream URL or upstream.url.",
                param="upstream.url",
            )
