from duologue.engines.tts.word_timestamps import WordTimestamps

TEXT = "one two, three"


def told(times: WordTimestamps) -> list[tuple[str, int, int]]:
    return [(text, start, end) for _, _, text, start, end in times.finished()]


def test_a_word_ends_where_the_next_begins():
    times = WordTimestamps(TEXT, hold=10_000)
    times.word(0, 0)
    times.sound(5, pause=False)
    assert told(times) == []
    times.word(100, 4)
    assert told(times) == [("one", 0, 100)]
    times.word(200, 9)
    times.end(300)
    assert told(times) == [("two,", 100, 200), ("three", 200, 300)]


def test_a_word_ends_where_the_pause_behind_it_begins():
    times = WordTimestamps(TEXT, hold=10_000)
    times.word(0, 0)
    times.sound(40, pause=True)
    times.sound(60, pause=True)
    times.word(100, 4)
    times.sound(100, pause=True)
    times.sound(120, pause=False)
    times.sound(180, pause=True)
    times.end(300)
    assert told(times) == [("one", 0, 40), ("two,", 100, 132), ("three", 132, 180)]


def test_parts_of_a_word_and_what_was_before_begin_nothing():
    times = WordTimestamps(TEXT, hold=10_000)
    for sample, position in ((0, 0), (50, 1), (100, 9), (150, 4), (180, 90), (190, -1)):
        times.word(sample, position)
    times.end(200)
    assert told(times) == [("one", 0, 50), ("two,", 50, 100), ("three", 100, 200)]


def test_sound_waits_for_its_word_but_not_long():
    times = WordTimestamps(TEXT, hold=500)
    assert times.ready(0) == 0
    times.word(10, 0)
    assert times.ready(100) == 10
    assert times.ready(600) == 600
    assert told(times) == [("one", 10, 600)]
    times.word(700, 4)
    assert times.ready(800) == 700


def test_without_any_news_the_words_share_the_sound():
    times = WordTimestamps("ab cd", hold=500)
    assert times.ready(400) == 0
    assert times.ready(600) == 600
    times.end(900)
    assert told(times) == [("ab", 0, 450), ("cd", 450, 900)]


def test_a_text_without_words_has_none():
    times = WordTimestamps("...", hold=5)
    times.word(0, 0)
    assert times.ready(10) == 10
    times.end(10)
    assert told(times) == []
