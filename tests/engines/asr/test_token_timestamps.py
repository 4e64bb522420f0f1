from duologue.engines.asr.token_timestamps import words_of


def told(tokens, starts, durations=(), end=10.0):
    return [(word.text, word.start, word.end) for word in words_of(tokens, starts, durations, end=end)]


def test_tokens_that_begin_with_a_space_begin_a_word():
    assert told(["▁HE", "LLO", "▁WORLD"], [0.0, 0.2, 1.0], [0.2, 0.3, 0.4]) == [
        ("HELLO", 0.0, 0.5),
        ("WORLD", 1.0, 1.4),
    ]


def test_where_no_length_is_known_a_word_lasts_to_the_next_and_no_longer_than_a_syllable():
    assert told([" one", " two", " three"], [0.0, 0.1, 5.0]) == [
        ("one", 0.0, 0.1),
        ("two", 0.1, 0.34),
        ("three", 5.0, 5.24),
    ]


def test_no_word_lasts_longer_than_the_sound():
    assert told([" end"], [0.9], end=1.0) == [("end", 0.9, 1.0)]


def test_letters_without_spaces_are_words():
    assert [word[0] for word in told(["今", "天", " ok", "好"], [0.0, 0.3, 0.6, 0.9])] == [
        "今",
        "天",
        "ok",
        "好",
    ]


def test_an_empty_token_is_no_word():
    assert told(["▁", "HI", "", "."], [0.0, 0.1, 0.2, 0.3]) == [("HI.", 0.1, 0.54)]


def test_what_does_not_belong_together_is_left():
    assert words_of(["a", "b"], [0.0], end=1.0) == ()
    assert words_of(["a"], [0.0], [0.1, 0.2], end=1.0) == ()
    assert words_of([], [], end=1.0) == ()
