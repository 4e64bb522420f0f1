"""Runs one reply of a language engine: a request in, a stream of events out that ends with exactly one terminal
event; or only counts the prompt.

worker/language.py calls it. Owns the order of things (check, render, prefill, generate, split, finish) and the
difference between the two kinds of language engine: one takes a prompt, the other takes messages.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from itertools import chain

import msgspec
from msgspec import Struct

from duologue.engines.choice_contracts import AdaptedEngine
from duologue.engines.contracts import (
    ChatEngine,
    Generation,
    GenerationEnded,
    LanguageEngine,
    ModelVoice,
    PromptEngine,
    SpokenSound,
)
from duologue.errors import BadRequest, ContextExceeded, DeviceLost, Problem, Unsupported
from duologue.sessions.chat.chat_prompt import ChatPrompt, render
from duologue.sessions.chat.constraint import check_constraint, offered_tools, reply_grammar
from duologue.sessions.chat.prompt_size import (
    FAR_TOO_LONG,
    check_fits,
    estimated_tokens,
    least_tokens,
    media_tokens,
    no_room,
    rough_tokens,
)
from duologue.sessions.chat.reply_controls import ReplyControls
from duologue.sessions.chat.spoken_prompt import speakable_request, styled_request
from duologue.sessions.chat.thinking_budget import THINKING_TOKENS, THOUGHT_SEPARATOR, ThinkingBudget
from duologue.text.output.channels import ChannelSplitter
from duologue.text.output.logprob_alignment import LogprobAlignment
from duologue.text.output.reply_format import ReplyFormat
from duologue.text.stream.repetition import RepetitionDetector
from duologue.text.stream.stops import StopMatcher
from duologue.text.templates.reasoning_start import starts_in_reasoning
from duologue.text.toolcalls.catalogue import tool_format
from duologue.values.events import (
    AudioDelta,
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
from duologue.values.requests import (
    ChatRequest,
    ModelCard,
    adapter_scales,
    unable,
    unapplied_media,
    unmet,
)

TOGETHER = 256
"""New tokens up to which a prompt is processed together with the generation prompt, in one batch: processing it
separately gives no useful progress and delays the first token by a millisecond or more."""
LITTLE = 16
"""New tokens up to which nothing is prefilled ahead: the reply's own request processes them just as fast."""
Emit = Callable[[Event], Awaitable[None]]
Clock = Callable[[], float]


async def reply(
    engine: LanguageEngine,
    slot: int,
    request: ChatRequest,
    emit: Emit,
    *,
    now: datetime,
    clock: Clock,
    controls: ReplyControls | None = None,
) -> None:
    """Run one reply in `slot`, emitting its events. `clock` gives seconds; `now` is passed to the template; `controls`: what its
    client still tells it.

    Problems become `Failed`; DeviceLost is raised after it. Cancelling it ends the engine's work first, and no terminal event is
    emitted then.
    """
    if request.prompt is not None:
        emit = _naming_prompt(emit)
    try:
        _check(engine.card, request)
        if request.spoken and request.prompt is None:
            request = await speakable_request(request, engine)
        if isinstance(engine, PromptEngine):
            check_fits(engine.card, request)
            check_constraint(request, engine.card.tool_format)
            if isinstance(engine, AdaptedEngine):
                engine.adapt(slot, adapter_scales(engine.card, request))
            await _PromptReply(engine, slot, request, emit, clock, controls or ReplyControls()).run(now)
        else:
            _check_whole_messages(engine.card, request)
            await _relay(engine, slot, request, emit)
    except Problem as problem:
        await emit(Failed(problem.code, problem.message, problem.status, problem.param))
        if isinstance(problem, DeviceLost):
            raise


def _naming_prompt(emit: Emit) -> Emit:
    """`emit` for a raw prompt: engines call every prompt `messages`."""

    async def emit_named(event: Event) -> None:
        if isinstance(event, Failed) and event.param == "messages":
            event = msgspec.structs.replace(event, param="prompt")
        await emit(event)

    return emit_named


class PromptTokens(Struct, frozen=True):
    """The tokens of a prompt, and the `context` that one chat has (0: unknown)."""

    tokens: int
    context: int
    estimated: bool = False


async def count(engine: LanguageEngine, request: ChatRequest, *, now: datetime) -> PromptTokens:
    """The tokens that a reply to `request` would begin with, rendered as `reply` renders them; `now` is passed to the
    template. Needs no slot. What the engine cannot count is estimated: everything on a chat engine, media on any, and
    prompts far beyond the context. Raises the Problems of rendering."""
    if request.spoken and request.prompt is None:
        request = styled_request(request)
    context, media = engine.card.context, media_tokens(request)
    estimate = PromptTokens(estimated_tokens(request) + media, context, estimated=True)
    if not isinstance(engine, PromptEngine):
        return estimate
    if not request.messages and request.prompt is None:
        return PromptTokens(0, context)
    if least_tokens(request) > FAR_TOO_LONG * context:
        return estimate
    prompt = await render(engine, request, now, "full")
    if (rough := rough_tokens(prompt.text)) > FAR_TOO_LONG * context:
        return PromptTokens(rough + media, context, estimated=True)
    if prompt.media:  # the engine counts them
        media = 0
    try:
        return PromptTokens(len(await prompt.tokens()) + media, context, estimated=media > 0)
    except ContextExceeded:  # so long that the engine gave up counting
        return PromptTokens(max(rough, FAR_TOO_LONG * context) + media, context, estimated=True)


def _check(card: ModelCard, request: ChatRequest) -> None:
    """Refuse what the model cannot take, naming the parameter."""
    if not request.messages and request.prompt is None:
        raise BadRequest("messages must contain at least one message.", param="messages")
    # What each model of a connected server takes only the gateway knows.
    lack = unable(card, request) if request.upstream_model else unmet(card, request)
    if lack is not None:
        raise Unsupported(lack.message, code=lack.code, param=lack.param)


def _check_whole_messages(card: ModelCard, request: ChatRequest) -> None:
    """Refuse what only an engine that is given a prompt can do."""
    for param, asked in (
        ("response_prefix", bool(request.prefix)),
        ("add_generation_prompt", not request.generation_prompt),
    ):
        if asked:
            raise Unsupported(
                f"{param}: the model {card.name} takes messages, not a prompt; leave the field out.",
                param=param,
            )


def ignored(card: ModelCard, request: ChatRequest) -> tuple[str, ...]:
    """The names of request fields without effect here: unknown ones, and those that the engine cannot apply."""
    names = set(request.sampling.asked()) - {"max_tokens"} - set(card.sampling)
    if request.thinking is not False and "effort" not in card.verbs:
        names |= {"reasoning_effort"} if request.effort is not None else set()
        names |= {"reasoning_budget_tokens"} if request.thinking_tokens is not None else set()
    return (*sorted(names), *unapplied_media(card, request), *request.unapplied, *request.unknown)


async def _relay(engine: ChatEngine, slot: int, request: ChatRequest, emit: Emit) -> None:
    """Pass on the events of a chat engine, adding what it ignores. It cannot prefill ahead."""
    if request.ahead:
        await emit(Done("stop"))
        return
    unapplied = ignored(engine.card, request)
    async with engine.chat(slot, request) as events:
        async for event in events:
            if isinstance(event, Prefilled) and unapplied:
                event = msgspec.structs.replace(event, ignored=(*event.ignored, *unapplied))
            await emit(event)


class _PromptReply:
    """A reply of a prompt engine: renders the template before it, splits the text after it."""

    def __init__(
        self,
        engine: PromptEngine,
        slot: int,
        request: ChatRequest,
        emit: Emit,
        clock: Clock,
        controls: ReplyControls,
    ) -> None:
        self.engine = engine
        self.slot = slot
        self.request = request
        self.emit = emit
        self.clock = clock
        self.controls = controls
        self.started_at = clock()
        self.prefilled_at: float | None = None
        self.first_at: float | None = None
        self.cached = 0
        self.generated = 0
        self.reasoning = 0
        self.format = ReplyFormat("", None)
        """How the reply is written."""
        self.no_more_thoughts = False
        """No thought may begin any more."""
        self.unheard: list[SpokenSound] = []
        """Sound that waits for text that is held back."""

    async def run(self, now: datetime) -> None:
        if self.request.ahead:
            await self._read_ahead(now)
            return
        rendered = await render(self.engine, self.request, now, "reply")
        head, prompt = rendered.head, rendered.text
        self.format = rendered.format
        tags = self.format.reasoning
        # A template switches thinking off by writing a thought that is already closed.
        self.no_more_thoughts = head == prompt or (tags is not None and tags.end in prompt[len(head) :])
        tokens = await rendered.tokens()
        card = self.engine.card
        if len(tokens) >= card.context:
            raise no_room(self.request, str(len(tokens)), card.context)
        if not tokens:
            raise BadRequest("prompt is empty; send at least one token.", param="prompt")
        await self.emit(Started(card.name, card.context))
        if len(tokens) - self.engine.cached_tokens(self.slot, tokens) > TOGETHER:
            await self._prefill(await rendered.stable_prefix(tokens), tokens)
        splitter = self._splitter(head, prompt)
        ended, stop = await self._generate(rendered, tokens, splitter)
        finished = self.clock()
        prefilled = finished if self.prefilled_at is None else self.prefilled_at
        await self.emit(
            Done(
                "tool_calls" if self._has_its_tool_call(splitter) else _finish(ended, stop, splitter),
                Usage(len(tokens), ended.generated, self.cached, self.reasoning),
                Timings(
                    prefill=(prefilled - self.started_at) * 1000,
                    generate=(finished - prefilled) * 1000,
                    first=((self.first_at or finished) - self.started_at) * 1000,
                ),
                stop,
            )
        )

    async def _read_ahead(self, now: datetime) -> None:
        """Only prefill the prompt; the reply's own request finds it in the slot. A prompt that is too long is refused
        then."""
        prompt = await render(self.engine, self.request, now, "head")
        tokens = await prompt.tokens()
        new = len(tokens) - self.engine.cached_tokens(self.slot, tokens)
        if new > LITTLE and len(tokens) < self.engine.card.context:
            await self._prefill(tokens, tokens)
        await self.emit(Done("stop", Usage(len(tokens), 0, self.cached)))

    async def _prefill(self, prefix: Sequence[int], tokens: Sequence[int]) -> None:
        """Process the prompt in the slot before the generation prompt is appended to it."""
        if not prefix:
            return
        last = Progress(0, 0)
        async with self.engine.prefill(self.slot, prefix) as progress:
            async for last in progress:
                if last.processed < last.total:
                    await self.emit(msgspec.structs.replace(last, total=len(tokens)))
        await self._report_prefill(tokens, last.cached)

    async def _report_prefill(self, tokens: Sequence[int], cached: int) -> None:
        """Emit `Prefilled`, once."""
        if self.prefilled_at is None:
            self.prefilled_at, self.cached = self.clock(), cached
            await self.emit(Prefilled(len(tokens), cached, ignored(self.engine.card, self.request)))

    def _splitter(self, head: str, prompt: str) -> ChannelSplitter:
        """The splitter for this reply."""
        request, tags = self.request, self.format.reasoning
        format = tool_format(self.format.format) if self.format.format else None
        tools = offered_tools(request)
        if format is not None and not tools and not format.frames:
            format = None
        added = prompt[len(head) :] if prompt.startswith(head) and not request.continue_final else ""
        return ChannelSplitter(
            tool_format=format,
            reasoning=tags,
            start_in_reasoning=starts_in_reasoning(prompt, tags, None if request.continue_final else head),
            tools=tools,
            opened=format.opened(added) if format is not None else "",
            new_call_id=lambda: f"call_{secrets.token_hex(12)}",
            positions=request.sampling.logprobs is not None,
        )

    def _markers(self) -> tuple[str, ...]:
        """Text that must be generated as text although a tokenizer may treat it as control tokens."""
        tags, name = self.format.reasoning, self.format.format
        words = () if tags is None else (*tags.starts, *tags.ends, *chain.from_iterable(tags.answers))
        return words if not name else (*words, *tool_format(name).preserved)

    async def _generate(
        self, prompt: ChatPrompt, tokens: Sequence[int], splitter: ChannelSplitter
    ) -> tuple[GenerationEnded, str | None]:
        """Generate until the engine or a stop string ends it. A thought that exceeds its limit is closed, and the
        reply continues after it in the same slot, which has everything cached."""
        # Those of the template are part of the model; what a request asks for comes on top.
        stop_strings = self.request.stop
        if self.request.template_stops and self.request.prompt is None:
            stop_strings = (*stop_strings, *prompt.stop_strings)
        stops = StopMatcher(stop_strings) if stop_strings else None
        alignment = LogprobAlignment() if self.request.sampling.logprobs is not None else None
        limit = self._thought_limit()
        # llama.cpp has a limit of its own, but it misses a thought that the prompt leaves open.
        context_tokens: Sequence[int] = tokens
        while (ended := await self._generate_part(context_tokens, splitter, stops, alignment, limit)) is None:
            closing = f"\n{limit.end}"
            limit.closed(closing + THOUGHT_SEPARATOR)
            self.no_more_thoughts = True
            self.controls.forget()
            if alignment is not None:
                alignment.add(closing)
            await self._emit_deltas(splitter.feed(closing), splitter, stops, alignment)
            context_tokens = await prompt.continued(tokens, limit.text)
            limit_tokens = self.request.sampling.max_tokens
            if len(context_tokens) >= self.engine.card.context or (
                limit_tokens is not None and self.generated >= limit_tokens
            ):
                return GenerationEnded("length", self.generated), await self._flush(
                    splitter, stops, alignment
                )
        return ended

    def _voice(self) -> ModelVoice | None:
        """The voice that the model itself speaks with; None where it only writes."""
        request = self.request
        if request.speak_as is None or "audio" not in self.engine.card.outputs:
            return None
        return ModelVoice(request.speak_as, request.speak_like)

    def _thought_limit(self) -> ThinkingBudget:
        request, tags = self.request, self.format.reasoning
        tokens = request.thinking_tokens
        if tokens is None and request.effort is not None:
            tokens = THINKING_TOKENS[request.effort]
        if tags is None or "effort" not in self.engine.card.verbs:
            return ThinkingBudget(None, "")
        return ThinkingBudget(tokens, tags.closing or tags.end)

    async def _generate_part(
        self,
        tokens: Sequence[int],
        splitter: ChannelSplitter,
        stops: StopMatcher | None,
        alignment: LogprobAlignment | None,
        limit: ThinkingBudget,
    ) -> tuple[GenerationEnded, str | None] | None:
        """Generate from `tokens` on; None when a thought has become too long."""
        before, sampling = self.generated, self.request.sampling
        if before and sampling.max_tokens is not None:
            sampling = msgspec.structs.replace(sampling, max_tokens=sampling.max_tokens - before)
        grammar = reply_grammar(
            self.request,
            self.format.format,
            self.format.reasoning,
            thinking=splitter.thinking,
            no_more_thoughts=self.no_more_thoughts,
        )
        format = self.request.format if grammar is None else None
        generation = Generation(sampling, format, self._markers(), grammar, self._voice())
        repetition = RepetitionDetector()
        async with self.engine.generate(self.slot, tokens, generation) as items:
            async for item in items:
                if isinstance(item, Progress):
                    if item.processed >= item.total:
                        await self._report_prefill(tokens, item.cached)
                    elif self.prefilled_at is None:
                        await self.emit(item)
                    continue
                if self.prefilled_at is None:
                    await self._report_prefill(tokens, 0)
                if isinstance(item, GenerationEnded):
                    stop = await self._flush(splitter, stops, alignment)
                    return msgspec.structs.replace(item, generated=before + item.generated), stop
                if isinstance(item, SpokenSound):
                    self.unheard.append(item)
                    await self._emit_sound(stops)
                    continue
                self.generated += item.tokens
                if alignment is not None:
                    alignment.add(item.text, item.logprobs)
                deltas = splitter.feed(item.text, control=item.control)
                if splitter.thinking:
                    self.reasoning += item.tokens
                if deltas:
                    stop = await self._emit_deltas(deltas, splitter, stops, alignment)
                    if stop is not None or self._has_its_tool_call(splitter):
                        return GenerationEnded("stop", self.generated), stop
                    await self._emit_sound(stops)
                if (splitter.in_call or self.request.format is not None) and repetition.feed(item.text):
                    # A grammar allows anything inside a string but leaving it, so a model that loops there never stops.
                    return GenerationEnded("length", self.generated), await self._flush(
                        splitter, stops, alignment
                    )
                is_long = limit.reached(item.text, self.reasoning)
                if splitter.in_open_thought and (is_long or (self.controls.thought_must_end and limit.end)):
                    return None
                if not splitter.thinking and self.first_at is not None:
                    self.controls.forget()
        raise AssertionError("a generation must end with GenerationEnded")

    async def _emit_sound(self, stops: StopMatcher | None) -> None:
        """Emit the sound that came, unless text is held back that it may say: a stop string is not heard either."""
        if stops is not None and stops.holds:
            return
        for sound in self.unheard:
            await self.emit(AudioDelta(sound.pcm))
        self.unheard.clear()

    async def _flush(
        self, splitter: ChannelSplitter, stops: StopMatcher | None, alignment: LogprobAlignment | None
    ) -> str | None:
        """Emit what was held back, now that nothing follows; returns the stop string that it completed."""
        stop = await self._emit_deltas(splitter.finish(), splitter, stops, alignment)
        if stop is None and stops is not None and (rest := stops.finish()):
            await self.emit(TextDelta(rest, alignment.release(len(rest)) if alignment is not None else ()))
        if stop is None:
            await self._emit_sound(stops)
        return stop

    def _has_its_tool_call(self, splitter: ChannelSplitter) -> bool:
        """Whether the only tool call of a request without parallel tool calls is complete."""
        return not self.request.parallel_tool_calls and splitter.complete_calls > 0

    async def _emit_deltas(
        self,
        deltas: list[Delta],
        splitter: ChannelSplitter,
        stops: StopMatcher | None,
        alignment: LogprobAlignment | None,
    ) -> str | None:
        """Emit deltas; returns the stop string that one of them completed, after which nothing is emitted."""
        if self.first_at is None and deltas:
            self.first_at = self.clock()
        positions = splitter.positions() if alignment is not None else ()
        for index, delta in enumerate(deltas):
            if isinstance(delta, ToolCallDelta) and delta.index and not self.request.parallel_tool_calls:
                return None
            if not isinstance(delta, TextDelta):
                await self.emit(delta)
                continue
            text, stop = (delta.text, None) if stops is None else stops.feed(delta.text)
            logprobs = (
                alignment.take(positions[index], len(delta.text), len(text)) if alignment is not None else ()
            )
            if text:
                await self.emit(TextDelta(text, logprobs))
            if stop is not None:
                return stop
        return None


def _finish(ended: GenerationEnded, stop: str | None, splitter: ChannelSplitter) -> Finish:
    """The finish reason: "tool_calls" only for complete calls that the model ended itself; a reply that was cut off
    is "length"."""
    if stop is None and ended.finish == "stop" and splitter.complete_calls and not splitter.truncated:
        return "tool_calls"
    if splitter.truncated and stop is None:
        return "length"
    return ended.finish
