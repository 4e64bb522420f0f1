"""What is known of files, on every kind of database."""

from __future__ import annotations

import pytest
from sqlalchemy import text
from tests.support.at_once import done_before
from tests.support.store_fixtures import conversation, row

from duologue.errors import NotFound
from duologue.store.stores import Store
from duologue.values.conversations import Blob, DocumentContent, ImageContent, PendingMessage

pytestmark = pytest.mark.anyio

A, B, C, D = (letter * 64 for letter in "abcd")


async def test_a_file_is_kept_with_the_name_each_user_gave_it(store, clock):
    made = Blob(A, "image/png", 123, "beach.png", width=4, height=3, duration=0)
    kept = await store.blobs.put("local", made)
    assert kept.created == clock()
    assert await store.blobs.get("local", A) == kept
    await store.blobs.put("anna", Blob(A, "image/png", 123, "sea.png"))
    assert (await store.blobs.get("local", A)).name == "beach.png"
    hers = await store.blobs.get("anna", A)
    assert (hers.name, hers.width) == ("sea.png", 4)
    assert await store.blobs.known([A, B]) == {A}


async def test_the_same_file_again_is_young_again(store, clock):
    await store.blobs.put("local", Blob(A, "image/png", 123, "beach.png"))
    clock.forward(1000)
    again = await store.blobs.put("local", Blob(A, "text/plain", 5, ""))
    assert (again.name, again.mime, again.size, again.created) == ("beach.png", "image/png", 123, clock())
    assert await store.blobs.get("local", A) == again


async def test_a_file_is_there_for_who_put_it_and_whose_messages_name_it(store):
    await store.blobs.put("local", Blob(A, "image/png", 123, "beach.png"))
    with pytest.raises(NotFound):
        await store.blobs.get("anna", A)
    with pytest.raises(NotFound):
        await store.blobs.get("local", B)
    hers = await conversation(store, user="anna")
    await store.messages.add([row(hers.id, "m", content=(ImageContent("b" * 64, "image/png", shown=A),))])
    assert (await store.blobs.get("anna", A)).size == 123


async def test_a_users_files_are_added_up_each_once(store):
    assert await store.blobs.usage("local") == 0
    for hash, size in ((A, 100), (B, 3_000_000_000), (A, 100)):
        await store.blobs.put("local", Blob(hash, "image/png", size))
    await store.blobs.put("anna", Blob(A, "image/png", 100))
    assert await store.blobs.usage("local") == 3_000_000_100
    assert await store.blobs.usage("local", without=B) == 100
    assert await store.blobs.usage("anna") == 100


async def test_files_nobody_refers_to_are_found_when_they_are_old_enough(store, clock):
    chat = await conversation(store)
    for hash in (A, B, C, D):
        await store.blobs.put("local", Blob(hash, "image/png", 1))
    await store.messages.add(
        [row(chat.id, "m", content=(DocumentContent(A, "application/pdf", pages=(B,)),))]
    )
    await store.pending.add("local", PendingMessage("p", chat.id, (ImageContent(C, "image/png"),)))
    assert await store.blobs.unreferenced(1000) == []
    clock.forward(1000)
    assert await store.blobs.unreferenced(1000) == [D]
    await store.drafts.put("local", chat.id, {"files": [{"blob": D}]})
    assert await store.blobs.unreferenced(1000) == []
    await store.messages.delete(chat.id, ["m"])
    assert sorted(await store.blobs.unreferenced(1000)) == [A, B]
    await store.blobs.put("anna", Blob(A, "image/png", 1))
    assert await store.blobs.unreferenced(1000) == [B]


async def test_a_file_is_dropped_only_while_nothing_refers_to_it(store, clock):
    chat = await conversation(store)
    await store.blobs.put("local", Blob(A, "image/png", 1))
    assert not await store.blobs.drop(A, older_than_ms=1000), "it was put just now"
    await store.messages.add([row(chat.id, "m", content=(ImageContent(A, "image/png"),))])
    assert not await store.blobs.drop(A)
    await store.messages.delete(chat.id, ["m"])
    assert await store.blobs.drop(A)
    with pytest.raises(NotFound):
        await store.blobs.get("local", A)
    assert not await store.blobs.drop(A)


async def test_a_file_stays_whose_message_stops_waiting_and_is_sent_at_another_gateway_meanwhile(both, clock):
    one, two = (Store(database, clock) for database in both)
    await conversation(one, "hello", id="a")
    await one.blobs.put("local", Blob(A, "image/png", 123))
    content = (ImageContent(A, "image/png"),)
    await one.pending.add("local", PendingMessage("x", "a", content))
    clock.forward(5000)
    async with done_before(both[0], lambda: two.blobs.drop(A, 1000)) as (first, results):
        # Stops whoever reads them, at the moment in which a second statement would miss both.
        await first.connection.execute(text("LOCK TABLE pending IN ACCESS EXCLUSIVE MODE"))
        sending = Store(first, clock)
        await sending.messages.add([row("a", "x", "m0", content=content)])
        await sending.pending.remove("a", "x")
    assert results == [False]
