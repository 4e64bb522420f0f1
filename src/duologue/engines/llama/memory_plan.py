"""How much of a machine a model gets: slots, context, threads, batch.

Called by `engine` before it loads a model. Pure: the file's header, the options and the machine in, a plan out.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Literal

import msgspec
from msgspec import Struct

from duologue.engines.hardware import MachineLimits
from duologue.errors import StartFailed
from duologue.models.gguf.header import GgufHeader, Pooling
from duologue.models.gguf.projector import Projector

SMALL = 100_000_000
"""Parameters up to which one thread is best: more of them wait for each other longer than they compute."""
PROMPT_CACHE = 512
SMALL_PROMPT_CACHE = 64
DEFAULT_CONTEXT = 16_384
LEAST_CONTEXT = 2_048
UNKNOWN_CONTEXT = 4_096
CACHE_BYTES = 2
"""Keys and values are 16-bit numbers."""
ROUNDING = 256
"""The engine rounds a slot's context up to a multiple of this."""
AT_ONCE = 512
"""Tokens that the engine computes at once, at most."""
AT_ONCE_PLAIN = 128
"""The same for a larger model without flash attention, which keeps a score for each of them, each head and each token of the context."""
SCORES_SHARE = 32
"""These scores may take one part in so many of the machine's memory."""


Speculative = Literal["ngram_simple", "ngram_map_k", "ngram_map_k4v", "ngram_mod", "draft"]


class LlamaOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """The engine's options; None leaves one to the plan."""

    model: str
    mmproj: str | None = None
    """The projector: a file, or "none" for a model that shall read text alone; None: the one beside the model."""
    name: str = ""
    bundled: bool = False
    slots: int | None = None
    context: int | None = None
    threads: int | None = None
    batch: int | None = None
    gpu_layers: int | None = None
    """Layers on the GPU: -1 all, None as many as fit."""
    device: str = "auto"
    """"cpu", or the one card that has the whole model; "auto" divides it among all cards."""
    poll: int = 0
    """0 to 100: how eagerly waiting threads spin. 0 where cores are shared: spinning next to any other busy process cost a
    5M-parameter model nine tenths of its speed."""
    prompt_cache: int | None = None
    """MiB of memory for the prompts of conversations that lost their slot; None: SMALL_PROMPT_CACHE for a small model,
    which reads a prompt again quickly, else PROMPT_CACHE."""
    template: str | None = None
    """A file with the chat template, in place of the one in the model's file."""
    speculative: Speculative | None = None
    """How several tokens are guessed and then checked in one step: from repetitions in the text (`ngram_...`), or by a small model of
    the same vocabulary (`draft`). The reply is the same; None guesses none."""
    draft_model: str | None = None
    """The GGUF file of that small model."""
    draft_tokens: int | None = None
    """The most tokens that are guessed at a time; None: as the library does."""
    loras: dict[str, float] = {}
    """LoRA adapters: GGUF files, each with its default scale."""
    pooling: Pooling | None = None
    """How a model makes vectors (`mean`, `cls`, `last`) or scores (`rank`); `none`: it chats; None: as its file says."""
    log: int = 1
    """How much the library writes to standard error: 1 errors, 2 warnings, 3 all."""


class Plan(Struct, frozen=True):
    """`context` is tokens a slot; `warnings` are sentences for the operator."""

    slots: int
    context: int
    threads: int
    batch: int
    prompt_cache: int
    flash_attention: bool
    """False on a processor, where memory allows: in six shapes of model a token after 6,000 others took 0.3 to 0.9 of the time without
    it, and a new message after as many 0.8 to 0.9. What it costs is a cold prompt: 1,000 tokens took 1.04 to 1.35 times as long."""
    at_once: int = AT_ONCE
    """Tokens that are computed at once, at most."""
    warnings: tuple[str, ...] = ()


def parse_options(options: Mapping[str, object]) -> LlamaOptions:
    """The options, checked. Raises StartFailed that names the option and, when it is unknown, the nearest known one."""
    known = LlamaOptions.__struct_fields__
    for name in options:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            advice = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(known)}."
            raise StartFailed(f"The llama engine has no option {name!r}. {advice}", param=name)
    try:
        parsed = msgspec.convert({k: v for k, v in options.items() if v is not None}, LlamaOptions)
    except msgspec.ValidationError as error:
        raise StartFailed(f"An option of the llama engine is wrong: {error}.") from error
    if (parsed.speculative == "draft") != bool(parsed.draft_model):
        raise StartFailed(
            "The llama engine's options speculative: draft and draft_model: FILE belong together.",
            param="speculative",
        )
    for name in ("slots", "context", "threads", "batch", "draft_tokens"):
        value = getattr(parsed, name)
        if value is not None and value < 1:
            raise StartFailed(
                f"The llama engine's option {name!r} must be at least 1, not {value}.", param=name
            )
    return parsed


def plan(
    header: GgufHeader, options: LlamaOptions, machine: MachineLimits, projector: Projector | None = None
) -> Plan:
    """How the model of `header` runs on `machine`, with its projector."""
    slots = options.slots or _slots(header.parameters)
    weights = header.size + (projector.memory if projector is not None else 0)
    context, warnings = _context(header, options, machine, slots, weights)
    batch = _batch(header, options, machine)
    small = header.parameters <= SMALL
    # Tokens of a picture look at each other, so they are computed together: the scores of so many would be too large.
    plain = small or (projector is None and score_bytes(header, context) <= machine.memory // SCORES_SHARE)
    flash = bool(machine.gpus) or not plain
    return Plan(
        slots=slots,
        context=context,
        threads=_threads(header, options, machine),
        batch=batch,
        prompt_cache=_prompt_cache(header, options),
        flash_attention=flash,
        at_once=min(batch, AT_ONCE if flash or small else AT_ONCE_PLAIN),
        warnings=warnings,
    )


def score_bytes(header: GgufHeader, context: int) -> int:
    """Bytes of attention scores without flash attention, of the tokens that a larger model computes at once. A header that does not
    name its heads has many."""
    return 4 * AT_ONCE_PLAIN * (header.heads or 128) * context


def _slots(parameters: int) -> int:
    if parameters <= 3_000_000_000:
        return 4
    return 2 if parameters <= 15_000_000_000 else 1


def _threads(header: GgufHeader, options: LlamaOptions, machine: MachineLimits) -> int:
    if options.threads is not None:
        return options.threads
    if header.parameters <= SMALL:
        return 1
    # One core stays free for the rest of the server; threads that compete for one slow all others down.
    return max(1, machine.cores - 1)


def _prompt_cache(header: GgufHeader, options: LlamaOptions) -> int:
    if options.loras:
        # The library would restore a prompt that was read under other scales, and compute wrong numbers.
        return 0
    if options.prompt_cache is not None:
        return options.prompt_cache
    return SMALL_PROMPT_CACHE if header.parameters <= SMALL else PROMPT_CACHE


def _batch(header: GgufHeader, options: LlamaOptions, machine: MachineLimits) -> int:
    """A cancel, and every other slot's next token, waits for the batch at work: slower models get smaller ones. The most that
    `prompt_steps` reads at once."""
    if options.batch is not None:
        return options.batch
    if machine.gpus:
        return 2_048
    return 512 if header.parameters <= 1_000_000_000 else 128


def _context(
    header: GgufHeader, options: LlamaOptions, machine: MachineLimits, slots: int, weights: int
) -> tuple[int, tuple[str, ...]]:
    trained = header.trained_context or UNKNOWN_CONTEXT
    if options.context is not None:
        if header.trained_context and options.context > trained:
            return trained, (
                f"A context of {options.context} tokens was requested, but {header.path.name} was trained for "
                f"{trained}; it has {trained}.",
            )
        return options.context, ()
    usual = context = min(trained, DEFAULT_CONTEXT)
    room = (machine.memory - weights) // 2
    while context // 2 >= LEAST_CONTEXT and cache_bytes(header, context * slots) > room:
        context //= 2
    if context < usual:
        return context, (
            f"Memory is short, so each of {slots} chats has {context} tokens of context instead of {usual}. "
            "Fewer slots or a smaller model leave more.",
        )
    return context, ()


def cache_bytes(header: GgufHeader, tokens: int) -> int:
    """Bytes of key and value cache for `tokens`. An upper bound for models with windows or recurrent blocks."""
    return header.cache_width * CACHE_BYTES * tokens


def cached_tokens(header: GgufHeader, mebibytes: int) -> int:
    """Tokens whose keys and values fit into so much memory."""
    return mebibytes * 1024 * 1024 // max(1, cache_bytes(header, 1))
