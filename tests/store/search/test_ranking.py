"""Search as a user has it, on every kind of database."""

from __future__ import annotations

import pytest
from tests.support.store_fixtures import conversation, row

from duologue.store.search.ranking import Found, first_place, ranked, snippet_of
from duologue.store.search.tokenizer import Term, terms_of
from duologue.values.conversations import ImageContent, TextContent

pytestmark = pytest.mark.anyio


def marked(snippet: str, marks: tuple[tuple[int, int], ...]) -> list[str]:
    return [snippet[start:end] for start, end in marks]


async def test_a_hit_says_where_it_is_and_shows_the_place(store):
    made = await conversation(
        store, "Where are the boats?", "The BOATS are at Crêmer’s pier.", title="Harbour"
    )
    (hit,) = await store.search.find("local", "boats creme")
    assert (hit.conversation, hit.title, hit.message, hit.role) == (made.id, "Harbour", "m1", "assistant")
    assert hit.snippet == "The BOATS are at Crêmer’s pier."
    assert marked(hit.snippet, hit.marks) == ["BOATS", "Crêmer"]


async def test_only_ones_own_conversations_are_searched(store):
    await conversation(store, "boats", user="anna")
    mine = await conversation(store, "boats")
    assert [hit.conversation for hit in await store.search.find("local", "boats")] == [mine.id]


async def test_archived_ones_can_be_left_out_and_deleted_ones_are(store):
    old = await conversation(store, "boats", title="Boats")
    await store.conversations.change("local", old.id, {"archived": True})
    assert [hit.archived for hit in await store.search.find("local", "boats")] == [True]
    assert await store.search.find("local", "boats", archived=False) == []
    await store.conversations.delete("local", old.id)
    assert await store.search.find("local", "boats") == []


@pytest.mark.parametrize(
    "query",
    [
        '"',
        '"""',
        "'",
        "boats'; DROP TABLE messages",
        "(",
        "boats AND",
        "NEAR(",
        "owner:x",
        "words:",
        "*",
        "%_\\",
        "\0",
    ],
)
async def test_no_query_breaks_the_search(store, query):
    await conversation(store, "boats")
    assert isinstance(await store.search.find("local", query), list)
    assert len(await store.search.find("local", "boats")) == 1


async def test_every_word_must_be_in_one_message(store):
    await conversation(store, "boats at noon", "nets at night")
    assert [hit.message for hit in await store.search.find("local", "noon boats")] == ["m0"]
    assert await store.search.find("local", "noon nets") == []


async def test_what_a_tool_answered_is_not_searched_but_what_people_and_models_say_is(store):
    made = await conversation(store, "boats")
    await store.messages.add(
        [row(made.id, "t", "m0", "boats", "tool"), row(made.id, "s", None, "boats", "system")]
    )
    assert {hit.message for hit in await store.search.find("local", "boats")} == {"m0", "s"}


async def test_a_message_is_found_by_the_name_of_its_file(store):
    made = await conversation(store)
    content = (TextContent("Look at this"), ImageContent("0" * 64, "image/png", "harbour-view.png"))
    await store.messages.add([row(made.id, "m", content=content)])
    (hit,) = await store.search.find("local", "view.png")
    assert (hit.snippet, marked(hit.snippet, hit.marks)) == ("harbour-view.png", ["view.png"])


async def test_a_conversation_is_found_by_its_title_when_no_message_says_so(store):
    made = await conversation(store, "hello", "hi", title="Été à la mer")
    await conversation(store, "the sea in summer: ete", title="ete")
    await conversation(store, title="Empty été")
    hits = await store.search.find("local", "ete")
    assert {(hit.title, hit.message) for hit in hits[:2]} == {("Empty été", ""), ("Été à la mer", "m1")}
    assert [(hit.title, hit.message) for hit in hits[2:]] == [("ete", "m0")]
    titled = next(hit for hit in hits if hit.conversation == made.id)
    assert marked(titled.snippet, titled.marks) == ["Été"]
    assert [hit.title for hit in await store.search.find("local", "la me")] == ["Été à la mer"]


async def test_the_limit_holds_and_nothing_finds_nothing(store):
    await conversation(store, *["boats"] * 9)
    assert len(await store.search.find("local", "boats", limit=4)) == 4
    assert await store.search.find("local", "boats", limit=0) == []
    assert await store.search.find("local", "") == []
    assert await store.search.find("local", "walrus") == []


async def test_better_hits_come_first_and_equal_ones_by_age(store):
    await conversation(
        store,
        "boats and boats",
        "something about nets and noon and boats",
        "boats and boats",
        "no more of them",
    )
    assert [hit.message for hit in await store.search.find("local", "boats")] == ["m2", "m0", "m1"]


def test_ranking_weighs_rare_words_more_and_long_texts_less():
    terms = (Term(("the",)), Term(("walrus",)))
    often, rarely = Found(2, "the the the the walrus"), Found(1, "the walrus walrus walrus the")
    assert ranked([often, rarely], terms)[0] is rarely
    short, long = Found(4, "the walrus"), Found(3, "the walrus " + "word " * 50)
    assert ranked([long, short], terms) == [short, long]
    assert ranked([], terms) == []
    assert ranked([Found(1, "")], terms) == [Found(1, "")]


def test_a_snippet_of_a_long_text_is_around_the_first_match():
    text = "word " * 100 + "the walrus\nis here " + "word " * 100
    snippet, marks = snippet_of(text, terms_of("walrus is "))
    assert snippet.startswith("…word")
    assert snippet.endswith("…")
    assert "the walrus is here" in snippet
    assert len(snippet) <= 242
    assert marked(snippet, marks) == ["walrus", "is"]


def test_a_snippet_without_a_match_is_the_beginning():
    assert snippet_of("abc " * 100, terms_of("walrus")) == (("abc " * 59) + "abc…", ())
    assert snippet_of("", terms_of("walrus")) == ("", ())


def test_a_snippet_never_cuts_a_word_that_matches():
    text = "boats " + "word " * 46 + "needlework and more " + "word " * 20
    snippet, marks = snippet_of(text, terms_of("boats needle"))
    assert marked(snippet, marks) == ["boats"]
    assert snippet.endswith("word…")
    snippet, marks = snippet_of("x" * 300 + " needlework", terms_of("needle"))
    assert marked(snippet, marks) == ["needlework"]
    long = "needle" + "x" * 400
    snippet, marks = snippet_of(f"a {long} b", terms_of("needle"))
    assert marked(snippet, marks) == [long]


def test_a_match_stands_near_the_beginning_of_its_snippet():
    """A snippet of one line, on a phone, shows hardly more than forty characters."""
    for gap in (" ", "\n", ""):
        _, marks = snippet_of(f"word{gap}" * 100 + " walrus " + "word " * 50, terms_of("walrus"))
        assert marks[0][1] <= 40


def test_the_first_match_is_that_of_whatever_term():
    assert first_place("nets and boats and nets", terms_of("boats nets ")) == (0, 4)
    assert first_place("nothing", terms_of("boats")) is None
