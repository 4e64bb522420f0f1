"""OpenAI's endpoints: `/v1/chat/completions`, `/v1/models`.

Owns the choice between a stream and a whole reply, and what a completion's id and time of making are. The shapes are
in `wire.openai` and `wire.completion`; errors leave as `Problem`s, which the application answers.
"""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

import msgspec
from fastapi import APIRouter, Request
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from duologue.config.settings import LimitSettings
from duologue.errors import Problem, Unsupported
from duologue.gateway.dialects.audio_ids import SpokenReplies
from duologue.gateway.models.registry import ModelRegistry, admit
from duologue.gateway.scheduling.generate import Batch, Generate
from duologue.gateway.speech.audio_input import AudioTranscriber, without_sound
from duologue.gateway.speech.service import SpeechService
from duologue.gateway.speech.spoken_stream import SpokenStream, with_speech
from duologue.http.error_responses import refuse, request_id_of
from duologue.http.openapi import json_body
from duologue.http.sse import KEEP_ALIVE, PATIENCE, EventStream, while_connected
from duologue.media import sniff
from duologue.media.decoding import decode, encode
from duologue.media.encoder import whole
from duologue.media.recordings import heard
from duologue.media.wav import RATE, Sound, is_wav, wav
from duologue.values.audio import SPOKEN_RATE
from duologue.values.events import Done, TextDelta
from duologue.values.messages import AudioPart
from duologue.values.requests import ChatRequest, ModelCard
from duologue.values.speech import HeardPart, SpeechRequest
from duologue.wire.completion import Completion, CompletionStream, Sounding
from duologue.wire.openai import ChatCompletionRequest, model_entry, model_list
from duologue.wire.validation import check_counts, decode_json, validate
from duologue.wire.validation_errors import shortened

Clock = Callable[[], float]

_KINDS = {"pcm16": "pcm"}
"""Formats of a reply's sound that are called otherwise where sound is encoded."""


class TranscriptObserver(Protocol):
    """Is told what was written down for the model."""

    def heard(self, parts: tuple[HeardPart, ...]) -> None: ...


log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Turn:
    """A request as it is to be answered. `hears`: its sound is to be written down first; `speech`: how its reply is to be
    spoken, and `sounding` the sound's id."""

    request: ChatRequest
    count: int
    hears: bool
    speech: SpeechRequest | None
    sounding: Sounding | None
    request_id: str
    user: str


class _Desk:
    """What answers a request: whoever generates, with the voice and the ears it may need."""

    def __init__(
        self,
        generate: Generate,
        limits: LimitSettings,
        speech: SpeechService,
        ears: AudioTranscriber,
        clock: Clock,
    ) -> None:
        self._generate, self._limits = generate, limits
        self._speech, self._ears = speech, ears
        self._spoken = SpokenReplies(clock)

    async def turn(self, asked: ChatCompletionRequest, card: ModelCard, request_id: str, user: str) -> _Turn:
        """The request, checked. Raises Problem."""
        speech = asked.speech()
        if speech is not None:
            self._speech.check_speaks()
            speech = msgspec.structs.replace(speech, voice=self._speech.voice(speech.voice))
        heard = {where: await _decoded(where, data) for where, data in asked.recordings()}
        told = any(said.audio is not None for said in asked.messages)
        request = asked.request(self._limits, heard, self._spoken.of(user) if told else {})
        hears = self._ears.needed(card, request)
        admit(card, without_sound(request) if hears else request)
        return _Turn(
            msgspec.structs.replace(request, model=card.name),
            asked.n,
            hears,
            speech,
            None if speech is None else self._spoken.new(),
            request_id,
            user,
        )

    @asynccontextmanager
    async def batches(self, turn: _Turn, told: TranscriptObserver) -> AsyncIterator[AsyncIterator[Batch]]:
        """What the model says, and the voice with it. Raises Problem when what was sent cannot be written down."""
        request = turn.request
        if turn.hears:
            request, heard = await self._ears.hear(request, turn.request_id)
            told.heard(heard)
        source = self._generate(request, count=turn.count, request_id=turn.request_id, user=turn.user)
        if turn.speech is None or turn.sounding is None:
            async with source as batches:
                yield batches
            return
        async with (
            with_speech(source, self._speech, turn.speech, turn.request_id, needed=True) as reply,
            aclosing(self._remembered(reply, turn.user, turn.sounding)) as batches,
        ):
            yield batches

    async def _remembered(self, reply: SpokenStream, user: str, sounding: Sounding) -> AsyncGenerator[Batch]:
        text: list[str] = []
        async for batch in reply:
            for _, event in batch:
                if isinstance(event, TextDelta):
                    text.append(event.text)
                elif isinstance(event, Done):
                    self._spoken.keep(user, sounding, "".join(text))
            yield batch


def router(
    generate: Generate,
    models: ModelRegistry,
    *,
    limits: LimitSettings | None = None,
    speech: SpeechService | None = None,
    ears: AudioTranscriber | None = None,
    clock: Clock = time.time,
    patience: float = PATIENCE,
    keep_alive: float = KEEP_ALIVE,
) -> APIRouter:
    """The endpoints. `clock` gives seconds since 1970; `patience` and `keep_alive` are those of `sse`."""
    allowed = limits or LimitSettings()
    routes = APIRouter(prefix="/v1", tags=["OpenAI"])
    started = int(clock())
    voice = speech or SpeechService(None)
    desk = _Desk(generate, allowed, voice, ears or AudioTranscriber(voice), clock)
    described = json_body(
        ChatCompletionRequest,
        "application/json",
        "text/event-stream",
        said="A chat.completion object, or with `stream` its chunks as server-sent events.",
    )

    @routes.post("/chat/completions", openapi_extra=described, summary="Create a chat completion")
    async def create_chat_completion(request: Request) -> Response:
        _check_coding(request)
        try:
            body = decode_json(await request.body())
        except ClientDisconnect:
            return Response(status_code=400)
        check_counts(body, allowed)
        asked = validate(ChatCompletionRequest, body)
        card = models.resolve(asked.model)
        state = request.scope.get("state", {})
        turn = await desk.turn(asked, card, request_id_of(request.scope), state.get("user", "local"))
        id, created = f"chatcmpl-{uuid.uuid4().hex}", int(clock())
        if not asked.stream:
            completion = Completion(id, created, card.name, count=asked.n)
            return WholeReply(desk.batches(turn, completion), completion, turn.sounding, asked.sound)
        stream = CompletionStream(
            id,
            created,
            card.name,
            count=asked.n,
            usage=asked.stream_options.include_usage,
            sounding=turn.sounding,
        )
        return EventStream(desk.batches(turn, stream), stream, patience=patience, keep_alive=keep_alive)

    @routes.head("/models/", include_in_schema=False)
    @routes.head("/models", include_in_schema=False)
    @routes.get("/models/", include_in_schema=False)
    @routes.get("/models", summary="List the models")
    async def list_models() -> Response:
        """The default chat model first; aliases follow, each with the model it stands for as its `root`."""
        return _json(model_list(models.cards(), models.aliases(), started))

    @routes.get("/models/{name:path}", summary="One model, by its name or an alias")
    async def get_model(name: str) -> Response:
        card = models.resolve(name)
        return _json(msgspec.json.encode(model_entry(card, started, name)))

    return routes


class WholeReply(Response):
    """Answers when every choice has ended; a client that leaves before ends the generation. `sounding`: the reply has sound,
    of the kind named `sound`."""

    def __init__(
        self,
        source: AbstractAsyncContextManager[AsyncIterator[Batch]],
        completion: Completion,
        sounding: Sounding | None = None,
        sound: str = "",
    ) -> None:
        super().__init__()
        self._source, self._completion = source, completion
        self._sounding, self._sound = sounding, sound

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        outcome = await while_connected(receive, self._outcome)
        if isinstance(outcome, bytes):
            await _json(outcome)(scope, receive, send)
        elif outcome is not None:
            if not isinstance(outcome, Problem):
                log.error("request %s failed", request_id_of(scope), exc_info=outcome)
            await refuse(scope, receive, send, outcome)

    async def _outcome(self) -> bytes | Exception:
        try:
            async with self._source as batches:
                async for batch in batches:
                    self._completion.add(batch)
            if self._sounding is not None and (pcm := self._completion.sound):
                file = await encode(whole, _KINDS.get(self._sound, self._sound), pcm, SPOKEN_RATE)
                self._completion.spoken(self._sounding, file)
            return self._completion.body()
        except Exception as error:  # noqa: BLE001 (told to the client and logged by the caller)
            return error


async def _decoded(where: str, data: bytes) -> AudioPart:
    """The sound of a file. Raises Problem that names the part."""
    try:
        return AudioPart((await decode(_read, data)).samples, RATE)
    except Problem as problem:
        raise Problem(
            f"{where}: {problem.message}", code=problem.code, status=problem.status, param=where
        ) from None


def _read(data: bytes) -> Sound:
    return wav(data) if is_wav(data) else heard(data, sniff.kind(data[: sniff.HEAD]))


def _check_coding(request: Request) -> None:
    """Raises Unsupported for a compressed body: a few bytes of one may become gigabytes."""
    coding = request.headers.get("content-encoding", "identity").strip().lower()
    if coding not in ("", "identity"):
        raise Unsupported(
            f"The body comes with Content-Encoding {shortened(coding)}; send it uncompressed.", status=415
        )


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json", headers={"Cache-Control": "no-store"})
