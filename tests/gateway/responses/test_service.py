"""The service: what it keeps, and for how long."""

from __future__ import annotations

import openai
import pytest
from tests.gateway.responses.conftest import Bench

pytestmark = pytest.mark.anyio


async def test_the_oldest_responses_go_when_a_user_has_too_much(bench: Bench) -> None:
    made = []
    for _ in range(3):
        bench.at += 1
        made.append(await bench.ann.responses.create(model="mini", input="x" * 2**19))
    bench.service._settings = bench.settings.model_copy(update={"user_mb": 1})
    bench.at += 1
    await bench.ann.responses.create(model="mini", input="Hi")
    with pytest.raises(openai.NotFoundError):
        await bench.ann.responses.retrieve(made[0].id)
    assert (await bench.ann.responses.retrieve(made[2].id)).output_text == "Hello"


async def test_a_response_keeps_the_place_of_its_conversation(bench: Bench) -> None:
    conversation = await bench.ann.conversations.create()
    made = await bench.ann.responses.create(model="mini", input="Hi", conversation=conversation.id)
    stored = await bench.store.responses.get("ann", made.id)
    assert (stored.conversation, stored.previous, stored.background) == (conversation.id, None, False)
    assert "output" not in stored.response
