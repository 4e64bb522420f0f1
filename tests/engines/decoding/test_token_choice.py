"""The likeliest token under biases and penalties, over arrays of numpy. Chance needs PyTorch and is tried with it."""

from types import SimpleNamespace
from typing import ClassVar

import pytest

from duologue.engines.decoding.choice_rules import ChoiceRules
from duologue.engines.decoding.token_choice import TokenChoice

numpy = pytest.importorskip("numpy", reason="these tests need numpy: pip install 'duologue[voice]'")


class Values(numpy.ndarray):  # type: ignore[name-defined]
    """An array with what is called of a tensor."""

    device = "cpu"

    def clone(self):
        return self.copy()


class Chance:
    seeds: ClassVar[list[int]] = []

    def seed(self) -> None:
        Chance.seeds.append(-1)

    def manual_seed(self, seed: int) -> None:
        Chance.seeds.append(seed)


TORCH = SimpleNamespace(
    Generator=Chance, tensor=lambda values, device: numpy.array(values), where=numpy.where
)


def logits(*values: float):
    return numpy.array(values, dtype=numpy.float32).view(Values)


def likeliest(values, before=(), suppressed=(), ends=(), **rules) -> int:
    choice = TokenChoice(TORCH, ChoiceRules(temperature=0.0, **rules), suppressed, ends)
    return choice.choose(values, before).id


def test_a_temperature_of_nought_is_the_likeliest_token() -> None:
    assert likeliest(logits(1, 3, 2)) == 1


def test_the_logits_are_left_as_they_were() -> None:
    values = logits(1, 3, 2)
    likeliest(values, before=(1, 1), suppressed=(0,), bias={2: 5.0})
    assert values.tolist() == [1, 3, 2]


def test_biases_and_suppressed_tokens() -> None:
    assert likeliest(logits(1, 3, 2), bias={0: 2.5}) == 0
    assert likeliest(logits(1, 3, 2), suppressed=(1,)) == 2
    assert likeliest(logits(1, 3, 2), ends=(1,)) == 1
    assert likeliest(logits(1, 3, 2), ends=(1,), ignore_eos=True) == 2


def test_what_was_written_lately_is_less_likely() -> None:
    assert likeliest(logits(2.8, 3, 1), before=(1,), repetition_penalty=1.5) == 0
    assert likeliest(logits(-1, -0.9, -5), before=(1,), repetition_penalty=2.0) == 0
    assert likeliest(logits(2.8, 3, 1), before=(1,), repetition_penalty=1.0, presence_penalty=0.5) == 0
    assert likeliest(logits(2.8, 3, 1), before=(1, 1), repetition_penalty=1.0, frequency_penalty=0.15) == 0
    assert likeliest(logits(2.8, 3, 1), before=(1, 2, 2), repetition_penalty=1.5, repetition_window=2) == 1
    assert likeliest(logits(2.8, 3, 1), before=(-1, -2), repetition_penalty=1.5) == 1, "media are no tokens"


def test_a_seed_is_used_and_none_is_chance() -> None:
    Chance.seeds.clear()
    TokenChoice(TORCH, ChoiceRules(seed=5), (), ())
    TokenChoice(TORCH, ChoiceRules(), (), ())
    assert Chance.seeds == [5, -1]
