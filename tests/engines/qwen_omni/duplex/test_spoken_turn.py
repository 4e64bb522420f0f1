"""One reply of a call: how much of it is given out with each unit, and what was heard of it. The model is a stand-in that says one letter
with every 10 samples."""

from types import SimpleNamespace
from typing import Any

from duologue.engines.decoding.token_choice import ChosenToken
from duologue.engines.decoding.token_text import TokenText
from duologue.engines.qwen_omni.duplex.spoken_turn import SpokenTurn

TOKENIZER = SimpleNamespace(all_special_ids=[0], decode=lambda ids, **_: bytes(ids).decode())


class Spoken:
    """Sound for each token as it comes, and `rest` samples after the last."""

    def __init__(self, rest: int = 0, most: int = 99) -> None:
        self.most = most
        self.codes = 0
        self.vocoder_seconds = 0.0
        self.rest = rest

    @property
    def ended(self) -> bool:
        return self.codes >= self.most

    def feed(self, trace: object) -> bytes:
        self.codes += 1
        return bytes(20)

    def finish(self, trace: object):
        for _ in range(self.rest // 10):
            self.codes += 1
            yield bytes(20)

    def spoken_tokens(self, samples: int) -> int:
        return samples // 10


class Sequence(list):
    trace = ()

    @property
    def numbers(self):
        return self


def turn_of(text: str, rest: int = 0, limit: int = 99, most: int = 99) -> SpokenTurn:
    letters = [*map(ord, text), 0]
    sequence: Any = Sequence([1, 2, 3])
    thinker: Any = SimpleNamespace(
        read=lambda sequence, pieces: sequence.extend(t for piece in pieces for t in piece.tokens)
    )
    choice: Any = SimpleNamespace(choose=lambda logits, before: ChosenToken(letters.pop(0)))
    spoken: Any = Spoken(rest, most)
    return SpokenTurn(
        thinker, sequence, spoken, choice, TokenText(TOKENIZER), None, marks=2, ends={0}, limit=limit
    )


def unit(turn: SpokenTurn, count: int) -> tuple[int, str]:
    while turn.lacks(count):
        turn.step()
    pcm, text = turn.take(count)
    return len(pcm) // 2, text


def test_a_reply_whose_speech_has_ended_writes_no_more() -> None:
    turn = turn_of("one two three", most=7)
    assert unit(turn, 99) == (70, "one two")
    assert turn.over
    assert turn.written == 7


def test_each_unit_has_sound_as_long_as_itself_and_the_whole_words_that_it_says() -> None:
    turn = turn_of("one two three")
    assert unit(turn, 50) == (50, "one ")
    assert turn.written == 5, "no more is made than the unit needs"
    assert unit(turn, 50) == (50, "two ")
    assert not turn.over
    assert unit(turn, 50) == (30, "three")
    assert turn.over
    assert turn.codes == 13


def test_sound_goes_on_after_the_text_has_ended() -> None:
    turn = turn_of("one two", rest=100)
    assert unit(turn, 80) == (80, "one two")
    assert not turn.over
    assert unit(turn, 80) == (80, "")
    assert unit(turn, 80) == (10, "")
    assert turn.over


def test_what_was_heard_is_whole_words_and_never_what_was_not_given_out() -> None:
    turn = turn_of("one two three")
    unit(turn, 80)
    assert turn.heard(0) == 0
    assert turn.heard(25) == 0
    assert turn.heard(30) == len("one")
    assert turn.heard(79) == len("one two")
    assert turn.heard(10**6) == len("one two ")
    unit(turn, 80)
    assert turn.heard(130) == len("one two three")
    assert turn.heard(45) == len("one ")


def test_a_limit_ends_it() -> None:
    turn = turn_of("one two three", limit=4)
    assert unit(turn, 100) == (40, "one ")
    assert turn.over
    assert turn.written == 4


def test_it_begins_where_the_sequence_ends() -> None:
    turn = turn_of("a")
    assert (turn.start, turn.marks) == (3, 2)
    unit(turn, 10)
    assert turn.language > 0
    assert turn.speech > 0
