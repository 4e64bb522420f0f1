"""A request as the JSON body of any OpenAI-compatible server: messages, or a raw prompt.

Used by `engine`. Owns that dialect's names on the client's side. Pure.
"""

from __future__ import annotations

import base64
from typing import Any

from msgspec.structs import replace

from duologue.engines.openai_remote.server_kinds import ServerKind, server_kind
from duologue.errors import Unsupported
from duologue.values.audio import from_float32, wav_header
from duologue.values.messages import AudioPart, ImagePart, Message, Part, TextPart, Tool, VideoPart
from duologue.values.requests import ChatRequest, OutputFormat, Sampling

RAW = "/completions"
"""The path of the older API, which continues a prompt as it is; it names a few fields differently."""
CHARACTERS_A_TOKEN = 4
"""The usual estimate where nothing counts tokens."""
TOKENS_A_MESSAGE = 4
ELSEWHERE = "The result is a picture; it is in the next message of the user."
"""The text of a tool result that has only pictures."""


NOUNS = {"grammar": "grammars", "regex": "regular expressions", "choice": "lists of choices"}
ANY_SERVER = server_kind("")


def check(request: ChatRequest, kind: ServerKind = ANY_SERVER) -> None:
    """Raises Unsupported for what cannot be sent to such a server: a grammar, and texts in `logit_bias`."""
    if request.format is not None and (
        request.format.kind in ("regex", "choice") or (request.format.kind == "grammar" and not kind.grammar)
    ):
        raise Unsupported(
            f"{request.format.param}: this upstream takes JSON schemas, but no {NOUNS[request.format.kind]}.",
            param=request.format.param,
        )
    if request.format is not None and request.format.kind == "json_schema" and not kind.schemas:
        raise Unsupported(
            f"{request.format.param}: this upstream takes any JSON object, but no schema.",
            param=request.format.param,
        )
    bias = request.sampling.logit_bias or {}
    text = next((key for key in bias if not is_token(key)), None)
    takes_texts = "text_bias" in kind.verbs or kind.tokenizer is not None
    if text is not None and not takes_texts and "logit_bias" in kind.fields:
        raise Unsupported(
            f"logit_bias: {text!r} is a text, and this upstream takes token ids alone. Send the ids of its tokens.",
            param="logit_bias",
        )


def media_size(request: ChatRequest) -> int:
    """Bytes of the pictures, the sound and the videos."""
    return sum(
        len(part.data)
        for message in request.messages
        for part in message.parts
        if not isinstance(part, TextPart)
    )


def unapplied(request: ChatRequest, kind: ServerKind) -> tuple[str, ...]:
    """The fields besides samplers that were asked for and that such a server does not take."""
    asked = {
        "enable_thinking": request.thinking is not None and not kind.switch,
        "reasoning_effort": request.effort is not None and "effort" not in kind.verbs,
        "chat_template_kwargs": bool(request.template_variables) and kind.switch != "template",
    }
    return tuple(name for name, is_asked in asked.items() if is_asked)


def chat_body(
    request: ChatRequest,
    model: str,
    kind: ServerKind = ANY_SERVER,
    voice: str = "",
    reads_calls: bool = False,
) -> dict[str, Any]:
    """The body of `POST /chat/completions`, streamed, with usage at its end. `voice`: the one that speaks where the request names
    none. `reads_calls`: the server is known to leave calls in the text, where we read them. The request has passed `check`."""
    streams = kind.streams_all or not request.tools or request.sampling.logprobs is None
    body: dict[str, Any] = {
        "model": model,
        "messages": _messages(request, kind),
        "stream": streams,
        **_sampling(request.sampling, kind),
        **_tools(request, kind, reads_calls),
        **_sound(request, voice or kind.voice),
    }
    if kind.counts and streams:
        body["stream_options"] = {"include_usage": True}
    if request.continue_final and kind.continues == "prefix":
        body["messages"][-1]["prefix"] = True
    elif request.continue_final and kind.continues != "bare":
        body |= {"continue_final_message": True, "add_generation_prompt": False}
    if request.stop:
        body["stop"] = list(request.stop)
    if request.format is not None:
        body |= _format(request.format, kind)
    return body | _thinking(request, kind)


def _thinking(request: ChatRequest, kind: ServerKind) -> dict[str, Any]:
    """The switch of thinking and its effort, each only if the request has it: strict servers refuse fields they do not know."""
    fields: dict[str, Any] = {}
    if request.effort is not None and request.thinking is not False and "effort" in kind.verbs:
        fields["reasoning_effort"] = request.effort
    if kind.switch == "effort" and request.thinking is False:
        fields["reasoning_effort"] = "none"
    variables = dict(request.template_variables)
    if request.thinking is not None:
        variables["enable_thinking"] = request.thinking
    if variables and kind.switch == "template":
        fields["chat_template_kwargs"] = variables
    return fields


def estimate_tokens(request: ChatRequest) -> int:
    """Roughly the tokens of the prompt, for an upstream that does not count."""
    if request.prompt is not None:
        given = request.prompt
        return len(given) // CHARACTERS_A_TOKEN if isinstance(given, str) else len(given)
    characters = sum(len(message.text) + len(message.reasoning or "") for message in request.messages)
    return characters // CHARACTERS_A_TOKEN + TOKENS_A_MESSAGE * len(request.messages)


def _messages(request: ChatRequest, kind: ServerKind) -> list[dict[str, Any]]:
    """Pictures of a tool result are moved to a user message after the last result of the turn: OpenAI and vLLM accept
    pictures from the user only (400), and no other message between two results. Sound in a system message is a sample of a
    voice, which is nothing to a model that only writes."""
    bodies: list[dict[str, Any]] = []
    moved: list[Part] = []
    for message in request.messages:
        if message.role == "system" and request.speak_as is None:
            written = tuple(part for part in message.parts if not isinstance(part, AudioPart))
            message = replace(message, parts=written)
        if message.role != "tool":
            bodies += _pictures(moved, kind)
            moved = []
            bodies.append(_message(message, kind))
            continue
        texts = tuple(part for part in message.parts if not isinstance(part, ImagePart))
        pictures = [part for part in message.parts if isinstance(part, ImagePart)]
        if pictures:
            moved += [TextPart(f"What {message.name or 'the tool'} shows:"), *pictures]
        bodies.append(
            _message(replace(message, parts=texts or (TextPart(ELSEWHERE),)) if pictures else message, kind)
        )
    return bodies + _pictures(moved, kind)


def _pictures(parts: list[Part], kind: ServerKind) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [_part(part, kind) for part in parts]}] if parts else []


def _message(message: Message, kind: ServerKind) -> dict[str, Any]:
    body: dict[str, Any] = {"role": message.role, "content": _content(message.parts, kind)}
    if message.name is not None and kind.names_speakers:
        body["name"] = message.name
    if message.reasoning:
        body[kind.thoughts] = message.reasoning
    if message.tool_calls:
        body["tool_calls"] = [
            {
                "id": tool_call.id,
                "type": "function",
                "function": {"name": tool_call.name, "arguments": tool_call.arguments},
            }
            for tool_call in message.tool_calls
        ]
        body["content"] = body["content"] or None
    if message.tool_call_id is not None:
        body["tool_call_id"] = message.tool_call_id
    return body


def _content(parts: tuple[Part, ...], kind: ServerKind) -> str | list[dict[str, Any]]:
    """One text where it is only text: many servers take nothing else for most roles."""
    if all(isinstance(part, TextPart) for part in parts):
        return "".join(part.text for part in parts if isinstance(part, TextPart))
    return [_part(part, kind) for part in parts]


def _part(part: Part, kind: ServerKind) -> dict[str, Any]:
    if isinstance(part, TextPart):
        return {"type": "text", "text": part.text}
    if isinstance(part, ImagePart):
        picture = {"url": _data_url(part.mime, part.data)}
        return {"type": "image_url", "image_url": picture | ({"detail": part.detail} if part.detail else {})}
    if isinstance(part, VideoPart):
        return {"type": "video_url", "video_url": {"url": _data_url(part.mime, part.data)}}
    # WAV is the one format of sound that every server reads.
    pcm = from_float32(part.data)
    sound = base64.b64encode(wav_header(part.rate, len(pcm)) + pcm).decode("ascii")
    if kind.audio_url:
        return {"type": "audio_url", "audio_url": {"url": f"data:audio/wav;base64,{sound}"}}
    return {"type": "input_audio", "input_audio": {"data": sound, "format": "wav"}}


def _data_url(mime: str, data: bytes) -> str:
    return f"data:{mime};base64,{base64.b64encode(data).decode('ascii')}"


def _sound(request: ChatRequest, voice: str) -> dict[str, Any]:
    """The fields that have the model speak. Samples (pcm16) are the one format that every server streams."""
    if request.speak_as is None:
        return {}
    audio = {"format": "pcm16"}
    if name := request.speak_as or voice:
        audio["voice"] = name
    return {"modalities": ["text", "audio"], "audio": audio}


def _sampling(sampling: Sampling, kind: ServerKind) -> dict[str, Any]:
    names = kind.fields
    fields = {names[name]: getattr(sampling, name) for name in sampling.asked() if name in names}
    if "top_logprobs" in fields:
        fields["logprobs"] = True
    return fields


def is_token(key: str) -> bool:
    """Whether a key of `logit_bias` is a token id."""
    return key.isascii() and key.isdecimal()


def _tools(request: ChatRequest, kind: ServerKind, reads_calls: bool) -> dict[str, Any]:
    if not request.tools:
        return {}
    tools, choice = request.tools, request.tool_choice
    what, _, name = choice.partition(":")
    if what == "function" and not kind.names_function:
        tools, choice = tuple(tool for tool in tools if tool.name == name), "required"
    if choice == "auto" and reads_calls and kind.none_offers:
        choice = "none"
    fields: dict[str, Any] = {"tools": [_tool(tool) for tool in tools]}
    if choice != "auto":
        fields["tool_choice"] = _tool_choice(choice)
    if not request.parallel_tool_calls:
        fields["parallel_tool_calls"] = False
    return fields


def _tool(tool: Tool) -> dict[str, Any]:
    parameters = tool.parameters or {"type": "object", "properties": {}}
    function: dict[str, Any] = {"name": tool.name, "description": tool.description, "parameters": parameters}
    if tool.strict:
        function["strict"] = True
    return {"type": "function", "function": function}


def _tool_choice(choice: str) -> str | dict[str, Any]:
    kind, _, name = choice.partition(":")
    return {"type": "function", "function": {"name": name}} if kind == "function" else choice


def _format(format: OutputFormat, kind: ServerKind) -> dict[str, Any]:
    """The fields that constrain the reply."""
    if format.kind == "grammar":
        return {kind.grammar: format.grammar}
    if format.kind == "json_object" and kind.plain_object:
        return {"response_format": {"type": "json_object"}}
    schema = format.schema or ({"type": "object"} if format.kind == "json_object" else {})
    described: dict[str, Any] = {"name": "reply", "schema": schema}
    if format.strict is not None:
        described["strict"] = format.strict
    return {"response_format": {"type": "json_schema", "json_schema": described}}


def check_raw(request: ChatRequest, kind: ServerKind) -> None:
    """Raises Unsupported for a format that such a server is not known to keep here: one that it passes over would be lost."""
    format = request.format
    if format is not None and format.kind in ("json_object", "json_schema") and not kind.raw_schema:
        raise Unsupported(
            f"{format.param}: this upstream is not known to keep JSON behind a raw prompt; send it to /v1/chat/completions.",
            param=format.param,
        )


def raw_body(request: ChatRequest, model: str, kind: ServerKind) -> dict[str, Any]:
    """The body, streamed, with usage at its end. The request has passed `check` and `check_raw`."""
    assert request.prompt is not None
    sampling = request.sampling
    body: dict[str, Any] = {
        "model": model,
        "prompt": request.prompt,
        "stream": True,
        # Where it is missing, most servers write 16 tokens.
        "max_tokens": kind.no_limit if sampling.max_tokens is None else sampling.max_tokens,
    }
    for name in sampling.asked():
        if name in kind.fields and name not in ("max_tokens", "logprobs"):
            body[kind.fields[name]] = getattr(sampling, name)
    if sampling.logprobs is not None and "logprobs" in kind.fields:
        # 0 is no logprobs to some.
        body["logprobs"] = max(1, sampling.logprobs)
    if request.suffix is not None:
        body["suffix"] = request.suffix
    if kind.counts:
        body["stream_options"] = {"include_usage": True}
    if request.stop:
        body["stop"] = list(request.stop)
    return body if request.format is None else body | _raw_format(request.format, kind)


def _raw_format(format: OutputFormat, kind: ServerKind) -> dict[str, Any]:
    if format.kind == "grammar":
        return {kind.grammar: format.grammar}
    schema = format.schema or {"type": "object"}
    if kind.raw_schema != "response_format":
        return {kind.raw_schema: schema}
    return {"response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}}
