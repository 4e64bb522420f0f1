"""A chat request as the JSON body of any OpenAI-compatible server.

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

CHARACTERS_A_TOKEN = 4
"""The usual estimate where nothing counts tokens."""
TOKENS_A_MESSAGE = 4
ELSEWHERE = "The result is a picture; it is in the next message of the user."
"""The text of a tool result that has only pictures."""


ANY_SERVER = server_kind("")


def check(request: ChatRequest) -> None:
    """Raises Unsupported for what cannot be sent: a grammar."""
    if request.format is not None:
        _format(request.format)


def media_size(request: ChatRequest) -> int:
    """Bytes of the pictures, the sound and the videos."""
    return sum(
        len(part.data)
        for message in request.messages
        for part in message.parts
        if not isinstance(part, TextPart)
    )


def unapplied(request: ChatRequest, kind: ServerKind) -> tuple[str, ...]:
    """The fields that such a server cannot apply, although it takes the parameter: texts in `logit_bias`."""
    bias = request.sampling.logit_bias or {}
    return () if "text_bias" in kind.verbs or all(map(_is_token, bias)) else ("logit_bias",)


def chat_body(
    request: ChatRequest, model: str, kind: ServerKind = ANY_SERVER, voice: str = ""
) -> dict[str, Any]:
    """The body of `POST /chat/completions`, streamed, with usage at its end. `voice`: the one that speaks where the request names
    none. Raises Unsupported for a grammar."""
    body: dict[str, Any] = {
        "model": model,
        "messages": _messages(request),
        "stream": True,
        "stream_options": {"include_usage": True},
        **_sampling(request.sampling, kind),
        **_tools(request),
        **_sound(request, voice or kind.voice),
    }
    if request.continue_final:
        body |= {"continue_final_message": True, "add_generation_prompt": False}
    if request.stop:
        body["stop"] = list(request.stop)
    if request.format is not None:
        body["response_format"] = _format(request.format)
    variables = dict(request.template_variables)
    if request.thinking is not None:
        variables["enable_thinking"] = request.thinking
    if request.effort is not None and request.thinking is not False:
        body["reasoning_effort"] = request.effort
    if variables:
        # Only if set: OpenAI's own servers refuse unknown fields.
        body["chat_template_kwargs"] = variables
    return body


def estimate_tokens(request: ChatRequest) -> int:
    """Roughly the tokens of the prompt, for an upstream that does not count."""
    characters = sum(len(message.text) + len(message.reasoning or "") for message in request.messages)
    return characters // CHARACTERS_A_TOKEN + TOKENS_A_MESSAGE * len(request.messages)


def _messages(request: ChatRequest) -> list[dict[str, Any]]:
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
            bodies += _pictures(moved)
            moved = []
            bodies.append(_message(message))
            continue
        texts = tuple(part for part in message.parts if not isinstance(part, ImagePart))
        pictures = [part for part in message.parts if isinstance(part, ImagePart)]
        if pictures:
            moved += [TextPart(f"What {message.name or 'the tool'} shows:"), *pictures]
        bodies.append(
            _message(replace(message, parts=texts or (TextPart(ELSEWHERE),)) if pictures else message)
        )
    return bodies + _pictures(moved)


def _pictures(parts: list[Part]) -> list[dict[str, Any]]:
    return [{"role": "user", "content": [_part(part) for part in parts]}] if parts else []


def _message(message: Message) -> dict[str, Any]:
    body: dict[str, Any] = {"role": message.role, "content": _content(message.parts)}
    if message.name is not None:
        body["name"] = message.name
    if message.reasoning:
        body["reasoning_content"] = message.reasoning
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


def _content(parts: tuple[Part, ...]) -> str | list[dict[str, Any]]:
    """One text where it is only text: many servers take nothing else for most roles."""
    if all(isinstance(part, TextPart) for part in parts):
        return "".join(part.text for part in parts if isinstance(part, TextPart))
    return [_part(part) for part in parts]


def _part(part: Part) -> dict[str, Any]:
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
    if sampling.logprobs is not None:
        fields["logprobs"] = True
    if sampling.logit_bias is not None and "text_bias" not in kind.verbs:
        # Servers that know token ids alone refuse the whole request for one text.
        fields["logit_bias"] = {key: bias for key, bias in sampling.logit_bias.items() if _is_token(key)}
        if not fields["logit_bias"]:
            del fields["logit_bias"]
    return fields


def _is_token(key: str) -> bool:
    return key.isascii() and key.isdecimal()


def _tools(request: ChatRequest) -> dict[str, Any]:
    if not request.tools:
        return {}
    fields: dict[str, Any] = {
        "tools": [_tool(tool) for tool in request.tools],
        "tool_choice": _tool_choice(request.tool_choice),
    }
    if not request.parallel_tool_calls:
        fields["parallel_tool_calls"] = False
    return fields


def _tool(tool: Tool) -> dict[str, Any]:
    parameters = tool.parameters or {"type": "object", "properties": {}}
    function = {"name": tool.name, "description": tool.description, "parameters": parameters}
    return {"type": "function", "function": function}


def _tool_choice(choice: str) -> str | dict[str, Any]:
    kind, _, name = choice.partition(":")
    return {"type": "function", "function": {"name": name}} if kind == "function" else choice


def _format(format: OutputFormat) -> dict[str, Any]:
    if format.kind == "json_object":
        return {"type": "json_object"}
    if format.kind == "json_schema":
        return {
            "type": "json_schema",
            "json_schema": {"name": "reply", "schema": format.schema or {}, "strict": True},
        }
    raise Unsupported("An upstream takes JSON schemas, but not grammars.", param="response_format")
