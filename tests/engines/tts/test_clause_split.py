from duologue.engines.tts.clause_split import parts_of, sentences_of


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


def sentences(clause: str) -> list[str]:
    return [clause[at:to] for at, to in sentences_of(clause, 40)]


def test_each_sentence_is_a_part():
    assert sentences("One. Two! Three") == ["One. ", "Two! ", "Three"]
    assert sentences("\u4f60\u597d\u3002\u518d\u89c1") == ["\u4f60\u597d\u3002", "\u518d\u89c1"]


def test_marks_alone_are_no_sentence():
    assert sentences("... Well. ...") == ["... Well. ..."]
    assert sentences("3.5 and 4.5") == ["3.5 and 4.5"]


def test_a_long_sentence_is_cut_as_well():
    text = "word " * 20 + "end. Next."
    found = sentences(text)
    assert "".join(found) == text
    assert all(len(part) <= 40 for part in found)
