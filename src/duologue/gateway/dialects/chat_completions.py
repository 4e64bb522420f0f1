"""OpenAI's endpoints `/v1/chat/completions` and `/v1/models`.

Owns the choice between a stream and a whole reply, and a completion's id and creation time. The shapes are in `wire.openai`
and `wire.completion`, the pipeline in `reply`; errors leave as `Problem`s, which the application turns into responses.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from functools import partial

import msgspec
from fastapi import APIRouter, Request
from msgspec import Struct, json
from starlette.responses import Response

from duologue.config.settings import LimitSettings
from duologue.gateway.dialects.audio_ids import AudioIds
from duologue.gateway.dialects.reply import ReplyPipeline, ReplyPlan
from duologue.gateway.dialects.whole_replies import WholeReply
from duologue.gateway.media.references import MediaReferences
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.models.requested_models import RequestedModels
from duologue.gateway.speech.service import SpeechService
from duologue.gateway.speech.voice_choice import VoiceChoice, note_header
from duologue.http.error_responses import request_id_of
from duologue.http.json_api import raw_body, user_of
from duologue.http.openapi import documented, json_body
from duologue.http.sse import KEEP_ALIVE, PATIENCE, EventStream
from duologue.request_parsing import parsing
from duologue.values.events import Done, TextDelta
from duologue.values.generate import Batch, Generate
from duologue.values.requests import ModelCard
from duologue.wire.completion import AudioId, Completion, CompletionStream
from duologue.wire.models.model_entries import model_entry, model_list, unloaded_entry
from duologue.wire.openai import ChatCompletionBody
from duologue.wire.shapes.completion_shapes import (
    ChatCompletion,
    ChatCompletionChunk,
    ListedModels,
    ModelEntry,
)
from duologue.wire.validation import check_counts, decode_json, validate

Clock = Callable[[], float]


class _CompletionPlan(Struct, frozen=True):
    """`model`: the model that answers; `audio_id`: the id of the reply's sound, None where the reply is text only."""

    reply: ReplyPlan
    model: str
    audio_id: AudioId | None
    voice: VoiceChoice | None = None


FindCard = Callable[[], Awaitable[ModelCard]]
MakePlan = Callable[[], Awaitable[_CompletionPlan]]


class _CompletionPipeline:
    """The shared pipeline, plus what only this API has: files, media at addresses, and replies known by the ids of their
    sound."""

    def __init__(
        self, pipeline: ReplyPipeline, limits: LimitSettings, references: MediaReferences, clock: Clock
    ) -> None:
        self._pipeline, self._limits, self._references = pipeline, limits, references
        self._audio_ids = AudioIds(clock)

    async def plan(
        self,
        body: ChatCompletionBody,
        size: int,
        find_card: FindCard,
        request_id: str,
        user: str,
        id: str = "",
    ) -> _CompletionPlan:
        """Check the request, whose body had `size` bytes; `id` is the completion's. Waits where its model is loaded for it. Raises Problem."""
        card = await find_card()
        named = await parsing(size, lambda: list(body.references()), user=user)
        references = await self._references.read(named, card, user) if named else {}
        refers_to_audio = any(message.audio is not None for message in body.messages)
        texts = self._audio_ids.texts_of(user) if refers_to_audio else {}
        request = await parsing(size, body.request, self._limits, references, texts, user=user)
        request = msgspec.structs.replace(request, reply_id=id)
        speech, choice = await self._pipeline.choose_voice(card, body.speech(), request.messages, user)
        plan = self._pipeline.plan(
            card,
            request,
            speech,
            # A client of this API gets sound or an error: there is no field that would tell it why the sound is missing.
            speech_required=True,
            choices=body.n,
            request_id=request_id,
            user=user,
        )
        return _CompletionPlan(plan, card.name, None if speech is None else self._audio_ids.new(), choice)

    @asynccontextmanager
    async def run(self, plan: _CompletionPlan) -> AsyncIterator[AsyncIterator[Batch]]:
        """The batches of the reply. The text of a spoken reply is remembered under its audio id."""
        async with self._pipeline.run(plan.reply) as batches:
            if plan.audio_id is None:
                yield batches
                return
            async with aclosing(self._remember_text(batches, plan.reply.user, plan.audio_id)) as remembered:
                yield remembered

    @asynccontextmanager
    async def plan_and_run(
        self, plan: MakePlan, encoder: CompletionStream | Completion
    ) -> AsyncIterator[AsyncIterator[Batch]]:
        """As `run`, of a plan that is made on entering: loading the model and fetching what a request names takes a while, in which a
        stream has to be kept alive, and a client that leaves should end it. The `encoder` gets the name of the model that answers."""
        made = await plan()
        encoder.answers_as(made.model)
        async with self.run(made) as batches:
            yield batches

    async def _remember_text(
        self, reply: AsyncIterator[Batch], user: str, audio_id: AudioId
    ) -> AsyncGenerator[Batch]:
        text: list[str] = []
        async for batch in reply:
            for _, event in batch:
                if isinstance(event, TextDelta):
                    text.append(event.text)
                elif isinstance(event, Done):
                    self._audio_ids.remember(user, audio_id, "".join(text))
            yield batch


def router(
    generate: Generate,
    models: ModelRegistry,
    requested: RequestedModels | None = None,
    *,
    limits: LimitSettings | None = None,
    speech: SpeechService | None = None,
    references: MediaReferences | None = None,
    clock: Clock = time.time,
    patience: float = PATIENCE,
    keep_alive: float = KEEP_ALIVE,
) -> APIRouter:
    """The endpoints. `references` reads what a request names, without fetching anything where it is not given. `clock` gives seconds since 1970; `patience` and `keep_alive` are those of `sse`."""
    limits = limits or LimitSettings()
    requested = requested or RequestedModels(models)
    routes = APIRouter(tags=["OpenAI"])
    _add_model_routes(routes, models, requested, int(clock()))
    shared = ReplyPipeline(generate, speech or SpeechService(None))
    pipeline = _CompletionPipeline(shared, limits, references or MediaReferences(limits), clock)
    schema = json_body(
        ChatCompletionBody,
        "application/json",
        "text/event-stream",
        description="A chat.completion object, or with `stream` its chunks as server-sent events.",
        answers=ChatCompletion,
        chunks=ChatCompletionChunk,
    )

    @routes.post("/chat/completions", include_in_schema=False)  # as llama-server has it too
    @routes.post("/v1/chat/completions", openapi_extra=schema, summary="Create a chat completion")
    async def create_chat_completion(request: Request) -> Response:
        data, user = await raw_body(request), user_of(request)
        body = await parsing(len(data), _decode_body, data, limits, user=user)
        waits = body.is_spoken  # before there is an answer, which notices when its client leaves
        find_card = partial(requested.card, body.model, user, receive=request.receive if waits else None)
        id, created = f"chatcmpl-{uuid.uuid4().hex}", int(clock())
        make_plan = partial(pipeline.plan, body, len(data), find_card, request_id_of(request.scope), user, id)
        # The headers of a spoken reply tell its voice, so its plan cannot wait.
        plan = await make_plan() if body.is_spoken else None
        audio_id, headers = (plan.audio_id, note_header(plan.voice)) if plan is not None else (None, {})
        if not body.stream:
            completion = Completion(id, created, body.model, count=body.n, functions=bool(body.functions))
            source = pipeline.plan_and_run(_made(plan) if plan else make_plan, completion)
            return WholeReply(source, completion, audio_id, body.audio_format, headers)
        stream = CompletionStream(
            id,
            created,
            body.model,
            count=body.n,
            usage=body.stream_options.include_usage,
            audio_id=audio_id,
            functions=bool(body.functions),
        )
        source = pipeline.plan_and_run(_made(plan) if plan else make_plan, stream)
        events = EventStream(source, stream, patience=patience, keep_alive=keep_alive)
        events.headers.update(headers)
        return events

    return routes


def _add_model_routes(
    routes: APIRouter, models: ModelRegistry, requested: RequestedModels, started: int
) -> None:
    listed = documented(answers=ListedModels, says="The models.")
    one = documented(answers=ModelEntry, says="The model.")

    @routes.head("/v1/models/", include_in_schema=False)
    @routes.head("/v1/models", include_in_schema=False)
    @routes.get("/models", include_in_schema=False)  # as llama-server has it too
    @routes.get("/v1/models/", include_in_schema=False)
    @routes.get("/v1/models", openapi_extra=listed, summary="List the models")
    async def list_models(request: Request) -> Response:
        """The default chat model first; aliases follow, each with the model it stands for as its `root`, then the models that are loaded
        when a request of this user names them."""
        unloaded = await requested.unloaded(user_of(request))
        return _json(model_list(models.cards(), models.aliases(), started, unloaded))

    @routes.get("/v1/models/{name:path}", openapi_extra=one, summary="One model, by its name or an alias")
    async def get_model(name: str, request: Request) -> Response:
        if models.find(name) is None and name in await requested.unloaded(user_of(request)):
            return _json(json.encode(unloaded_entry(name, started)))
        card = models.resolve(name)
        return _json(json.encode(model_entry(card, started, name)))


def _made(plan: _CompletionPlan) -> MakePlan:
    """A plan that was made already."""

    async def made() -> _CompletionPlan:
        return plan

    return made


def _decode_body(data: bytes, limits: LimitSettings) -> ChatCompletionBody:
    fields = decode_json(data)
    check_counts(fields, limits)
    return validate(ChatCompletionBody, fields)


def _json(body: bytes) -> Response:
    return Response(body, media_type="application/json", headers={"Cache-Control": "no-store"})
