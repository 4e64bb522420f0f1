"""Which words of a conversation the recogniser expects."""

from duologue.engines.sphinx.recent_words import MOST, recent_words


def test_the_newest_words_come_first_and_once():
    assert recent_words("Basil and vinegar. More vinegar? Tomatoes!") == ("tomatoes", "vinegar", "basil")


def test_short_words_and_numbers_are_left_out():
    assert recent_words("it is 42,000 for you and me") == ()


def test_an_apostrophe_belongs_to_its_word():
    assert recent_words("The company's units") == ("units", "company's")


def test_there_are_never_more_than_the_decoder_should_learn():
    text = " ".join(f"word{chr(97 + at // 26)}{chr(97 + at % 26)}" for at in range(100))
    assert len(recent_words(text)) == MOST
    assert recent_words(text)[0] == text.split()[-1]
