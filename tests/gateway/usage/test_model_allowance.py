"""Which models the names of a limit mean."""

import pytest

from duologue.gateway.usage.model_allowance import may_use


@pytest.mark.parametrize(
    ("allowed", "model", "aliases", "may"),
    [
        ((), "Qwen3-4B-Q4_K_M", (), True),
        (("Qwen3-4B-Q4_K_M",), "Qwen3-4B-Q4_K_M", (), True),
        (("qwen3:4b",), "Qwen3-4B-Q4_K_M", (), True),
        (("qwen3-4b:latest", "llama"), "Qwen3-4B-Q4_K_M", (), True),
        (("qwen3:8b",), "Qwen3-4B-Q4_K_M", (), False),
        (("qwen*",), "Qwen3-4B-Q4_K_M", (), True),
        (("*-mini",), "Qwen3-4B-Q4_K_M", (), False),
        (("*",), "anything", (), True),
        (("gpt-4o",), "Qwen3-4B-Q4_K_M", ("gpt-4o",), True),
        (("gpt-*",), "Qwen3-4B-Q4_K_M", ("gpt-4o",), True),
        (("gpt-4o",), "other", (), False),
    ],
)
def test_a_name_a_pattern_or_an_alias_allows_a_model(allowed, model, aliases, may):
    assert may_use(allowed, model, aliases) is may
