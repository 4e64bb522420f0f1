"""The models that can be loaded while the server runs, by name: those of the settings, of the data folder, and the bundled one.

Owns how a name from a client becomes a load spec: it is compared with known names and never used as a path. Reads file headers, so
everything here blocks. The loader and `/v1/model/list` call it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

import msgspec
from msgspec import Struct

from duologue.config import Settings, WorkerEntry
from duologue.config.settings import ModelSettings
from duologue.errors import BadRequest, ModelNotFound, StartFailed, Unsupported
from duologue.gateway.workers.load_specs import LORAS, adapter_paths, load_spec
from duologue.models import catalogue, local
from duologue.models.gguf import header
from duologue.models.gguf.header import GgufHeader
from duologue.models.projectors import NONE, find_projector
from duologue.wire.worker_protocol import LoadSpec

CACHE_BYTES = 2
"""Bytes of one number in a model's key and value cache."""
SIZES: dict[str, tuple[str, ...]] = {
    "llama": ("context", "slots", "threads", "gpu_layers", "loras"),
    "remote": ("context", "slots"),
    "scripted": ("context", "slots"),
    "qwen_omni": ("context", "slots"),
    "transformers": ("context", "slots", "threads"),
}
"""The sizes that each engine supports."""


SHARED = ("device", "slots", "context", "threads", "gpu_layers", "batch")
"""The settings of all workers that a model loaded at run time has too."""


class Sizes(Struct, frozen=True):
    """The sizes to load a model with; None: that of the settings, else the engine's choice."""

    context: int | None = None
    slots: int | None = None
    threads: int | None = None
    gpu_layers: int | None = None
    loras: dict[str, float] | None = None
    """LoRA adapters by their names, with their scales."""

    def given(self) -> dict[str, object]:
        """The sizes that are not None."""
        return {name: value for name, value in msgspec.structs.asdict(self).items() if value is not None}


class AvailableModel(Struct, frozen=True):
    """A model that can be loaded as `name`: a worker of the settings, a file, or both. `model`: what `models` of the settings names for
    it, a file or a folder."""

    name: str
    path: Path | None = None
    configured: LoadSpec | None = None
    bundled: bool = False
    model: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Its name, and that of its file."""
        return (self.name, *(() if self.path is None else (catalogue.file_stem(self.path),)))


class Prepared(Struct, frozen=True):
    """The load spec for a worker, and roughly the bytes of memory it needs; 0 if unknown."""

    load_spec: LoadSpec
    size: int = 0
    cache: int = 0


class AvailableModels:
    """Every model that can be loaded. `configured`: the workers of the settings."""

    def __init__(self, settings: Settings, configured: Sequence[LoadSpec]) -> None:
        self._settings = settings
        self._configured = tuple(configured)
        self.folder = settings.data / "models"

    def all(self) -> list[AvailableModel]:
        """The models of the settings, loaded at the start or not, the bundled model, then the files of the folder. The first of a name
        wins."""
        models: dict[str, AvailableModel] = {}
        for one in self._configured:
            name = one.model or one.worker
            models.setdefault(name, AvailableModel(name, path_of(one), one, bool(one.options.get("bundled"))))
        for name, own in self._settings.models.items():
            if own.model or own.upstream.url or own.engine == "scripted":
                models.setdefault(name, AvailableModel(name, self._file_of(own), model=own.model or name))
        try:
            bundled = catalogue.bundled_model()
            models.setdefault(catalogue.BUNDLED, AvailableModel(catalogue.BUNDLED, bundled, bundled=True))
        except StartFailed:
            pass  # a checkout without weights
        known = {entry.path.resolve() for entry in models.values() if entry.path is not None}
        for name, path in named_files(self.folder):
            if path.resolve() not in known:
                models.setdefault(name, AvailableModel(name, path))
        return list(models.values())

    def _file_of(self, own: ModelSettings) -> Path | None:
        if (own.engine or "llama") != "llama" or not own.model:
            return None
        try:
            return catalogue.find_model(own.model, self.folder)
        except StartFailed:
            return None  # the load says what is wrong with it

    def find(self, name: str) -> AvailableModel:
        """The model that a client calls `name`. Raises ModelNotFound with the most similar name."""
        models = self.all()
        key = name.strip().removesuffix(catalogue.SUFFIX).lower()
        file = catalogue.RECOMMENDED_NAMES.get(key, key)
        for entry in models:
            if entry.name.lower() in (key, file):
                return entry
        names = [entry.name for entry in models]
        near = get_close_matches(key, names, n=1)
        hint = f"Did you mean {near[0]!r}?" if near else f"Available: {', '.join(names[:20]) or 'none'}."
        raise ModelNotFound(f"There is no model {name[:80]!r} to load. {hint}", param="name")

    def prepare(self, model: AvailableModel, sizes: Sizes) -> Prepared:
        """The load spec of a model with these sizes. Raises BadRequest (`model_unusable`) for a broken file, Unsupported for a
        size its engine does not support."""
        entry = self._entry(model)
        engine = model.configured.engine if model.configured else entry.engine
        given = sizes.given()
        for name in given:
            if name not in SIZES.get(engine, ()):
                raise Unsupported(
                    f"{name}: the engine of {model.name} does not support this size. Leave it out.",
                    param=name,
                )
        try:
            spec = model.configured or load_spec(entry, self._settings)
            gguf = header.read(model.path) if model.path else None
            named = spec.options.get("mmproj")
            projector = find_projector(gguf, str(named or "")).projector if gguf else None
        except StartFailed as broken:
            raise BadRequest(broken.message, code="model_unusable") from None
        if sizes.loras is not None and gguf is not None:
            given["loras"] = adapter_paths(gguf, sizes.loras, self._settings.data / LORAS)
        spec = msgspec.structs.replace(spec, options={**spec.options, **given})
        if gguf is None:
            return Prepared(spec)
        return Prepared(spec, gguf.size + (projector.memory if projector else 0), _cache(gguf, spec))

    def _entry(self, model: AvailableModel) -> WorkerEntry:
        """A worker entry for a model: with its own settings, and the sizes that the settings have for all workers."""
        all_models = self._settings
        _, own = all_models.settings_of(model.names)
        only_llama = all(one.engine == "llama" for one in self._configured)
        fields = {
            "engine": "remote" if own.upstream.url and not own.model else "llama",
            "model": "" if model.bundled else str(model.path or model.model),
            # A named file belongs to the model of the settings.
            "mmproj": NONE if all_models.mmproj == NONE else "",
            **{name: getattr(all_models, name) for name in SHARED},
        }
        fields |= own.engine_fields()
        if model.path is not None:
            fields["model"] = "" if model.bundled else str(model.path)
        # `options` belong to the engine of the settings; another engine would reject them.
        shared = all_models.options if only_llama and fields["engine"] == "llama" else {}
        return WorkerEntry(**{**fields, "options": {**shared, **own.options, "name": model.name}})


def path_of(load_spec: LoadSpec) -> Path | None:
    """The file that a worker loads, if it is one."""
    model = load_spec.options.get("model")
    return Path(model) if load_spec.engine == "llama" and isinstance(model, str) else None


def named_files(folder: Path) -> list[tuple[str, Path]]:
    """Every complete model in `folder` with its name. Models of the same name are named by their path in the folder."""
    unfinished = {path for entry in local.unfinished_downloads(folder) for path in entry.paths}
    files = [path for path in catalogue.list_models(folder) if path not in unfinished]
    counts = Counter(catalogue.model_name(path).lower() for path in files)
    return [(_name(path, folder, counts), path) for path in files]


def _name(path: Path, folder: Path, counts: Counter[str]) -> str:
    name = catalogue.model_name(path)
    if counts[name.lower()] == 1:
        return name
    return str(path.relative_to(folder).with_name(name))


def _cache(header: GgufHeader, spec: LoadSpec) -> int:
    """Bytes of cache for the requested context; 0 without one, because the engine then chooses what fits."""
    context, slots = (spec.options.get(name) for name in ("context", "slots"))
    tokens = context if isinstance(context, int) else 0
    tokens = min(tokens, header.trained_context or tokens)
    return header.cache_width * CACHE_BYTES * tokens * (slots if isinstance(slots, int) else 1)
