import itertools

from duologue.engines.tts.word_alignment import (
    TimedText,
    words_from_phonemes,
    words_from_sound,
    words_from_tokens,
)


def phonemes(text: str, each: float = 0.1) -> list[TimedText]:
    return [TimedText(sign, at * each, (at + 1) * each) for at, sign in enumerate(text)]


def told(words):
    return [(word.text, word.start, word.end) for word in words]


def test_tokens_are_found_again_in_the_text():
    clause = "Well, don't stop."
    tokens = [
        *(TimedText("Well", 0.0, 0.3), TimedText(",", 0.3, 0.4), TimedText("do", 0.5, 0.6)),
        *(TimedText("n't", 0.6, 0.8), TimedText("stop", 0.8, 1.2), TimedText(".", 1.2, 1.3)),
    ]
    words = words_from_tokens(clause, tokens)
    assert told(words) == [("Well,", 0, 9600), ("don't", 12000, 19200), ("stop.", 19200, 31200)]
    assert [clause[word.at : word.to] for word in words] == [word.text for word in words]


def test_a_beginning_that_was_cut_off_moves_the_words():
    assert told(words_from_tokens("Hi", [TimedText("Hi", 0.5, 0.75)], delay=-0.5)) == [("Hi", 0, 6000)]


def test_a_token_that_is_not_in_the_text_is_left_out():
    tokens = [TimedText("Mister", 0, 1), TimedText("Smith", 1, 2)]
    assert [word.text for word in words_from_tokens("Mr Smith", tokens)] == ["Smith"]


def test_as_many_words_among_the_phonemes_as_in_the_text_are_these():
    words = words_from_phonemes("Hello there.", phonemes("həlˈO ðɛɹ."))
    assert told(words) == [("Hello", 0, 12000), ("there.", 14400, 21600)]


def test_a_mark_alone_is_no_word():
    assert len(words_from_phonemes("Well — yes", phonemes("wˈɛl — jˈɛs"))) == 2


def test_two_words_that_sound_as_one_share_its_time():
    clause = "one of the two"
    words = words_from_phonemes(clause, phonemes("wˈʌn ʌvðə tˈuː"))
    assert [word.text for word in words] == clause.split()
    assert all(one.end <= other.start for one, other in itertools.pairwise(words))
    assert all(word.start < word.end for word in words)
    assert words[0].start == 0
    assert words[-1].end == round(1.4 * 24_000)


def test_without_phonemes_there_are_no_times():
    assert words_from_phonemes("Hello", []) == ()
    assert words_from_phonemes("...", phonemes("...")) == ()


def test_words_are_spread_over_the_sound_between_its_pauses():
    clause = "one two three four"
    words = words_from_sound(clause, [(0.5, 1.5), (2.0, 3.0)])
    assert [clause[word.at : word.to] for word in words] == clause.split()
    assert words[0].start == 12_000
    assert words[-1].end == 72_000
    assert all(one.end <= other.start for one, other in itertools.pairwise(words))
    assert all(not (word.start < 36_000 and word.end > 48_000) or word.text == "three" for word in words)


def test_as_many_sounds_as_words_are_a_word_each():
    assert told(words_from_sound("a comparison", [(0.0, 0.5), (1.0, 1.5)])) == [
        ("a", 0, 12_000),
        ("comparison", 24_000, 36_000),
    ]


def test_each_share_of_a_clause_has_its_words_and_none_twice():
    clause = "one two three four five six seven"
    shares = [(0.0, 0.3), (0.3, 0.7), (0.7, 1.01)]
    words = [words_from_sound(clause, [(0.0, 1.0)], begin=begin, end=end) for begin, end in shares]
    assert [word.text for part in words for word in part] == clause.split()
    assert all(words)


def test_silence_has_no_words():
    assert words_from_sound("one two", []) == ()
    assert words_from_sound("...", [(0.0, 1.0)]) == ()
