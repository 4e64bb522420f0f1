from collections import Counter

import pytest

pytest.importorskip("numpy", reason="these tests need numpy: pip install 'duologue[voice]'")
from tests.support.array_torch import TORCH, Chance, values

from duologue.engines.qwen_omni.speech.code_sampling import CodeSampler, CodeSampling
from duologue.errors import EngineFailed

LOGITS = [0.0, 3.0, 2.0, 1.0]
NAN = float("nan")


def sampler(*, seed: int = 0, banned=None, seen=(), **sampling) -> CodeSampler:
    return CodeSampler(
        TORCH,
        CodeSampling(**sampling),
        Chance().manual_seed(seed),
        banned=None if banned is None else values(banned),
        seen=seen,
    )


def drawn(chooser: CodeSampler, logits: list[float], times: int = 300) -> Counter[int]:
    return Counter(chooser.choose(values(logits)) for _ in range(times))


def test_without_temperature_it_is_the_likeliest() -> None:
    assert drawn(sampler(temperature=0), LOGITS) == {1: 300}


def test_all_codes_occur_the_likely_ones_more_often() -> None:
    counts = drawn(sampler(top_k=0), LOGITS)
    assert [code for code, _ in counts.most_common()] == [1, 2, 3, 0]


def test_only_the_first_k_occur() -> None:
    assert set(drawn(sampler(top_k=2), LOGITS)) == {1, 2}
    assert set(drawn(sampler(top_k=99), LOGITS)) == {0, 1, 2, 3}


def test_only_the_likeliest_that_have_a_share_together_occur() -> None:
    assert set(drawn(sampler(top_p=0.5), LOGITS)) == {1}
    assert set(drawn(sampler(top_p=0.8), LOGITS)) == {1, 2}


def test_banned_codes_never_occur_however_likely() -> None:
    assert set(drawn(sampler(banned=[1, 3]), LOGITS)) == {0, 2}
    assert drawn(sampler(temperature=0, banned=[1]), LOGITS) == {2: 300}


def test_what_was_said_is_less_likely_also_where_its_score_is_negative() -> None:
    chooser = sampler(temperature=0, repetition_penalty=2.0)
    assert [chooser.choose(values(LOGITS)) for _ in range(4)] == [1, 2, 1, 1]
    assert sampler(temperature=0, repetition_penalty=2.0, seen=[1]).choose(values(LOGITS)) == 2
    assert sampler(temperature=0, repetition_penalty=2.0, seen=[0]).choose(values([-1.0, -1.5])) == 1


def test_the_scores_of_the_model_are_left_as_they_are() -> None:
    logits = values(LOGITS)
    sampler(banned=[1], seen=[2], repetition_penalty=2.0).choose(logits)
    assert logits.tolist() == LOGITS


def test_the_same_seed_is_the_same_choice_whoever_else_chooses_meanwhile() -> None:
    alone, other = sampler(seed=4), sampler(seed=9)
    codes = [alone.choose(values(LOGITS)) for _ in range(50)]
    again = sampler(seed=4)
    mixed = [(again.choose(values(LOGITS)), other.choose(values(LOGITS)))[0] for _ in range(50)]
    assert mixed == codes
    assert [other.choose(values(LOGITS)) for _ in range(50)] != codes


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_scores_that_are_no_numbers_fail_with_a_sentence(temperature: float) -> None:
    with pytest.raises(EngineFailed, match="not a number"):
        sampler(temperature=temperature).choose(values([NAN, NAN]))
    with pytest.raises(EngineFailed, match="not a number"):
        sampler(temperature=temperature, banned=[0, 1]).choose(values([1.0, 2.0]))


def test_a_code_without_a_score_is_not_drawn() -> None:
    assert set(drawn(sampler(), [NAN, 1.0, 1.0])) == {1, 2}
