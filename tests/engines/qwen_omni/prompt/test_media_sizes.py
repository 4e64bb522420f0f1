"""Tokens of a sound, against the figures that the encoders gave."""

import pytest

from duologue.engines.qwen_omni.prompt.media_sizes import LEAST_SAMPLES, qwen2_5_tokens, qwen3_tokens


@pytest.mark.parametrize(
    ("seconds", "older", "newer"), [(0.2, 5, 3), (1, 25, 13), (2, 50, 26), (2.6, 65, 34), (30, 750, 390)]
)
def test_a_sound_takes_so_many_tokens(seconds: float, older: int, newer: int) -> None:
    samples = int(16000 * seconds)
    assert (qwen2_5_tokens(samples), qwen3_tokens(samples)) == (older, newer)


def test_the_shortest_sound_is_a_token() -> None:
    for samples in (0, 1, LEAST_SAMPLES):
        assert qwen2_5_tokens(samples) == qwen3_tokens(samples) == 1


def test_a_longer_sound_never_takes_fewer() -> None:
    for size in (qwen2_5_tokens, qwen3_tokens):
        counts = [size(samples) for samples in range(0, 80_000, 53)]
        assert counts == sorted(counts)
