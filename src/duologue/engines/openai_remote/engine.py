"""Any OpenAI-compatible server as a chat engine: vLLM, SGLang, Ollama, LM Studio, llama.cpp, or another Duologue.

Its models may make vectors or scores as well. Loaded by `registry`. `upstream_connection` has the connection, `request` makes what is sent, `stream` parses what comes back, `known_model` asks what the model can do. An upstream that is
down when the server starts does not prevent the start; requests then report what is wrong, and it is asked again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import Literal

import anyio
import msgspec
from msgspec import Struct
from msgspec.structs import replace

from duologue.engines.embedding_contracts import ScoreBatch, VectorBatch
from duologue.engines.openai_remote.known_model import KnownModel, ask, card_of, kind_said
from duologue.engines.openai_remote.raw_text import NONE, check_format, reading_of
from duologue.engines.openai_remote.refused_part import refused_part
from duologue.engines.openai_remote.replicas.replica_set import ReplicaSet, Tries, beginning_of
from duologue.engines.openai_remote.reply_sound import ReplySound
from duologue.engines.openai_remote.request import (
    RAW,
    chat_body,
    check,
    check_raw,
    estimate_tokens,
    is_token,
    media_size,
    raw_body,
    unapplied,
)
from duologue.engines.openai_remote.server_kinds import ServerKind, server_kind
from duologue.engines.openai_remote.stream import ReplyTranslator, UpstreamError
from duologue.engines.openai_remote.upstream_connection import (
    CHAT,
    CONNECT_TIMEOUT,
    FIRST_TIMEOUT,
    IDLE_TIMEOUT,
    RETRIES,
    UNREACHABLE,
    NotBegun,
    Patience,
    Upstream,
)
from duologue.engines.openai_remote.upstream_tokens import TokenBiases, UpstreamTokens
from duologue.engines.openai_remote.vectors.remote_vectors import embedded, ranked
from duologue.engines.options import read_options
from duologue.errors import BadRequest, Problem, StartFailed
from duologue.notifier import Notifier
from duologue.text.toolcalls.any_family import any_family
from duologue.threads import encoding
from duologue.values.audio import SPOKEN_RATE
from duologue.values.embeddings.vectors import EmbeddingRequest, RerankRequest
from duologue.values.events import Event, Failed, Started
from duologue.values.prefixes.prefix_digest import chain, size
from duologue.values.questions.worker_answers import Tokenized
from duologue.values.questions.worker_questions import DetokenizeTokens, TokenizeText
from duologue.values.requests import ChatRequest, ModelCard, RawFormat, UpstreamModel

log = logging.getLogger(__name__)

SLOTS = 8
EVERY = 60.0
"""Seconds between two questions about the model, as with connected servers."""
EVERY_WHILE_DOWN = 15.0
"""The same while the upstream does not answer."""
LARGE = 256 * 1024
"""Bytes of pictures, sound and video from which on a request is written in a thread."""

READS_NO_CALLS = "tool choice requires --enable-auto-tool-choice"
"""What vLLM says where it was started without a parser of calls."""

Kind = Literal["text", "image", "audio", "video"]


class RemoteOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """`url` with or without /v1; `replicas`: of further servers with the same model, each with `slots`; `drained`: of those, what gets no
    requests. `model` empty: the first the upstream lists; `context` 0: what the upstream says. `several`: every
    request names its model, and nothing is asked of the upstream at the start. `modalities`, `outputs`: what the model takes and
    gives where the upstream does not say; they win. `voice`: of a model that speaks, `rate` the Hz of its bare samples. `kind`:
    of server, "" for what its list of models says. `tool_format`, `thoughts`, `opens_thoughts`: as of a `RawFormat`."""

    url: str
    replicas: tuple[str, ...] = ()
    drained: tuple[str, ...] = ()
    key: str = ""
    model: str = ""
    name: str = ""
    slots: int = SLOTS
    context: int = 0
    several: bool = False
    modalities: tuple[Kind, ...] | None = None
    outputs: tuple[Literal["text", "audio"], ...] | None = None
    voice: str = ""
    rate: int = SPOKEN_RATE
    kind: str = ""
    connect_timeout: float = CONNECT_TIMEOUT
    first_timeout: float = FIRST_TIMEOUT
    idle_timeout: float = IDLE_TIMEOUT
    retries: int = RETRIES
    tool_format: str = ""
    thoughts: str = ""
    opens_thoughts: bool = False

    @property
    def format(self) -> RawFormat:
        return RawFormat(self.tool_format, self.thoughts, self.opens_thoughts)

    @property
    def patience(self) -> Patience:
        return Patience(self.connect_timeout, self.first_timeout, self.idle_timeout, self.retries)


async def load(options: Mapping[str, object]) -> RemoteEngine:
    """An engine on the upstream named by `options` (see `RemoteOptions`). Raises StartFailed for an impossible URL
    or option; an upstream that does not answer is a warning on the card."""
    settings = _checked_options(options)
    any_family()  # loads the files of all formats now, and not while replies run
    urls = (settings.url, *settings.replicas)
    engine = RemoteEngine(ReplicaSet(urls, settings.key, settings.slots, settings.patience), settings)
    if not settings.several:
        await engine.look()
    return engine


def _checked_options(options: Mapping[str, object]) -> RemoteOptions:
    settings = read_options(RemoteOptions, options, "remote")
    if settings.slots < 1:
        raise StartFailed("The engine remote's option 'slots' must be at least 1.", param="slots")
    try:
        check_format(settings.format)
    except BadRequest as error:
        raise StartFailed(f"An option of the engine remote is wrong: {error.message}") from None
    return settings


class RemoteEngine:
    """A model on another server. Implements `contracts.ChatEngine`."""

    def __init__(self, replicas: ReplicaSet, options: RemoteOptions) -> None:
        self._replicas = replicas
        self._options = options
        self._known = KnownModel(UpstreamModel(options.model), kind_said(options))
        self._kind, self._card = server_kind(self._known.kind), self._made_card()
        self._hurry = Notifier()
        self._biases = TokenBiases(replicas.detail)
        for url in options.drained:
            replicas.drain(url, True)
        self._unread: set[str] = set()
        """Models whose tool calls the server says it does not read."""

    @property
    def card(self) -> ModelCard:
        return self._card

    @asynccontextmanager
    async def chat(self, slot: int, request: ChatRequest) -> AsyncIterator[AsyncIterator[Event]]:
        """The reply's events. Leaving closes the connection, which ends the upstream's work."""
        check(request, self._kind)  # raises what cannot be requested before anything is sent
        if request.prompt is not None:
            check_raw(request, self._kind)
        async with _closing(self._events(request)) as events:
            yield events

    async def text_tokens(self, question: TokenizeText) -> Tokenized:
        """See `choice_contracts.TokenTeller`. The upstream tells them."""
        return await self._tokens().tokens(question, await self._asked_model(question.upstream_model))

    async def tokens_text(self, question: DetokenizeTokens) -> str:
        """See `choice_contracts.TokenTeller`. The upstream tells it."""
        return await self._tokens().text(question, await self._asked_model(question.upstream_model))

    def _tokens(self) -> UpstreamTokens:
        return UpstreamTokens(self._replicas.detail, self._known.kind, self._replicas.first.shown)

    async def _asked_model(self, named: str) -> str:
        return named or self._known.model.name or await self._replicas.first.first_model()

    async def embed(self, slot: int, request: EmbeddingRequest) -> AsyncGenerator[VectorBatch]:
        """See `embedding_contracts.EmbeddingEngine`. Whether the model makes vectors, its server decides."""
        name = await self._asked_model(request.upstream_model)
        async with aclosing(embedded(self._replicas, name, request)) as batches:
            async for batch in batches:
                yield batch

    async def rerank(self, slot: int, request: RerankRequest) -> AsyncGenerator[ScoreBatch]:
        """See `embedding_contracts.RerankEngine`, as `embed`."""
        name = await self._asked_model(request.upstream_model)
        async with aclosing(ranked(self._replicas, name, request)) as batches:
            async for batch in batches:
                yield batch

    async def close(self) -> None:
        await self._replicas.close()

    async def look(self) -> None:
        """Ask how several servers are, and what the model is and can do. What cannot be found out becomes a warning on the card."""
        if not self._replicas.alone:
            await self._replicas.poll(self._known.model.name)
        await self.ask()
        if (
            not self._replicas.alone and not self._options.model
        ):  # the first has named the model; have the others it too?
            await self._replicas.poll(self._known.model.name)
            self._card = self._made_card()

    async def ask(self) -> None:
        """Ask the upstream what its model is and can do."""
        self._known = await ask(self._replicas.first, self._options, self._known)
        self._kind, self._card = server_kind(self._known.kind), self._made_card()

    def _made_card(self) -> ModelCard:
        card = card_of(self._options, self._known)
        if self._replicas.alone:
            return card
        return replace(
            card,
            slots=self._replicas.slots,
            warnings=(*card.warnings, *self._replicas.warnings()),
            replicas=self._replicas.views(),
        )

    def drain_replica(self, url: str, drained: bool) -> None:
        """See `choice_contracts.ReplicatedEngine`."""
        self._replicas.drain(url, drained)

    async def watch(self, changed: Callable[[ModelCard], None]) -> None:
        """Ask again now and then, sooner while the upstream does not answer and once a reply finds that this has changed."""
        if self._options.several:
            return  # the gateway asks for the models of a connected server
        async with anyio.create_task_group() as tasks:
            if not self._replicas.alone:
                tasks.start_soon(self._watch_replicas, changed)
            while True:
                hurry = self._hurry.pending()
                with anyio.move_on_after(EVERY if self._known.answers else EVERY_WHILE_DOWN):
                    await hurry.wait()
                before = self._card
                try:
                    await self.ask()
                except Exception:
                    # Whatever it answers, replies go on.
                    log.exception(
                        "the upstream %s could not be asked for its model", self._replicas.first.shown
                    )
                if self._card != before:
                    changed(self._card)

    async def _watch_replicas(self, changed: Callable[[ModelCard], None]) -> None:
        async with aclosing(self._replicas.watch(lambda: self._known.model.name)) as looks:
            async for _ in looks:
                if (card := self._made_card()) != self._card:
                    self._card = card
                    changed(card)

    def _note(self, answers: bool) -> None:
        """Whether the upstream answered a reply. Once for each: a server may answer and have no list of models."""
        if answers != self._known.answers:
            self._hurry.notify()

    async def _events(self, request: ChatRequest) -> AsyncGenerator[Event, None]:
        name = request.model if request.upstream_model else self._card.name
        yield Started(name, self._card.context)
        try:
            async with aclosing(self._reply(request)) as events:
                async for event in events:
                    yield event
        except Problem as problem:
            if problem.code == UNREACHABLE:
                self._note(answers=False)
            problem = refused_part(problem, request)
            yield Failed(problem.code, problem.message, problem.status, problem.param, problem.retry_after)

    async def _reply(self, request: ChatRequest) -> AsyncGenerator[Event, None]:
        """The events of the reply, by the server that is chosen for it; by another one if that does not begin."""
        tries = await self._tries(request)
        while True:
            server, begun = tries.next(), False
            try:
                with server.serving():
                    async with aclosing(self._reply_of(server.upstream, request)) as events:
                        async for event in events:
                            if not begun:
                                begun = True
                                tries.began(server)
                            yield event
                return
            except NotBegun as failure:
                await tries.not_begun(server, failure)
            except Problem as problem:
                if begun or not tries.may_break(server, problem):
                    raise
                log.warning("%s lost a reply before its first token, which is tried elsewhere", server.name)

    async def _tries(self, request: ChatRequest) -> Tries:
        if self._replicas.alone:
            return Tries(self._replicas)
        large = size(request) > LARGE
        digests = await encoding(chain, request) if large else chain(request)
        roles = () if request.prompt is not None else [message.role for message in request.messages]
        return Tries(self._replicas, digests, beginning_of(digests, roles))

    async def _reply_of(self, upstream: Upstream, request: ChatRequest) -> AsyncGenerator[Event, None]:
        model = await self._asked_model(request.upstream_model)
        translator = ReplyTranslator(
            time.perf_counter(),
            estimate_tokens(request),
            unapplied(request, self._kind),
            None if request.speak_as is None else ReplySound(self._options.rate),
            reading_of(self._format(request), request),
        )
        sent = await self._with_token_ids(request, model)
        async with aclosing(self._data(upstream, sent, model)) as stream:
            async for data in stream:
                for event in _translated(translator, data, upstream):
                    yield event
                if translator.over:
                    break
        self._note(answers=True)
        try:
            last = translator.finished(time.perf_counter())
        except UpstreamError as error:
            raise upstream.problem_of(str(error)) from error
        if last is None:
            raise upstream.failed("ended the reply in the middle")
        for event in last:
            yield event

    async def _data(
        self, upstream: Upstream, request: ChatRequest, model: str
    ) -> AsyncGenerator[bytes, None]:
        """The data of the reply's events. A server that offers no tools since it does not read calls is asked again, to leave them in
        the text, and so from then on."""
        path = CHAT if request.prompt is None else RAW
        while True:
            body = await self._body(request, model)
            try:
                async with aclosing(upstream.stream(body, path)) as stream:
                    async for data in stream:
                        yield data
                return
            except Problem as problem:
                reads = self._format(request).tool_format != NONE and self._kind.none_offers
                if not reads or model in self._unread or READS_NO_CALLS not in problem.message:
                    raise
                self._unread.add(model)

    async def _with_token_ids(self, request: ChatRequest, model: str) -> ChatRequest:
        """The request with biases of token ids alone, where the server takes no other."""
        bias, tokenizer = request.sampling.logit_bias, self._kind.tokenizer
        if tokenizer is None or not bias or all(map(is_token, bias)):
            return request
        ids = await self._biases.of(bias, tokenizer, model)
        return replace(request, sampling=replace(request.sampling, logit_bias=ids))

    def _format(self, request: ChatRequest) -> RawFormat:
        return self._options.format if request.upstream_format is None else request.upstream_format

    async def _body(self, request: ChatRequest, model: str) -> bytes:
        reads_calls = self._format(request).tool_format not in ("", NONE) or model in self._unread
        if media_size(request) > LARGE:  # the replies beside this one go on
            return await encoding(_encoded, request, model, self._kind, self._options.voice, reads_calls)
        return _encoded(request, model, self._kind, self._options.voice, reads_calls)


def _translated(translator: ReplyTranslator, data: bytes, upstream: Upstream) -> list[Event]:
    try:
        return translator.feed(data, time.perf_counter())
    except UpstreamError as error:
        raise upstream.problem_of(str(error)) from error
    except ValueError as error:
        what = str(error) if "sound" in str(error) else "something that is not JSON"
        raise upstream.failed(f"sent {what}") from error


def _encoded(request: ChatRequest, model: str, kind: ServerKind, voice: str, reads_calls: bool) -> bytes:
    if request.prompt is not None:
        return msgspec.json.encode(raw_body(request, model, kind))
    return msgspec.json.encode(chat_body(request, model, kind, voice, reads_calls))


@asynccontextmanager
async def _closing(events: AsyncGenerator[Event, None]) -> AsyncIterator[AsyncIterator[Event]]:
    """Yield `events` and close them at the end, also during a cancellation: no request may outlive its reply. Inside,
    `aclosing` passes the closing down to the connection."""
    try:
        yield events
    finally:
        with anyio.CancelScope(shield=True):
            await events.aclose()
