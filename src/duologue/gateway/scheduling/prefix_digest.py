"""Digests of the prefixes of a request, by which the scheduler finds the slot whose cache holds the same conversation. Pure."""

from __future__ import annotations

from hashlib import blake2b

import msgspec

from duologue.values.requests import ChatRequest

_encoder = msgspec.msgpack.Encoder(order="deterministic")


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
