"""Logprobs find their deltas again."""

from duologue.engines.contracts import Piece
from duologue.sessions.chat.logprobs import LogprobAlignment
from duologue.values.events import TokenLogprob


def piece(text: str) -> Piece:
    return Piece(text, 1, (TokenLogprob(text, -0.5, text.encode()),))


def test_a_delta_takes_the_tokens_that_begin_in_it_and_each_once():
    aligned = LogprobAlignment()
    for text in ("<b>", "Hel", "lo", " there"):
        aligned.add(piece(text))
    assert [entry.token for entry in aligned.take(3, 4)] == ["Hel", "lo"]
    assert aligned.take(3, 4) == ()
    assert [entry.token for entry in aligned.take(8, 6)] == [" there"]
