"""Words of texts and of queries."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as some

from duologue.store.search.tokenizer import LONGEST, MOST, Term, folded, places_of, terms_of, words_of


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The Boats, at noon!", "the boats at noon"),
        ("Crème BRÛLÉE", "creme brulee"),
        ("cre\u0300me", "creme"),
        ("Straße STRASSE", "strasse strasse"),
        ("ΣΊΣΥΦΟΣ σίσυφος", "σισυφοσ σισυφοσ"),
        ("snake_case kebab-case a.b", "snake case kebab case a b"),
        ("don't x86_64 3.14", "don t x86 64 3 14"),
        ("我喜欢船", "我 喜 欢 船"),
        ("用Python写", "用 python 写"),
        ("서울에서", "서울에서"),
        ("½ ﬁne", "1 2 fine"),
        ("ｶﾞｯｺｳ が", "ガ ッ コ ウ が"),
        ("ก็ได้", "ก ็ ไ ด"),
        ("a\u034fb", "a b"),
        ("\0🎈--\n", ""),
        ("", ""),
    ],
)
def test_case_accents_and_punctuation_do_not_matter(text, words):
    assert folded(text) == words
    assert " ".join(word.folded for word in words_of(text)) == words


@given(some.text(max_size=60))
def test_folding_what_is_folded_changes_nothing(text):
    once = folded(text)
    assert folded(once) == once


@given(some.text(max_size=60))
def test_a_word_stands_where_it_says(text):
    for word in words_of(text):
        assert word.folded.split(" ")[0] in folded(text[word.start : word.end]).split(" ")


def test_very_long_words_and_texts_are_cut():
    assert folded("a" * 500) == folded("é" * 500).replace("e", "a") == "a" * LONGEST
    assert len(folded("word " * (MOST + 5)).split()) == MOST
    assert len(folded("wörd " * (MOST + 5)).split()) == MOST


@pytest.mark.parametrize(
    ("query", "terms"),
    [
        ("boats noon", [Term(("boats",)), Term(("noon",), prefix=True)]),
        ("boats noon ", [Term(("boats",)), Term(("noon",))]),
        ('"at noon"', [Term(("at", "noon"))]),
        ('"at noo', [Term(("at", "noo"), prefix=True)]),
        ("„at noon“ Boat", [Term(("at", "noon")), Term(("boat",), prefix=True)]),
        ("foo_bar", [Term(("foo", "bar"), prefix=True)]),
        ("boats boats", [Term(("boats",), prefix=True)]),
        ("船长", [Term(("船", "长"), prefix=True)]),
        ("boats?", [Term(("boats",))]),
        ("AND OR NOT", [Term(("and",)), Term(("or",)), Term(("not",), prefix=True)]),
        ('"" - * ^', []),
        ("", []),
    ],
)
def test_a_query_asks_for_words_phrases_and_the_beginning_of_the_last(query, terms):
    assert list(terms_of(query)) == terms


def test_a_query_of_very_many_words_is_cut():
    assert len(terms_of(" ".join(f"w{number}" for number in range(100)))) == 16


@pytest.mark.parametrize("before", ["", "é ", "cre\u0300me ß "])
def test_matches_are_whole_words_phrases_and_beginnings(before):
    text = before + "boat boats lifeboat BOAT-shed the boat shed"

    def matches(query: str) -> list[str]:
        return [text[start:end] for term in terms_of(query) for start, end in places_of(text, term)]

    assert matches("boat ") == ["boat", "BOAT", "boat"]
    assert matches("boat") == ["boat", "boats", "BOAT", "boat"]
    assert matches('"boat shed"') == ["BOAT-shed", "boat shed"]
    assert matches("walrus") == []


@pytest.mark.parametrize(
    ("text", "query", "expected"),
    [
        ("Die STRASSE, die Straße", "straße ", ["STRASSE"]),
        ("nur die Straße", "strasse ", ["Straße"]),
        ("eine cre\u0300me", "crème ", ["cre\u0300me"]),
        ("Été à la mer", "ete", ["Été"]),
        ("我喜欢船，喜 欢", "喜欢", ["喜欢", "喜 欢"]),
        ("用Python写 python3", "python ", ["Python"]),
        ("用Python写 python3", "python", ["Python", "python3"]),
        ("写Python写", '"写 python 写"', ["写Python写"]),
        ("ΣΊΣΥΦΟΣ", "σίσυφος", ["ΣΊΣΥΦΟΣ"]),
        ("x" * 500 + " é", "x" * 500, ["x" * 500]),
    ],
)
def test_matches_in_every_script_are_where_they_stand(text, query, expected):
    assert [text[start:end] for term in terms_of(query) for start, end in places_of(text, term)] == expected


@given(some.text(max_size=40))
def test_every_word_of_a_text_is_found_in_it(text):
    for word in words_of(text):
        assert any(True for _ in places_of(text, Term((word.folded,)))), word
