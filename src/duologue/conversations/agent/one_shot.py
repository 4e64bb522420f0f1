"""A short question to a model besides the conversation itself: a title, a summary.

Owns the waiting for one whole reply. Knows no conversation: nothing of such a reply is kept here.
"""

from __future__ import annotations

import anyio

from duologue.errors import EngineFailed
from duologue.values.generate import Generate
from duologue.values.requests import ChatRequest
from duologue.wire.collected_reply import CollectedReply, broken_off

PATIENCE = 60.0
"""Seconds one such reply may take, the wait for a slot in it."""


async def reply(generate: Generate, request: ChatRequest, *, user: str, patience: float = PATIENCE) -> str:
    """The text of the whole reply. Raises the Problem that ended it, EngineFailed(code="timeout") when it takes
    longer than `patience` seconds."""
    said = CollectedReply()
    with anyio.move_on_after(patience) as waiting:
        async with generate(request, user=user) as batches:
            async for batch in batches:
                for _, event in batch:
                    said.add(event)
    if waiting.cancelled_caught:
        raise EngineFailed("The model took too long to answer. Try again later.", code="timeout", status=504)
    if said.done is None:
        raise broken_off()
    return said.text
