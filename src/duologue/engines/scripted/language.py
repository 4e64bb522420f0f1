"""The scripted engine: a language engine that plays a script from the user's message, the same way every time.

It ships with the package and runs the whole system without a model: tests, examples, benchmarks, a first try.
Text is its own tokens (one a byte). It answers the last user message, or a prompt without a template, whose script is read by `script`.

With `kind: chat` in its options it is a chat engine instead of a prompt engine; `modalities` are then what it takes. With
`kind: embedding` or `kind: reranker` it makes vectors or scores (`hashed_vectors.py`), with `duplex` it is an omni engine (`omni.py`).
"""

from __future__ import annotations

import os
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager
from datetime import datetime
from typing import Any

import anyio
from anyio.lowlevel import checkpoint

from duologue.engines.choice_contracts import check_tokens
from duologue.engines.contracts import Generation, GenerationEnded, Piece
from duologue.engines.embedding_contracts import ModelEngine
from duologue.engines.scripted.hashed_vectors import CONTEXT as HASHED_CONTEXT
from duologue.engines.scripted.hashed_vectors import DIMENSIONS, KINDS, HashedVectors
from duologue.engines.scripted.script import (
    THOUGHT_BEGINS,
    ScriptStep,
    format_of,
    number_of,
    opening_of,
    parse_script,
    remaining,
    turn_of,
)
from duologue.errors import DeviceLost, EngineFailed
from duologue.text.output.reasoning_tags import ReasoningTags
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
from duologue.values.questions.worker_answers import Tokenized
from duologue.values.questions.worker_questions import DetokenizeTokens, TokenizeText
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
TURN = "<|im_start|>"
ASSISTANT = f"{TURN}assistant\n"
_USER = re.compile(r"<\|im_start\|>user\n(.*?)<\|im_end\|>", re.DOTALL)


class ScriptedTemplate:
    """A template that is ours, so it is rendered in this process. Implements `contracts.PromptTemplate`."""

    bos = eos = ""

    def __init__(self, source: str = TEMPLATE) -> None:
        self.source = source
        self.chat = ChatTemplate(source)

    @property
    def stop_strings(self) -> tuple[str, ...]:
        return self.chat.stop_strings

    @property
    def reasoning(self) -> ReasoningTags | None:
        return self.chat.reasoning

    async def render(self, request: PromptRequest, now: datetime) -> RenderedPrompt:
        """Raises BadRequest for a `/format` that is none, besides the template's own."""
        rendered = self.chat.prompt(request, now)
        script = next((message.text for message in reversed(request.messages) if message.role == "user"), "")
        text, head = rendered.text, rendered.head
        if text.endswith(ASSISTANT) and (opening := opening_of(script)):
            head = text + opening if head == text else head
            text += opening
        return RenderedPrompt(text, head, format_of(script))


class ScriptedEngine:
    """A prompt engine that plays scripts. Implements `contracts.PromptEngine`."""

    def __init__(self, name: str = "scripted", slots: int = SLOTS, context: int = CONTEXT) -> None:
        self.template = ScriptedTemplate()
        self.card = ModelCard(
            name=name,
            engine="scripted",
            context=context,
            trained_context=context,
            vocabulary=256,
            slots=slots,
            description="Plays scripts; no model behind it.",
            modalities=("text",),
            device="cpu",
            verbs=(
                "prefill",
                "count",
                "continue",
                "raw",
                "logprobs",
                "tools",
                "thinking",
                "effort",
                "reasoning_end",
            ),
            sampling=tuple(field for field in Sampling.__struct_fields__ if field in _APPLIED),
            defaults={"max_tokens": -1},
            tool_format="hermes",
            thoughts=THOUGHT_BEGINS,
        )
        self._cache: dict[int, bytes] = {}

    async def tokenize(self, text: str, *, start: bool = True) -> tuple[int, ...]:
        return tuple(text.encode())

    async def text_tokens(self, question: TokenizeText) -> Tokenized:
        """See `choice_contracts.TokenTeller`. There are no control tokens."""
        data = question.text.encode(errors="replace")
        return Tokenized(tuple(data), tuple(bytes([byte]) for byte in data) if question.pieces else ())

    async def tokens_text(self, question: DetokenizeTokens) -> str:
        check_tokens(question.tokens, 256, self.card.name)
        return bytes(question.tokens).decode(errors="replace")

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
                count, pause = int(step.number), number_of("read", step.text) / 1000
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
        steps = _steps_left(prompt.decode(errors="replace"))
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


async def load(options: dict[str, Any]) -> ModelEngine:
    """The scripted engine. Options: name, slots, context, kind (prompt, chat, embedding or reranker), dimensions (of an embedding
    model), modalities (of a chat engine), duplex and what `omni.DuplexScript` has."""
    name = str(options.get("name") or "scripted")
    slots = int(options.get("slots") or SLOTS)
    if options.get("duplex"):
        # Its file imports this one.
        from duologue.engines.scripted.omni import load_omni

        return load_omni(name, slots, int(options.get("context") or CONTEXT), options)
    if (task := KINDS.get(options.get("kind"))) is not None:
        return HashedVectors(
            name,
            task,
            slots,
            dimensions=int(options.get("dimensions") or DIMENSIONS),
            context=int(options.get("context") or HASHED_CONTEXT),
        )
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


def _last_user(prompt: str, *, whole: bool = False) -> str:
    """The part of the last user message that is to be played now; all of it if `whole`."""
    if TURN not in prompt:
        return prompt
    messages = list(_USER.finditer(prompt))
    if not messages or whole:
        return messages[-1][1] if messages else ""
    answers = prompt.count(ASSISTANT, messages[-1].end())
    return turn_of(messages[-1][1], max(0, answers - 1))  # the last one is the reply to be generated


def _steps_left(prompt: str) -> list[ScriptStep]:
    """What the reply that this prompt ends in has still to play. A prompt without a template is a script as a whole."""
    if TURN not in prompt:
        return parse_script(prompt)
    script = _last_user(prompt, whole=True)
    begun = prompt.rpartition(ASSISTANT)[2].removeprefix(opening_of(script))
    format = format_of(script)
    tags = None if format is None else format.reasoning
    steps = parse_script(_last_user(prompt))
    return (
        remaining(steps, begun)
        if tags is None
        else remaining(steps, begun, tags.start, tags.closing or tags.end)
    )


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
            case "freeze":
                with anyio.CancelScope(shield=True):
                    await anyio.sleep_forever()
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
            case "say" | "repeat" | "raw":
                words = step.words
                for _ in range(int(step.number) if step.verb == "repeat" else 1):
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
