"""Models that workers on other machines may fetch: those that this server serves from files, and those in its models folder.

Files are offered by their hash. Only what was offered can be fetched: a name finds a model among those, and never a path. `offer_routes` calls this.
"""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from duologue.errors import ModelNotFound, NotFound
from duologue.gateway.scheduling.pool import Pool
from duologue.models import catalogue
from duologue.models.gguf import header
from duologue.models.projectors import find_projector
from duologue.threads import Refusal, ThreadLane, disk_io, in_thread
from duologue.values.requests import ModelPreset, Task
from duologue.wire.machines.model_offer import ModelOffer, OfferedAdapter, OfferedFile

ENGINE = "llama"
FILES = 1024
"""Hashes that are remembered."""
BLOCK = 1 << 20
PORTABLE = ("context", "slots", "batch", "name", "pooling")
"""Options that do not depend on the machine, and name no file of it."""
PART = re.compile(r"(?P<stem>.+)-00001-of-(?P<count>\d{5})\.gguf")
TOO_MANY = Refusal(
    "Too many workers fetch models. Try again in a moment.",
    "Hashing other models took too long. Try again in a moment.",
)


class _Content(NamedTuple):
    """A file as it was when it was hashed."""

    path: Path
    size: int
    changed: int


class _Found(NamedTuple):
    """A model's files by the options that get their paths, and how it is loaded here."""

    name: str
    """The model's own name, whichever alias was requested."""
    files: dict[str, list[Path]]
    task: Task
    options: dict[str, object]
    preset: ModelPreset = ModelPreset()
    template: str = ""
    adapters: Mapping[str, float] = MappingProxyType({})
    """The paths of LoRA adapters, with their scales."""


class ModelOffers:
    """`folder`: that of the models. Hashing a model reads all of it, one at a time; what has not changed is read once."""

    def __init__(self, pool: Pool, folder: Path) -> None:
        self._pool, self._folder = pool, folder
        self._hashes: OrderedDict[_Content, str] = OrderedDict()
        self._offered: OrderedDict[str, _Content] = OrderedDict()
        self._lane = ThreadLane(1, waiting=16, refusal=TOO_MANY)

    async def offer(self, name: str) -> ModelOffer:
        """A model by its name. Raises ModelNotFound, and Busy while too many are hashed."""
        found = await disk_io(self._find, name)
        files = [await self._file(option, path) for option, paths in found.files.items() for path in paths]
        adapters = [
            OfferedAdapter(await self._file("loras", Path(path)), scale)
            for path, scale in found.adapters.items()
        ]
        return ModelOffer(
            name=found.name,
            engine=ENGINE,
            task=found.task,
            files=tuple(files),
            options=found.options,
            preset=found.preset,
            template=found.template,
            adapters=tuple(adapters),
        )

    async def path(self, sha256: str) -> Path:
        """The file with this hash. Raises NotFound for one that was not offered, or has changed since."""
        content = self._offered.get(sha256)
        if content is None or await disk_io(_content, content.path) != content:
            raise NotFound(
                "No file with this hash is offered. Ask for the model again: its files may have changed.",
                code="file_not_found",
            )
        return content.path

    async def _file(self, option: str, path: Path) -> OfferedFile:
        content = await disk_io(_content, path)
        sha256 = self._hashes.get(content) or await self._hashed(content)
        self._offered[sha256] = content
        for table in (self._hashes, self._offered):
            while len(table) > FILES:
                table.popitem(last=False)
        return OfferedFile(option, path.name, content.size, sha256)

    async def _hashed(self, content: _Content) -> str:
        """The hash of a file, which takes minutes for a large one: others that ask meanwhile wait for it, and do not have it read again."""
        async with self._lane.turn():
            if (sha256 := self._hashes.get(content)) is None:
                sha256 = self._hashes[content] = await in_thread(_hash, content.path)
            return sha256

    def _find(self, name: str) -> _Found:
        """Reads headers. Raises ModelNotFound."""
        for status in self._pool.workers_of(name) if name else ():
            spec = self._pool.load_spec(status.worker)
            if not status.joined and spec.engine == ENGINE and (model := spec.options.get("model")):
                template = Path(spec.template).read_text(encoding="utf-8") if spec.template else ""
                options = {key: spec.options[key] for key in PORTABLE if key in spec.options}
                found = _found(status.model, Path(str(model)), spec.options, options)
                loras = spec.options.get("loras")
                adapters = loras if isinstance(loras, dict) else {}
                return found._replace(preset=spec.preset, template=template, adapters=adapters)
        for path in catalogue.list_models(self._folder):
            if name in (catalogue.model_name(path), catalogue.file_stem(path)):
                own = catalogue.model_name(path)
                return _found(own, path, {}, {})._replace(adapters=self._pool.tuning.adapters(own))
        raise ModelNotFound(
            f"This server does not offer a model {name[:100]!r} to workers. `duologue models list` shows its models; those of connected servers "
            "have no files here."
        )


def _found(name: str, model: Path, loaded: Mapping[str, object], options: dict[str, object]) -> _Found:
    head = header.read(model)
    files = {"model": _parts(model)}
    if (projector := find_projector(head, str(loaded.get("mmproj") or "")).projector) is not None:
        files["mmproj"] = [projector.path]
    return _Found(name, files, head.task(None), options)


def _parts(model: Path) -> list[Path]:
    """All files of a model, the first one first."""
    if (split := PART.fullmatch(model.name)) is None:
        return [model]
    count = int(split["count"])
    return [model.with_name(f"{split['stem']}-{part:05}-of-{count:05}.gguf") for part in range(1, count + 1)]


def _content(path: Path) -> _Content:
    try:
        known = path.stat()
    except OSError:
        return _Content(path, -1, 0)
    return _Content(path, known.st_size, known.st_mtime_ns)


def _hash(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while block := file.read(BLOCK):
                digest.update(block)
    except OSError as error:
        raise ModelNotFound(f"A file of this model cannot be read: {error.strerror or error}.") from None
    return digest.hexdigest()
