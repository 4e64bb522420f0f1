"""A reply step by step, with stand-ins: what is read, written and spoken, and in which order."""

from types import SimpleNamespace
from typing import Any

from duologue.engines.contracts import GenerationEnded, ModelVoice, Piece, SpokenSound
from duologue.engines.decoding.token_choice import ChosenToken
from duologue.engines.decoding.token_text import TokenText
from duologue.engines.qwen_omni.prompt.omni_prompt import OmniPrompt, PromptText
from duologue.engines.qwen_omni.thinking.reply_steps import ReplySteps, SequenceReading
from duologue.values.events import Progress

END = 0


class Sequence(list):
    """A sequence that is the list of its numbers."""

    trace: Any = ()

    @property
    def numbers(self):
        return self

    def crop(self, length: int) -> None:
        del self[length:]


class Thinker:
    """Its logits are the number of tokens so far."""

    def __init__(self) -> None:
        self.read_steps: list[tuple[int, ...]] = []

    def read(self, sequence: Sequence, pieces) -> int:
        tokens = tuple(token for piece in pieces for token in piece.tokens)
        self.read_steps.append(tokens)
        sequence.extend(tokens)
        return len(sequence)


class Choice:
    def __init__(self, *tokens: int, reports: bool = False) -> None:
        self._tokens, self.reports = list(tokens), reports
        self.asked: list[int] = []

    def choose(self, logits: int, before) -> ChosenToken:
        self.asked.append(logits)
        return ChosenToken(self._tokens.pop(0), -0.5, ((65, -0.5),))


class Talker:
    """Two samples with every second token, and two at the end."""

    def begin(self, trace, voice):
        fed = iter(range(99))

        def finish(_):
            yield b""
            yield b"end!"

        return SimpleNamespace(feed=lambda _: b"pcm!" if next(fed) % 2 else b"", finish=finish)


TOKENIZER = SimpleNamespace(
    all_special_ids=[END],
    convert_ids_to_tokens=chr,
    decode=lambda ids, **_: bytes(ids).decode(errors="replace"),
)


def run(choice: Choice, *, limit: int = 99, sequence=None, prompt=(1, 2, 3), voice=None, batch: int = 9):
    thinker: Any = Thinker()
    sequence = Sequence() if sequence is None else sequence
    reading = SequenceReading(thinker, sequence, OmniPrompt([PromptText(prompt)]), batch)
    talker: Any = Talker()
    steps: Any = ReplySteps(
        reading,
        thinker,
        sequence,
        choice,  # type: ignore[arg-type]
        TokenText(TOKENIZER),
        ends={END},
        limit=limit,
        talker=talker,
        voice=voice,
    )
    return [item for items in steps.steps() for item in items], thinker


def test_the_prompt_is_read_in_steps_and_then_a_token_at_a_time() -> None:
    items, thinker = run(Choice(72, 105, END), batch=2)
    assert thinker.read_steps == [(1, 2), (3,), (72,), (105,)]
    assert items == [
        Progress(2, 3, 0),
        Progress(3, 3, 0),
        Piece("H"),
        Piece("i"),
        GenerationEnded("stop", 2, 0),
    ]


def test_what_is_cached_is_not_read_again_but_for_the_last_token() -> None:
    items, thinker = run(Choice(END), sequence=Sequence([1, 2, 9, 9]))
    assert thinker.read_steps == [(3,)]
    assert items[-1] == GenerationEnded("stop", 0, 2)
    items, thinker = run(Choice(END), sequence=Sequence([1, 2, 3]))
    assert thinker.read_steps == [(3,)], "its logits are not kept"


def test_a_limit_ends_the_reply() -> None:
    items, _ = run(Choice(72, 105, 33), limit=2)
    assert items[-1] == GenerationEnded("length", 2, 0)
    items, _ = run(Choice(), limit=0)
    assert items[-1] == GenerationEnded("length", 0, 0)


def test_each_token_is_chosen_from_the_logits_behind_the_one_before() -> None:
    choice = Choice(72, 105, END)
    run(choice)
    assert choice.asked == [3, 4, 5]


def test_sound_comes_between_the_tokens_and_goes_on_after_them() -> None:
    items, _ = run(Choice(65, 66, 67, END), voice=ModelVoice())
    kinds = [type(item).__name__ for item in items if not isinstance(item, Progress)]
    assert kinds == ["Piece", "Piece", "SpokenSound", "Piece", "SpokenSound", "GenerationEnded"]
    assert [item.pcm for item in items if isinstance(item, SpokenSound)] == [b"pcm!", b"end!"]
    silent, _ = run(Choice(65, END))
    assert not any(isinstance(item, SpokenSound) for item in silent)


def test_half_a_character_waits_with_its_logprob() -> None:
    first, second = "é".encode()
    items, _ = run(Choice(first, second, 65, END, reports=True))
    pieces = [item for item in items if isinstance(item, Piece)]
    assert [(piece.text, piece.tokens, len(piece.logprobs)) for piece in pieces] == [
        ("", 1, 0),
        ("é", 1, 2),
        ("A", 1, 1),
    ]
    assert pieces[1].logprobs[0].data == bytes([first])
    assert pieces[1].logprobs[0].top[0].token == "A"
