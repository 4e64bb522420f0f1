"""Any OpenAI-compatible server as a chat engine: vLLM, SGLang, Ollama, LM Studio, llama.cpp, or another Duologue.

Loaded by `registry`. Owns the connection: one client, a request for each reply, closed when the reply is left, so that the
upstream stops too. `request` makes what is sent, `stream` parses what comes back, `known_model` asks what the model can do. An upstream that is
down when the server starts does not prevent the start; requests then report what is wrong, and it is asked again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from difflib import get_close_matches
from typing import Any, Literal
from urllib.parse import urlunsplit

import anyio
import httpx
import msgspec
from msgspec import Struct

from duologue.engines.openai_remote.connected_address import refuse_credentials_address
from duologue.engines.openai_remote.error_text import error_message, mask, read_beginning
from duologue.engines.openai_remote.known_model import KnownModel, ask, card_of
from duologue.engines.openai_remote.refused_part import refused_part
from duologue.engines.openai_remote.reply_sound import ReplySound
from duologue.engines.openai_remote.request import chat_body, check, estimate_tokens, media_size, unapplied
from duologue.engines.openai_remote.response_json import json_of
from duologue.engines.openai_remote.server_kinds import ServerKind, server_kind
from duologue.engines.openai_remote.stream import DONE, MAX_LINE, EventLines, ReplyTranslator, UpstreamError
from duologue.errors import Busy, ContextExceeded, EngineFailed, Problem, StartFailed
from duologue.notifier import Notifier
from duologue.threads import encoding
from duologue.values.audio import SPOKEN_RATE
from duologue.values.events import Event, Failed, Started
from duologue.values.requests import ChatRequest, ModelCard, UpstreamModel
from duologue.values.upstream_url import parse_upstream_url, shown_url

log = logging.getLogger(__name__)

SLOTS = 8
CONNECT_TIMEOUT = 10.0
"""Seconds to reach the upstream."""
EVERY = 60.0
"""Seconds between two questions about the model, as with connected servers."""
EVERY_WHILE_DOWN = 15.0
"""The same while the upstream does not answer."""
READ_TIMEOUT = 600.0
"""Seconds an upstream may send nothing: servers read long prompts without a word."""
LONGEST_LIST = 8 * 1024 * 1024
"""Bytes of a list of models that are read; the longest known list has one."""
LONGEST_DETAIL = 4 * 1024 * 1024
"""Bytes of what a server says elsewhere about its models."""
LARGE = 256 * 1024
"""Bytes of pictures, sound and video from which on a request is written in a thread."""
UNREACHABLE = "upstream_unreachable"
OVERFLOWS = (
    "context_length_exceeded",
    "maximum context length",
    "exceeds the available context",
    "context window",
)


Kind = Literal["text", "image", "audio", "video"]


class RemoteOptions(Struct, frozen=True, forbid_unknown_fields=True):
    """`url` with or without /v1. `model` empty: the first the upstream lists; `context` 0: what the upstream says. `several`: every
    request names its model, and nothing is asked of the upstream at the start. `modalities`, `outputs`: what the model takes and
    gives where the upstream does not say; they win. `voice`: of a model that speaks, `rate` the Hz of its bare samples. `kind`:
    of server, "" for what its list of models says."""

    url: str
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


async def load(options: Mapping[str, object]) -> RemoteEngine:
    """An engine on the upstream named by `options` (see `RemoteOptions`). Raises StartFailed for an impossible URL
    or option; an upstream that does not answer is a warning on the card."""
    settings = _parse_options(options)
    engine = RemoteEngine(Upstream(settings.url, settings.key, settings.slots), settings)
    if not settings.several:
        await engine.ask()
    return engine


def _parse_options(options: Mapping[str, object]) -> RemoteOptions:
    known = RemoteOptions.__struct_fields__
    for name in options:
        if name not in known:
            near = get_close_matches(name, known, n=1)
            advice = f"Did you mean {near[0]!r}?" if near else f"Known: {', '.join(known)}."
            raise StartFailed(f"The remote engine has no option {name!r}. {advice}", param=name)
    try:
        settings = msgspec.convert({k: v for k, v in options.items() if v is not None}, RemoteOptions)
    except msgspec.ValidationError as error:
        raise StartFailed(f"An option of the remote engine is wrong: {error}.") from error
    if settings.slots < 1:
        raise StartFailed("The remote engine's option 'slots' must be at least 1.", param="slots")
    return settings


class RemoteEngine:
    """A model on another server. Implements `contracts.ChatEngine`."""

    def __init__(self, upstream: Upstream, options: RemoteOptions) -> None:
        self._upstream = upstream
        self._options = options
        self._known = KnownModel(UpstreamModel(options.model), options.kind)
        self._kind, self._card = server_kind(options.kind), card_of(options, self._known)
        self._hurry = Notifier()

    @property
    def card(self) -> ModelCard:
        return self._card

    @asynccontextmanager
    async def chat(self, slot: int, request: ChatRequest) -> AsyncIterator[AsyncIterator[Event]]:
        """The reply's events. Leaving closes the connection, which ends the upstream's work."""
        check(request)  # raises what cannot be requested before anything is sent
        async with _closing(self._events(request)) as events:
            yield events

    async def close(self) -> None:
        await self._upstream.close()

    async def ask(self) -> None:
        """Ask the upstream what its model is and can do. What cannot be found out becomes a warning on the card."""
        self._known = await ask(self._upstream, self._options, self._known)
        self._kind, self._card = server_kind(self._known.kind), card_of(self._options, self._known)

    async def watch(self, changed: Callable[[ModelCard], None]) -> None:
        """Ask again now and then, sooner while the upstream does not answer and once a reply finds that this has changed."""
        if self._options.several:
            return  # the gateway asks for the models of a connected server
        while True:
            hurry = self._hurry.pending()
            with anyio.move_on_after(EVERY if self._known.answers else EVERY_WHILE_DOWN):
                await hurry.wait()
            before = self._card
            try:
                await self.ask()
            except Exception:
                # Whatever it answers, replies go on.
                log.exception("the upstream %s could not be asked for its model", self._upstream.shown)
            if self._card != before:
                changed(self._card)

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
            yield Failed(problem.code, problem.message, problem.status, problem.param)

    async def _reply(self, request: ChatRequest) -> AsyncGenerator[Event, None]:
        model = request.upstream_model or self._known.model.name or await self._upstream.first_model()
        translator = ReplyTranslator(
            time.perf_counter(),
            estimate_tokens(request),
            unapplied(request, self._kind),
            None if request.speak_as is None else ReplySound(self._options.rate),
        )
        body = await self._body(request, model)
        async with aclosing(self._upstream.stream(body)) as stream:
            async for data in stream:
                for event in self._translate(translator, data):
                    yield event
        self._note(answers=True)
        last = translator.finished(time.perf_counter())
        if last is None:
            raise self._upstream.failed("ended the reply in the middle")
        for event in last:
            yield event

    async def _body(self, request: ChatRequest, model: str) -> bytes:
        if media_size(request) > LARGE:  # the replies beside this one go on
            return await encoding(_encoded, request, model, self._kind, self._options.voice)
        return _encoded(request, model, self._kind, self._options.voice)

    def _translate(self, translator: ReplyTranslator, data: bytes) -> list[Event]:
        try:
            return translator.feed(data, time.perf_counter())
        except UpstreamError as error:
            raise self._upstream.problem_of(str(error)) from error
        except ValueError as error:
            what = str(error) if "sound" in str(error) else "something that is not JSON"
            raise self._upstream.failed(f"sent {what}") from error


class Upstream:
    """The connection to one server. Its key appears in no error."""

    def __init__(self, url: str, key: str, slots: int) -> None:
        parts = parse_upstream_url(url)
        if parts is None:
            raise StartFailed(
                f"{url!r} is not the URL of a server. Give one like http://127.0.0.1:11434.",
                param="upstream.url",
            )
        self.shown = shown_url(parts)
        self._base = urlunsplit(parts)
        self._root = urlunsplit(parts._replace(path=""))
        self._secrets = [secret for secret in (key, parts.password) if secret]
        self._client = httpx.AsyncClient(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=httpx.Timeout(READ_TIMEOUT, connect=CONNECT_TIMEOUT, pool=None),
            limits=httpx.Limits(max_connections=slots + 2, max_keepalive_connections=slots + 2),
            # The environment's proxies and .netrc are for other things than a server the operator named.
            trust_env=False,
            event_hooks={"request": [refuse_credentials_address]},
        )

    async def models(self) -> dict[str, dict[str, Any]]:
        """The upstream's models by name, in its order."""
        try:
            async with self._client.stream("GET", f"{self._base}/models") as response:
                content = await read_beginning(response, LONGEST_LIST)
        except (httpx.HTTPError, OSError) as error:
            raise self._unreachable(error) from error
        if response.status_code != httpx.codes.OK:
            raise self._refused(response.status_code, content)
        try:
            entries = json_of(content)["data"]
            return {str(entry["id"]): entry for entry in entries}
        except (ValueError, KeyError, TypeError) as error:
            raise self.failed("does not list its models as an OpenAI-compatible server does") from error

    async def detail(self, path: str, body: object) -> bytes:
        """What the server says at a path of its own; empty if it says nothing there."""
        method = "GET" if body is None else "POST"
        try:
            async with self._client.stream(method, self._root + path, json=body) as response:
                found = response.status_code == httpx.codes.OK
                return await read_beginning(response, LONGEST_DETAIL) if found else b""
        except (httpx.HTTPError, OSError):
            return b""

    async def first_model(self) -> str:
        models = await self.models()
        if not models:
            raise self.failed("has no model loaded")
        return next(iter(models))

    async def stream(self, body: bytes) -> AsyncGenerator[bytes, None]:
        """The data of the reply's events, until the upstream reports the end or closes the connection."""
        try:
            async with self._client.stream(
                "POST",
                f"{self._base}/chat/completions",
                content=body,
                headers={"Content-Type": "application/json", "Accept": "text/event-stream"},
            ) as response:
                if response.status_code != httpx.codes.OK:
                    raise self._refused(response.status_code, await read_beginning(response))
                if "json" in response.headers.get("content-type", ""):
                    yield await read_beginning(response, MAX_LINE)
                    return
                async with aclosing(_events(response)) as events:
                    async for data in events:
                        if data == DONE:
                            return
                        yield data
        except httpx.ReadTimeout as error:
            raise self.failed(f"has sent nothing for {READ_TIMEOUT:.0f} seconds") from error
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise self._unreachable(error) from error
        except (httpx.HTTPError, OSError) as error:
            raise self.failed("broke the connection") from error

    def failed(self, what: str) -> EngineFailed:
        return EngineFailed(f"The upstream {self.shown} {what}.", code="upstream_failed", status=502)

    def problem_of(self, message: str) -> Problem:
        """The upstream's own error message as a Problem."""
        clean = mask(message, self._secrets)
        if any(sign in clean.lower() for sign in OVERFLOWS):
            return ContextExceeded(f"The upstream {self.shown} says: {clean}", param="messages")
        return EngineFailed(f"The upstream {self.shown} failed: {clean}", code="upstream_failed", status=502)

    async def close(self) -> None:
        await self._client.aclose()

    def _unreachable(self, error: Exception) -> EngineFailed:
        reason = mask(str(error), self._secrets) or type(error).__name__
        return EngineFailed(
            f"The upstream {self.shown} cannot be reached ({reason}). Check that it runs, that the URL is right, and "
            "that this machine may reach it.",
            code=UNREACHABLE,
            status=502,
        )

    def _refused(self, status: int, content: bytes) -> Problem:
        message = error_message(content, self._secrets)
        if status in (401, 403):
            return EngineFailed(
                f"The upstream {self.shown} refused the key ({status}): {message} Check --upstream-key.",
                code="upstream_refused",
                status=502,
            )
        if status == 429:
            return Busy(f"The upstream {self.shown} is busy: {message}", status=429)
        problem = self.problem_of(message)
        if isinstance(problem, ContextExceeded):
            return problem
        if status in (400, 404, 413, 422):
            return EngineFailed(
                f"The upstream {self.shown} did not accept the request ({status}): {message}",
                code="upstream_refused",
                status=400,
            )
        return EngineFailed(
            f"The upstream {self.shown} failed ({status}): {message}", code="upstream_failed", status=502
        )


def _encoded(request: ChatRequest, model: str, kind: ServerKind, voice: str) -> bytes:
    return msgspec.json.encode(chat_body(request, model, kind, voice))


@asynccontextmanager
async def _closing(events: AsyncGenerator[Event, None]) -> AsyncIterator[AsyncIterator[Event]]:
    """Yield `events` and close them at the end, also during a cancellation: no request may outlive its reply. Inside,
    `aclosing` passes the closing down to the connection."""
    try:
        yield events
    finally:
        with anyio.CancelScope(shield=True):
            await events.aclose()


async def _events(response: httpx.Response) -> AsyncGenerator[bytes, None]:
    lines = EventLines()
    async for piece in response.aiter_bytes():
        for data in lines.feed(piece):
            yield data
    for data in lines.finish():
        yield data
