"""What one row reads and writes, on a network of numbers: the token that follows is the number of tokens so far."""

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from duologue.engines.contracts import GenerationEnded, Piece
from duologue.engines.decoding.token_choice import ChosenToken
from duologue.engines.huggingface.reply_rows import PromptRow, ReplyRow, run_step
from duologue.engines.huggingface.text_sequence import TextSequence
from duologue.errors import EngineFailed
from duologue.values.events import Progress


class Network:
    """The logits are the number of tokens that were read."""

    whole = False

    def __init__(self) -> None:
        self.forgotten: list[TextSequence] = []
        self.fails = ""

    def kept(self, sequence: TextSequence, common: int) -> int:
        return common

    def crop(self, sequence: TextSequence, length: int) -> None:
        del sequence.numbers[length:]

    def read(self, sequence: TextSequence, tokens: Sequence[int]) -> int:
        if self.fails == "read":
            raise RuntimeError("the read broke")
        sequence.numbers += tokens
        return len(sequence)

    def write(self, sequences: Sequence[TextSequence], tokens: Sequence[int]) -> list[int]:
        if self.fails == "write":
            raise RuntimeError("out of memory")
        return [self.read(sequence, [token]) for sequence, token in zip(sequences, tokens, strict=True)]

    def forget(self, sequence: TextSequence) -> None:
        self.forgotten.append(sequence)


def reply(
    sequence: TextSequence, prompt: Sequence[int], *, ends: Sequence[int] = (), limit: int = 99
) -> ReplyRow:
    choice: Any = SimpleNamespace(choose=lambda logits, before: ChosenToken(logits), reports=False)
    text: Any = SimpleNamespace(
        add=lambda token: f"{token} ", finish=lambda: "", pending=0, is_control=lambda token: False
    )
    return ReplyRow(sequence, prompt, 4, choice, text, ends=ends, limit=limit)


def run(network: Any, reading: Any = None, writing: Sequence[ReplyRow] = (), share: int = 1) -> Any:
    return run_step(network, "tiny", reading, writing, share)


def test_a_prompt_is_read_in_parts_and_the_first_token_comes_with_the_last() -> None:
    row, network = reply(TextSequence(None), range(100, 106)), Network()
    assert run(network, row) == [[Progress(4, 6, 0)]]
    assert run(network, row) == [[Progress(6, 6, 0), Piece("6 ")]]
    assert not row.reads
    assert run(network, None, [row]) == [[Piece("7 ")]]


def test_what_both_begin_with_is_not_read_again_but_the_last_token_is() -> None:
    sequence = TextSequence(None)
    sequence.numbers = [1, 2, 3, 9, 9]
    row = PromptRow(sequence, (1, 2, 3, 4), 8)
    assert run(Network(), row) == [[Progress(4, 4, 3)]]
    assert row.ended
    again = PromptRow(sequence, (1, 2, 3, 4), 8)
    assert run(Network(), again) == [[Progress(4, 4, 3)]]


def test_it_ends_at_an_end_and_at_its_limit() -> None:
    row, network = reply(TextSequence(None), (5,), ends=[3]), Network()
    assert run(network, row) == [[Progress(1, 1, 0), Piece("1 ")]]
    assert run(network, None, [row]) == [[Piece("2 ")]]
    assert run(network, None, [row]) == [[GenerationEnded("stop", 2, 0)]]
    short = reply(TextSequence(None), (5,), limit=1)
    assert run(network, short) == [[Progress(1, 1, 0), Piece("1 "), GenerationEnded("length", 1, 0)]]
    nothing = reply(TextSequence(None), (5,), limit=0)
    assert run(network, nothing) == [[Progress(1, 1, 0), GenerationEnded("length", 0, 0)]]


def test_a_prompt_that_fails_leaves_the_replies() -> None:
    writer, network = reply(TextSequence(None), (5,)), Network()
    run(network, writer)
    network.fails = "read"
    reader = reply(TextSequence(None), (7,))
    failed = run(network, reader)
    assert isinstance(failed[0], EngineFailed)
    assert network.forgotten == [reader.sequence]


def test_replies_that_are_written_together_fail_together() -> None:
    rows, network = [reply(TextSequence(None), (5,)) for _ in range(2)], Network()
    for row in rows:
        run(network, row)
    network.fails = "write"
    failed = run(network, None, rows)
    assert [type(each) for each in failed] == [EngineFailed] * 2
    assert "too little free memory" in failed[0].message
    assert network.forgotten == [row.sequence for row in rows]
