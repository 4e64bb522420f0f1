"""Applies a model's preset, which the operator wrote into the settings or an admin gave to a connected model, to a request. Pure.

The worker's `language` calls it before everything else.
"""

from __future__ import annotations

from typing import Any

import msgspec

from duologue.values.requests import ChatRequest, ModelPreset, PresetEntry, Sampling


def with_preset(request: ChatRequest, preset: ModelPreset) -> ChatRequest:
    """The request as the preset has it. A forced `stop` takes the place of the template's stop strings too."""
    changed: dict[str, Any] = {}
    for name, entry in preset.sampling.items():
        if name != "stop":
            changed[name] = _value(getattr(request.sampling, name), entry)
    asked = request
    if (stop := preset.sampling.get("stop")) is not None:
        texts = tuple(_value(list(request.stop) or None, stop))
        asked = msgspec.structs.replace(asked, stop=texts, template_stops=not stop.force)
    if changed:
        given = {name: getattr(request.sampling, name) for name in request.sampling.asked()}
        asked = msgspec.structs.replace(asked, sampling=msgspec.convert({**given, **changed}, Sampling))
    if preset.force_thinking:
        asked = msgspec.structs.replace(asked, thinking=True)
    return asked


def joined(own: ModelPreset, chosen: ModelPreset | None) -> ModelPreset:
    """The preset of a model, with the entries of one that an admin chose at run time in the place of its own."""
    if chosen is None:
        return own
    return ModelPreset({**own.sampling, **chosen.sampling}, own.force_thinking or chosen.force_thinking)


def _value(asked: Any, entry: PresetEntry) -> Any:
    own: Any = entry.override
    if asked is None or (entry.force and not entry.additive):
        return own
    if not entry.additive:
        return asked
    if isinstance(own, dict):
        # An entry that the request has too is the preset's only by force.
        return {**asked, **own} if entry.force else {**own, **asked}
    return [*asked, *(text for text in own if text not in asked)]
