"""One model turn: a request in, the one stream of events out, ending with exactly one terminal event; or only its count.

Owns the order of things (check, render, prefill, generate, split, finish) and the only knowledge of the two kinds of
language engine. Knows no socket, no queue and no dialect.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

import msgspec
from msgspec import Struct

from duologue.engines.contracts import (
    ChatEngine,
    Generation,
    GenerationEnded,
    LanguageEngine,
    Piece,
    PromptEngine,
)
from duologue.errors import BadRequest, ContextExceeded, Problem, Unsupported
from duologue.sessions.chat.constraint import offered_tools, shape
from duologue.sessions.chat.logprobs import Alignment
from duologue.sessions.chat.spoken_prompt import for_the_ear
from duologue.sessions.chat.thinking_budget import BEHIND_THOUGHT, THOUGHT_TOKENS, ThinkingBudget
from duologue.text.output.channels import ChannelMachine
from duologue.text.stream.repetition import Repetition
from duologue.text.stream.stops import StopMachine
from duologue.text.templates.chat_template import ChatTemplate, starts_in_reasoning
from duologue.text.toolcalls import tool_format
from duologue.values.events import (
    Delta,
    Done,
    Event,
    Failed,
    Finish,
    Prefilled,
    Progress,
    Started,
    TextDelta,
    Timings,
    ToolCallDelta,
    Usage,
)
from duologue.values.messages import AudioPart, ImagePart, TextPart, VideoPart
from duologue.values.requests import ChatRequest, ModelCard, unmet

TOGETHER = 256
"""New tokens up to which a prompt is read together with the generation prompt, in one batch: reading it apart would
tell nobody anything and costs the first token a millisecond or more."""
LITTLE = 16
"""New tokens up to which nothing is read ahead: the reply's own request reads them as soon."""
BYTES_A_TOKEN = 3.6
"""Bytes of UTF-8; English has a little more, code and most other languages less."""
TOKENS_A_MESSAGE = 4
FAR_TOO_LONG = 4
"""Times the context: nobody needs the exact number of such a prompt, and counting it would keep replies waiting."""
MEDIA_TOKENS: dict[type, int] = {TextPart: 0, ImagePart: 1024, AudioPart: 512, VideoPart: 4096}
"""What a part of each kind is taken for where the engine cannot say."""

Emit = Callable[[Event], Awaitable[None]]
Clock = Callable[[], float]


async def reply(
    engine: LanguageEngine, slot: int, request: ChatRequest, emit: Emit, *, now: datetime, clock: Clock
) -> None:
    """Run one turn in `slot`, emitting its events. `clock` gives seconds; `now` is told to the template.

    Problems become `Failed`. Cancelling it ends the engine's work first; nothing terminal is emitted then.
    """
    try:
        _check(engine.card, request)
        if request.spoken:
            request = for_the_ear(request, engine.card)
        if isinstance(engine, PromptEngine):
            await _PromptTurn(engine, slot, request, emit, clock).run(now)
        else:
            await _relay(engine, slot, request, emit)
    except Problem as problem:
        await emit(Failed(problem.code, problem.message, problem.status, problem.param))


class PromptTokens(Struct, frozen=True):
    """Tokens of a prompt, and of the `context` one chat has (0: not known)."""

    tokens: int
    context: int
    estimated: bool = False


async def count(engine: LanguageEngine, request: ChatRequest, *, now: datetime) -> PromptTokens:
    """The tokens a reply to `request` would begin with, rendered as `reply` renders them; `now` is told to the
    template. It takes no slot. What the engine cannot count is estimated: all of it on a chat engine, pictures, sound
    and film on any, and what is far too long for the context. Raises the Problems of rendering.
    """
    if request.spoken:
        request = for_the_ear(request, engine.card)
    context = engine.card.context
    media = sum(MEDIA_TOKENS[type(part)] for message in request.messages for part in message.parts)
    if not isinstance(engine, PromptEngine):
        return PromptTokens(_estimated(request) + media, context, estimated=True)
    if not request.messages:
        return PromptTokens(0, context)
    text = _rendered(engine.template, request, now)
    rough = math.ceil(len(text.encode(errors="replace")) / BYTES_A_TOKEN)
    if rough > FAR_TOO_LONG * context:
        return PromptTokens(rough + media, context, estimated=True)
    return PromptTokens(len(await engine.tokenize(text)) + media, context, estimated=media > 0)


def _estimated(request: ChatRequest) -> int:
    """Roughly the tokens of a prompt's text."""
    size = sum(len(msgspec.json.encode(tool)) for tool in offered_tools(request))
    for message in request.messages:
        written = (message.text, message.reasoning or "", *(call.arguments for call in message.tool_calls))
        size += sum(len(text.encode(errors="replace")) for text in written)
    return math.ceil(size / BYTES_A_TOKEN) + TOKENS_A_MESSAGE * len(request.messages)


def _rendered(
    template: ChatTemplate, request: ChatRequest, now: datetime, *, generation_prompt: bool = True
) -> str:
    """The prompt of a request; one that continues its last message has no generation prompt."""
    variables = request.template_variables
    if request.effort is not None:  # some models were trained on the word
        variables = {"reasoning_effort": request.effort, **variables}
    if request.continue_final:
        return template.render_open(
            request.messages,
            tools=offered_tools(request),
            thinking=request.thinking,
            variables=variables,
            now=now,
        )
    return template.render(
        request.messages,
        tools=offered_tools(request),
        generation_prompt=generation_prompt,
        thinking=request.thinking,
        variables=variables,
        now=now,
    )


def _check(card: ModelCard, request: ChatRequest) -> None:
    """Refuse what the model cannot take, naming the part."""
    if not request.messages:
        raise BadRequest("messages must hold at least one message.", param="messages")
    if (lack := unmet(card, request)) is not None:
        raise Unsupported(lack.message, param=lack.param)


def ignored(card: ModelCard, request: ChatRequest) -> tuple[str, ...]:
    """The names of request fields that change nothing here: unknown ones and those the engine cannot apply."""
    asked = set(request.sampling.asked()) - {"max_tokens"} - set(card.sampling)
    if request.effort is not None and request.thinking is not False and "effort" not in card.verbs:
        asked.add("reasoning_effort")
    return (*sorted(asked), *request.unapplied, *request.unknown)


async def _relay(engine: ChatEngine, slot: int, request: ChatRequest, emit: Emit) -> None:
    """A chat engine makes the events itself; what it ignores is added here. It reads nothing ahead."""
    if request.ahead:
        await emit(Done("stop"))
        return
    left_out = ignored(engine.card, request)
    async with engine.chat(slot, request) as events:
        async for event in events:
            if isinstance(event, Prefilled) and left_out:
                event = msgspec.structs.replace(event, ignored=(*event.ignored, *left_out))
            await emit(event)


class _PromptTurn:
    """A turn on a prompt engine: the template around it, the text machine behind it."""

    def __init__(
        self, engine: PromptEngine, slot: int, request: ChatRequest, emit: Emit, clock: Clock
    ) -> None:
        self.engine = engine
        self.slot = slot
        self.request = request
        self.emit = emit
        self.clock = clock
        self.began = clock()
        self.prefilled: float | None = None
        self.first: float | None = None
        self.cached = 0
        self.generated = 0
        self.reasoning = 0
        self.unthinking = False
        """No thought may begin any more."""

    async def run(self, now: datetime) -> None:
        if self.request.ahead:
            await self._read_ahead(now)
            return
        head, prompt = self._render(now)
        tags = self.engine.template.reasoning
        # A template says that nothing is to be thought by a thought that is over.
        self.unthinking = head == prompt or (tags is not None and tags.end in prompt[len(head) :])
        tokens = await self.engine.tokenize(prompt)
        card = self.engine.card
        if len(tokens) >= card.context:
            raise ContextExceeded(
                f"The conversation takes {len(tokens)} tokens, but this model has room for {card.context} with "
                "the reply. Shorten it or start a new chat.",
                param="messages",
            )
        await self.emit(Started(card.name, card.context))
        if len(tokens) - self.engine.cached_tokens(self.slot, tokens) > TOGETHER:
            await self._prefill(await self._kept(head, prompt, tokens), tokens)
        machine = self._machine(head, prompt)
        ended, stop = await self._generate(tokens, machine)
        finished = self.clock()
        prefilled = finished if self.prefilled is None else self.prefilled
        await self.emit(
            Done(
                "tool_calls" if self._called_enough(machine) else _finish(ended, stop, machine),
                Usage(len(tokens), ended.generated, self.cached, self.reasoning),
                Timings(
                    prefill=(prefilled - self.began) * 1000,
                    generate=(finished - prefilled) * 1000,
                    first=((self.first or finished) - self.began) * 1000,
                ),
                stop,
            )
        )

    async def _read_ahead(self, now: datetime) -> None:
        """Read the prompt into the slot, and that is all: whoever asks for the reply finds it there. What is too long is
        refused then."""
        head = _rendered(self.engine.template, self.request, now, generation_prompt=False)
        tokens = await self.engine.tokenize(head)
        new = len(tokens) - self.engine.cached_tokens(self.slot, tokens)
        if new > LITTLE and len(tokens) < self.engine.card.context:
            await self._prefill(tokens, tokens)
        await self.emit(Done("stop", Usage(len(tokens), 0, self.cached)))

    def _render(self, now: datetime) -> tuple[str, str]:
        """The prompt without and with the generation prompt; the same text twice when a reply is continued."""
        request, template = self.request, self.engine.template
        if request.continue_final:
            prompt = _rendered(template, request, now)
            return prompt, prompt
        head = _rendered(template, request, now, generation_prompt=False)
        return head, _rendered(template, request, now)

    async def _kept(self, head: str, prompt: str, tokens: Sequence[int]) -> Sequence[int]:
        """The tokens to prefill: those of the rendering without the generation prompt.

        The generation prompt's few tokens are the same every time, and end the whole's. Where they do not, because a
        tokenizer merged across the seam or the template renders the two differently, it is what both have in common.
        """
        if head == prompt:
            return tokens
        if prompt.startswith(head):
            added = await self.engine.tokenize(prompt[len(head) :], start=False)
            if added and tuple(tokens[-len(added) :]) == added:
                return tokens[: -len(added)]
        alone = await self.engine.tokenize(head)
        common = next(
            (at for at, (left, right) in enumerate(zip(alone, tokens, strict=False)) if left != right),
            min(len(alone), len(tokens)),
        )
        return tokens[:common]

    async def _prefill(self, kept: Sequence[int], tokens: Sequence[int]) -> None:
        """Read the prompt into the slot before the generation prompt is appended to it."""
        if not kept:
            return
        last = Progress(0, 0)
        async with self.engine.prefill(self.slot, kept) as progress:
            async for last in progress:
                if last.processed < last.total:
                    await self.emit(msgspec.structs.replace(last, total=len(tokens)))
        await self._read(tokens, last.cached)

    async def _read(self, tokens: Sequence[int], cached: int) -> None:
        """The prompt is in the slot; said once."""
        if self.prefilled is None:
            self.prefilled, self.cached = self.clock(), cached
            await self.emit(Prefilled(len(tokens), cached, ignored(self.engine.card, self.request)))

    def _machine(self, head: str, prompt: str) -> ChannelMachine:
        card, template, request = self.engine.card, self.engine.template, self.request
        takes_calls = bool(offered_tools(request)) and bool(card.tool_format)
        tags = template.reasoning
        return ChannelMachine(
            tool_format=tool_format(card.tool_format) if takes_calls else None,
            reasoning=tags,
            start_in_reasoning=starts_in_reasoning(prompt, tags, None if request.continue_final else head),
            tools=request.tools,
            new_call_id=lambda: f"call_{secrets.token_hex(12)}",
            positions=request.sampling.logprobs is not None,
        )

    def _markers(self) -> tuple[str, ...]:
        """What must come out as text although a tokenizer may hold it for control tokens."""
        tags, name = self.engine.template.reasoning, self.engine.card.tool_format
        found = () if tags is None else (tags.start, tags.end)
        return found if not name else (*found, *tool_format(name).starts, *tool_format(name).ends)

    async def _generate(
        self, tokens: Sequence[int], machine: ChannelMachine
    ) -> tuple[GenerationEnded, str | None]:
        """Generate until the engine or a stop string ends it. A thought that is longer than it may be is closed, and
        the reply goes on behind it in the same slot, whose cache has all of it."""
        stops = StopMachine(self.request.stop) if self.request.stop else None
        aligned = Alignment() if self.request.sampling.logprobs is not None else None
        limit = self._thought_limit()
        # Done here and not by llama.cpp's own limit, which does not see a thought that the prompt leaves open.
        written: Sequence[int] = tokens
        while (ended := await self._write(written, machine, stops, aligned, limit)) is None:
            closing = f"\n{limit.end}"
            limit.closed(closing + BEHIND_THOUGHT)
            self.unthinking = True
            if aligned is not None:
                aligned.add(Piece(closing, 0))
            await self._say(machine.feed(closing), machine, stops, aligned)
            written = (*tokens, *await self.engine.tokenize(limit.text, start=False))
            most = self.request.sampling.max_tokens
            if len(written) >= self.engine.card.context or (most is not None and self.generated >= most):
                return GenerationEnded("length", self.generated), await self._last(machine, stops, aligned)
        return ended

    def _thought_limit(self) -> ThinkingBudget:
        request, tags = self.request, self.engine.template.reasoning
        if request.effort is None or tags is None or "effort" not in self.engine.card.verbs:
            return ThinkingBudget(None, "")
        return ThinkingBudget(THOUGHT_TOKENS[request.effort], tags.end)

    async def _write(
        self,
        tokens: Sequence[int],
        machine: ChannelMachine,
        stops: StopMachine | None,
        aligned: Alignment | None,
        limit: ThinkingBudget,
    ) -> tuple[GenerationEnded, str | None] | None:
        """Write on behind `tokens`; None when a thought has become too long."""
        before, sampling = self.generated, self.request.sampling
        if before and sampling.max_tokens is not None:
            sampling = msgspec.structs.replace(sampling, max_tokens=sampling.max_tokens - before)
        tool_format, tags = self.engine.card.tool_format, self.engine.template.reasoning
        grammar = shape(
            self.request, tool_format, tags, thinking=machine.thinking, unthinking=self.unthinking
        )
        format = self.request.format if grammar is None else None
        generation = Generation(sampling, format, self._markers(), grammar)
        repetition = Repetition()
        async with self.engine.generate(self.slot, tokens, generation) as items:
            async for item in items:
                if isinstance(item, Progress):
                    if item.processed >= item.total:
                        await self._read(tokens, item.cached)
                    elif self.prefilled is None:
                        await self.emit(item)
                    continue
                if self.prefilled is None:
                    await self._read(tokens, 0)
                if isinstance(item, GenerationEnded):
                    stop = await self._last(machine, stops, aligned)
                    return msgspec.structs.replace(item, generated=before + item.generated), stop
                self.generated += item.tokens
                if aligned is not None:
                    aligned.add(item)
                deltas = machine.feed(item.text)
                if machine.thinking:
                    self.reasoning += item.tokens
                if deltas:
                    stop = await self._say(deltas, machine, stops, aligned)
                    if stop is not None or self._called_enough(machine):
                        return GenerationEnded("stop", self.generated), stop
                if machine.in_call and repetition.feed(item.text):
                    # A grammar leaves no way out of a string but its end, which a lost model never finds.
                    return GenerationEnded("length", self.generated), await self._last(
                        machine, stops, aligned
                    )
                if limit.reached(item.text, self.reasoning) and machine.in_open_thought:
                    return None
        raise AssertionError("a generation must end with Ended")

    async def _last(
        self, machine: ChannelMachine, stops: StopMachine | None, aligned: Alignment | None
    ) -> str | None:
        """Say what was held back, now that nothing follows; the stop string that it completed."""
        stop = await self._say(machine.finish(), machine, stops, aligned)
        if stop is None and stops is not None and (rest := stops.finish()):
            await self.emit(TextDelta(rest))
        return stop

    def _called_enough(self, machine: ChannelMachine) -> bool:
        """Whether the one call that a request without parallel calls may have is complete."""
        return not self.request.parallel_tool_calls and machine.complete_calls > 0

    async def _say(
        self,
        deltas: list[Delta],
        machine: ChannelMachine,
        stops: StopMachine | None,
        aligned: Alignment | None,
    ) -> str | None:
        """Emit deltas; the stop string that one of them completed, after which nothing is said."""
        if self.first is None and deltas:
            self.first = self.clock()
        positions = machine.positions() if aligned is not None else ()
        for index, delta in enumerate(deltas):
            if isinstance(delta, ToolCallDelta) and delta.index and not self.request.parallel_tool_calls:
                return None
            if not isinstance(delta, TextDelta):
                await self.emit(delta)
                continue
            text, stop = (delta.text, None) if stops is None else stops.feed(delta.text)
            logprobs = aligned.take(positions[index], len(delta.text)) if aligned is not None else ()
            if text:
                await self.emit(TextDelta(text, logprobs))
            if stop is not None:
                return stop
        return None


def _finish(ended: GenerationEnded, stop: str | None, machine: ChannelMachine) -> Finish:
    """Honest: calls count only when complete and the model itself ended; a cut is a cut."""
    if stop is None and ended.finish == "stop" and machine.complete_calls and not machine.truncated:
        return "tool_calls"
    if machine.truncated and stop is None:
        return "length"
    return ended.finish
