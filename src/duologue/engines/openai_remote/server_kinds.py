"""What each kind of OpenAI-compatible server takes, by what its authors document.

Used by `engine`, `known_model` and `request`. Pure data. A field that a server refuses costs the whole request, and one that it ignores
is a setting without effect, so a kind gets what it is known to apply and nothing else; what is left out is told as ignored. A server
of unknown kind gets what servers of open models have in common.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

# Sampling's name -> the dialect's.
OPENAI: dict[str, str] = {
    "max_tokens": "max_tokens",
    "temperature": "temperature",
    "top_p": "top_p",
    "presence_penalty": "presence_penalty",
    "frequency_penalty": "frequency_penalty",
    "seed": "seed",
    "logit_bias": "logit_bias",
    "logprobs": "top_logprobs",
}
# Not part of OpenAI's own API; servers of open models take them.
OPEN_MODELS = {"top_k": "top_k", "min_p": "min_p", "repetition_penalty": "repetition_penalty"}
FIELDS: dict[str, str] = OPENAI | OPEN_MODELS
LLAMA_ALONE = (
    *("typical_p", "top_n_sigma", "xtc_probability", "xtc_threshold"),
    *("dry_multiplier", "dry_base", "dry_allowed_length", "dry_penalty_last_n", "dry_sequence_breakers"),
    *("mirostat", "mirostat_tau", "mirostat_eta", "samplers", "min_keep", "ignore_eos"),
)
"""Of llama.cpp, under the same names here and there."""
LLAMA_RENAMED = {
    "repetition_penalty": "repeat_penalty",
    "repetition_window": "repeat_last_n",
    "dynamic_temperature_range": "dynatemp_range",
    "dynamic_temperature_exponent": "dynatemp_exponent",
}
KOBOLD = {
    "typical_p": "typical",
    "top_n_sigma": "nsigma",
    "repetition_penalty": "rep_pen",
    "repetition_window": "rep_pen_range",
    "dynamic_temperature_range": "dynatemp_range",
    "dynamic_temperature_exponent": "dynatemp_exponent",
}
_KOBOLD_SAME = tuple(
    name for name in LLAMA_ALONE if name.startswith(("xtc_", "dry_", "mirostat")) or name == "min_keep"
)
VERBS = ("tools", "logprobs", "format", "thinking", "effort")

Switch = Literal["template", "effort", ""]
"""How thinking is turned on and off: by the template's variables, by the effort `none`, or not at all."""
Continues = Literal["", "flag", "bare", "prefix"]
"""How the last message of the assistant is continued: not at all, by `continue_final_message`, by being the last one, or by a mark on
it."""


class Tokenizer(Struct, frozen=True):
    """Where a server tells the tokens of a text: a path from its root, the names of the field of the text and of the answer, and what
    keeps it from adding a token of its own."""

    path: str
    text: str
    answer: str = "tokens"
    more: tuple[tuple[str, bool], ...] = (("add_special_tokens", False),)


class ServerKind(Struct, frozen=True):
    """`fields`: sampling parameters, by our name; `verbs` as of a card; `voice`: the voice that it must be told where nobody chose
    one."""

    fields: dict[str, str]
    verbs: tuple[str, ...] = VERBS
    voice: str = "alloy"
    switch: Switch = "template"
    continues: Continues = ""
    names_function: bool = True
    """`tool_choice` may name a function. Where it takes words alone, that function is the only one offered."""
    none_offers: bool = False
    """`tool_choice` none leaves the tools in the prompt, and is how they are offered to a server that runs without a parser of calls:
    it refuses `auto`."""
    plain_object: bool = True
    """`response_format` may be `json_object`; elsewhere it is sent as the schema of any object."""
    counts: bool = True
    """It takes `stream_options`; elsewhere usage comes unasked."""
    grammar: str = ""
    """The field that takes a GBNF grammar."""
    tokenizer: Tokenizer | None = None
    """Asked for the tokens of texts in `logit_bias`, where the server takes ids alone."""
    thoughts: str = "reasoning_content"
    """The field of a message that takes the thoughts of earlier turns."""
    audio_url: bool = False
    """Sound is a part of type `audio_url` there; elsewhere it is `input_audio`."""
    names_speakers: bool = True
    """A message may have a `name`."""
    streams_all: bool = True
    """Logprobs beside tools are streamed; elsewhere such a reply comes as a whole."""
    schemas: bool = True
    """`response_format` may have a schema."""
    raw: bool = True
    """It has the older `/v1/completions`, which continues a prompt as it is."""
    raw_schema: str = ""
    """The field that takes a JSON schema there."""
    no_limit: int | None = None
    """`max_tokens` without a limit there."""
    fills: bool = False
    """It takes a `suffix` there."""


def _less(fields: dict[str, str], *names: str) -> dict[str, str]:
    return {name: sent for name, sent in fields.items() if name not in names}


_TOOLS = ("tools", "tool_choice")
_LENGTHS = _less(OPENAI, "presence_penalty", "frequency_penalty", "seed", "logit_bias", "logprobs")
# A row that names its source was compared with it in November 2026; the others follow the reference of the service's API.
KINDS: dict[str, ServerKind] = {
    # 400 for a field it does not know; its reasoning models refuse `max_tokens`.
    "openai": ServerKind(
        OPENAI | {"max_tokens": "max_completion_tokens"},
        (*_TOOLS, "logprobs", "format", "effort"),
        switch="",
        fills=True,
    ),
    # Its compatibility layer ignores formats, penalties, seeds, logprobs, effort and `strict` without a word
    # (docs.anthropic.com/en/api/openai-sdk).
    "anthropic": ServerKind(_LENGTHS, _TOOLS, switch="", raw=False),
    # 400 for a field it does not know.
    "google": ServerKind(_LENGTHS, (*_TOOLS, "format", "effort"), switch="", raw=False),
    # 422 for a field it does not know, `stream_options` and `seed` among them.
    "mistral": ServerKind(
        _less(OPENAI, "logit_bias", "logprobs") | {"seed": "random_seed"},
        (*_TOOLS, "format", "continue"),
        switch="",
        continues="prefix",
        counts=False,
        raw=False,
    ),
    # 400 for biases, logprobs and names of messages (console.groq.com/docs/openai).
    "groq": ServerKind(
        _LENGTHS | {"seed": "seed"}, (*_TOOLS, "format", "effort"), switch="", names_speakers=False, raw=False
    ),
    # Its `logprobs` is a number and means something else.
    "together": ServerKind(_less(FIELDS, "logprobs"), (*_TOOLS, "format", "thinking", "effort")),
    # `response_format` is text or any object (api-docs.deepseek.com/api/create-chat-completion).
    "deepseek": ServerKind(
        _less(OPENAI, "seed", "logit_bias"),
        (*_TOOLS, "logprobs", "format"),
        switch="",
        schemas=False,
        raw=False,
    ),
    "openrouter": ServerKind(FIELDS, (*_TOOLS, "logprobs", "format", "effort"), switch=""),
    # Passes on what its providers know, and refuses what they do not.
    "litellm": ServerKind(OPENAI, (*_TOOLS, "logprobs", "format", "effort"), switch=""),
    # Ignores every other sampler, biases, `tool_choice` and template variables without a word (openai/openai.go). Its `/v1/completions`
    # puts the prompt into the model's template.
    "ollama": ServerKind(_less(OPENAI, "logit_bias"), switch="effort", thoughts="reasoning", raw=False),
    # 400 for `json_object` and for a function in `tool_choice`; logprobs are never there
    # (lmstudio.ai/docs/developer/openai-compat/chat-completions).
    "lmstudio": ServerKind(
        _less(OPENAI, "logprobs") | {"top_k": "top_k", "repetition_penalty": "repeat_penalty"},
        (*_TOOLS, "format"),
        switch="",
        names_function=False,
        plain_object=False,
    ),
    # A function in `tool_choice` is taken for `auto`. An assistant's message at the end is continued as it is. 400 for logprobs with
    # tools in a stream. Tried in November 2026, and tools/server/README.md.
    "llamacpp": ServerKind(
        FIELDS | {name: name for name in LLAMA_ALONE} | LLAMA_RENAMED,
        (*VERBS, "tool_choice", "continue", "text_bias"),
        continues="bare",
        names_function=False,
        grammar="grammar",
        streams_all=False,
        raw_schema="json_schema",
        no_limit=-1,
    ),
    # vllm/entrypoints/openai/chat_completion/protocol.py and serve/tokenize/protocol.py.
    "vllm": ServerKind(
        FIELDS | {"ignore_eos": "ignore_eos"},
        (*VERBS, "tool_choice", "continue"),
        continues="flag",
        none_offers=True,
        tokenizer=Tokenizer("/tokenize", "prompt"),
        raw_schema="response_format",
    ),
    # python/sglang/srt/entrypoints/openai/protocol.py.
    "sglang": ServerKind(
        FIELDS | {"ignore_eos": "ignore_eos"},
        (*VERBS, "tool_choice", "continue"),
        continues="flag",
        grammar="ebnf",
        tokenizer=Tokenizer("/tokenize", "prompt"),
        audio_url=True,
        raw_schema="response_format",
    ),
    # 400 for a field it does not know, `continue_final_message` among them (tensorrt_llm/serve/openai_protocol.py).
    "tensorrt_llm": ServerKind(FIELDS | {"ignore_eos": "ignore_eos"}, (*VERBS, "tool_choice")),
    # aphrodite/endpoints/openai/protocol.py, as it parted from vLLM.
    "aphrodite": ServerKind(
        FIELDS | {name: name for name in ("typical_p", "xtc_probability", "xtc_threshold", "ignore_eos")}
    ),
    # Accepts `tool_choice` and forces nothing; `json_object` is not handled there; it has no seed, and reads dry, typical and mirostat
    # without applying them (common/sampling.py, backends/exllamav3, at e632af4).
    "tabbyapi": ServerKind(
        _less(FIELDS, "seed")
        | {"repetition_window": "penalty_range"}
        | {name: name for name in ("xtc_probability", "xtc_threshold")},
        (*VERBS, "continue"),
        continues="flag",
        plain_object=False,
        grammar="grammar_string",
        tokenizer=Tokenizer("/v1/token/encode", "text", more=(("add_bos_token", False),)),
        raw_schema="json_schema",
    ),
    "koboldcpp": ServerKind(
        FIELDS | {name: name for name in _KOBOLD_SAME} | KOBOLD,
        grammar="grammar",
        tokenizer=Tokenizer("/api/extra/tokencount", "prompt", "ids", (("special", False),)),
    ),
    "duologue": ServerKind(
        FIELDS | {name: name for name in (*LLAMA_ALONE, *LLAMA_RENAMED)},
        (*VERBS, "tool_choice", "continue", "text_bias"),
        voice="",
        continues="flag",
        grammar="grammar",
        raw_schema="response_format",
        no_limit=-1,
        fills=True,
    ),
}
ANY = ServerKind(FIELDS)


def server_kind(name: str) -> ServerKind:
    """What a kind of server takes; that of any server for an unknown or empty name."""
    return KINDS.get(name, ANY)


class Detokenizer(Struct, frozen=True):
    """Where a server tells the text of tokens: a path, the names of the field of the tokens and of the answer."""

    path: str
    answer: str
    tokens: str = "tokens"


class TokenDoors(Struct, frozen=True):
    """How a kind of server is asked. `plain`: the field that keeps markers from becoming control tokens, "" where there is none;
    `start`: the field that adds the tokens of the beginning; `written`: the field that has control tokens written."""

    tokenizer: Tokenizer
    detokenizer: Detokenizer
    start: str
    plain: str = ""
    written: str = ""


_LLAMA = TokenDoors(
    Tokenizer("/tokenize", "content", more=()),
    Detokenizer("/detokenize", "content"),
    "add_special",
    "parse_special",
)
DOORS: dict[str, TokenDoors] = {
    "llamacpp": _LLAMA,
    "duologue": _LLAMA,
    "vllm": TokenDoors(
        Tokenizer("/tokenize", "prompt"), Detokenizer("/detokenize", "prompt"), "add_special_tokens"
    ),
    "sglang": TokenDoors(
        Tokenizer("/tokenize", "prompt"), Detokenizer("/detokenize", "text"), "add_special_tokens"
    ),
    "tabbyapi": TokenDoors(
        Tokenizer("/v1/token/encode", "text"),
        Detokenizer("/v1/token/decode", "text"),
        "add_bos_token",
        "encode_special_tokens",
        "decode_special_tokens",
    ),
}
