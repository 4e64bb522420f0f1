"""The index of words, on every kind of database."""

from __future__ import annotations

import pytest
from tests.support.store_fixtures import conversation

from duologue.store.search import index
from duologue.store.search.tokenizer import Term

pytestmark = pytest.mark.anyio


async def found(database, user: str, *terms: Term, archived: bool = True) -> list[int]:
    async with database.reading() as connection:
        dialect = connection.dialect.name
        values = {"query": index.match_query(dialect, user, terms), "user": user, "archived": archived}
        rows = await connection.execute(index.newest(dialect), values | {"most": 3, "reach": 5})
        kept = rows.all()
    assert all(len(words) <= 5 for _, words in kept)
    return [sequence for sequence, _ in kept]


async def test_the_newest_come_first_and_no_more_than_asked_for(store, database):
    made = await conversation(store, *["boat"] * 5)
    sequences = [row.sequence for row in await store.messages.all(made.id)]
    assert await found(database, "local", Term(("boat",))) == sequences[:1:-1]


async def test_words_phrases_and_beginnings(store, database):
    made = await conversation(store, "the boats at noon", "noon at the harbour")
    first, second = (row.sequence for row in await store.messages.all(made.id))
    for terms, expected in (
        ([Term(("noon",))], [second, first]),
        ([Term(("noon",)), Term(("boats",))], [first]),
        ([Term(("boat",))], []),
        ([Term(("boat",), prefix=True)], [first]),
        ([Term(("at", "noon"))], [first]),
        ([Term(("noon", "at"))], [second]),
        ([Term(("at", "no"), prefix=True)], [first]),
        ([Term(("at", "the", "har"), prefix=True)], [second]),
    ):
        assert await found(database, "local", *terms) == expected, terms


async def test_words_of_every_script_are_found(store, database):
    text_ = "Ünïcödé 我喜欢船 σίσυφος"
    made = await conversation(store, text_)
    (row,) = await store.messages.all(made.id)
    for words in (("unicode",), ("喜", "欢"), ("σισυφοσ",)):
        assert await found(database, "local", Term(words)) == [row.sequence], words
    assert await found(database, "local", Term(("欢", "喜"))) == []


async def test_only_the_owner_finds_them(store, database):
    made = await conversation(store, "boat")
    (row,) = await store.messages.all(made.id)
    assert await found(database, "local", Term(("boat",))) == [row.sequence]
    assert await found(database, "anna", Term(("boat",))) == []


async def test_the_owner_is_no_word_that_can_be_asked_for(store, database):
    await conversation(store, "boat")
    assert await found(database, "local", Term((index.owner_token("local"),))) == []


async def test_archived_and_deleted_ones(store, database):
    made = await conversation(store, "boat")
    (row,) = await store.messages.all(made.id)
    await store.conversations.change("local", made.id, {"archived": True})
    assert await found(database, "local", Term(("boat",))) == [row.sequence]
    assert await found(database, "local", Term(("boat",)), archived=False) == []
    await store.conversations.delete("local", made.id)
    assert await found(database, "local", Term(("boat",))) == []


async def test_a_word_said_very_often_or_very_late_is_found(store, database):
    made = await conversation(
        store, " ".join(["boat"] * 20_000) + " end", "start " + "word " * 20_000 + "last"
    )
    first, second = (row.sequence for row in await store.messages.all(made.id))
    assert await found(database, "local", Term(("boat",))) == [first]
    assert await found(database, "local", Term(("start",))) == [second]
    assert await found(database, "local", Term(("last",))) == [second]


async def test_a_text_of_very_many_long_words_is_kept(store, database):
    words = (f"{number:x}" * 10 for number in range(1_000_000, 1_040_000))
    made = await conversation(store, "start " + " ".join(words))
    (row,) = await store.messages.all(made.id)
    assert await found(database, "local", Term(("start",))) == [row.sequence]
