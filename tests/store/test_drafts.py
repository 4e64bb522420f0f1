"""Drafts, on every kind of database."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.anyio


async def test_a_draft_is_of_one_user_and_one_conversation_and_says_when(store, clock):
    draft = {"text": "Dear \0 all", "files": [{"blob": "0" * 64}], "at": 1.5}
    await store.drafts.put("local", "new", {"text": "first"})
    await store.drafts.put("local", "new", draft)
    assert await store.drafts.get("local", "new") == draft | {"updated": clock()}
    assert await store.drafts.get("local", "a") is None
    assert await store.drafts.get("anna", "new") is None


async def test_a_draft_that_comes_again_is_as_old_as_it_was(store, clock):
    first = await store.drafts.put("local", "new", {"text": "half"})
    clock.forward(5)
    assert await store.drafts.put("local", "new", {"text": "half"}) == first
    assert await store.drafts.put("local", "new", first) == first
    assert (await store.drafts.put("local", "new", {"text": "half a"}))["updated"] == clock()


async def test_a_draft_goes_when_it_was_sent(store):
    kept = await store.drafts.put("local", "a", {})
    assert await store.drafts.get("local", "a") == kept
    assert await store.drafts.delete("local", "a")
    assert not await store.drafts.delete("local", "a")
    assert await store.drafts.get("local", "a") is None
