"""How replies are made: what a run asks for over what it inherits, and the request that comes of it.

Knows no store and no engine.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from duologue.tools.values import Offer
from duologue.values.conversations import GenerationOptions, StoredMessage
from duologue.values.messages import Message, TextPart, Tool, system
from duologue.values.requests import ChatRequest, ModelCard, Sampling


def inherited(*layers: GenerationOptions) -> GenerationOptions:
    """One set of options from several, the first to say something about a field winning. Sampling is inherited field
    by field, servers name by name."""
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
    """The request of one model turn. `continues`: the row that is last in `messages` and is written on."""
    told = list(messages)
    if offer.system:
        told = _instructed(told, offer.system)
    if continues is not None:
        # Thoughts of earlier turns may be left out of a prompt; those of the message that goes on may not.
        parts = (TextPart(continues.text),) if continues.text else ()
        last = Message("assistant", parts, continues.reasoning or None)
        told = [*(told[:-1] if told and told[-1].role == "assistant" else told), last]
    return ChatRequest(
        tuple(told),
        model=card.name,
        sampling=options.sampling,
        stop=options.stop,
        tools=tuple(Tool(tool.name, tool.description, tool.parameters) for tool in offer.tools),
        thinking=options.thinking,
        effort=options.effort,
        continue_final=continues is not None,
    )


def _instructed(messages: list[Message], words: str) -> list[Message]:
    """The messages with `words` at the end of their system message, made where there is none."""
    if messages and messages[0].role == "system":
        first = messages[0]
        parts = (*first.parts, TextPart(("\n\n" if first.text else "") + words))
        return [msgspec.structs.replace(first, parts=parts), *messages[1:]]
    return [system(words), *messages]
