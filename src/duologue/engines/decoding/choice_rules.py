"""What a request's sampling means for an engine that chooses tokens itself: its fields, their defaults, and which tokens it names. Pure.

An engine makes the rules of a reply, `token_choice` applies them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from msgspec import Struct, structs

from duologue.errors import BadRequest
from duologue.values.requests import Sampling

FIELDS = (
    *("max_tokens", "temperature", "top_k", "top_p", "min_p", "repetition_penalty", "repetition_window"),
    *("presence_penalty", "frequency_penalty", "seed", "ignore_eos", "logit_bias", "logprobs"),
)
"""The fields of `Sampling` that are applied. `length_penalty` is for beam search, which there is none of."""
WINDOW = 512
"""Tokens that the penalties look back."""
MOST_LOGPROBS = 20
Default = float | int | str | bool | tuple[str, ...]


class ChoiceRules(Struct, frozen=True):
    """How tokens are chosen. `temperature` 0 is always the likeliest; `top_k` 0, `top_p` 1 and `min_p` 0 leave all. `bias`: added to the
    logits of these tokens. `logprobs`: alternatives to report, None for no report."""

    temperature: float = 0.7
    top_k: int = 20
    top_p: float = 0.8
    min_p: float = 0.0
    repetition_penalty: float = 1.05
    repetition_window: int = WINDOW
    presence_penalty: float = 0.0
    frequency_penalty: float = 0.0
    seed: int | None = None
    ignore_eos: bool = False
    bias: dict[int, float] = {}
    logprobs: int | None = None


def default_rules(stored: Mapping[str, Any], base: ChoiceRules | None = None) -> ChoiceRules:
    """The rules of a model whose `generation_config.json` says this; `base`: those of a model that says nothing. A value that is not
    one is left out."""
    rules: dict[str, Any] = {}
    for name in ("temperature", "top_k", "top_p", "min_p", "repetition_penalty"):
        value = stored.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
            rules[name] = int(value) if name == "top_k" else float(value)
    return structs.replace(base or ChoiceRules(), **rules)


def card_defaults(rules: ChoiceRules) -> dict[str, Default]:
    """What the card says happens where a field is not asked for."""
    return {
        "max_tokens": -1,
        "seed": -1,
        "ignore_eos": False,
        **{
            name: getattr(rules, name)
            for name in FIELDS
            if name not in ("max_tokens", "seed", "ignore_eos", "logit_bias", "logprobs")
        },
    }


def rules_of(
    sampling: Sampling, defaults: ChoiceRules, tokens: Callable[[str], tuple[int, ...]], vocabulary: int
) -> ChoiceRules:
    """The rules of a request. `tokens` gives those of a text, each of which a bias to that text is added to. Raises BadRequest for values
    that cannot be."""
    values = {
        name: value
        for name in FIELDS
        if name not in ("max_tokens", "logit_bias") and (value := getattr(sampling, name)) is not None
    }
    for name, least in (("temperature", 0), ("top_p", 0), ("min_p", 0), ("repetition_window", -1)):
        if name in values and not values[name] >= least:
            raise _wrong(name, f"must be at least {least}")
    if "repetition_penalty" in values and not values["repetition_penalty"] > 0:
        raise _wrong("repetition_penalty", "must be above 0")
    if values.get("logprobs") is not None and not 0 <= values["logprobs"] <= MOST_LOGPROBS:
        raise _wrong("logprobs", f"must be between 0 and {MOST_LOGPROBS}")
    if "seed" in values and values["seed"] < 0:
        values["seed"] = None  # any
    bias = _bias(sampling.logit_bias or {}, tokens, vocabulary)
    base = {name: getattr(defaults, name) for name in ChoiceRules.__struct_fields__}
    return ChoiceRules(**{**base, **values, "bias": bias})


def _bias(
    asked: Mapping[str, float], tokens: Callable[[str], tuple[int, ...]], vocabulary: int
) -> dict[int, float]:
    bias: dict[int, float] = {}
    for name, value in asked.items():
        for token in (int(name),) if name.isdecimal() else tokens(name):
            if not 0 <= token < vocabulary:
                raise _wrong("logit_bias", f"has the token {name}, which this model does not have")
            bias[token] = bias.get(token, 0.0) + value
    return bias


def _wrong(name: str, reason: str) -> BadRequest:
    return BadRequest(f"{name} {reason}.", param=name)
