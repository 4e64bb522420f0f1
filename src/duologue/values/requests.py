"""Chat requests as engines take them, the card of what a model can do, and the comparison of the two.

A field that is None was not set, and the default of the engine or the model applies: "set but not applied" can be told from "not
set". Made by the dialects and the conversations.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from duologue.values.messages import MODALITY, Message, Tool

Effort = Literal["low", "medium", "high"]
"""How long a model may reason before it answers."""


class Sampling(Struct, frozen=True, omit_defaults=True):
    """How the next token is chosen. Names follow the OpenAI API and llama.cpp; None means "not set"."""

    max_tokens: int | None = None
    temperature: float | None = None
    top_k: int | None = None
    top_p: float | None = None
    min_p: float | None = None
    typical_p: float | None = None
    top_n_sigma: float | None = None
    repetition_penalty: float | None = None
    repetition_window: int | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    length_penalty: float | None = None
    dynamic_temperature_range: float | None = None
    dynamic_temperature_exponent: float | None = None
    xtc_probability: float | None = None
    xtc_threshold: float | None = None
    dry_multiplier: float | None = None
    dry_base: float | None = None
    dry_allowed_length: int | None = None
    dry_penalty_last_n: int | None = None
    dry_sequence_breakers: tuple[str, ...] | None = None
    mirostat: int | None = None
    mirostat_tau: float | None = None
    mirostat_eta: float | None = None
    samplers: tuple[str, ...] | None = None
    min_keep: int | None = None
    seed: int | None = None
    ignore_eos: bool | None = None
    logit_bias: dict[str, float] | None = None
    """Token id (decimal digits) or text, to the bias added to its logit."""
    logprobs: int | None = None
    """Report each token's logprob with this many alternatives (0: the token alone)."""

    def asked(self) -> tuple[str, ...]:
        """The names of the parameters that were asked for, in the order of this class."""
        return tuple(name for name in self.__struct_fields__ if getattr(self, name) is not None)


class OutputFormat(Struct, frozen=True):
    """A constraint on the reply's content: any JSON object, JSON of a schema, or a grammar (GBNF)."""

    kind: Literal["json_object", "json_schema", "grammar"]
    schema: dict[str, object] | None = None
    grammar: str | None = None


class ChatRequest(Struct, frozen=True):
    """One model turn. `model` empty means the default chat model.

    `extra` carries template variables of the request; `continue_final` continues the last assistant message;
    `unknown` are unknown fields of the request, reported as ignored where the dialect can.
    """

    messages: tuple[Message, ...]
    model: str = ""
    sampling: Sampling = Sampling()
    stop: tuple[str, ...] = ()
    tools: tuple[Tool, ...] = ()
    tool_choice: str = "auto"
    """"auto", "none", "required", or "function:NAME"."""
    parallel_tool_calls: bool = True
    thinking: bool | None = None
    """Whether the model reasons first; None leaves it to the model's template."""
    effort: Effort | None = None
    """Limits its reasoning; None is no limit."""
    template_variables: dict[str, object] = {}
    continue_final: bool = False
    format: OutputFormat | None = None
    spoken: bool = False
    """The reply will be spoken: the prompt asks for words that can be spoken, without symbols."""
    ahead: bool = False
    """Only prefill the prompt: nothing is generated, and the next request finds the prompt in the cache."""
    unknown: tuple[str, ...] = ()
    unapplied: tuple[str, ...] = ()
    """Known fields of the dialect that this version cannot apply; reported as ignored."""


class ModelCard(Struct, frozen=True):
    """What a loaded model is and what its engine can do, as a worker reports it."""

    name: str
    engine: str
    context: int
    """Tokens of one chat, after division by slots."""
    trained_context: int = 0
    slots: int = 1
    parameters: int = 0
    size: int = 0
    """Bytes of the weights."""
    description: str = ""
    bundled: bool = False
    modalities: tuple[str, ...] = ("text",)
    verbs: tuple[str, ...] = ()
    """Of "prefill", "count", "continue", "logprobs", "tools", "tool_choice" (a call can be forced), "thinking",
    "effort" (its thinking can be limited), "format"."""
    sampling: tuple[str, ...] = ()
    """Names of `Sampling` fields the engine applies."""
    defaults: dict[str, float | int | str | bool | tuple[str, ...]] = {}
    """What the engine does, by the name of a `Sampling` field, where that is not asked for: -1 is no limit for
    `max_tokens` and any seed for `seed`. A field it cannot tell of is not in it."""
    tool_format: str = ""
    warnings: tuple[str, ...] = ()


class Unmet(Struct, frozen=True):
    """What a request needs and a model cannot do: the field, and a sentence."""

    param: str
    message: str


def unmet(card: ModelCard, request: ChatRequest) -> Unmet | None:
    """The first thing of `request` that the model of `card` cannot do, or None."""
    for number, message in enumerate(request.messages):
        for index, part in enumerate(message.parts):
            kind = MODALITY[type(part)]
            if kind not in card.modalities:
                where = f"messages[{number}].content[{index}]"
                takes = ", ".join(card.modalities)
                return Unmet(where, f"{where} is {kind}; the model {card.name} takes {takes}.")
    for param, verb, is_needed in (
        ("tools", "tools", bool(request.tools) and request.tool_choice != "none"),
        ("tool_choice", "tool_choice", request.tool_choice not in ("auto", "none")),
        ("response_format", "format", request.format is not None),
        ("logprobs", "logprobs", request.sampling.logprobs is not None),
        ("continue_final_message", "continue", request.continue_final),
    ):
        if is_needed and verb not in card.verbs:
            return Unmet(param, _CANNOT[verb].format(param=param, model=card.name))
    return None


_CANNOT = {
    "tools": "{param}: the model {model} cannot call tools.",
    "tool_choice": "{param}: the model {model} cannot be forced to call a tool; send auto or none.",
    "format": "{param}: the model {model} does not support output formats.",
    "logprobs": "{param}: the model {model} does not report log probabilities.",
    "continue": "{param}: the model {model} cannot continue a message.",
}
