"""How an embedding model or a reranker runs: how it pools, what it reads at once, how many texts side by side.

Called by `encoder` before it loads one. Pure, as `memory_plan`, which decides the rest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from duologue.engines.hardware import MachineLimits
from duologue.engines.llama.memory_plan import ROUNDING, UNKNOWN_CONTEXT, LlamaOptions, Plan, plan
from duologue.errors import StartFailed
from duologue.models.gguf.header import GgufHeader, Pooling

LONGEST = 8_192
"""Tokens of a text, where neither the model nor the settings have fewer: what is read at once takes memory by its square."""
TOGETHER = 16
"""Texts that the library reads side by side, where no text leaves anything in a cache."""
CHARACTERS = 4_000
CHARACTERS_ON_CARDS = 100_000
"""Of the texts that are read in one go, unless one alone is longer: a cancel waits for all of them."""
TINY = 10_000_000
"""Parameters up to which one thread is best, as `memory_plan.SMALL` for models that write: reading many tokens at once divides better."""

T = TypeVar("T")


class EncoderPlan(Struct, frozen=True):
    """`sizes` as for other models. `together`: texts side by side, in the library's own slots; `batch`: tokens that it computes at once;
    `characters`: of the texts that are read in one go."""

    sizes: Plan
    pooling: Pooling
    together: int
    batch: int
    characters: int = CHARACTERS
    warnings: tuple[str, ...] = ()


def encoder_plan(header: GgufHeader, options: LlamaOptions, machine: MachineLimits) -> EncoderPlan:
    """The plan. Raises StartFailed for a pooling that the model cannot have."""
    if options.pooling == "none" and header.encodes:
        raise StartFailed(
            f"{header.path} cannot write text ({header.architecture}), so its pooling cannot be `none`. Leave the option "
            "`pooling` out, or name mean, cls or last.",
            param="pooling",
        )
    pooling = header.used_pooling(options.pooling)
    if pooling == "rank" and not header.scores:
        raise StartFailed(
            f"{header.path} has no layer that makes scores, so it cannot rank. Name a reranker, or another `pooling`.",
            param="pooling",
        )
    if options.context is None and header.encodes:
        options = replace(options, context=min(header.trained_context or UNKNOWN_CONTEXT, LONGEST))
    if options.threads is None and header.parameters > TINY:
        options = replace(options, threads=max(1, machine.cores - 1))
    sizes = plan(header, options, machine)
    # Tokens that look at those behind them, or whose mean is wanted, have to be computed at once.
    whole = header.encodes or pooling in ("mean", "cls")
    batch = -(-sizes.context // ROUNDING) * ROUNDING if whole else sizes.batch
    warnings = sizes.warnings
    if options.pooling is None and header.pooling != pooling:
        warnings += (
            f"{header.path.name} does not say how its vectors are pooled; the mean is used. Set the option `pooling` if it "
            "was trained otherwise.",
        )
    together = TOGETHER if header.encodes else sizes.slots
    characters = CHARACTERS_ON_CARDS if machine.gpus else CHARACTERS
    return EncoderPlan(sizes, pooling, together, batch, characters, warnings)


def in_goes(texts: Sequence[T], size: int, most: int = CHARACTERS) -> Iterator[Sequence[T]]:
    """The texts, or lists of tokens, in order: at most `size` in one go, with at most so many characters unless one alone has more."""
    begin, characters = 0, 0
    for at, text in enumerate(texts):
        length = len(text) if isinstance(text, str) else 4 * len(text)  # type: ignore[arg-type]
        if at > begin and (at - begin >= size or characters + length > most):
            yield texts[begin:at]
            begin, characters = at, 0
        characters += length
    if begin < len(texts):
        yield texts[begin:]
