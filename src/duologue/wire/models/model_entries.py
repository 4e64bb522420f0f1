"""The entries of `GET /v1/models`: OpenAI's fields, and what clients of other servers read of a model.

Used by the routes of `/v1/models` and `/v1/model`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from duologue.values.requests import ModelCard, Task

STRUCTURED = ("json_object", "json_schema", "grammar")
TYPES: Mapping[Task, str] = {"chat": "llm", "embed": "embeddings", "rerank": "rerank"}
"""What LM Studio calls a model for a task; OpenRouter calls what it gives so."""


def model_entry(card: ModelCard, created: int, alias: str = "") -> dict[str, Any]:
    """One entry. `root` is the model an alias stands for; the fields after it extend OpenAI's format, many of them under the names of other
    servers."""
    loaded = bool(card.context or card.verbs)
    return {
        "id": alias or card.name,
        "object": "model",
        "created": created,
        "owned_by": "duologue",
        "root": card.name,
        "parent": None,
        "status": {"value": "loaded" if loaded else "loading"},
        "state": "loaded" if loaded else "not-loaded",
        "type": TYPES[card.task] if not card.chats else "vlm" if "image" in card.modalities else "llm",
        "context_length": card.context,
        "max_model_len": card.context,
        "loaded_context_length": card.context,
        "max_context_length": card.trained_context or card.context,
        "trained_context_length": card.trained_context,
        "parameters": card.parameters,
        "size": card.size,
        "meta": {
            "n_ctx": card.context,
            "n_ctx_train": card.trained_context or card.context,
            "n_params": card.parameters,
            "size": card.size,
        },
        "engine": card.engine,
        "description": card.description,
        "bundled": card.bundled,
        "modalities": list(card.modalities),
        "untold": list(card.untold),
        "outputs": list(card.outputs),
        "architecture": {
            "input_modalities": list(card.modalities),
            "output_modalities": list(card.outputs) if card.chats else [TYPES[card.task]],
        },
        "voices": list(card.voices),
        "clones": card.clones,
        "capabilities": list(capabilities(card)) if loaded else [],
        "sampling": list(card.sampling),
        "defaults": dict(card.defaults),
        "tool_format": card.tool_format,
        "warnings": list(card.warnings),
        "dimensions": card.dimensions,
    }


def unloaded_entry(name: str, created: int) -> dict[str, Any]:
    """The entry of a model that is loaded when a request names it."""
    return {
        "id": name,
        "object": "model",
        "created": created,
        "owned_by": "duologue",
        "root": name,
        "parent": None,
        "status": {"value": "unloaded"},
        "state": "not-loaded",
    }


def capabilities(card: ModelCard) -> tuple[str, ...]:
    """What a model can do, in the words of other servers, and then in our own (`ModelCard.verbs`)."""
    if not card.chats:
        return (TYPES[card.task], *card.verbs) if card.task == "embed" else card.verbs
    words = ["chat", "completion"]
    for kind, word in (("image", "vision"), ("audio", "audio"), ("video", "video")):
        words += [word] if kind in card.modalities else []
    words += ["speech"] if "audio" in card.outputs else []
    for verb, further in (("tools", ("tool_use",)), ("thinking", ("reasoning",)), ("format", STRUCTURED)):
        words += further if verb in card.verbs else ()
    return (*words, *card.verbs)


def model_list(
    cards: Sequence[ModelCard],
    aliases: Mapping[str, ModelCard],
    created: int,
    unloaded: Sequence[str] = (),
) -> bytes:
    """The body of GET /v1/models: the models in their order, the aliases, then those that are loaded when a request names them."""
    entries = [model_entry(card, created) for card in cards]
    entries += [model_entry(card, created, alias) for alias, card in aliases.items()]
    entries += [unloaded_entry(name, created) for name in unloaded]
    return msgspec.json.encode({"object": "list", "data": entries})
