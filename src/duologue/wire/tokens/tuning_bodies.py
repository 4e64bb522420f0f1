"""The bodies by which admins choose templates, LoRA adapters and sampling presets, with tabbyAPI's names; and the lists of these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
from pydantic import AliasChoices, ConfigDict, Field, JsonValue

from duologue.errors import BadRequest
from duologue.values.requests import ModelPreset
from duologue.wire.fields.adapter_fields import MOST_ADAPTERS, MOST_SCALE, AdapterBody
from duologue.wire.fields.field_schemas import exactly_one
from duologue.wire.validation import Body, validate

NAME = 300


class TemplateSwitchBody(Body):
    """The template to use from now on."""

    name: str = Field(
        min_length=1,
        max_length=NAME,
        validation_alias=AliasChoices("prompt_template_name", "name"),
        description="A name of /v1/templates.",
    )
    model: str = Field(default="", max_length=NAME, description="Default: the default chat model.")


class TunedModelBody(Body):
    """The model whose choice is taken back."""

    model: str = Field(default="", max_length=NAME, description="Default: the default chat model.")


class LoraBody(Body):
    name: str = Field(min_length=1, max_length=NAME, description="A name of /v1/loras.")
    scaling: float = Field(default=1.0, ge=-MOST_SCALE, le=MOST_SCALE)


class LoraLoadBody(Body):
    """The adapters that the model uses from now on; all others are not used."""

    loras: list[LoraBody] = Field(min_length=1, max_length=MOST_ADAPTERS)
    model: str = Field(default="", max_length=NAME, description="Default: the default chat model.")
    skip_queue: bool = Field(default=False, description="Accepted and without effect: nothing queues here.")

    def scales(self) -> dict[str, float]:
        """The scale of each adapter by its name."""
        return {each.name.removesuffix(".gguf"): each.scaling for each in self.loras}


class SamplingSwitchBody(Body):
    """The sampling preset to use from now on: a file by its name, or its content."""

    model_config = ConfigDict(json_schema_extra=exactly_one(preset="string", overrides="object"))

    preset: str | None = Field(default=None, max_length=NAME, description="A name of /v1/sampling/overrides.")
    overrides: dict[str, JsonValue] | None = Field(
        default=None,
        max_length=100,
        description="A preset itself: by parameter a value, or {override, force, additive}.",
    )


def lora_scales(value: object) -> tuple[AdapterBody, ...]:
    """The body of llama-server's `POST /lora-adapters`. Raises BadRequest."""
    if not isinstance(value, list) or len(value) > MOST_ADAPTERS:
        raise BadRequest("The request must be a JSON list of {id, scale}.", code="invalid_json")
    return tuple(validate(AdapterBody, each) for each in value)


def names_list(names: Sequence[str]) -> dict[str, Any]:
    """A list of names."""
    return {"object": "list", "data": names}


def lora_list(adapters: Iterable[tuple[str, float | None]], created: int) -> dict[str, Any]:
    """Adapters with their scales, as tabbyAPI lists them."""
    return {
        "object": "list",
        "data": [
            {"id": name, "object": "lora", "created": created, "owned_by": "duologue", "scaling": scale}
            for name, scale in adapters
        ],
    }


def lora_adapters(scales: Mapping[str, float]) -> list[dict[str, Any]]:
    """Adapters with their scales, as llama-server lists them; not where they lie on this machine's disk."""
    return [
        {"id": id, "path": name, "scale": scale, "task_name": "", "prompt_prefix": ""}
        for id, (name, scale) in enumerate(scales.items())
    ]


def sampling_overrides(
    selected: str | None, preset: ModelPreset | None, names: Sequence[str]
) -> dict[str, Any]:
    """The preset in use, and the names of those that can be."""
    entries = {} if preset is None else preset.sampling
    return {
        "selected_preset": selected,
        "overrides": {name: msgspec.to_builtins(entry) for name, entry in entries.items()},
        "presets": names,
    }
