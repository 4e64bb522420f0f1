"""The tokens by which models fill in a gap of a text, found by their names in a vocabulary. Pure but for the tokenizer.

The engines `llama` and `transformers` ask once, while they load. Models that were taught this on text of programs have three control tokens
for it, each family under names of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from duologue.engines.contracts import FillTokens

FAMILIES = (
    ("<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"),  # Qwen2.5-Coder, Qwen3-Coder, CodeGemma
    ("<fim_prefix>", "<fim_suffix>", "<fim_middle>"),  # StarCoder, Granite
    ("<fim-prefix>", "<fim-suffix>", "<fim-middle>"),  # SantaCoder
    ("<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"),  # DeepSeek-Coder
    ("▁<PRE>", "▁<SUF>", "▁<MID>"),  # Code Llama
    ("<PRE>", "<SUF>", "<MID>"),
    ("<|code_prefix|>", "<|code_suffix|>", "<|code_middle|>"),  # GLM
    ("<|prefix|>", "<|suffix|>", "<|middle|>"),  # Falcon-H1
)
"""Before the text that precedes the gap, before the text that follows it, before the text of the gap."""


def find_fill_tokens(tokenize: Callable[[str], Sequence[int]]) -> FillTokens | None:
    """The tokens of the first family that the vocabulary has; None for a model without. `tokenize` parses control tokens."""
    for family in FAMILIES:
        found: list[int] = []
        for name in family:
            tokens = tokenize(name)
            if len(tokens) != 1:
                break
            found += tokens
        if len(found) == len(family) == len(set(found)):
            return FillTokens(*found)
    return None
