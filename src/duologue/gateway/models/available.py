"""What can be loaded while the server runs, by name: what the settings configure, what lies in the data folder's
`models`, and the bundled model.

Owns how a name that comes from a client becomes a loadout: it is compared with the names of what is there, and is never
a path. Reads headers, so everything here blocks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

import msgspec
from msgspec import Struct

from duologue.config import Settings, WorkerEntry
from duologue.errors import BadRequest, ModelNotFound, StartFailed, Unsupported
from duologue.gateway.workers.load_specs import load_spec
from duologue.models import catalogue, local
from duologue.models.gguf import header
from duologue.models.gguf.header import GgufHeader
from duologue.wire.worker_protocol import LoadSpec

CACHE_BYTES = 2
"""Bytes of one number in a model's key and value cache."""
SIZES: dict[str, tuple[str, ...]] = {
    "llama": ("context", "slots", "threads", "gpu_layers"),
    "remote": ("context", "slots"),
    "scripted": ("context", "slots"),
}
"""Which sizes an engine takes."""


class Sizes(Struct, frozen=True):
    """How a model is to be loaded; None leaves it to the settings, and those to the engine."""

    context: int | None = None
    slots: int | None = None
    threads: int | None = None
    gpu_layers: int | None = None

    def said(self) -> dict[str, object]:
        """Those that were given."""
        return {name: value for name, value in msgspec.structs.asdict(self).items() if value is not None}


class AvailableModel(Struct, frozen=True):
    """Something that can be loaded under `name`: a worker of the settings, a file, or both."""

    name: str
    path: Path | None = None
    configured: LoadSpec | None = None
    bundled: bool = False


class Prepared(Struct, frozen=True):
    """What a worker is to be told, and the bytes of memory that it needs about; 0 where nobody can say."""

    load_spec: LoadSpec
    size: int = 0
    cache: int = 0


class AvailableModels:
    """Everything that can be loaded. `configured` are the workers of the settings."""

    def __init__(self, settings: Settings, configured: Sequence[LoadSpec]) -> None:
        self._settings = settings
        self._configured = tuple(configured)
        self.folder = settings.data / "models"

    def all(self) -> list[AvailableModel]:
        """By name: what the settings configure, the bundled model, then the folder's files."""
        found: dict[str, AvailableModel] = {}
        for one in self._configured:
            name = one.model or one.worker
            found.setdefault(name, AvailableModel(name, path_of(one), one, bool(one.options.get("bundled"))))
        try:
            bundled = catalogue.bundled_model()
            found.setdefault(catalogue.BUNDLED, AvailableModel(catalogue.BUNDLED, bundled, bundled=True))
        except StartFailed:
            pass  # a checkout without weights
        known = {entry.path.resolve() for entry in found.values() if entry.path is not None}
        for name, path in named_files(self.folder):
            if path.resolve() not in known:
                found.setdefault(name, AvailableModel(name, path))
        return list(found.values())

    def find(self, name: str) -> AvailableModel:
        """What a client means by `name`. Raises ModelNotFound with the nearest name."""
        everything = self.all()
        wanted = name.strip().removesuffix(catalogue.SUFFIX).lower()
        for entry in everything:
            if entry.name.lower() == wanted:
                return entry
        names = [entry.name for entry in everything]
        near = get_close_matches(wanted, names, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"There are: {', '.join(names[:20]) or 'none'}."
        raise ModelNotFound(
            f"There is no model {name[:80]!r} here that could be loaded. {hint}", param="name"
        )

    def prepare(self, found: AvailableModel, sizes: Sizes) -> Prepared:
        """What a worker is told to load it with these sizes. Raises BadRequest (`model_unusable`) for a broken file,
        Unsupported for a size its engine does not have."""
        engine = found.configured.engine if found.configured else "llama"
        said = sizes.said()
        for name in said:
            if name not in SIZES.get(engine, ()):
                raise Unsupported(
                    f"{name}: the model {found.name} has no such size; leave it out.", param=name
                )
        try:
            made = found.configured or load_spec(self._entry(found), self._settings)
            gguf = header.read(found.path) if found.path else None
        except StartFailed as broken:
            raise BadRequest(broken.message, code="model_unusable") from None
        made = msgspec.structs.replace(made, options={**made.options, **said})
        if gguf is None:
            return Prepared(made)
        return Prepared(made, gguf.size, _cache(gguf, sizes))

    def _entry(self, found: AvailableModel) -> WorkerEntry:
        """A worker for a file, with the sizes that the settings have for every worker."""
        own = self._settings
        fits = all(one.engine == "llama" for one in self._configured)
        return WorkerEntry(
            engine="llama",
            model="" if found.bundled else str(found.path),
            device=own.device,
            slots=own.slots,
            context=own.context,
            threads=own.threads,
            gpu_layers=own.gpu_layers,
            batch=own.batch,
            # Options bear the names of one engine; another would refuse them.
            options={**own.options, "name": found.name} if fits else {"name": found.name},
        )


def path_of(load_spec: LoadSpec) -> Path | None:
    """The file that a worker loads, if it is one."""
    model = load_spec.options.get("model")
    return Path(model) if load_spec.engine == "llama" and isinstance(model, str) else None


def named_files(folder: Path) -> list[tuple[str, Path]]:
    """Every whole model in `folder` with its name. Where several have the same, each is called by its place."""
    started = {path for entry in local.unfinished(folder) for path in entry.paths}
    files = [path for path in catalogue.list_models(folder) if path not in started]
    often = Counter(catalogue.model_name(path).lower() for path in files)
    return [(_name(path, folder, often), path) for path in files]


def _name(path: Path, folder: Path, often: Counter[str]) -> str:
    name = catalogue.model_name(path)
    if often[name.lower()] == 1:
        return name
    return str(path.relative_to(folder).with_name(name))


def _cache(header: GgufHeader, sizes: Sizes) -> int:
    """Bytes of cache for what was asked for; the engine fits its own choice to the memory there is."""
    tokens = min(sizes.context or 0, header.trained_context or sizes.context or 0)
    return header.cache_width * CACHE_BYTES * tokens * (sizes.slots or 1)
