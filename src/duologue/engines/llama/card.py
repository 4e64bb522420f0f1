"""The card of a model on llama.cpp: what it is and can do, from its file's header and the loaded engine's facts."""

from __future__ import annotations

from pathlib import Path

from duologue.engines.llama.encoder_plan import EncoderPlan
from duologue.engines.llama.generation import ModelFacts
from duologue.engines.llama.memory_plan import LlamaOptions, Plan
from duologue.engines.llama.request import FIELDS, sampling_defaults
from duologue.models.catalogue import file_stem, model_name
from duologue.models.gguf.header import GgufHeader
from duologue.text.templates.prompt_request import TemplateFacts
from duologue.values.requests import ModelCard


def llama_card(
    header: GgufHeader,
    options: LlamaOptions,
    sizes: Plan,
    facts: ModelFacts,
    template: TemplateFacts,
    warnings: tuple[str, ...],
) -> ModelCard:
    """What the file, the plan, the loaded model and its template say together."""
    tool_format = template.tool_format if template.takes_tools else ""
    verbs = ["prefill", "count", "continue", "raw", "format", "text_bias"]
    # Of tokens that were guessed and found right, the library reports none.
    verbs += ["logprobs"] if options.speculative is None else []
    verbs += ["infill"] if facts.fill is not None else []
    verbs += ["tools", "tool_choice"] if tool_format else []
    verbs += ["thinking"] if template.thinking_switch else []
    verbs += ["effort", "reasoning_end"] if template.reasoning is not None else []
    return ModelCard(
        name=options.name or model_name(header.path),
        engine="llama",
        context=facts.context,
        trained_context=header.trained_context,
        slots=sizes.slots,
        parameters=header.parameters,
        vocabulary=header.vocabulary,
        size=header.size,
        description=", ".join(filter(None, (header.name, _millions(header.parameters), header.quantisation))),
        bundled=options.bundled,
        modalities=("text", *facts.modalities),
        verbs=tuple(verbs),
        sampling=tuple(FIELDS),
        defaults=sampling_defaults(facts.settings),
        tool_format=tool_format,
        thoughts=template.thoughts,
        warnings=warnings,
        adapters=tuple(file_stem(Path(path)) for path in options.loras),
    )


def encoder_card(
    header: GgufHeader, options: LlamaOptions, sizes: EncoderPlan, context: int, dimensions: int
) -> ModelCard:
    """The card of an embedding model or a reranker."""
    return ModelCard(
        name=options.name or model_name(header.path),
        engine="llama",
        context=context,
        trained_context=header.trained_context,
        slots=sizes.sizes.slots,
        parameters=header.parameters,
        size=header.size,
        description=", ".join(filter(None, (header.name, _millions(header.parameters), header.quantisation))),
        outputs=(),
        verbs=("rerank",) if sizes.pooling == "rank" else ("embed",),
        warnings=sizes.warnings,
        dimensions=dimensions,
    )


def _millions(parameters: int) -> str:
    if parameters >= 1_000_000_000:
        return f"{parameters / 1e9:.1f} billion parameters"
    return f"{parameters / 1e6:.1f} million parameters"
