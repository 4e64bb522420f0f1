"""One short reply of a model outside the conversation itself: a title, a summary.

Used by `history/title_generator.py` and `history/compaction.py`. Collects the whole reply; nothing is stored here.
"""

from __future__ import annotations

import anyio

from duologue.errors import EngineFailed
from duologue.values.generate import Generate
from duologue.values.requests import ChatRequest
from duologue.wire.collected_reply import CollectedReply, broken_off

TIMEOUT_S = 60.0
"""Seconds that such a reply may take, including the wait for a slot."""


async def one_shot_reply(
    generate: Generate, request: ChatRequest, *, user: str, timeout_s: float = TIMEOUT_S
) -> str:
    """The text of the whole reply. Raises the Problem that ended it, EngineFailed(code="timeout") after `timeout_s` seconds."""
    reply = CollectedReply()
    with anyio.move_on_after(timeout_s) as timeout:
        async with generate(request, user=user) as batches:
            async for batch in batches:
                for _, event in batch:
                    reply.add(event)
    if timeout.cancelled_caught:
        raise EngineFailed("The model took too long to answer. Try again later.", code="timeout", status=504)
    if reply.done is None:
        raise broken_off()
    return reply.text
