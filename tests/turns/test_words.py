from __future__ import annotations

from duologue.turns.words import lexicon_of, words_of


def test_words_are_compared_without_case_and_marks() -> None:
    assert words_of("  Well, DON’T stop – it’s 5 o'clock! ") == (
        "well",
        "don't",
        "stop",
        "it's",
        "5",
        "o'clock",
    )
    assert words_of("Uh-huh…") == ("uh-huh",)
    assert words_of("... – ?") == ()


def test_words_of_other_scripts_are_words() -> None:
    assert words_of("Über 東京 привет") == ("über", "東京", "привет")


def test_a_language_is_known_by_its_first_part_and_an_unknown_one_has_no_little_words() -> None:
    assert lexicon_of("de-CH") is lexicon_of("de")
    assert not lexicon_of("fi").backchannel
    assert not lexicon_of("").dangling


def test_no_word_is_said_both_to_go_on_and_to_stop() -> None:
    for language in ("en", "de"):
        lexicon = lexicon_of(language)
        assert not lexicon.backchannel & lexicon.stop
