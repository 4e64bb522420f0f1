"""Digests of the prefixes of a request, by which the scheduler finds the slot whose cache holds the same conversation. Pure."""

from __future__ import annotations

from hashlib import blake2b

import msgspec

from duologue.values.messages import TextPart
from duologue.values.requests import ChatRequest

SMALL = 100
"""Bytes of a message without its parts, as `size` counts them."""

_encoder = msgspec.msgpack.Encoder(order="deterministic")


def size(request: ChatRequest) -> int:
    """About how many bytes the digests of a request are made of."""
    return sum(
        SMALL + sum(len(part.text if isinstance(part, TextPart) else part.data) for part in message.parts)
        for message in request.messages
    )


def digests(request: ChatRequest) -> tuple[bytes, tuple[bytes, ...]]:
    """The `opening` and the `chain` of a request."""
    return opening(request), chain(request)


def opening(request: ChatRequest) -> bytes:
    """A digest (16 bytes) of what precedes the messages in a prompt: the model and the tools."""
    return blake2b(_encoder.encode((request.model, request.tools)), digest_size=16).digest()


def chain(request: ChatRequest) -> tuple[bytes, ...]:
    """Item i is a digest (16 bytes) of the model, the tools and the first i + 1 messages."""
    state = blake2b(_encoder.encode((request.model, request.tools)), digest_size=16)
    digests = []
    for message in request.messages:
        state.update(_encoder.encode(message))
        digests.append(state.digest())
    return tuple(digests)
