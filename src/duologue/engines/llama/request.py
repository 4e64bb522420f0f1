"""llama.cpp's completion request: its fields and their quirks, its chunks, and its errors as Problems.

Called by `engine` and `generation`. Owns the table from `Sampling` to llama.cpp's fields. The library silently drops
fields it does not know, so everything it could drop is refused here first. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from duologue.engines.contracts import Generation
from duologue.engines.llama.prompt.media_prompt import MediaPrompt
from duologue.errors import BadRequest, ContextExceeded, EngineFailed, Problem
from duologue.text.output.reply_grammar import ReplyGrammar
from duologue.values.events import TokenLogprob
from duologue.values.requests import OutputFormat, Sampling

# Sampling's name -> llama.cpp's.
FIELDS: dict[str, str] = {
    "max_tokens": "n_predict",
    "temperature": "temperature",
    "top_k": "top_k",
    "top_p": "top_p",
    "min_p": "min_p",
    "typical_p": "typical_p",
    "top_n_sigma": "top_n_sigma",
    "repetition_penalty": "repeat_penalty",
    "repetition_window": "repeat_last_n",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "dynamic_temperature_range": "dynatemp_range",
    "dynamic_temperature_exponent": "dynatemp_exponent",
    "xtc_probability": "xtc_probability",
    "xtc_threshold": "xtc_threshold",
    "dry_multiplier": "dry_multiplier",
    "dry_base": "dry_base",
    "dry_allowed_length": "dry_allowed_length",
    "dry_penalty_last_n": "dry_penalty_last_n",
    "dry_sequence_breakers": "dry_sequence_breakers",
    "mirostat": "mirostat",
    "mirostat_tau": "mirostat_tau",
    "mirostat_eta": "mirostat_eta",
    "samplers": "samplers",
    "min_keep": "min_keep",
    "seed": "seed",
    "ignore_eos": "ignore_eos",
    "logit_bias": "logit_bias",
    "logprobs": "n_probs",
}
NOT_APPLIED = frozenset({"length_penalty"})
"""For beam search, which llama.cpp does not have."""
SAMPLERS = frozenset(
    {
        *("dry", "top_k", "typ_p", "top_p", "top_n_sigma", "min_p", "xtc", "temperature", "penalties"),
        *("infill", "adaptive_p"),
    }
)
ALIASES = {"typical_p": "typ_p", "typical": "typ_p", "temp": "temperature", "nucleus": "top_p"}
SEQUENCE_BREAKERS = ("\n", ":", '"', "*")
"""llama.cpp's default sequence breakers (`common_params_sampling` in its `common.h`): the one default that its server does
not report."""
DIGITS = 6
"""Significant decimal digits of its 32-bit floats."""
SEEDS = 1 << 32
RANDOM_SEED = SEEDS - 1
"""The seed by which llama.cpp means a random one."""
WORD = (1 << 64) - 1
IMPOSSIBLE = -9999.0
"""The logprob of an impossible token, as other APIs write it; JSON has no infinity."""
MAX_CONSTRAINT = 128 * 1024
"""Bytes of a schema or grammar; 100 KB of properties take some seconds to compile."""
MAX_COUNT = 100_000
"""Items, characters or properties a schema may count; ten million take half a minute to compile."""
MAX_ITEMS = 1000
"""Items or properties a schema may count: 90,000 took 8 s."""
MAX_PROPERTIES = 400
"""Properties of one object: the engine gives up beyond, and 2,000 took it 6 s."""
MAX_CHOICES = 3000
"""Choices of all enums together, and alternatives: 10,000 took 0.9 s."""
COUNTS: dict[str, int] = {
    **dict.fromkeys(("minLength", "maxLength"), MAX_COUNT),
    **dict.fromkeys(("minItems", "maxItems", "minProperties", "maxProperties"), MAX_ITEMS),
}
SEVERAL = ("enum", "anyOf", "oneOf", "allOf", "prefixItems")
COMPACT = {"x-guidance": {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}}
"""llguidance's extension of a schema: whitespace as Python writes it. Where any whitespace is allowed, small models repeat
it until their reply is cut: duologue-mini got no further than `{"a": "yes" `."""
TRIGGER_WORD = 1
"""llama.cpp's `COMMON_GRAMMAR_TRIGGER_TYPE_WORD`."""
NO_GRAMMAR: dict[str, Any] = {"grammar": "", "grammar_lazy": False, "grammar_triggers": []}
_FIELD = re.compile(r"^Field '(\w+)': (.*)$", re.DOTALL)
_NAMES = {engine: name for name, engine in FIELDS.items()}


class PromptProgress(Struct, frozen=True):
    """How far the prompt has been read."""

    total: int
    processed: int
    cache: int


class Token(Struct, frozen=True):
    token: str
    bytes: tuple[int, ...] = ()
    logprob: float = 0.0
    top_logprobs: tuple[Token, ...] = ()


class Logprobs(Struct, frozen=True):
    content: tuple[Token, ...] = ()


class Choice(Struct, frozen=True):
    text: str = ""
    logprobs: Logprobs | None = None
    finish_reason: str | None = None


class PromptDetails(Struct, frozen=True):
    cached_tokens: int = 0


class TokenCounts(Struct, frozen=True):
    completion_tokens: int = 0
    prompt_tokens: int = 0
    prompt_tokens_details: PromptDetails = PromptDetails()


class EngineTimings(Struct, frozen=True):
    predicted_n: int = 0


class EngineError(Struct, frozen=True):
    message: str = ""
    type: str = ""
    n_prompt_tokens: int = 0
    n_ctx: int = 0


class CompletionChunk(Struct, frozen=True):
    """One message of a running completion."""

    choices: tuple[Choice, ...] = ()
    prompt_progress: PromptProgress | None = None
    timings: EngineTimings = EngineTimings()
    usage: TokenCounts | None = None
    error: EngineError | None = None


def prefill_request(slot: int, tokens: MediaPrompt | Sequence[int]) -> dict[str, Any]:
    """Read `tokens` into the cache of `slot`. The engine always generates one token, so by the cheapest sampler."""
    return {**_base(slot, tokens), "n_predict": 0, "samplers": ["top_k"], "top_k": 1}


def generate_request(
    slot: int, tokens: MediaPrompt | Sequence[int], generation: Generation, *, vocabulary: int
) -> dict[str, Any]:
    """Continue `tokens`. Raises BadRequest for what the engine would drop silently."""
    request = {
        **_base(slot, tokens),
        **sampling_fields(generation.sampling, vocabulary),
        **(grammar_fields(generation.grammar) if generation.grammar else format_fields(generation.format)),
    }
    if generation.preserved:
        request["preserved_tokens"] = list(generation.preserved)
    return request


def probe_request(
    slot: int, tokens: MediaPrompt | Sequence[int], format: OutputFormat, never_first: int
) -> dict[str, Any]:
    """Test a constraint: one token, strongly biased towards `never_first`, a token that begins no JSON text.

    llama.cpp continues without the constraint when it cannot compile a schema, and mentions that only in its log; the
    constraint is applied if, and only if, the result is another token.
    """
    biased = {"n_predict": 1, "temperature": 0.0, "logit_bias": [[never_first, 1.0e6]]}
    return {**_base(slot, tokens), **biased, **format_fields(format)}


def _base(slot: int, tokens: MediaPrompt | Sequence[int]) -> dict[str, Any]:
    return {
        "prompt": tokens.body() if isinstance(tokens, MediaPrompt) else list(tokens),
        "id_slot": slot,
        "cache_prompt": True,
        "stream": True,
        "return_progress": True,
        "timings_per_token": True,
    }


def sampling_fields(sampling: Sampling, vocabulary: int = 0) -> dict[str, Any]:
    """The sampling parameters that are set, in llama.cpp's names; the rest is left to the model's defaults."""
    fields: dict[str, Any] = {"n_predict": -1}
    for name in sampling.asked():
        if name in NOT_APPLIED:
            continue
        fields[FIELDS[name]] = _value(name, getattr(sampling, name), vocabulary)
    return fields


def sampling_defaults(settings: Mapping[str, Any]) -> dict[str, float | int | str | bool | tuple[str, ...]]:
    """The default sampling of a loaded model, by `Sampling`'s names. `settings` are the library's, which include what the
    model's file recommends."""
    defaults: dict[str, float | int | str | bool | tuple[str, ...]] = {
        "dry_sequence_breakers": SEQUENCE_BREAKERS
    }
    for name, engine in FIELDS.items():
        value = settings.get(engine)
        if name in ("logprobs", "logit_bias"):
            continue  # without a default
        if name == "seed" and value == RANDOM_SEED:
            value = -1
        if isinstance(value, list):
            defaults[name] = tuple(value)
        elif isinstance(value, float):
            defaults[name] = float(f"{value:.{DIGITS}g}")
        elif isinstance(value, int | str):
            defaults[name] = value
    return defaults


def _value(name: str, value: Any, vocabulary: int) -> Any:
    match name:
        case "repetition_window" | "dry_penalty_last_n":
            # Elsewhere -1 means the whole context; this engine wants a number, and takes any.
            return value if value >= 0 else 1 << 20
        case "seed":
            return _seed(value)
        case "samplers":
            return [_sampler(sampler) for sampler in value]
        case "logprobs":
            return max(1, value)
        case "logit_bias":
            return _biases(value, vocabulary)
        case "dry_sequence_breakers":
            return list(value)
    return value


def _seed(seed: int) -> int:
    """Any integer of 64 bits as one of llama.cpp's seeds, which have 32; -1 stays "random". Small ones stay themselves. Others are
    mixed (as SplitMix64 does): of a remainder alone, seeds 2^32-1 apart would be the same."""
    if seed == -1:
        return RANDOM_SEED
    if 0 <= seed < RANDOM_SEED:
        return seed
    mixed = seed & WORD
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> shift)) * factor & WORD
    return (mixed ^ (mixed >> 31)) % RANDOM_SEED


def _sampler(name: str) -> str:
    canonical = ALIASES.get(name.lower().replace("-", "_"), name.lower().replace("-", "_"))
    if canonical not in SAMPLERS:
        raise BadRequest(
            f"There is no sampler {name!r}. Known: {', '.join(sorted(SAMPLERS))}.", param="samplers"
        )
    return canonical


def _biases(biases: dict[str, float], vocabulary: int) -> list[list[Any]]:
    pairs: list[list[Any]] = []
    for key, bias in biases.items():
        if not key.isascii() or not key.isdigit():
            pairs.append([key, bias])
            continue
        if vocabulary and int(key) >= vocabulary:
            raise BadRequest(
                f"logit_bias names the token {key}, but this model has {vocabulary} tokens (0 to {vocabulary - 1}).",
                param="logit_bias",
            )
        pairs.append([int(key), bias])
    return pairs


def _check_constraint(size: int, param: str, schema: object = None) -> None:
    """Raises BadRequest for large constraints: the engine compiles them on its one loop, while every slot waits."""
    if size > MAX_CONSTRAINT:
        raise BadRequest(
            f"The schema or grammar has {size:,} bytes; at most {MAX_CONSTRAINT:,} can be applied.",
            param=param,
        )
    choices = properties = 0
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            for name, value in part.items():
                if name in COUNTS and isinstance(value, int | float) and value > COUNTS[name]:
                    raise _refused(f"asks for {name} {value:,}", COUNTS[name], param)
            choices += sum(len(part[name]) for name in SEVERAL if isinstance(part.get(name), list))
            if isinstance(part.get("properties"), dict):
                properties += len(part["properties"])
            waiting.extend(part.values())
        elif isinstance(part, list):
            waiting.extend(part)
    if choices > MAX_CHOICES:
        raise _refused(f"has {choices:,} choices", MAX_CHOICES, param)
    if properties > MAX_PROPERTIES:
        raise _refused(f"has {properties:,} properties", MAX_PROPERTIES, param)


def _refused(what: str, most: int, param: str) -> BadRequest:
    return BadRequest(f"The schema {what}; at most {most:,} can be applied.", param=param)


def format_fields(format: OutputFormat | None) -> dict[str, Any]:
    """The fields of a constraint on the reply. Raises BadRequest when it is not usable."""
    if format is None:
        return {}
    if format.kind == "grammar":
        grammar = format.grammar or ""
        # The library also takes %llguidance, but silently drops an invalid one.
        if not grammar.strip() or grammar.lstrip().startswith("%"):
            raise BadRequest("The grammar must be GBNF text with a rule `root`.", param=format.param)
        _check_constraint(len(grammar.encode()), format.param)
        return {"grammar": grammar}
    if format.kind == "json_object":
        return {"json_schema": {"type": "object", **COMPACT}}
    if not isinstance(format.schema, dict):
        raise BadRequest("A JSON schema is needed: an object.", param=format.param)
    _check_constraint(len(msgspec.json.encode(format.schema)), format.param, format.schema)
    return {"json_schema": {**(format.schema or {"type": "object"}), **COMPACT}}


def grammar_fields(grammar: ReplyGrammar) -> dict[str, Any]:
    """The fields of a grammar made by the server; unlike a caller's it is not checked."""
    if not grammar.trigger:
        return {"grammar": grammar.text}
    triggers = [{"type": TRIGGER_WORD, "value": grammar.trigger}]
    return {"grammar": grammar.text, "grammar_lazy": True, "grammar_triggers": triggers}


def token_logprobs(logprobs: Logprobs | None, top: int | None) -> tuple[TokenLogprob, ...]:
    """Logprobs as values, each with at most `top` alternatives; none where `top` is None."""
    if logprobs is None or top is None:
        return ()
    return tuple(_logprob(token, top) for token in logprobs.content)


def _logprob(token: Token, top: int) -> TokenLogprob:
    data = bytes(token.bytes)
    return TokenLogprob(
        # llama.cpp leaves out what is half a character; OpenAI spells it `\xf0\x9f`.
        data.decode(errors="backslashreplace") if data else token.token,
        max(token.logprob, IMPOSSIBLE),
        data,
        tuple(_logprob(other, 0) for other in token.top_logprobs[:top]),
    )


def problem_of(error: EngineError) -> Problem:
    """The engine's error as a Problem with a sentence for the caller."""
    message = error.message
    if error.type == "exceed_context_size_error":
        return ContextExceeded(
            f"The conversation takes {error.n_prompt_tokens} tokens, but this model's maximum context length is {error.n_ctx} "
            "with the reply. Shorten it or start a new chat.",
            param="messages",
        )
    if "Context size has been exceeded" in message:
        return ContextExceeded(
            "The engine has no room left for this conversation. Shorten it.", param="messages"
        )
    if "grammar stack" in message:
        return BadRequest("No reply of this model can follow the grammar.", param="response_format")
    if error.type != "invalid_request_error":
        return EngineFailed(f"The engine failed: {message or 'no reason given'}.")
    if "grammar" in message:
        return BadRequest(
            "The grammar cannot be parsed: it must be GBNF with a rule `root` that does not begin with itself.",
            param="response_format",
        )
    match = _FIELD.match(message)
    if match is None:
        return BadRequest(f"The engine refused the request: {message}.")
    name = _NAMES.get(match[1], "response_format" if match[1] == "json_schema" else match[1])
    return BadRequest(f"{name} cannot be applied: {match[2]}.", param=name)
