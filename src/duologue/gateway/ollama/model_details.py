"""What Ollama's API tells of models, gathered from their cards and from the headers of their files. Reads files; blocks.

Used by `ollama_listing`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from duologue.errors import Problem
from duologue.gateway.models.available import AvailableModel, AvailableModels
from duologue.gateway.models.inventory import Headers
from duologue.models.gguf.header import GgufHeader, read_checked
from duologue.models.gguf.reader import LongArray, Metadata
from duologue.models.projectors import find_projector
from duologue.values.requests import ModelCard
from duologue.wire.ollama.ollama_fields import OWN_NAMES
from duologue.wire.ollama.ollama_models import OllamaModel, ShownModel

TEMPLATE = "tokenizer.chat_template"
LONGEST_LIST = 64
"""Entries of a list that are shown; Ollama leaves out long ones too."""
LONGEST_TEXT = 64 * 1024
THOUGHTS = ("<think>", "enable_thinking", "thinking")
"""What the template of a model that thinks has in it."""


SHOWN_DEFAULTS = (
    *("temperature", "top_k", "top_p", "min_p", "typical_p", "repetition_penalty", "repetition_window"),
    *("presence_penalty", "frequency_penalty"),
)
"""The sampling parameters whose defaults are shown: those that Ollama has."""


class ModelDetails:
    """`started`: the time that models without a file are said to be from, in seconds since 1970."""

    def __init__(self, available: AvailableModels, started: float) -> None:
        self._available, self._started = available, started
        self._headers = Headers()

    def all(self, cards: Iterable[ModelCard], aliases: Mapping[str, ModelCard]) -> list[OllamaModel]:
        """Every model: those that are loaded or connected, their aliases, then those that can be loaded."""
        files = {entry.name: entry for entry in self._available.all()}
        self._headers.forget({entry.path for entry in files.values() if entry.path is not None})
        models = {card.name: self._of_card(card, files) for card in cards}
        for alias, card in aliases.items():
            named = msgspec.structs.replace(self._of_card(card, files), name=alias)
            models.setdefault(alias, named)
        for name, entry in files.items():
            if name not in models:
                models[name] = self._of_file(entry)
        return list(models.values())

    def loaded(self, card: ModelCard) -> OllamaModel:
        """A model that has a worker."""
        return self._of_card(card, {entry.name: entry for entry in self._available.all()})

    def shown(self, name: str, card: ModelCard | None) -> tuple[OllamaModel, ShownModel]:
        """Everything about the model of this card, or about the one that can be loaded as `name`. Raises ModelNotFound."""
        entries = {entry.name: entry for entry in self._available.all()}
        if card is not None:
            path = _path(entries.get(card.name))
            return self._of_card(card, entries), _shown_card(card, path)
        entry = self._available.find(name)
        return self._of_file(entry), _shown_file(entry, self._header(entry.path))

    def _of_card(self, card: ModelCard, files: Mapping[str, AvailableModel]) -> OllamaModel:
        path = None if card.upstream else _path(files.get(card.name))
        header = self._header(path)
        if header is None:
            return OllamaModel(
                card.name, card.size, self._started, "", card.engine, parameters=card.parameters
            )
        return self._of_header(card.name, header)

    def _of_file(self, entry: AvailableModel) -> OllamaModel:
        header = self._header(entry.path)
        if header is not None:
            return self._of_header(entry.name, header)
        if entry.path is None:
            engine = entry.configured.engine if entry.configured is not None else ""
            return OllamaModel(entry.name, 0, self._started, "", engine)
        size, modified = self._stat(entry.path)
        return OllamaModel(entry.name, size, modified, "gguf")

    def _of_header(self, name: str, header: GgufHeader) -> OllamaModel:
        return OllamaModel(
            name,
            header.size,
            self._stat(header.path)[1],
            "gguf",
            header.architecture,
            header.parameters,
            header.quantisation,
        )

    def _header(self, path: Path | None) -> GgufHeader | None:
        read = self._headers.read(path) if path is not None else None
        return read if isinstance(read, GgufHeader) else None

    def _stat(self, path: Path) -> tuple[int, float]:
        try:
            stat = path.stat()
        except OSError:
            return 0, self._started
        return stat.st_size, stat.st_mtime


def _path(entry: AvailableModel | None) -> Path | None:
    return entry.path if entry is not None else None


def _shown_card(card: ModelCard, path: Path | None) -> ShownModel:
    metadata = None if card.upstream or path is None else _metadata(path)
    return ShownModel(
        abilities_of_card(card),
        _information(metadata, card.name, card.engine, card.parameters, card.context),
        metadata.text(TEMPLATE) if metadata is not None else "",
        metadata.text("general.license")[:LONGEST_TEXT] if metadata is not None else "",
        card.context,
        {OWN_NAMES.get(name, name): card.defaults[name] for name in SHOWN_DEFAULTS if name in card.defaults},
    )


def _shown_file(entry: AvailableModel, header: GgufHeader | None) -> ShownModel:
    metadata = _metadata(entry.path) if entry.path is not None else None
    if metadata is None:
        return ShownModel(("completion",))
    projector = find_projector(header).projector if header is not None else None
    return ShownModel(
        abilities_of_file(metadata, projector.modalities if projector is not None else ()),
        _information(metadata, entry.name, "", header.parameters if header is not None else 0),
        metadata.text(TEMPLATE),
        metadata.text("general.license")[:LONGEST_TEXT],
    )


def abilities_of_card(card: ModelCard) -> tuple[str, ...]:
    """What a loaded model can do, in Ollama's words."""
    if "embed" in card.verbs:
        return ("embedding",)
    able = ["completion"]
    able += ["tools"] if "tools" in card.verbs else []
    able += ["insert"] if "infill" in card.verbs else []
    able += ["vision"] if "image" in card.modalities else []
    able += ["audio"] if "audio" in card.modalities else []
    able += ["thinking"] if thinks(card) else []
    return tuple(able)


def abilities_of_file(metadata: Metadata, modalities: Iterable[str]) -> tuple[str, ...]:
    """What a model that is not loaded can do, as far as its file shows."""
    architecture = metadata.text("general.architecture")
    if metadata.integer(f"{architecture}.pooling_type") or "bert" in architecture:
        return ("embedding",)
    template, able = metadata.text(TEMPLATE), ["completion"]
    able += ["tools"] if "tools" in template else []
    able += [word for kind, word in (("image", "vision"), ("audio", "audio")) if kind in modalities]
    able += ["thinking"] if any(word in template for word in THOUGHTS) else []
    return tuple(able)


def thinks(card: ModelCard) -> bool:
    """Whether a model can be asked to think."""
    return bool(card.thoughts) or not {"thinking", "effort"}.isdisjoint(card.verbs)


def _metadata(path: Path) -> Metadata | None:
    try:
        return read_checked(path)[0]
    except Problem:
        return None  # the list says what is wrong with it, where it is loaded


def _information(
    metadata: Metadata | None, name: str, engine: str, parameters: int, context: int = 0
) -> dict[str, object]:
    """The entries of a file's header, but for its template and for what is long; and those that clients look for, of a model without a
    file too. `context`: what a chat has while the model is loaded, by which clients measure their prompts."""
    entries = {} if metadata is None else dict(_entries(metadata))
    kind = entries.setdefault("general.architecture", engine or "unknown")
    entries.setdefault("general.basename", name)
    if parameters:
        entries["general.parameter_count"] = parameters
    if context:
        entries[f"{kind}.context_length"] = context
    return entries


def _entries(metadata: Metadata) -> Iterator[tuple[str, Any]]:
    for name, value in metadata.entries.items():
        if name == TEMPLATE:
            continue
        if isinstance(value, LongArray):
            yield name, None
        elif isinstance(value, tuple):
            yield name, list(value) if len(value) <= LONGEST_LIST else None
        else:
            yield name, value[:LONGEST_TEXT] if isinstance(value, str) else value
