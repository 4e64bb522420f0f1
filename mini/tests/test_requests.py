"""Requests look typed by people, slot values stay unchanged, and payloads are varied."""

from __future__ import annotations

from random import Random

from duologue_mini.editing.changes import quote
from duologue_mini.text import payloads
from duologue_mini.text.requests import fill_slots, loose, request


def test_slot_values_are_never_changed() -> None:
    random = Random(1)
    for _ in range(2000):
        payload = payloads.odd(random) if random.random() < 0.5 else payloads.any_word(random)
        assert payload in request(
            random, ['{Say|Repeat} "$w"[.]', "Please remember the word $w for me[.]"], w=payload
        )


def test_a_value_may_hold_a_dollar() -> None:
    assert fill_slots("$a and $b", {"a": "$b", "b": "2"}) == "$b and 2"
    assert fill_slots("$a costs $9", {"a": "it"}) == "it costs $9"


def test_slots_survive_typing_mistakes() -> None:
    random = Random(2)
    assert all(
        "$name" in loose(random, "Please remember the following $name for later.") for _ in range(2000)
    )


def test_quotes_hold_the_text() -> None:
    random = Random(3)
    for _ in range(500):
        text = payloads.sentence(random)
        assert text in quote(random, text)


def test_words_are_many() -> None:
    random = Random(4)
    assert len({payloads.word(random) for _ in range(3000)}) > 1800
    assert len({payloads.first_name(random) for _ in range(3000)}) > 900
    assert len({payloads.odd(random) for _ in range(2000)}) > 1800


def test_articles_follow_the_sound() -> None:
    assert payloads.article("apple") == "an apple"
    assert payloads.article("useful") == "a useful"
    assert payloads.article("uniform") == "a uniform"
    assert payloads.article("umbrella") == "an umbrella"
