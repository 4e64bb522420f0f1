"""Logprobs find their deltas again."""

from duologue.text.output.logprob_alignment import LogprobAlignment
from duologue.values.events import TokenLogprob


def token(text: str) -> TokenLogprob:
    return TokenLogprob(text, -0.5, text.encode())


def test_a_delta_takes_the_tokens_that_begin_in_it_and_each_once() -> None:
    aligned = LogprobAlignment()
    for text in ("<b>", "Hel", "lo", " there"):
        aligned.add(text, (token(text),))
    assert [entry.token for entry in aligned.take(3, 4)] == ["Hel", "lo"]
    assert aligned.take(3, 4) == ()
    assert [entry.token for entry in aligned.take(8, 6)] == [" there"]


def test_tokens_of_one_piece_are_told_apart_by_their_texts() -> None:
    aligned = LogprobAlignment()
    aligned.add("</b>Hello", (token("</b>"), token("Hel"), token("lo")))
    assert [entry.token for entry in aligned.take(4, 5)] == ["Hel", "lo"]


def test_a_piece_may_begin_with_what_an_earlier_token_left() -> None:
    aligned = LogprobAlignment()
    aligned.add("\nHello", (token("Hello"),))
    assert [entry.token for entry in aligned.take(1, 5)] == ["Hello"]


def test_tokens_whose_texts_are_not_the_piece_begin_with_it() -> None:
    aligned = LogprobAlignment()
    aligned.add("\u00e6", (token("\ufffd"), token("\ufffd")))
    assert len(aligned.take(0, 1)) == 2


def test_tokens_of_content_that_is_held_back_come_with_it() -> None:
    aligned = LogprobAlignment()
    for text in ("one", " two", " three", " four"):
        aligned.add(text, (token(text),))
    assert [entry.token for entry in aligned.take(0, 3, shown=3)] == ["one"]
    assert aligned.take(3, 4, shown=0) == ()
    assert [entry.token for entry in aligned.take(7, 6, shown=5)] == [" two", " three"]
    assert aligned.take(13, 5, shown=0) == ()
    assert [entry.token for entry in aligned.release(10)] == [" four"]
