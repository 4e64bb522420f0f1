import pytest

from duologue.text.speech.numerals import (
    digits,
    english,
    english_ordinal,
    english_year,
    german,
    german_ordinal,
    german_year,
)


@pytest.mark.parametrize(
    ("number", "words", "worte"),
    [
        (0, "zero", "null"),
        (1, "one", "eins"),
        (12, "twelve", "zwölf"),
        (21, "twenty-one", "einundzwanzig"),
        (90, "ninety", "neunzig"),
        (100, "one hundred", "einhundert"),
        (101, "one hundred one", "einhunderteins"),
        (1001, "one thousand one", "eintausendeins"),
        (21_000, "twenty-one thousand", "einundzwanzigtausend"),
        (101_000, "one hundred one thousand", "einhunderteintausend"),
        (1_000_000, "one million", "eine Million"),
        (2_000_016, "two million sixteen", "zwei Millionen sechzehn"),
        (-7, "minus seven", "minus sieben"),
    ],
)
def test_cardinals(number, words, worte):
    assert english(number) == words
    assert german(number) == worte


@pytest.mark.parametrize(
    ("number", "words", "worte"),
    [
        (1, "first", "erste"),
        (2, "second", "zweite"),
        (3, "third", "dritte"),
        (7, "seventh", "siebte"),
        (8, "eighth", "achte"),
        (12, "twelfth", "zwölfte"),
        (20, "twentieth", "zwanzigste"),
        (21, "twenty-first", "einundzwanzigste"),
        (100, "one hundredth", "einhundertste"),
        (101, "one hundred first", "einhunderterste"),
        (113, "one hundred thirteenth", "einhundertdreizehnte"),
    ],
)
def test_ordinals(number, words, worte):
    assert english_ordinal(number) == words
    assert german_ordinal(number) == worte


@pytest.mark.parametrize(
    ("year", "words", "worte"),
    [
        (1984, "nineteen eighty-four", "neunzehnhundertvierundachtzig"),
        (1905, "nineteen oh five", "neunzehnhundertfünf"),
        (1900, "nineteen hundred", "neunzehnhundert"),
        (2006, "two thousand six", "zweitausendsechs"),
        (2024, "twenty twenty-four", "zweitausendvierundzwanzig"),
        (800, "eight hundred", "achthundert"),
    ],
)
def test_years(year, words, worte):
    assert english_year(year) == words
    assert german_year(year) == worte


def test_digits_one_by_one():
    assert digits("030-12", "en") == "zero three zero, one two"
    assert digits("07", "de") == "null sieben"


def test_no_two_numbers_sound_the_same():
    for say in (english, german, english_ordinal, german_ordinal):
        said = [say(number) for number in range(1, 12_000)]
        assert len(set(said)) == len(said)
