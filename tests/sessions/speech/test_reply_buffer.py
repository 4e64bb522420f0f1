"""What exists of a reply and was not sent: its sound in pieces, each with its words and text."""

from duologue.sessions.speech.reply_buffer import ReplyBuffer, TextMark
from duologue.values.events import ReplyWord
from duologue.values.mouth import Phone


class Filled(ReplyBuffer):
    """A buffer that tests fill."""

    def fill(
        self,
        text: str,
        pcm: bytes,
        words: tuple[ReplyWord, ...] = (),
        phones: tuple[Phone, ...] = (),
    ) -> None:
        self.written += text
        self._append(pcm, words, (TextMark(word.start + 1, word.to) for word in words), phones)


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


def test_a_piece_has_all_keys_that_are_known_and_the_last_ones_are_left_for_the_end():
    reply = Filled(7, mouth=True)
    reply.fill("a", bytes(2 * 12_000), phones=(Phone("a", 0, 4800), Phone("p", 4800, 7200)))
    first, second = reply.take(100), reply.take(12_000)
    assert [key.at for key in first.mouth] == sorted({key.at for key in first.mouth})
    assert max(key.press for key in first.mouth) == 100
    assert second.mouth == ()
    reply.fill("a", bytes(2 * 2400), phones=(Phone("a", 12_000, 14_400),))
    assert reply.take(2400).mouth == ()
    reply._complete()
    assert reply.keys()[-1].at > 14_400
    assert reply.keys() == ()


def test_without_a_mouth_there_are_no_keys():
    reply = filled()
    reply.fill("a", bytes(2 * 12_000), phones=(Phone("a", 0, 4800),))
    reply._complete()
    assert not reply.draws_mouth
    assert reply.take(10**9).mouth == ()


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
