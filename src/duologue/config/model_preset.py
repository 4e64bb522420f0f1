"""The settings of a model's preset: its sampling parameters, each with a say about requests, whether it always thinks, and its LoRA
adapters.

Part of `settings.EngineSettings`, so a worker has its own. `sessions/chat/model_preset.py` applies them.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from pydantic import AfterValidator, Field

from duologue.config.section import Section
from duologue.values.requests import ModelPreset, PresetEntry, Sampling

LISTS = ("stop", "dry_sequence_breakers", "samplers", "logit_bias")
"""What has several entries, to which a preset may add some."""
PLAIN = (bool, int, float, str, list, tuple)


def entries_of(values: dict[str, Any]) -> dict[str, PresetEntry]:
    """The entries of a preset. Raises ValueError with a sentence."""
    return {name: _entry(name, value) for name, value in values.items()}


def _entry(name: str, value: Any) -> PresetEntry:
    if name != "stop" and (name not in Sampling.__struct_fields__ or name == "logprobs"):
        raise ValueError(f"there is no sampling parameter {name!r}; docs/running.md names them")
    if not isinstance(value, dict) or (name == "logit_bias" and "override" not in value):
        value = {"override": value}
    try:
        entry = msgspec.convert(value, PresetEntry)
        if name == "stop":
            msgspec.convert(entry.override, list[str])
        else:
            msgspec.convert({name: entry.override}, Sampling)
    except msgspec.ValidationError as error:
        raise ValueError(f"{name}: {error}") from None
    if entry.additive and name not in LISTS:
        raise ValueError(f"{name}: additive is for {', '.join(LISTS)}")
    return entry


def _checked(values: dict[str, Any]) -> dict[str, Any]:
    entries_of(values)
    return values


class PresetSettings(Section):
    """The preset of a model."""

    sampling: Annotated[dict[str, Any], AfterValidator(_checked)] = Field(
        default={},
        description="Sampling of the model by name: a value, or `{override, force, additive}`; see *presets*.",
    )
    force_enable_thinking: bool = Field(
        default=False, description="Whether the model thinks before every reply, whatever a request says."
    )

    loras: dict[str, Annotated[float, Field(ge=-100, le=100)]] = Field(
        default={},
        description="LoRA adapters of the folder `loras` in `data` that are loaded with the model: a table of name and scale.",
    )

    @property
    def preset(self) -> ModelPreset:
        """The preset as a value."""
        return ModelPreset(entries_of(self.sampling), self.force_enable_thinking)
