"""The card of a model on llama.cpp: what it is and can do, from its file's header and the loaded engine's facts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duologue.engines.llama.memory_plan import LlamaOptions, Plan
from duologue.engines.llama.request import FIELDS, sampling_defaults
from duologue.models.catalogue import model_name
from duologue.models.gguf.header import GgufHeader
from duologue.text.templates.chat_template import ChatTemplate
from duologue.values.requests import ModelCard


def llama_card(
    header: GgufHeader,
    options: LlamaOptions,
    sizes: Plan,
    context: int,
    settings: Mapping[str, Any],
    template: ChatTemplate,
    warnings: tuple[str, ...],
) -> ModelCard:
    """`context` is the tokens of one slot, `settings` the library's default sampling."""
    tool_format = template.tool_format if template.takes_tools else ""
    verbs = ["prefill", "count", "continue", "logprobs", "format"]
    verbs += ["tools", "tool_choice"] if tool_format else []
    verbs += ["thinking"] if template.thinking_switch else []
    verbs += ["effort"] if template.reasoning is not None else []
    return ModelCard(
        name=options.name or model_name(header.path),
        engine="llama",
        context=context,
        trained_context=header.trained_context,
        slots=sizes.slots,
        parameters=header.parameters,
        size=header.size,
        description=", ".join(filter(None, (header.name, _millions(header.parameters), header.quantisation))),
        bundled=options.bundled,
        verbs=tuple(verbs),
        sampling=tuple(FIELDS),
        defaults=sampling_defaults(settings),
        tool_format=tool_format,
        warnings=warnings,
    )


def _millions(parameters: int) -> str:
    if parameters >= 1_000_000_000:
        return f"{parameters / 1e9:.1f} billion parameters"
    return f"{parameters / 1e6:.1f} million parameters"
