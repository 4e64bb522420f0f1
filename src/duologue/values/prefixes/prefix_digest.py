"""Digests of the prefixes of a request, by which the scheduler finds the slot, and the remote engine the server, whose cache holds the same conversation. Pure."""

from __future__ import annotations

from hashlib import blake2b

import msgspec

from duologue.values.messages import TextPart
from duologue.values.requests import ChatRequest

BLOCK = 128
"""Characters or tokens of a raw prompt that are one item of its chain: what two prompts have in common is known this exactly."""
MOST_BLOCKS = 4096
"""Items of a raw prompt's chain; far more than a context holds."""
MEDIUM = 3000
"""Characters that are read for as long as a picture is, roughly."""
SMALL = 100
"""Bytes of a message without its parts, as `size` counts them."""

_encoder = msgspec.msgpack.Encoder(order="deterministic")


def size(request: ChatRequest) -> int:
    """About how many bytes the digests of a request are made of."""
    raw = SMALL + len(request.prompt or "") + len(request.suffix or "")
    return raw + sum(
        SMALL + sum(len(part.text if isinstance(part, TextPart) else part.data) for part in message.parts)
        for message in request.messages
    )


def reading_size(request: ChatRequest) -> int:
    """About how many characters the model reads: those of the texts, and for each picture, recording or video as many as a page has."""
    raw = len(request.prompt or "") + len(request.suffix or "")
    return raw + sum(
        len(part.text) if isinstance(part, TextPart) else MEDIUM
        for message in request.messages
        for part in message.parts
    )


def digests(request: ChatRequest) -> tuple[bytes, tuple[bytes, ...]]:
    """The `opening` and the `chain` of a request."""
    return opening(request), chain(request)


def opening(request: ChatRequest) -> bytes:
    """A digest (16 bytes) of what precedes the messages in a prompt: the model and the tools; of a raw prompt the model."""
    begins = (request.model, request.tools) if request.prompt is None else (request.model, "raw")
    return blake2b(_encoder.encode(begins), digest_size=16).digest()


def chain(request: ChatRequest) -> tuple[bytes, ...]:
    """Item i is a digest (16 bytes) of the model, the tools and the first i + 1 messages; of a raw prompt, of the model and the
    first i + 1 blocks."""
    if request.prompt is not None:
        return _raw_chain(request.model, request.prompt, request.suffix)
    state = blake2b(_encoder.encode((request.model, request.tools)), digest_size=16)
    digests = []
    for message in request.messages:
        state.update(_encoder.encode(message))
        digests.append(state.digest())
    return tuple(digests)


def _raw_chain(model: str, prompt: str | tuple[int, ...], suffix: str | None) -> tuple[bytes, ...]:
    state = blake2b(_encoder.encode((model, "raw")), digest_size=16)
    digests = []
    for start in range(0, min(len(prompt), BLOCK * MOST_BLOCKS), BLOCK):
        state.update(_encoder.encode(_portable(prompt[start : start + BLOCK])))
        digests.append(state.digest())
    if suffix:
        state.update(_encoder.encode(_portable(suffix)))
        digests.append(state.digest())
    return tuple(digests)


def _portable(block: str | tuple[int, ...]) -> bytes | tuple[int, ...]:
    """JSON can carry half a surrogate pair into a text, which UTF-8 has no bytes for."""
    return block.encode(errors="surrogatepass") if isinstance(block, str) else block
