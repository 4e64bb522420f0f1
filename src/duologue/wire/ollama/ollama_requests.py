"""The bodies of Ollama's `/api/chat` and `/api/generate`, and their conversion to a `ChatRequest`. The answers are in `ollama_reply`.

Unknown fields are tolerated, as Ollama does, and named in `ignored`. Used by `gateway.ollama`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from pydantic import BeforeValidator, Field, JsonValue

from duologue.errors import BadRequest, Unsupported
from duologue.values.messages import ImagePart, Message, Part, TextPart, ToolCall
from duologue.values.requests import ChatRequest, ModelCard
from duologue.wire.ollama.ollama_fields import MAX_IMAGES, OllamaReplyBody, picture
from duologue.wire.validation import Body, JsonObject, RequestLimits, ToolBody, check_text


def _arguments(value: object) -> object:
    """Arguments as an object; some clients keep them as the text that OpenAI's API has."""
    if not isinstance(value, str):
        return value
    try:
        return msgspec.json.decode(value or "{}")
    except (msgspec.DecodeError, RecursionError):
        raise ValueError("must be an object") from None


class OllamaFunctionCall(Body):
    name: str = Field(min_length=1, max_length=256)
    arguments: Annotated[
        JsonObject, BeforeValidator(_arguments, json_schema_input_type=dict[str, JsonValue])
    ] = Field(default={})


class OllamaToolCall(Body):
    """A tool call in an assistant message. Histories of older clients have no ids."""

    id: str = Field(default="", max_length=256)
    function: OllamaFunctionCall

    def tool_call(self, id: str) -> ToolCall:
        """The call as a value; `id` is for one that has none."""
        arguments = msgspec.json.encode(self.function.arguments).decode()
        return ToolCall(self.id or id, self.function.name, arguments)


class OllamaMessage(Body):
    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    thinking: str | None = None
    images: list[str] = Field(default=[], description="Pictures, as base64.")
    tool_calls: list[OllamaToolCall] = Field(default=[])
    tool_name: str | None = Field(default=None, description="Of the role tool: whose result it is.")
    tool_call_id: str | None = Field(default=None, max_length=256)


class OllamaChatBody(OllamaReplyBody):
    """The body of `POST /api/chat`."""

    messages: list[OllamaMessage] = Field(
        default=[], description="Without any the model is only loaded, or with keep_alive 0 unloaded."
    )
    tools: list[ToolBody] = Field(default=[])

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked: the model is only to be loaded, or unloaded."""
        return not self.messages

    def request(self, limits: RequestLimits, card: ModelCard) -> ChatRequest:
        """The request as a value. Raises BadRequest, TooLarge; each names its field."""
        thinking, effort = self.thinking()
        request = ChatRequest(
            messages=_messages(self.messages),
            model=self.model,
            sampling=self.sampled(),
            stop=tuple(self.options.stop or ()),
            tools=tuple(tool.tool() for tool in self.tools),
            thinking=thinking,
            effort=effort,
            # Ollama continues a last message of the assistant, too.
            continue_final=_is_begun(self.messages[-1]) and "continue" in card.verbs,
            format=self.output_format(),
            unknown=(*self.unknown(), *self.options.ignored(card.context)),
        )
        check_text(request.messages, request.tools, limits)
        return request


class OllamaGenerateBody(OllamaReplyBody):
    """The body of `POST /api/generate`."""

    prompt: str = ""
    suffix: str = Field(
        default="", description="What follows the gap behind the prompt that the model fills."
    )
    images: list[str] = Field(default=[], max_length=MAX_IMAGES, description="Pictures, as base64.")
    system: str = ""
    template: str = Field(default="", description="A template in Ollama's language. Refused.")
    raw: bool = Field(default=False, description="The prompt goes to the model as it is, without a template.")
    context: list[int] = Field(
        default=[],
        max_length=1_000_000,
        description="Accepted and ignored: answers have none. Use /api/chat for a conversation.",
    )

    @property
    def is_empty(self) -> bool:
        """Whether nothing is asked: the model is only to be loaded, or unloaded."""
        return not self.prompt and not self.images and not self.suffix

    def request(self, limits: RequestLimits, card: ModelCard) -> ChatRequest:
        """The request as a value. Raises BadRequest, Unsupported, TooLarge; each names its field."""
        self._refuse_unsupported()
        thinking, effort = self.thinking()
        is_raw = self.raw or bool(self.suffix)
        request = ChatRequest(
            messages=() if is_raw else self._messages(),
            prompt=self.prompt if is_raw else None,
            suffix=self.suffix or None,
            model=self.model,
            sampling=self.sampled(),
            stop=tuple(self.options.stop or ()),
            thinking=thinking,
            effort=effort,
            format=self.output_format(),
            unknown=(
                *self.unknown(),
                *(("context",) if self.context else ()),
                *self.options.ignored(card.context),
            ),
        )
        raw = (Message("user", (TextPart(self.prompt + self.suffix),)),)
        check_text(raw if is_raw else request.messages, (), limits)
        return request

    def _messages(self) -> tuple[Message, ...]:
        pictures = [picture(image, f"images[{index}]") for index, image in enumerate(self.images)]
        parts: tuple[Part, ...] = (*pictures, TextPart(self.prompt))
        system = (Message("system", (TextPart(self.system),)),) if self.system else ()
        return (*system, Message("user", parts))

    def _refuse_unsupported(self) -> None:
        if self.template:
            raise Unsupported(
                "template: templates in Ollama's language are not supported. Leave it out for the model's own "
                "template, or send the finished prompt with raw.",
                param="template",
            )
        other = "raw" if self.raw else "suffix" if self.suffix else ""
        for name in ("system", "context", "images") if other else ():
            if getattr(self, name):
                raise BadRequest(f"{name} and {other} are mutually exclusive.", param=name)


def _is_begun(message: OllamaMessage) -> bool:
    """Whether it is a reply to go on with."""
    return message.role == "assistant" and bool(message.content) and not message.tool_calls


def _messages(bodies: Sequence[OllamaMessage]) -> tuple[Message, ...]:
    """The messages as values. Results are put to their calls by id, else by the tool's name, else in order."""
    messages: list[Message] = []
    waiting: list[ToolCall] = []
    """The calls without a result."""
    for at, body in enumerate(bodies):
        calls: tuple[ToolCall, ...] = ()
        answered: ToolCall | None = None
        if body.role == "assistant":
            calls = tuple(call.tool_call(f"call_{at}_{index}") for index, call in enumerate(body.tool_calls))
            waiting = list(calls)
        elif body.role == "tool":
            answered = _answered(body, waiting)
            waiting = [call for call in waiting if call is not answered]
        messages.append(
            Message(
                role=body.role,
                parts=_parts(body, at),
                reasoning=body.thinking,
                tool_calls=calls,
                tool_call_id=answered.id if answered is not None else body.tool_call_id,
                name=answered.name if answered is not None else body.tool_name,
            )
        )
    return tuple(messages)


def _answered(result: OllamaMessage, waiting: Sequence[ToolCall]) -> ToolCall | None:
    """The call that a result answers, None where nothing says which."""
    if result.tool_call_id:
        return next((call for call in waiting if call.id == result.tool_call_id), None)
    if result.tool_name:
        return next((call for call in waiting if call.name == result.tool_name), None)
    return next(iter(waiting), None)


def _parts(body: OllamaMessage, at: int) -> tuple[Part, ...]:
    """The pictures, then the text, as Ollama puts them."""
    pictures: list[ImagePart] = [
        picture(image, f"messages[{at}].images[{index}]") for index, image in enumerate(body.images)
    ]
    text = (TextPart(body.content),) if body.content or not pictures else ()
    return (*pictures, *text)
