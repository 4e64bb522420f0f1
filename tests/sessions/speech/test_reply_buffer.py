"""What exists of a reply and was not sent: its sound in pieces, each with its words and text."""

from duologue.sessions.speech.reply_buffer import ReplyBuffer, TextMark
from duologue.values.events import ReplyWord


class Filled(ReplyBuffer):
    """A buffer that tests fill."""

    def fill(self, text: str, pcm: bytes, words: tuple[ReplyWord, ...] = ()) -> None:
        self.written += text
        self._append(pcm, words, (TextMark(word.start + 1, word.to) for word in words))


ONE, TWO = ReplyWord("one", 0, 100, 0, 3), ReplyWord("two", 100, 200, 4, 7)


def filled() -> Filled:
    reply = Filled(7)
    reply.fill("one two", bytes(range(200)) * 2, (ONE, TWO))
    return reply


def test_sound_is_taken_in_pieces_of_any_length_and_none_is_lost():
    reply = filled()
    reply.fill("", b"ab" * 50)
    pieces = [reply.take(count) for count in (30, 100, 500)]
    assert [len(piece.pcm) // 2 for piece in pieces] == [30, 100, 120]
    assert b"".join(piece.pcm for piece in pieces) == bytes(range(200)) * 2 + b"ab" * 50
    assert (reply.length, reply.sent, reply.waiting) == (250, 250, 0)
    assert reply.take(10).pcm == b""


def test_a_word_goes_with_the_piece_in_which_it_begins_and_its_text_too():
    reply = filled()
    first, second = reply.take(100), reply.take(100)
    assert (first.words, second.words) == ((ONE,), (TWO,))
    assert (first.text, second.text) == ("one", " two")


def test_the_text_without_sound_is_the_rest_and_is_given_once():
    reply = filled()
    reply.take(50)
    assert reply.rest() == " two"
    assert reply.rest() == ""
