"""Which words of a reply were heard, by the sound of its units."""

import pytest

from duologue.engines.minicpmo.heard_text import HeardText

SECOND = bytes(48_000)


def reply() -> HeardText:
    said = HeardText()
    said.say("One two three four ", SECOND)
    said.say("five six seven eight ", SECOND)
    said.say("nine ten.", SECOND[:24_000])
    return said


@pytest.mark.parametrize(
    ("heard", "text"),
    [
        (0, ""),
        (3_000, ""),
        (6_000, "One"),
        (12_000, "One two"),
        (24_000, "One two three four"),
        (36_000, "One two three four five six"),
        (48_000, "One two three four five six seven eight"),
        (60_000, "One two three four five six seven eight nine ten."),
        (1_000_000, "One two three four five six seven eight nine ten."),
    ],
)
def test_whole_units_count_whole_and_the_last_one_by_its_share(heard, text):
    assert reply().until(heard) == text


def test_text_without_spaces_is_cut_between_its_characters():
    said = HeardText()
    said.say("你好我是助手很高兴", SECOND)
    assert said.until(8_000) == "你好我"


def test_text_without_a_sound_of_its_own_goes_with_the_sound_before_it():
    said = HeardText()
    said.say("One ", SECOND)
    said.say("two", b"")
    assert said.until(24_000) == "One two"
    assert HeardText().until(5) == ""


def test_text_whose_sound_was_never_made_counts_as_heard():
    said = HeardText()
    said.say("One", b"")
    assert said.until(0) == "One"
