"""How a reply is generated, as every caller sees it: the API dialects, the calls and the conversations.

`gateway/scheduling/generate.py` implements it over the worker pool; tests replace it by a script.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from duologue.values.events import Event
from duologue.values.requests import ChatRequest

Batch = list[tuple[int, Event]]
"""Events that arrived together, each with the number of its choice."""


class Generate(Protocol):
    """Run `count` choices of a request, waiting for slots as long as it takes.

    Entering raises nothing a caller must handle. Iterating gives batches of (choice, event): `Queued` (choice 0,
    again whenever the place changes), then for each choice `Started`, `Progress`, `Prefilled`, deltas and exactly
    one `Done` or `Failed`; the iteration ends when every choice has ended. A problem before a slot is granted is one
    `(0, Failed)` and the end. Leaving the context at any time cancels everything and returns the slots.
    """

    def __call__(
        self,
        request: ChatRequest,
        *,
        kind: str = "chat",
        count: int = 1,
        request_id: str = "",
        user: str = "local",
    ) -> AbstractAsyncContextManager[AsyncIterator[Batch]]: ...
