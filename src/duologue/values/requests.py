"""Chat requests as engines take them, the card of what a model can do, and the comparison of the two.

A field that is None was not set, and the default of the engine or the model applies: "set but not applied" can be told from "not
set". Made by the dialects and the conversations.
"""

from __future__ import annotations

from typing import Any, Literal

import msgspec
from msgspec import Struct

from duologue.values.messages import MODALITY, Message, Tool, VideoPart
from duologue.values.speech import VoiceSample

Task = Literal["chat", "embed", "rerank"]
"""What a model is for: to write, to turn texts into vectors, to score documents for a query."""
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


class PresetEntry(Struct, frozen=True, forbid_unknown_fields=True):
    """One parameter of a model's preset: the value where a request sets none. `force`: also where it sets one; `additive`: the
    request's own entries come first, and these behind them."""

    override: object
    force: bool = False
    additive: bool = False


class ModelPreset(Struct, frozen=True, omit_defaults=True):
    """What an operator set for a model. `sampling`: by the names of `Sampling`, and "stop"."""

    sampling: dict[str, PresetEntry] = {}
    force_thinking: bool = False


class OutputFormat(Struct, frozen=True):
    """A constraint on the reply's content: any JSON object, JSON of a schema, a grammar (GBNF), a regular expression that
    matches all of it, or one of some texts."""

    kind: Literal["json_object", "json_schema", "grammar", "regex", "choice"]
    schema: dict[str, object] | None = None
    grammar: str | None = None
    pattern: str = ""
    choices: tuple[str, ...] = ()
    strict: bool | None = None
    """As the client said it of a schema; None where it said nothing."""
    param: str = "response_format"
    """The field that asked for it, which errors name."""


class MediaOptions(Struct, frozen=True, omit_defaults=True):
    """How a model reads the pictures and videos of a request. None means "not set"."""

    max_slices: int | None = None
    """Pieces a large picture may be cut into, each of which the model sees in full resolution (`max_slice_nums`)."""
    image_ids: bool | None = None
    """Whether the pictures are numbered in the prompt (`use_image_id`)."""
    interleave: bool = False
    """A video's frames and sound alternate, second by second (`omni_mode`)."""


class RawFormat(Struct, frozen=True, omit_defaults=True):
    """How a model of another server writes, for a server that passes its text on unread. `tool_format`: the name of a tool-call format;
    `thoughts`: the marker that opens a thought; of both, "" finds it out by the text and "none" leaves the text as it is.
    `opens_thoughts`: its template opens the thought, so a reply begins inside it."""

    tool_format: str = ""
    thoughts: str = ""
    opens_thoughts: bool = False


class AdapterScale(Struct, frozen=True):
    """How much of a LoRA adapter is added to its model: 1 as it was trained, 0 nothing. `id`: its place in `ModelCard.adapters`."""

    id: int
    scale: float


class ChatRequest(Struct, frozen=True, tag="chat"):
    """One model turn. `model` empty means the default chat model.

    `extra` carries template variables of the request; `continue_final` continues the last assistant message;
    `unknown` are unknown fields of the request, reported as ignored where the dialect can.
    """

    messages: tuple[Message, ...]
    """Empty where `prompt` is given."""
    prompt: str | tuple[int, ...] | None = None
    """A text or tokens that the model continues as they are: no template, no reading of thoughts and tool calls. For models with the
    verb "raw"."""
    suffix: str | None = None
    """With `prompt`: the text that follows what the model writes, for models with the verb "infill"; None: it only continues."""
    model: str = ""
    upstream_model: str = ""
    """What a connected server calls the model; set by the pool, for a worker that serves all models of a server."""
    upstream_format: RawFormat | None = None
    """How that model writes, as far as an admin said it; set with `upstream_model`."""
    upstream_preset: ModelPreset | None = None
    """Its preset, as an admin set it; set with `upstream_model`."""
    chosen_preset: ModelPreset | None = None
    """The preset that an admin chose at run time for all models; set by the pool."""
    adapters: tuple[AdapterScale, ...] | None = None
    """How much of each LoRA adapter is added to the model, those that are not named not at all; None: as the model was loaded."""
    reply_id: str = ""
    """The id by which its user may still tell the reply something; "" for one that nobody can."""
    sampling: Sampling = Sampling()
    stop: tuple[str, ...] = ()
    template_stops: bool = True
    """Whether the stop strings of the model's template end the reply too."""
    tools: tuple[Tool, ...] = ()
    tool_choice: str = "auto"
    """"auto", "none", "required", or "function:NAME"."""
    parallel_tool_calls: bool = True
    thinking: bool | None = None
    """Whether the model reasons first; None leaves it to the model's template."""
    effort: Effort | None = None
    """Limits its reasoning; None is no limit."""
    thinking_tokens: int | None = None
    """The most tokens of its reasoning, 1 or more; counts before `effort`. None is no limit."""
    template_variables: dict[str, object] = {}
    media: MediaOptions = MediaOptions()
    continue_final: bool = False
    generation_prompt: bool = True
    """Whether the prompt says that the assistant's turn begins. Without it the model writes on behind the last message."""
    prefix: str = ""
    """The beginning of the reply, written into the prompt; it is no part of the reply. Only for engines that take prompts."""
    format: OutputFormat | None = None
    spoken: bool = False
    """The reply will be spoken: the prompt asks for words that can be spoken, without symbols."""
    spoken_language: str = ""
    """The language (BCP 47) it will be spoken in, where that was asked for."""
    speak_as: str | None = None
    """The model itself speaks the reply, in this one of its voices ("": its default); None: it only writes. For models with
    "audio" among their outputs."""
    speak_like: VoiceSample | None = None
    """With `speak_as`: like this recording instead, for models that clone (`ModelCard.clones`)."""
    ahead: bool = False
    """Only prefill the prompt: nothing is generated, and the next request finds the prompt in the cache."""
    unknown: tuple[str, ...] = ()
    unapplied: tuple[str, ...] = ()
    """Known fields of the dialect that this version cannot apply; reported as ignored."""


class Replica(Struct, frozen=True):
    """One of several servers with the same model. `reason`: why it is down."""

    url: str
    state: Literal["ready", "down", "draining"] = "ready"
    reason: str = ""


class ModelCard(Struct, frozen=True):
    """What a loaded model is and what its engine can do, as a worker reports it."""

    name: str
    engine: str
    context: int
    """Tokens of one chat, after division by slots."""
    trained_context: int = 0
    slots: int = 1
    parameters: int = 0
    vocabulary: int = 0
    """The ids of its tokens are the numbers below; 0: unknown."""
    size: int = 0
    """Bytes of the weights."""
    description: str = ""
    bundled: bool = False
    modalities: tuple[str, ...] = ("text",)
    """What it takes: of "text", "image", "audio", "video"."""
    untold: tuple[str, ...] = ()
    """What it may take as well: its server does not say. Such a part is passed on, and the server refuses it where it must."""
    outputs: tuple[str, ...] = ("text",)
    """What it gives: "audio" too where the model itself speaks."""
    voices: tuple[str, ...] = ()
    """Its own voices, the default first, where it speaks and they are known."""
    clones: bool = False
    """Whether it can speak like a recording."""
    verbs: tuple[str, ...] = ()
    """Of "prefill", "count", "continue", "raw" (it continues a prompt without a template), "infill" (it fills in what is missing between
    two texts), "logprobs", "tools", "tool_choice" (a call can be forced), "thinking",
    "effort" (its thinking can be limited), "reasoning_end" (a thought can be ended while it runs), "format", "text_bias" (`logit_bias` takes
    text too), "duplex" (it holds a call by itself, and takes its worker whole meanwhile). A model with "embed" (texts become vectors) or
    "rerank" (documents get scores) does not chat."""
    sampling: tuple[str, ...] = ()
    """Names of `Sampling` fields the engine applies."""
    defaults: dict[str, float | int | str | bool | tuple[str, ...]] = {}
    """What the engine does, by the name of a `Sampling` field, where that is not asked for: -1 is no limit for
    `max_tokens` and any seed for `seed`. A field it cannot tell of is not in it."""
    media_options: tuple[str, ...] = ()
    """Names of `MediaOptions` and `VideoPart` fields the engine applies: of "max_slices", "image_ids", "interleave", "stack_frames",
    "frame_rate"."""
    tool_format: str = ""
    thoughts: str = ""
    """The marker that opens its thoughts, where its template has one."""
    warnings: tuple[str, ...] = ()
    adapters: tuple[str, ...] = ()
    """The names of the LoRA adapters that it was loaded with."""
    dimensions: int = 0
    """Numbers of each of its vectors, where it makes some and that is known."""
    device: str = ""
    """Where it runs, as far as the engine knows: "cpu", "cuda:1", or several cards with commas."""
    upstream: str = ""
    """The connected server that has it; empty for a model of a worker of its own."""
    replicas: tuple[Replica, ...] = ()
    """The servers that have it, where they are several behind one name."""

    @property
    def task(self) -> Task:
        """What it is for."""
        return "embed" if "embed" in self.verbs else "rerank" if "rerank" in self.verbs else "chat"

    @property
    def chats(self) -> bool:
        """Whether it writes replies."""
        return self.task == "chat"

    def may(self, task: Task) -> bool:
        """Whether such work may be sent to it. A server elsewhere says of few models what they are for, and refuses what it cannot."""
        if task == "chat":
            return self.chats
        return task in self.verbs or (self.engine == "remote" and self.chats)

    @property
    def accepted(self) -> tuple[str, ...]:
        """The kinds of parts that may be sent to it."""
        return (*self.modalities, *self.untold)

    def with_defaults(self, preset: ModelPreset) -> ModelCard:
        """The card with the values of a preset that requests find where they set none."""
        values: dict[str, Any] = {
            name: getattr(msgspec.convert({name: entry.override}, Sampling), name)
            for name, entry in preset.sampling.items()
            if name not in ("stop", "logit_bias") and name in self.sampling
        }
        return msgspec.structs.replace(self, defaults={**self.defaults, **values}) if values else self


class UpstreamModel(Struct, frozen=True, omit_defaults=True):
    """A model of a connected server, by the server's own name, and what the server says about it: None where it says nothing."""

    name: str
    context: int | None = None
    modalities: tuple[str, ...] | None = None
    """What it takes: of "text", "image", "audio", "video"."""
    tools: bool | None = None
    outputs: tuple[str, ...] = ("text",)
    """What it gives: "audio" too where the server says that it speaks."""
    format: RawFormat | None = None
    """How it writes, as an admin said."""
    preset: ModelPreset | None = None
    """Its preset, as an admin set it."""
    task: Task = "chat"
    """What it is for, by its server's word or its name."""

    @property
    def vision(self) -> bool | None:
        """Whether it takes pictures."""
        return None if self.modalities is None else "image" in self.modalities


class Unmet(Struct, frozen=True):
    """What a request needs and a model cannot do: the field, a sentence, and the error's code."""

    param: str
    message: str
    code: str = "unsupported"


def unmet(card: ModelCard, request: ChatRequest) -> Unmet | None:
    """The first thing of `request`, as it is, that the model of `card` cannot do, or None."""
    return untaken(card, request) or unable(card, request)


def untaken(card: ModelCard, request: ChatRequest) -> Unmet | None:
    """The first part of `request` that the model does not take, or None. What could be made of it is `values.fitting`'s."""
    for number, message in enumerate(request.messages):
        for index, part in enumerate(message.parts):
            kind = MODALITY[type(part)]
            if kind not in card.accepted:
                where = f"messages[{number}].content[{index}]"
                takes = ", ".join(card.modalities)
                sentence = f"{where} is {kind}; the model {card.name} takes {takes}."
                return Unmet(where, sentence, "modality_unsupported")
    return None


def unapplied_media(card: ModelCard, request: ChatRequest) -> tuple[str, ...]:
    """The names of the media options that were asked for and that the engine does not apply. Those of a video count while it is one: the
    gateway applies them where it makes frames of it."""
    media = request.media
    videos = [part for message in request.messages for part in message.parts if isinstance(part, VideoPart)]
    asked = {
        "max_slices": media.max_slices is not None,
        "image_ids": bool(media.image_ids),
        "interleave": media.interleave,
        "stack_frames": any(part.stack_frames > 1 for part in videos),
        "frame_rate": any(part.frame_rate is not None for part in videos),
    }
    return tuple(name for name, is_asked in asked.items() if is_asked and name not in card.media_options)


def unable(card: ModelCard, request: ChatRequest) -> Unmet | None:
    """The first thing besides its parts that `request` needs and the model cannot do, or None."""
    for param, verb, is_needed in (
        ("tools", "tools", bool(request.tools) and request.tool_choice != "none"),
        ("tool_choice", "tool_choice", request.tool_choice not in ("auto", "none")),
        ("response_format", "format", request.format is not None),
        ("logprobs", "logprobs", request.sampling.logprobs is not None),
        ("continue_final_message", "continue", request.continue_final),
        ("prompt", "raw", request.prompt is not None),
        ("suffix", "infill", request.suffix is not None),
    ):
        if is_needed and verb not in card.verbs:
            if verb == "format" and request.format is not None:
                param = request.format.param
            return Unmet(param, _CANNOT[verb].format(param=param, model=card.name))
    wrong = [each.id for each in request.adapters or () if each.id >= len(card.adapters)]
    if wrong:
        has = (
            f"has {len(card.adapters)} LoRA adapters" if card.adapters else "was loaded without LoRA adapters"
        )
        return Unmet("lora", f"lora: the model {card.name} {has}, so there is none with the id {wrong[0]}.")
    return None


def adapter_scales(card: ModelCard, request: ChatRequest) -> tuple[float, ...] | None:
    """The scale of each of the card's adapters for this request; None: as the model was loaded."""
    if request.adapters is None:
        return None
    asked = {each.id: each.scale for each in request.adapters}
    return tuple(asked.get(id, 0.0) for id in range(len(card.adapters)))


_CANNOT = {
    "tools": "{param}: the model {model} cannot call tools.",
    "tool_choice": "{param}: the model {model} cannot be forced to call a tool; send auto or none.",
    "format": "{param}: the model {model} does not support output formats.",
    "logprobs": "{param}: the model {model} does not report log probabilities.",
    "continue": "{param}: the model {model} cannot continue a message.",
    "raw": "{param}: the model {model} takes messages, not a raw prompt; send them to /v1/chat/completions.",
    "infill": "{param}: the model {model} cannot fill in text before a suffix; its vocabulary has no tokens for that.",
}
