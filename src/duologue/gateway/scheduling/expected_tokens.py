"""How many tokens a request may need, before any was counted. Pure; what it really used is counted at its end."""

from __future__ import annotations

from duologue.values.messages import TextPart
from duologue.values.requests import ChatRequest

BYTES_PER_TOKEN = 4
"""Of text: English has about four, and Chinese three, which is as many characters as tokens."""
PER_PART = 256
"""Of a picture, a sound or another part that is no text; what it takes depends on the model."""
PER_MESSAGE = 4
UNKNOWN_REPLY = 512
"""Of a reply whose length the client does not limit."""


def expected_tokens(request: ChatRequest, choices: int = 1) -> int:
    """About how many tokens the prompt has, and how many the replies may have."""
    if request.sampling.max_tokens is not None:
        reply = max(1, request.sampling.max_tokens)
    else:
        reply = UNKNOWN_REPLY
    return prompt_tokens(request) + reply * choices


def prompt_tokens(request: ChatRequest) -> int:
    """About how many tokens the prompt has."""
    prompt = request.prompt
    raw = text_tokens(prompt) if isinstance(prompt, str) else len(prompt or ())
    return raw + sum(
        PER_MESSAGE
        + sum(text_tokens(part.text) if isinstance(part, TextPart) else PER_PART for part in message.parts)
        for message in request.messages
    )


def text_tokens(text: str) -> int:
    """About how many tokens a text has."""
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return -(-size // BYTES_PER_TOKEN)
