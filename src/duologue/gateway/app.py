"""The composition root: puts pools, services, routes and authentication together into one application.

Owns the order of start-up. `server` runs the result; every part is in its own file and gets what it needs here.
"""

from __future__ import annotations

import logging
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
from fastapi import APIRouter, Depends, FastAPI, Request
from starlette.middleware import Middleware

from duologue import __version__, telemetry
from duologue.config import Settings
from duologue.decoder import service as decoder
from duologue.faces.catalogue import LookCatalogue
from duologue.gateway import tls, web_pictures
from duologue.gateway.accounts import Accounts
from duologue.gateway.admin import routes as admin_routes
from duologue.gateway.admin import status
from duologue.gateway.admin.server_metrics import ServerMetrics
from duologue.gateway.anthropic import anthropic_messages, anthropic_models
from duologue.gateway.apps import app_routes
from duologue.gateway.apps.app_registry import AppRegistry
from duologue.gateway.apps.modes import Abilities
from duologue.gateway.auth.background_work import BackgroundWork
from duologue.gateway.auth.keys import wall_clock
from duologue.gateway.avatars import avatar_routes, clip_routes
from duologue.gateway.avatars.clip_service import ClipService
from duologue.gateway.avatars.library import AvatarLibrary
from duologue.gateway.avatars.video_offers import VideoOffers
from duologue.gateway.batches import batch_routes
from duologue.gateway.batches.line_executor import LineExecutor
from duologue.gateway.batches.service import BatchService
from duologue.gateway.body_limits import MEGABYTE, body_limits, json_limit, message_limits
from duologue.gateway.calls import voice_socket
from duologue.gateway.calls.call_model import is_native
from duologue.gateway.calls.call_services import CallServices, continued_conversations
from duologue.gateway.cluster import gateway_routes
from duologue.gateway.cluster.membership import Membership
from duologue.gateway.dialects import audio, chat_completions, chat_socket, parse_routes, text_completions
from duologue.gateway.dialects.reply import ReplyPipeline
from duologue.gateway.duplex import duplex_socket
from duologue.gateway.embeddings import embedding_routes
from duologue.gateway.embeddings.service import EmbeddingService
from duologue.gateway.files import file_routes
from duologue.gateway.files.stored_files import StoredFiles
from duologue.gateway.help import help_routes
from duologue.gateway.help.search import HelpSearch
from duologue.gateway.life.service import LifeService
from duologue.gateway.machine_wiring import join_service, machine_routers, ray_places, run_machines
from duologue.gateway.media.fitted_generate import FittedGenerate
from duologue.gateway.media.fitter import MediaFitter
from duologue.gateway.media.references import MediaReferences
from duologue.gateway.middleware.body_limit import BodyLimit
from duologue.gateway.middleware.byte_ledger import ByteLedger
from duologue.gateway.middleware.bytes_in_flight import BytesInFlight
from duologue.gateway.middleware.message_limit import MessageLimit
from duologue.gateway.middleware.stream_limit import StreamLimit
from duologue.gateway.model_routes import model_routes
from duologue.gateway.models.loader import ProbeHardware
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.models.service import ModelService
from duologue.gateway.presets import preset_routes
from duologue.gateway.presets.voice_samples import VoiceSamples
from duologue.gateway.recordings import recording_routes
from duologue.gateway.recordings.recording_archive import RecordingArchive
from duologue.gateway.recordings.service import RecordingService
from duologue.gateway.responses.response_api import response_api
from duologue.gateway.scheduling.eta import BASES, Estimator
from duologue.gateway.scheduling.generate import Generator
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.scheduling.scheduler import Scheduler
from duologue.gateway.scheduling.traced_generate import traced
from duologue.gateway.sharing import Sharing
from duologue.gateway.speech import pack_routes, voice_routes
from duologue.gateway.speech.pack_service import VoicePacks
from duologue.gateway.speech.service import SpeechService
from duologue.gateway.speech.voice_library import VoiceLibrary
from duologue.gateway.startup_messages import StartupMessages
from duologue.gateway.static_page import FOLDER, StaticPage
from duologue.gateway.upstreams import upstream_routes
from duologue.gateway.upstreams.service import UpstreamService
from duologue.gateway.usage.service import UsageService
from duologue.gateway.voice_pool import voice_pool
from duologue.gateway.workers.load_specs import ListCards
from duologue.http.error_responses import exception_handlers
from duologue.http.openapi_document import describe_completely, operation_id
from duologue.stall_watch import watch_loop
from duologue.storage.opening import RECORDINGS, file_storage, recording_store, stored_file_store
from duologue.supervisor.link import GatewayRestarts
from duologue.threads import ThreadLane
from duologue.tools.ssrf_guard import AddressGuard, AllowList
from duologue.values.runs import ListModels
from duologue.wire.worker_protocol import LoadSpec

if TYPE_CHECKING:
    import ssl

    from duologue.conversations.service import Service

log = logging.getLogger(__name__)

SETTLED_SECONDS = 20.0
"""Seconds that work of lower priority waits for the first model: it may never load."""


class Gateway:
    """The parts of the program and the application over them, which `server` puts behind the middleware.

    Inside `running()` the workers, the database and the conversations are up; the routes of the conversations are added then.
    `probe_hardware` measures this machine; without it no model is refused for lack of memory. `list_cards` lists its graphics cards.
    `restarts` says how often the gateway was started again, and why.
    """

    service: Service | None = None
    tls: ssl.SSLContext | None = None

    def __init__(
        self,
        settings: Settings,
        load_specs: Sequence[LoadSpec],
        announce: Callable[[str], None],
        probe_hardware: ProbeHardware | None = None,
        restarts: GatewayRestarts | None = None,
        list_cards: ListCards = tuple,
    ) -> None:
        self.settings, self._restarts = settings, restarts or GatewayRestarts()
        self.membership = Membership(settings)
        self.sharing = Sharing(settings, self.membership)
        self.accounts = Accounts(settings)
        self.keys, self.guessing = self.accounts.keys, self.accounts.guessing
        self.background_work = BackgroundWork(self.keys)
        self.usage = UsageService(settings, self.keys)
        self.ledger = ByteLedger(settings.limits.in_flight_mb * MEGABYTE)
        self.static_page = StaticPage(FOLDER if settings.ui.enabled else None)
        self.startup_messages = StartupMessages(settings, announce)
        self.voice: Pool | None = None
        estimator = Estimator({**BASES, "chat": settings.eta.chat_s}, alpha=settings.eta.alpha)
        self.places = ray_places(settings)
        self.pool = Pool(
            load_specs,
            Scheduler(settings.queue.limit, estimator),
            port=settings.worker_port_base,
            log=(settings.log.level, settings.log.format),
            on_change=self._pool_changed,
            stall_limit=settings.lifecycle.engine_stall_s,
            weight_of=self.usage.lookup.weight,
            placed=self.places.keeper,
        )
        self.metrics = ServerMetrics(self.pools, self.pool.find)
        work = self.metrics.work
        generator = Generator(self.pool, observe=work.reply_ended, wrote=self.metrics.history.wrote)
        self.replies = generator.running
        meter, allows = self.usage.meter, self.usage.lookup.may_list
        self.models = ModelRegistry(self.pool.cards, settings.all_aliases, self.pool.find, allows)
        self.embeddings = EmbeddingService(self.pool, self.models, work.vectors_ended, meter=meter)
        self.voice = voice_pool(settings, self._pool_changed, self.usage.lookup.weight)
        self.library = VoiceLibrary(settings.limits.voices)
        self.avatars = AvatarLibrary(settings.limits.avatars, LookCatalogue())
        self.speech = SpeechService(self.voice, settings.voice, self.library, work, meter)
        self.video = VideoOffers(settings.video, self.speech, self.avatars)
        self.storage = file_storage(settings.storage, settings.data)
        clips = settings.data / "clips"
        self.clips = ClipService(self.speech, self.avatars, clips, allowed=self.background_work.allowed)
        self.files = StoredFiles(
            settings.files, stored_file_store(self.storage), limit_mb=settings.limits.blob_mb, now=wall_clock
        )
        self._told_voice = (self.speech.status, self.speech.card)
        fitter = MediaFitter(self.speech, settings.limits.media_budget())
        self.fitted = FittedGenerate(traced(generator), self.models.resolve, fitter)
        self.generate = self.usage.generate(self.fitted, self.models.resolve)
        self.apps = AppRegistry(self._abilities, self._models_changed)
        self.voice_packs = VoicePacks(settings, self.voice, probe_hardware)
        self.recordings = RecordingService(
            settings.recordings,
            RecordingArchive(settings.data / RECORDINGS, recording_store(self.storage)),
            is_temporary=self._is_temporary,
        )
        self.call_services = self._call_services(generator)
        self.duplex = duplex_socket.DuplexSessions(self.call_services, most=settings.limits.sockets_per_user)
        self.model_service = ModelService(
            settings,
            load_specs,
            self.pool,
            self.models,
            probe_hardware,
            may_load=self.keys.is_admin,
            on_change=self._models_changed,
            list_cards=list_cards,
        )
        self.requested_models = self.model_service.requested_by(self.keys)
        moved = self.model_service.remembered.moved
        self.life = LifeService(settings, self.pools(), probe_hardware, moved=moved)
        self.upstreams, self.joins = UpstreamService(settings, self.pool), join_service(self)
        self._settled, self._loads_repeated = anyio.Event(), anyio.Event()
        self.app = self._application()

    def _call_services(self, generator: Generator) -> CallServices:
        """What calls need."""
        settings = self.settings
        return CallServices(
            self.voice,
            self.generate,
            self.models,
            settings=settings.voice,
            limits=settings.limits,
            conversations=continued_conversations(lambda: self.service),
            read_ahead=self.fitted.reading_ahead(generator.ahead),
            observe=self.metrics.work,
            speech=self.speech,
            apps=self.apps,
            recordings=self.recordings,
            slots=self.pool,
            video=self.video,
            wake=lambda name: self.model_service.loader.wake_named(name),
            meter=self.usage.meter,
            elsewhere=self.sharing.calls,
        )

    def _features(self) -> dict[str, bool]:
        """What else users may do. A model that holds calls by itself needs no voice worker."""
        native = any(is_native(card) for card in self.models.every())
        return {"recording": self.recordings.allowed, **({"voice": True} if native else {})}

    def _abilities(self) -> Abilities:
        """What the loaded engines can do."""
        cards = [card for card in self.models.every() if card.chats]
        native = [card for card in cards if is_native(card)]
        coming = bool(self.model_service.coming) or any(not card.context for card in cards)
        return Abilities(
            text=bool(cards) or coming,
            voice=self.speech.features()["voice"] or self.speech.status[0] == "loading",
            image=coming or any("image" in card.modalities for card in cards),
            duplex=tuple(card.name for card in native),
            duplex_image=tuple(card.name for card in native if "image" in card.modalities),
        )

    async def _require_chat(self, request: Request) -> None:
        """The page's messages are turn-based chat too. Raises Forbidden where that is switched off."""
        if request.method == "POST" and request.url.path.endswith("/runs"):
            self.apps.require("turnbased")

    def pools(self) -> list[Pool]:
        """That of the models, and that of the voice worker where there is one."""
        return [self.pool, *([] if self.voice is None else [self.voice])]

    def _is_temporary(self, conversation: str) -> bool:
        return self.service is not None and self.service.stores.is_temporary(conversation)

    def _pool_changed(self) -> None:
        self.startup_messages.update(self.pool, self.voice)
        self.metrics.workers_changed()
        self.model_service.publish_changes()
        self.voice_packs.pool_changed()
        if self.pool.ready:
            self._settled.set()
        voice = (self.speech.status, self.speech.card)
        if voice != self._told_voice:
            self._told_voice = voice
            self._models_changed()

    def _models_changed(self) -> None:
        if self.service is not None:
            self.service.feed.publish_to_all(ListModels())

    async def _run_voice(self, voice: Pool) -> None:
        """Run the voice worker. Its engines load after the model: most users come for a chat."""
        await self._settle()
        await voice.run()

    async def _settle(self) -> None:
        """Return once a chat could be answered, or after SETTLED_SECONDS: until then, loading the model comes first."""
        with anyio.move_on_after(SETTLED_SECONDS):
            await self._settled.wait()

    async def _repeat_loads(self) -> None:
        await self.model_service.repeat_loads()
        self._loads_repeated.set()

    def _status_router(self) -> APIRouter:
        settings, page = self.settings, self.static_page
        return status.router(
            self.pool,
            build=page.build,
            auth_required=lambda: self.keys.required,
            metrics=lambda: self.metrics.rendered(self._restarts.number, self.batches.counts()),
            restarts=self._restarts,
            limits={
                "text_bytes": settings.limits.text_mb * MEGABYTE,
                "blob_bytes": settings.limits.blob_mb * MEGABYTE,
                "attachments": settings.limits.attachments,
                "audio_bytes": settings.limits.audio_mb * MEGABYTE,
            },
            speech=self.speech,
            features=self._features,
            ui_defaults=settings.ui.defaults.overrides(),
            coming=lambda: self.model_service.coming,
            chosen=lambda: self.model_service.remembered.default,
            aliases=self.models.aliases,
            apps=self.apps.is_enabled,
            modes=self.apps.standings,
            drain=self.life.drain.refusal,
            resting=self.model_service.resting.cards,
            allows=self.usage.lookup.may_list,
        )

    def _openai_routes(self, references: MediaReferences) -> tuple[APIRouter, ...]:
        """OpenAI's endpoints, and batches of requests to those of them that are given to the executor."""
        settings, speech = self.settings, self.speech
        shared: dict[str, Any] = {"limits": settings.limits, "speech": speech, "references": references}
        completions = chat_completions.router(self.generate, self.models, self.requested_models, **shared)
        texts = text_completions.router(self.generate, self.requested_models, settings.limits)
        vectors = embedding_routes.router(self.embeddings, self.requested_models, settings.limits)
        self.responses, responses = response_api(
            settings,
            ReplyPipeline(self.generate, speech),
            references,
            self.requested_models,
            count=self.fitted.counting(self.pool.count),
            allowed=self.background_work.allowed,
        )
        executor, folder = LineExecutor.of(completions, texts, vectors, *responses), settings.data / "batches"
        self.batches = BatchService(
            settings.batches,
            folder,
            self.files,
            executor,
            access=self.background_work,
            now=wall_clock,
            accepting=self.life.drain.accepting,
        )
        return (
            audio.router(speech, limits=settings.limits, models=self.models.cards),
            completions,
            texts,
            vectors,
            file_routes.router(self.files),
            batch_routes.router(self.batches),
            *responses,
        )

    def _application(self) -> FastAPI:
        settings, accounts, page = self.settings, self.accounts, self.static_page
        app = FastAPI(
            title="Duologue",
            version=__version__,
            description="A self-hosted server you can talk to. Sockets are described in docs/protocols.md.",
            docs_url=None,
            redoc_url=None,
            openapi_url=None,  # `describe_completely` serves it
            # Relative to the URL of the description, which works under any path a proxy puts before it.
            servers=[{"url": "."}],
            generate_unique_id_function=operation_id,
            middleware=[
                *self.sharing.around(accounts.authentication(page, settings)),
                accounts.recording(),
                self.life.gate(),
                self.usage.headers(),
                Middleware(StreamLimit, settings.limits.sockets_per_user),
                Middleware(BytesInFlight, self.ledger, streamed=["/api/blobs", "/api/import", "/v1/files"]),
                Middleware(MessageLimit, message_limits(settings)),
                Middleware(BodyLimit, *json_limit(settings), others=body_limits(settings)),
            ],
            exception_handlers=exception_handlers(),
        )
        for router in (*accounts.routes(), self.usage.routes()):
            app.include_router(router)
        self._include_routers(app)
        app.router.default = page
        describe_completely(app, ThreadLane(1).run)
        return app

    def _include_routers(self, app: FastAPI) -> None:
        """Every public endpoint but those of signing in, and those of the conversations, which come with the database."""
        settings = self.settings
        app.include_router(tls.router(settings))
        app.include_router(help_routes.router(HelpSearch()))
        guard = AddressGuard(AllowList(settings.tools.private_addresses))
        app.include_router(web_pictures.router(guard))
        app.include_router(self._status_router())
        forget = self.life.worker_drains.forget
        app.include_router(admin_routes.router(self.pools(), self.metrics.history, time.time, forget))
        references = MediaReferences(settings.limits, guard, stored=self.files.read)
        for router in (*self._anthropic_routes(references), *self._openai_routes(references)):
            app.include_router(router)
        app.include_router(parse_routes.router(self.models))
        app.include_router(pack_routes.router(self.voice_packs))
        own = (
            voice_routes.router(self.library, self.speech),
            avatar_routes.router(self.avatars, lambda: self.video.rendered),
            clip_routes.router(self.clips),
            recording_routes.router(self.recordings),
            self.life.router(),
            gateway_routes.router(self.membership),
            *model_routes(self),
            *machine_routers(self, self.joins),
        )
        for router in (*self.model_service.routes(), *own):
            app.include_router(router)
        app.include_router(upstream_routes.router(self.upstreams))
        app.include_router(
            chat_socket.router(
                self.generate,
                self.models,
                timeouts=settings.chat,
                call_services=self.call_services,
                apps=self.apps,
                limits=settings.limits,
                speech=self.speech,
                requested=self.requested_models,
                accept=self.life.drain.require,
            )
        )
        app.include_router(voice_socket.router(self.call_services))
        app.include_router(duplex_socket.router(self.duplex))
        app.include_router(app_routes.router(self.apps))
        app.include_router(preset_routes.router(VoiceSamples(self.speech)))

    def _anthropic_routes(self, references: MediaReferences) -> tuple[APIRouter, ...]:
        """Included before OpenAI's: `/v1/models` is the same address, for requests with Anthropic's header."""
        return (
            anthropic_messages.router(
                self.generate,
                self.requested_models,
                self.fitted.counting(self.pool.count),
                limits=self.settings.limits,
                speech=self.speech,
                references=references,
            ),
            anthropic_models.router(self.models),
        )

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Run everything behind `app`. Raises StartFailed, within an exception group, when the database cannot be used."""
        from duologue.conversations import service as conversations
        from duologue.conversations.api import router

        async with AsyncExitStack() as stack:
            stack.callback(decoder.close)
            tasks = await stack.enter_async_context(anyio.create_task_group())
            stack.callback(tasks.cancel_scope.cancel)
            # First, so that the workers load their models while the database is opened.
            await tasks.start(self.pool.run)
            if self.voice is not None:
                tasks.start_soon(self._run_voice, self.voice)
            tasks.start_soon(self.metrics.run)
            await tasks.start(self.life.run)
            await tasks.start(self.duplex.run)
            await tasks.start(self.model_service.run)
            await tasks.start(self.voice_packs.run)
            self.service = await stack.enter_async_context(
                conversations.opened(
                    self.settings,
                    generate=self.generate,
                    resolve=self.models.resolve,
                    count=self.fitted.counting(self.pool.count),
                    models=self.model_service.for_chats,
                    has_waiting_requests=lambda: self.pool.scheduler.someone_waits,
                    model_ready=self._settle,
                    hears=lambda: self.speech.hears,
                    watched=lambda user, end: self.background_work.watched(user, "", end),
                    join=self.membership.joined,
                )
            )
            await self.sharing.begin(self, self.service, tasks)
            self.life.watch_runs(self.service.runs)
            await self.apps.use(self.service.stores.durable.server_settings)
            loads = self.service.stores.durable.remembered_loads
            await self.model_service.remember(await loads.of(self.membership.instance))
            await tasks.start(self.recordings.run, self.service.stores.durable.recordings)
            tasks.start_soon(self._repeat_loads)
            await tasks.start(self.background_work.run)
            await tasks.start(run_machines, self)
            await tasks.start(self.accounts.run, self.service.stores.durable.database)
            await tasks.start(self.usage.run, self.service.stores.durable.usage)
            self.library.use(self.service.stores.durable.custom_voices)
            await tasks.start(self.clips.run)
            self.avatars.use(self.service.stores.durable.avatars)
            await tasks.start(self.upstreams.run, self.service.stores.durable.upstreams)
            await tasks.start(self.responses.run, self.service.stores.durable, self.service.blobs)
            await tasks.start(self.files.run, self.service.stores.durable.files)
            await tasks.start(
                self.batches.run, self.service.stores.durable.batches, self._loads_repeated.wait
            )
            self.app.include_router(router(self.service), dependencies=[Depends(self._require_chat)])
            self.sharing.follow_changes(self, tasks)
            if self.tls is not None:
                tasks.start_soon(tls.keep_fresh, self.settings, self.tls)
            # Last: the imports of a start stand in nobody's way.
            tasks.start_soon(watch_loop, telemetry.metrics().loop_stalled)
            yield
            await self.keys.note_used()
            await self.usage.close()
