"""How large a prompt is before it was rendered and tokenized: a rough number, and one that it cannot fall below.

`chat.py` uses both: the rough one where nobody needs the exact one, the least one to refuse what cannot fit before it costs
anything. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec

from duologue.errors import ContextExceeded
from duologue.sessions.chat.constraint import offered_tools
from duologue.values.messages import AudioPart, ImagePart, Message, TextPart, VideoPart
from duologue.values.requests import ChatRequest, ModelCard

BYTES_A_TOKEN = 3.6
"""Bytes of UTF-8. English has a little more, code and most other languages less."""
TOKENS_A_MESSAGE = 4
LONGEST_TOKEN = 128
"""Bytes of the longest tokens there are: 128 blanks are one token of Llama 3 and of Qwen."""
LEAST_A_MESSAGE = 2
"""Tokens that any template writes for a message: a marker and something more. A tool call takes as many."""
FAR_TOO_LONG = 4
"""Multiple of the context at which a prompt is only estimated: its exact number is of no use, and counting it would
delay replies."""
MEDIA_TOKENS: dict[type, int] = {TextPart: 0, ImagePart: 1024, AudioPart: 512, VideoPart: 4096}
"""Estimated tokens of a part where the engine cannot count it."""


def media_tokens(request: ChatRequest) -> int:
    """A rough number of tokens for the pictures and sounds of a prompt."""
    return sum(MEDIA_TOKENS[type(part)] for message in request.messages for part in message.parts)


def estimated_tokens(request: ChatRequest) -> int:
    """A rough number of tokens for the text of a prompt."""
    if request.prompt is not None:
        return _raw_tokens(request, BYTES_A_TOKEN)
    size = sum(len(msgspec.json.encode(tool)) for tool in offered_tools(request))
    size += sum(len(text.encode(errors="replace")) for text in _texts(request.messages))
    return math.ceil(size / BYTES_A_TOKEN) + TOKENS_A_MESSAGE * len(request.messages)


def rough_tokens(text: str) -> int:
    """A rough number of tokens for a rendered prompt."""
    return math.ceil(len(text.encode(errors="replace")) / BYTES_A_TOKEN)


def least_tokens(request: ChatRequest) -> int:
    """A number of tokens that no prompt of this request falls below, whatever the template and the vocabulary. Thoughts are
    not counted: many templates leave out those of earlier turns."""
    if request.prompt is not None:
        return _raw_tokens(request, LONGEST_TOKEN)
    parts = sum(1 + len(message.tool_calls) for message in request.messages)
    size = sum(len(message.text) for message in request.messages)
    return max(LEAST_A_MESSAGE * parts, size // LONGEST_TOKEN)


def check_fits(card: ModelCard, request: ChatRequest) -> None:
    """Raises ContextExceeded for a request that cannot fit the context of the model (0: unknown)."""
    least = least_tokens(request)
    if card.context and least > card.context:
        raise no_room(request, f"at least {least}", card.context)


def no_room(request: ChatRequest, tokens: str, context: int) -> ContextExceeded:
    """The error for a prompt of so many `tokens`."""
    raw = request.prompt is not None
    what, advice = ("prompt", "") if raw else ("conversation", " or start a new chat")
    return ContextExceeded(
        f"The {what} takes {tokens} tokens, but this model's maximum context length is {context} with the reply. Shorten it{advice}.",
        param="prompt" if raw else "messages",
    )


def _raw_tokens(request: ChatRequest, bytes_a_token: float) -> int:
    """Tokens of a prompt without a template, where a token has so many bytes."""
    prompt = request.prompt or ""
    if not isinstance(prompt, str):
        return len(prompt)
    size = len(prompt.encode(errors="replace")) + len((request.suffix or "").encode(errors="replace"))
    return math.ceil(size / bytes_a_token)


def _texts(messages: tuple[Message, ...]) -> Iterator[str]:
    for message in messages:
        yield message.text
        yield message.reasoning or ""
        yield from (call.arguments for call in message.tool_calls)
