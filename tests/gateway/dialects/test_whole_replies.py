"""Replies that are sent as one body."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from threading import get_ident
from typing import Any

import anyio
import pytest

from duologue.gateway.dialects.whole_replies import MANY_EVENTS, WholeReply
from duologue.values.events import TextDelta
from duologue.values.generate import Batch

pytestmark = pytest.mark.anyio


class Gathered:
    """A body that says in which thread it was written."""

    def __init__(self) -> None:
        self.batches: list[Batch] = []

    def add(self, batch: Batch) -> None:
        self.batches.append(batch)

    def body(self) -> bytes:
        return str(get_ident() == LOOP).encode()


LOOP = get_ident()


@pytest.mark.parametrize(("events", "on_the_loop"), [(MANY_EVENTS - 1, True), (MANY_EVENTS, False)])
async def test_the_body_of_a_long_reply_is_written_in_a_thread(events: int, on_the_loop: bool) -> None:
    @asynccontextmanager
    async def source() -> AsyncIterator[AsyncIterator[Batch]]:
        async def batches() -> AsyncIterator[Batch]:
            for _ in range(events):
                yield [(0, TextDelta("a"))]

        yield batches()

    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    gathered = Gathered()
    await WholeReply(source(), gathered)({"type": "http", "headers": []}, anyio.sleep_forever, send)  # type: ignore[arg-type]
    assert sent[0]["status"] == 200
    assert sent[1]["body"] == str(on_the_loop).encode()
    assert len(gathered.batches) == events
