"""The messages between a worker and the process of a chat template.

Used by `template_renderer` on one side and `template_process` on the other, as a stream of `message_stream`. Pure.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timezone
from types import MappingProxyType

from msgspec import Struct, structs

from duologue.errors import BadRequest, Problem
from duologue.text.templates.prompt_request import (
    TEMPLATE_ERROR,
    PromptRequest,
    RenderedPrompt,
    TemplateFacts,
)
from duologue.values.messages import TextPart

PROMPT = 16 * 1024 * 1024
"""Characters of a prompt; four for each token of the largest contexts there are."""


class RenderLimits(Struct, frozen=True):
    """What compiling and rendering may take; beyond it the process that does it is ended."""

    compile_seconds: float = 5.0
    """An ordinary template takes some hundredths of a second."""
    render_seconds: float = 2.0
    """An ordinary prompt takes less than a millisecond, one of 100,000 tokens some hundredths of a second."""
    memory: int = 512 * 1024 * 1024
    """Bytes of address space, added to those of the process with an empty template."""


class CompileTemplate(Struct, frozen=True, tag="compile"):
    """Sent first, once: the template. Answered by TemplateCompiled or TemplateFailed."""

    source: str
    bos: str
    eos: str
    limits: RenderLimits
    special: dict[str, str] = {}


class TemplateCompiled(Struct, frozen=True, tag="compiled"):
    """The template can render."""

    facts: TemplateFacts


class TemplateFailed(Struct, frozen=True, tag="failed"):
    """It could not be compiled, or refused the messages: the parts of the Problem. `last`: this renderer ends now."""

    message: str
    code: str
    status: int
    param: str | None
    last: bool = False


class RendererReady(Struct, frozen=True, tag="ready"):
    """Sent first by each renderer."""


class RenderPrompt(Struct, frozen=True, tag="render"):
    """Render a prompt. Answered by PromptRendered or TemplateFailed. `now` is local time in ISO form, `zone` the zone's name."""

    request: PromptRequest
    now: str
    zone: str


class PromptRendered(Struct, frozen=True, tag="rendered"):
    """The prompt as UTF-8: `head`, then `rest`. `rest` is the whole text where that does not begin with `head`. `last`:
    this renderer ends now."""

    head: bytes
    rest: bytes
    joined: bool
    last: bool = False


CompileAnswer = TemplateCompiled | TemplateFailed
RenderAnswer = RendererReady | PromptRendered | TemplateFailed


def compile_template(
    source: str, bos: str, eos: str, limits: RenderLimits, special: Mapping[str, str] = MappingProxyType({})
) -> CompileTemplate:
    """The message for a template; texts of a file may hold half a surrogate pair, which no encoding has."""
    source, bos, eos = (text.encode(errors="replace").decode() for text in (source, bos, eos))
    texts = {name: text.encode(errors="replace").decode() for name, text in special.items()}
    return CompileTemplate(source, bos, eos, limits, texts)


def render_prompt(request: PromptRequest, now: datetime) -> RenderPrompt:
    """The message for a request; pictures and sound stay here, as a template is given text alone."""
    messages = tuple(
        message
        if all(isinstance(part, TextPart) for part in message.parts)
        else structs.replace(message, parts=(TextPart(message.text),))
        for message in request.messages
    )
    return RenderPrompt(structs.replace(request, messages=messages), now.isoformat(), now.tzname() or "")


def local_time(message: RenderPrompt) -> datetime:
    """The time of a request, with its zone's name."""
    now = datetime.fromisoformat(message.now)
    offset = now.utcoffset()
    return now if offset is None else now.replace(tzinfo=timezone(offset, message.zone))


def prompt_rendered(prompt: RenderedPrompt, *, last: bool) -> PromptRendered:
    """The message for a rendered prompt. A template may write half a surrogate pair, which no encoding has. Raises BadRequest for
    a prompt that is too long."""
    joined = prompt.text.startswith(prompt.head)
    rest = prompt.text[len(prompt.head) :] if joined else prompt.text
    if len(prompt.head) + len(rest) > PROMPT:
        raise BadRequest(
            f"The model's chat template makes a prompt of more than {PROMPT:,} characters of these messages.",
            code=TEMPLATE_ERROR,
            param="messages",
        )
    return PromptRendered(prompt.head.encode(errors="replace"), rest.encode(errors="replace"), joined, last)


def rendered_prompt(message: PromptRendered) -> RenderedPrompt:
    """The prompt of a message."""
    head, rest = message.head.decode(), message.rest.decode()
    return RenderedPrompt(head + rest if message.joined else rest, head)


def template_failed(problem: Problem, *, last: bool = False) -> TemplateFailed:
    """The message for a Problem."""
    return TemplateFailed(problem.message, problem.code, problem.status, problem.param, last)


def as_problem(message: TemplateFailed) -> Problem:
    """The Problem of a message."""
    return BadRequest(message.message, code=message.code, status=message.status, param=message.param)
