"""A chat request as the JSON body of any OpenAI-compatible server.

Used by `engine`. Owns that dialect's names on the client's side. Pure.
"""

from __future__ import annotations

import base64
from typing import Any

from msgspec.structs import replace

from duologue.errors import Unsupported
from duologue.values.messages import ImagePart, Message, Part, TextPart, Tool
from duologue.values.requests import ChatRequest, OutputFormat, Sampling

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
CHARACTERS_A_TOKEN = 4
"""The usual estimate where nothing counts tokens."""
TOKENS_A_MESSAGE = 4
ELSEWHERE = "The result is a picture; it is in the next message of the user."
"""The text of a tool result that has only pictures."""


def chat_body(request: ChatRequest, model: str) -> dict[str, Any]:
    """The body of `POST /chat/completions`, streamed, with usage at its end. Raises Unsupported for a grammar."""
    body: dict[str, Any] = {
        "model": model,
        "messages": _messages(request.messages),
        "stream": True,
        "stream_options": {"include_usage": True},
        **_sampling(request.sampling),
        **_tools(request),
    }
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


def _messages(messages: tuple[Message, ...]) -> list[dict[str, Any]]:
    """Pictures of a tool result are moved to a user message after the last result of the turn: OpenAI and vLLM accept
    pictures from the user only (400), and no other message between two results."""
    bodies: list[dict[str, Any]] = []
    moved: list[Part] = []
    for message in messages:
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
        data = base64.b64encode(part.data).decode("ascii")
        return {"type": "image_url", "image_url": {"url": f"data:{part.mime};base64,{data}"}}
    raise Unsupported(
        "An upstream takes text and images; audio and video cannot be forwarded.", param="messages"
    )


def _sampling(sampling: Sampling) -> dict[str, Any]:
    fields = {FIELDS[name]: getattr(sampling, name) for name in sampling.asked() if name in FIELDS}
    if sampling.logprobs is not None:
        fields["logprobs"] = True
    return fields


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
