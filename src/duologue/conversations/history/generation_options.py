"""Generation options: how they are inherited, and the request of a model turn that results from them.

Pure; used by runs, calls and compaction.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from duologue.tools.values import Offer
from duologue.values.conversations import GenerationOptions, StoredMessage
from duologue.values.messages import Message, TextPart, Tool, system
from duologue.values.requests import ChatRequest, ModelCard, Sampling


def inherited(*layers: GenerationOptions) -> GenerationOptions:
    """One set of options from several layers, where the first layer that sets a field wins. Sampling is inherited field by
    field, servers name by name."""
    sampling = {
        name: value
        for layer in reversed(layers)
        for name in layer.sampling.asked()
        if (value := getattr(layer.sampling, name)) is not None
    }
    servers = {name: on for layer in reversed(layers) for name, on in layer.servers.items()}
    return GenerationOptions(
        model=next((layer.model for layer in layers if layer.model), ""),
        sampling=Sampling(**sampling),
        stop=next((layer.stop for layer in layers if layer.stop), ()),
        thinking=next((layer.thinking for layer in layers if layer.thinking is not None), None),
        max_turns=next((layer.max_turns for layer in layers if layer.max_turns is not None), None),
        tools=next((layer.tools for layer in layers if layer.tools is not None), None),
        servers=servers,
        effort=next((layer.effort for layer in layers if layer.effort is not None), None),
    )


def turn_request(
    messages: Sequence[Message],
    options: GenerationOptions,
    card: ModelCard,
    offer: Offer,
    *,
    continues: StoredMessage | None = None,
) -> ChatRequest:
    """The request of one model turn. `continues`: the row that is last in `messages`, if the model is to continue it."""
    prompt = list(messages)
    if offer.system:
        prompt = _with_instructions(prompt, offer.system)
    if continues is not None:
        # A prompt may leave out the reasoning of earlier turns, but a continued message needs its own.
        parts = (TextPart(continues.text),) if continues.text else ()
        last = Message("assistant", parts, continues.reasoning or None)
        prompt = [*(prompt[:-1] if prompt and prompt[-1].role == "assistant" else prompt), last]
    return ChatRequest(
        tuple(prompt),
        model=card.name,
        sampling=options.sampling,
        stop=options.stop,
        tools=tuple(Tool(tool.name, tool.description, tool.parameters) for tool in offer.tools),
        thinking=options.thinking,
        effort=options.effort,
        continue_final=continues is not None,
    )


def _with_instructions(messages: list[Message], instructions: str) -> list[Message]:
    """The messages with `instructions` appended to the system message, which is added if missing."""
    if messages and messages[0].role == "system":
        first = messages[0]
        parts = (*first.parts, TextPart(("\n\n" if first.text else "") + instructions))
        return [msgspec.structs.replace(first, parts=parts), *messages[1:]]
    return [system(instructions), *messages]
