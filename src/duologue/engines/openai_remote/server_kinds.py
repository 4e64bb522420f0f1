"""What each kind of OpenAI-compatible server takes beyond OpenAI's own fields, by what its authors document.

Used by `engine` and `request`. Pure data. A server of unknown kind gets only what all of them take: strict ones refuse a field
they do not know.
"""

from __future__ import annotations

from msgspec import Struct

# Sampling's name -> the dialect's. The last three are not part of OpenAI's own API; servers of open models take them.
FIELDS: dict[str, str] = {
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "seed": "seed",
    "logit_bias": "logit_bias",
    "logprobs": "top_logprobs",
    "top_k": "top_k",
    "min_p": "min_p",
    "repetition_penalty": "repetition_penalty",
}
_LLAMA = (
    *("typical_p", "top_n_sigma", "xtc_probability", "xtc_threshold"),
    *("dry_multiplier", "dry_base", "dry_allowed_length", "dry_penalty_last_n", "dry_sequence_breakers"),
    *("mirostat", "mirostat_tau", "mirostat_eta", "samplers", "min_keep", "ignore_eos"),
)
"""Of llama.cpp, under the same names here and there."""
_RENAMED = {
    "repetition_penalty": "repeat_penalty",
    "repetition_window": "repeat_last_n",
    "dynamic_temperature_range": "dynatemp_range",
    "dynamic_temperature_exponent": "dynatemp_exponent",
}
VERBS = ("tools", "logprobs", "format", "thinking", "effort")
FORCES = frozenset(
    {"openai", "openrouter", "mistral", "groq", "together", "google", "vllm", "llamacpp", "duologue"}
)
"""Kinds of servers on which a tool call can be forced."""
CONTINUES = frozenset({"vllm", "duologue"})
"""Kinds that continue the last message of the assistant."""
BIASES_TEXT = frozenset({"llamacpp", "duologue"})
"""Kinds whose `logit_bias` takes text besides token ids; the others refuse the request."""


class ServerKind(Struct, frozen=True):
    """`fields`: sampling parameters, by our name; `verbs` as of a card; `voice`: the voice that it must be told where nobody chose
    one."""

    fields: dict[str, str]
    verbs: tuple[str, ...] = VERBS
    voice: str = "alloy"


def server_kind(name: str) -> ServerKind:
    """What a kind of server takes; that of any server for an unknown or empty name."""
    fields = dict(FIELDS)
    if name == "llamacpp":
        fields |= {field: field for field in _LLAMA} | _RENAMED
    elif name == "duologue":
        own = (*_LLAMA, *_RENAMED)
        fields |= {field: field for field in own}
    elif name == "vllm":
        fields |= {"ignore_eos": "ignore_eos"}
    more = (("tool_choice", FORCES), ("continue", CONTINUES), ("text_bias", BIASES_TEXT))
    return ServerKind(
        fields,
        (*VERBS, *(verb for verb, kinds in more if name in kinds)),
        voice="" if name == "duologue" else "alloy",
    )
