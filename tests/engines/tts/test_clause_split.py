from duologue.engines.tts.clause_split import parts_of


def parts(clause: str, longest: int = 40) -> list[str]:
    return [clause[at:to] for at, to in parts_of(clause, longest)]


def test_a_short_clause_is_one_part():
    assert parts("Hello there.") == ["Hello there."]


def test_a_long_one_is_cut_after_a_mark():
    text = "When it had stopped raining, we went out into the garden."
    assert parts(text) == ["When it had stopped raining, ", "we went out into the garden."]


def test_without_a_mark_it_is_cut_between_words_and_nothing_is_lost():
    text = "word " * 100
    found = parts(text)
    assert "".join(found) == text
    assert all(len(part) <= 40 and part.endswith(" ") for part in found)


def test_a_word_without_end_is_cut_where_it_must_be():
    assert [len(part) for part in parts("a" * 100)] == [40, 40, 20]


def test_a_mark_right_at_the_beginning_is_no_place_to_cut():
    assert len(parts("Oh, " + "this has no mark for a long while and goes on")[0]) > 20


def test_what_has_no_letters_is_no_part():
    assert parts("... --- ...") == []
    assert parts("") == []
