"""What is counted, told from what is measured; how it is said is in the tests of the languages."""

import re

import pytest

from duologue.text.speech.quantities import MEASURABLE, PICTURES, UNITS, countable_pattern


@pytest.mark.parametrize(
    ("language", "text", "noun"),
    [
        ("en", "users", "users"),
        ("en", "new monthly users a day", "users"),
        ("en", "US dollars", "dollars"),
        ("en", "tall users", None),
        ("en", "usersful", None),
        ("en", "people's votes", None),
        ("de", "neue Nutzer", "Nutzer"),
        ("de", "Seil", None),
    ],
)
def test_what_is_counted_is_a_noun_behind_at_most_a_few_adjectives(language, text, noun):
    match = re.match(countable_pattern(language), text)
    assert (match and match["noun"]) == noun


def test_nouns_with_rules_of_their_own_are_among_those_that_are_counted():
    for noun in MEASURABLE | PICTURES:
        assert any(re.fullmatch(countable_pattern(language), noun) for language in UNITS), noun


def test_units_of_area_may_be_typed():
    assert UNITS["en"]["m^2"] == UNITS["en"]["m²"]
    assert UNITS["de"]["m^3"] == UNITS["de"]["m³"]
