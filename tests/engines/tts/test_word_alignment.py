import itertools

from duologue.engines.tts.word_alignment import TimedText, words_from_phonemes, words_from_tokens


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
