"""The scripted engine: a language engine that plays a script from the user's message, the same way every time.

It ships with the package and runs the whole system without a model: tests, examples, benchmarks, a first try.
Text is its own tokens (one a byte). It answers the last user message. Each line of that message that starts with a
slash is a step; a message without steps is answered with "You said: ...":

    /say TEXT        write TEXT, a word at a time ("\\n" is a line break); may hold <think> and <tool_call>
    /repeat N TEXT   write TEXT N times, each as one piece
    /pace MS         from here on wait MS milliseconds before each piece
    /read N MS       while reading the prompt, report N steps, MS milliseconds apart
    /wait MS         wait once
    /hang            write nothing more until cancelled
    /length          end as if the token limit was reached
    /fail TEXT       fail with TEXT as the sentence
    /lose TEXT       lose the device: fail with TEXT, and end the worker after it
    /crash           end the worker process at once, as a fault in a library would
    /got             write what the request has besides text, one word for each part (chat and omni engines only)
    /then            what follows belongs to the next turn of the same reply, after the results of the tools that were
                     called in this one; without it the last turn is repeated

A reply that is continued resumes after its text so far: that text, and the step that ended it, are not played again.

With `kind: chat` in its options it is a chat engine instead of a prompt engine; `modalities` are then what it takes. With
`duplex` it is an omni engine (`omni.py`).
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager
from datetime import datetime
from typing import Any

import anyio
from anyio.lowlevel import checkpoint
from msgspec import Struct

from duologue.engines.contracts import Generation, GenerationEnded, LanguageEngine, Piece
from duologue.errors import BadRequest, DeviceLost, EngineFailed
from duologue.text.output.channels import ReasoningTags
from duologue.text.templates.chat_template import ChatTemplate
from duologue.text.templates.prompt_request import PromptRequest, RenderedPrompt
from duologue.values.events import (
    Done,
    Event,
    Finish,
    Prefilled,
    Progress,
    Started,
    TextDelta,
    TokenLogprob,
    Usage,
)
from duologue.values.messages import AudioPart, TextPart
from duologue.values.requests import ChatRequest, ModelCard, Sampling

TEMPLATE = (
    "{%- if tools %}<|im_start|>system\n# Tools\n<tools>\n{% for tool in tools %}{{ tool | tojson }}\n{% endfor %}"
    "</tools>\nAnswer with <tool_call> to call one.<|im_end|>\n{% endif -%}"
    "{%- for message in messages -%}<|im_start|>{{ message.role }}\n{{ message.content }}"
    "{%- for call in message.tool_calls or [] %}<tool_call>{{ call.function | tojson }}</tool_call>{% endfor -%}"
    "<|im_end|>\n{% endfor -%}"
    "{%- if add_generation_prompt -%}<|im_start|>assistant\n"
    "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif -%}{% endif -%}"
)
SLOTS = 64
CONTEXT = 1_000_000
LARGEST = 1_000_000_000
THOUGHT_BEGINS = "<think>"
THOUGHT_ENDS = "</think>"
_USER = re.compile(r"<\|im_start\|>user\n(.*?)<\|im_end\|>", re.DOTALL)
_WORDS = re.compile(r"\s*\S+\s*")


class ScriptStep(Struct, frozen=True):
    """One line of a script."""

    verb: str
    number: float = 0.0
    text: str = ""


_THEN = re.compile(r"^\s*/then\s*$\n?", re.MULTILINE)
_STEP = re.compile(r"/(say|repeat|pace|read|wait|hang|length|fail|lose|crash|got)\b ?(.*)")
_ENDING = {"hang", "length", "fail", "lose", "crash"}
_NUMBERED = {"repeat", "pace", "read", "wait"}


def parse_script(message: str) -> list[ScriptStep]:
    """The steps of a user's message; without any, an echo of it."""
    steps = []
    for line in message.splitlines():
        if (match := _STEP.fullmatch(line.lstrip())) is None:
            continue
        verb, rest = match.groups()
        number = 0.0
        if verb in _NUMBERED:
            head, _, rest = rest.partition(" ")
            number = _number(verb, head)
        steps.append(ScriptStep(verb, number, rest.replace("\\n", "\n")))
    return steps or [ScriptStep("say", text=f"You said: {message}")]


def turn_of(message: str, turns: int) -> str:
    """The part of a user's message that is played once `turns` turns have answered it."""
    parts = _THEN.split(message)
    return parts[min(turns, len(parts) - 1)]


def remaining(steps: list[ScriptStep], reply: str) -> list[ScriptStep]:
    """The steps that a reply with this text so far still has to play; all of them where its text is another.

    A thought that was cut short counts as finished. The empty thought of a template without thinking is the template's,
    not the script's.
    """
    thought, ended, answer = reply.rpartition(THOUGHT_ENDS)
    if ended and not thought.removeprefix(THOUGHT_BEGINS).strip():
        reply, ended = answer.lstrip("\n"), ""
    left, rest = (answer.lstrip("\n"), _after_thought(steps)) if ended else (reply, list(steps))
    paces: list[ScriptStep] = []
    while left and rest:
        step = rest.pop(0)
        if step.verb == "pace":
            paces.append(step)
        if step.verb not in ("say", "repeat"):
            continue
        text = step.text * (int(step.number) if step.verb == "repeat" else 1)
        if text.startswith(left):
            rest, left = [ScriptStep("say", text=text[len(left) :]), *rest] if text != left else rest, ""
        elif left.startswith(text):
            left = left[len(text) :]
        else:
            return steps
    if left:
        return steps
    if reply and rest and rest[0].verb in _ENDING:
        rest.pop(0)
    return [*paces, *rest]


def _after_thought(steps: Sequence[ScriptStep]) -> list[ScriptStep]:
    """The steps after the first thought; all of them where there is none."""
    for at, step in enumerate(steps):
        _, ended, behind = step.text.partition(THOUGHT_ENDS)
        if step.verb == "say" and ended:
            paces = [before for before in steps[:at] if before.verb == "pace"]
            return [*paces, ScriptStep("say", text=behind), *steps[at + 1 :]]
    return list(steps)


def _number(verb: str, text: str) -> float:
    try:
        number = float(text or 0)
    except ValueError:
        number = math.nan
    if not 0 <= number <= LARGEST:
        raise BadRequest(f"/{verb} takes numbers from 0 to {LARGEST:,}, not {text!r}.", param="messages")
    return number


class ScriptedTemplate:
    """A template that is ours, so it is rendered in this process. Implements `contracts.PromptTemplate`."""

    def __init__(self, source: str = TEMPLATE) -> None:
        self.chat = ChatTemplate(source)

    @property
    def reasoning(self) -> ReasoningTags | None:
        return self.chat.reasoning

    async def render(self, request: PromptRequest, now: datetime) -> RenderedPrompt:
        return self.chat.prompt(request, now)


class ScriptedEngine:
    """A prompt engine that plays scripts. Implements `contracts.PromptEngine`."""

    def __init__(self, name: str = "scripted", slots: int = SLOTS, context: int = CONTEXT) -> None:
        self.template = ScriptedTemplate()
        self.card = ModelCard(
            name=name,
            engine="scripted",
            context=context,
            trained_context=context,
            slots=slots,
            description="Plays scripts; no model behind it.",
            modalities=("text",),
            device="cpu",
            verbs=("prefill", "count", "continue", "logprobs", "tools", "thinking", "effort"),
            sampling=tuple(field for field in Sampling.__struct_fields__ if field in _APPLIED),
            defaults={"max_tokens": -1},
            tool_format="hermes",
        )
        self._cache: dict[int, bytes] = {}

    async def tokenize(self, text: str, *, start: bool = True) -> tuple[int, ...]:
        return tuple(text.encode())

    def cached_tokens(self, slot: int, tokens: Sequence[int]) -> int:
        return _common(self._cache.get(slot, b""), bytes(tokens))

    @asynccontextmanager
    async def prefill(self, slot: int, tokens: Sequence[int]) -> AsyncIterator[AsyncIterator[Progress]]:
        async with aclosing(self._read(slot, bytes(tokens))) as progress:
            yield progress

    async def _read(self, slot: int, prompt: bytes) -> AsyncGenerator[Progress]:
        """Read the prompt; a message that is cached already is not read again, and its `/read` not played."""
        cached = _common(self._cache.get(slot, b""), prompt)
        self._cache[slot] = prompt
        total = len(prompt)
        is_new = cached < prompt.rfind(b"<|im_end|>")
        for step in parse_script(_last_user(prompt.decode(errors="replace"))) if is_new else ():
            if step.verb == "read":
                count, pause = int(step.number), _number("read", step.text) / 1000
                for part in range(count):
                    yield Progress(cached + (total - cached) * part // count, total, cached)
                    await anyio.sleep(pause)
        yield Progress(total, total, cached)

    @asynccontextmanager
    async def generate(
        self, slot: int, tokens: Sequence[int], generation: Generation
    ) -> AsyncIterator[AsyncIterator[Piece | Progress | GenerationEnded]]:
        async with aclosing(self._reply(slot, bytes(tokens), generation)) as items:
            yield items

    async def _reply(
        self, slot: int, prompt: bytes, generation: Generation
    ) -> AsyncGenerator[Piece | Progress | GenerationEnded]:
        async with aclosing(self._read(slot, prompt)) as progress:
            async for step in progress:
                yield step
        text = prompt.decode(errors="replace")
        steps = remaining(parse_script(_last_user(text)), text.rpartition("<|im_start|>assistant\n")[2])
        async with _play_limited(steps, generation.sampling) as items:
            async for item in items:
                yield item

    async def close(self) -> None:
        """Nothing to free."""


_APPLIED = {"max_tokens", "logprobs"}


class ScriptedChatEngine:
    """A chat engine that plays scripts. Implements `contracts.ChatEngine`."""

    def __init__(
        self, name: str = "scripted", slots: int = SLOTS, modalities: Sequence[str] = ("text",)
    ) -> None:
        self.card = ModelCard(
            name=name,
            engine="scripted",
            context=CONTEXT,
            slots=slots,
            description="Plays scripts; no model behind it.",
            modalities=tuple(modalities),
            sampling=("max_tokens",),
            defaults={"max_tokens": -1},
        )

    @asynccontextmanager
    async def chat(self, slot: int, request: ChatRequest) -> AsyncIterator[AsyncIterator[Event]]:
        async with aclosing(self._events(request)) as events:
            yield events

    async def _events(self, request: ChatRequest) -> AsyncGenerator[Event]:
        text = next((message.text for message in reversed(request.messages) if message.role == "user"), "")
        yield Started(self.card.name, self.card.context)
        yield Prefilled(None)
        steps = [
            ScriptStep("say", text=" ".join(_got(request))) if step.verb == "got" else step
            for step in parse_script(text)
        ]
        async with _play_limited(steps, request.sampling) as items:
            async for item in items:
                if isinstance(item, GenerationEnded):
                    yield Done(item.finish, Usage(output=item.generated, estimated=True))
                else:
                    yield TextDelta(item.text)

    async def close(self) -> None:
        """Nothing to free."""


async def load(options: dict[str, Any]) -> LanguageEngine:
    """The scripted engine. Options: name, slots, context, kind (prompt or chat), modalities (of a chat engine), duplex and what
    `omni.DuplexScript` has."""
    name = str(options.get("name") or "scripted")
    slots = int(options.get("slots") or SLOTS)
    if options.get("duplex"):
        # Its file imports this one.
        from duologue.engines.scripted.omni import load_omni

        return load_omni(name, slots, int(options.get("context") or CONTEXT), options)
    if options.get("kind") == "chat":
        return ScriptedChatEngine(name, slots, options.get("modalities") or ("text",))
    return ScriptedEngine(name, slots, int(options.get("context") or CONTEXT))


def _got(request: ChatRequest) -> Iterator[str]:
    """What the request has besides text: pictures and videos by type and size in bytes, sound by its milliseconds."""
    for message in request.messages:
        for part in message.parts:
            if isinstance(part, AudioPart):
                yield f"audio:{len(part.data) // 4 * 1000 // part.rate}ms"
            elif not isinstance(part, TextPart):
                yield f"{part.mime}:{len(part.data)}"


def _common(one: bytes, other: bytes) -> int:
    """Length of the common beginning, in bytes."""
    return next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def _last_user(prompt: str) -> str:
    """The part of the last user message that is to be played now."""
    messages = list(_USER.finditer(prompt))
    if not messages:
        return ""
    answers = prompt.count("<|im_start|>assistant\n", messages[-1].end())
    return turn_of(messages[-1][1], max(0, answers - 1))  # the last one is the reply to be generated


@asynccontextmanager
async def _play_limited(
    steps: Sequence[ScriptStep], sampling: Sampling
) -> AsyncIterator[AsyncIterator[Piece | GenerationEnded]]:
    """The output of the steps, within the limits of the request. Both generators end with the context."""
    async with aclosing(_play(steps)) as pieces, aclosing(_limited(pieces, sampling)) as items:
        yield items


async def _play(steps: Sequence[ScriptStep]) -> AsyncGenerator[str | GenerationEnded]:
    """The pieces of the steps. Yields to the event loop at each, as a real engine's steps do."""
    pace = 0.0
    for step in steps:
        match step.verb:
            case "pace":
                pace = step.number / 1000
            case "wait":
                await anyio.sleep(step.number / 1000)
            case "hang":
                await anyio.sleep_forever()
            case "fail":
                raise EngineFailed(step.text or "The script asked for a failure.", code="scripted_failure")
            case "lose":
                raise DeviceLost(step.text or "The script asked for a lost device.")
            case "crash":
                os._exit(70)
            case "length":
                yield GenerationEnded("length", 0)
                return
            case "say" | "repeat":
                count = int(step.number) if step.verb == "repeat" else 1
                words = [step.text] if step.verb == "repeat" else _WORDS.findall(step.text)
                for _ in range(count):
                    for word in words:
                        await (anyio.sleep(pace) if pace else checkpoint())
                        yield word
    yield GenerationEnded("stop", 0)


async def _limited(
    items: AsyncIterator[str | GenerationEnded], sampling: Sampling
) -> AsyncGenerator[Piece | GenerationEnded]:
    """Count the pieces, cut them off at the token limit, and add logprobs where those were requested."""
    generated = 0
    finish: Finish = "stop"
    async for item in items:
        if isinstance(item, GenerationEnded):
            finish = item.finish
            break
        if sampling.max_tokens is not None and generated >= sampling.max_tokens:
            finish = "length"
            break
        generated += 1
        if sampling.logprobs is None:
            yield Piece(item)
        else:
            yield Piece(item, logprobs=(TokenLogprob(item, 0.0, item.encode()),))
    yield GenerationEnded(finish, generated)
