"""The conversations of this server: store, files, tools, runs and maintenance, put together.

The composition root of this package, opened by `gateway/app.py`. Owns the order in which the parts are opened and closed. Heavy
parts are imported when the service is opened, not with this module.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import (
    AbstractAsyncContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
    nullcontext,
)
from functools import partial
from typing import TYPE_CHECKING

import anyio

from duologue.conversations.agent.dependencies import (
    Count,
    ModelAccess,
    RunDependencies,
    Watch,
)
from duologue.conversations.daily_backups import DailyBackups
from duologue.conversations.files.message_content import MessageContents
from duologue.conversations.history.compaction import Compaction
from duologue.conversations.history.editing import Editing
from duologue.conversations.history.generation_options import inherited
from duologue.conversations.history.title_generator import TitleGenerator
from duologue.conversations.list_feed import Feed
from duologue.conversations.retention import Retention
from duologue.errors import BadRequest, ModelNotFound, StartFailed, Unavailable
from duologue.store.cluster.cluster_link import ClusterLink, alone
from duologue.threads import disk_io
from duologue.values.conversations import Content, GenerationOptions, Hit
from duologue.values.generate import Generate
from duologue.values.requests import ModelCard
from duologue.values.runs import Run
from duologue.wire import api

if TYPE_CHECKING:
    from duologue.config import Settings
    from duologue.conversations.files.attachments import Attachments
    from duologue.conversations.files.blobs import Blobs
    from duologue.conversations.files.partial_uploads import PartialUploads
    from duologue.conversations.files.quota import StorageQuota
    from duologue.conversations.files.spool import Spool
    from duologue.conversations.runs.service import RunService
    from duologue.store.database import Database
    from duologue.store.stores import Stores
    from duologue.tools.toolbox import Toolbox

MEGABYTE = 2**20
Join = Callable[["Database"], AbstractAsyncContextManager[ClusterLink]]


def milliseconds() -> int:
    """Now, in milliseconds since 1970 (UTC)."""
    return time.time_ns() // 1_000_000


class Service:
    """The parts, for the routes and calls. Created only by `opened`."""

    def __init__(
        self,
        settings: Settings,
        stores: Stores,
        blobs: Blobs,
        spool: Spool,
        uploads: PartialUploads,
        toolbox: Toolbox | None,
        *,
        generate: Generate,
        resolve: Callable[[str], ModelCard],
        count: Count | None,
        models: ModelAccess | None,
        has_waiting_requests: Callable[[], bool],
        now: Callable[[], int],
        clock: Callable[[], float],
        quota: StorageQuota,
        hears: Callable[[], bool],
        watched: Watch,
        cluster: ClusterLink,
    ) -> None:
        from duologue.conversations.files.attachments import Attachments

        self.limits = settings.limits
        self.run_settings = settings.runs
        self.resolve = usable = _or_default(resolve)
        self.count = count
        self.now, self.clock = now, clock
        self.cluster = cluster
        self.stores, self.blobs, self.quota = stores, blobs, quota
        self.spool, self.uploads = spool, uploads
        self.toolbox = toolbox
        self.feed = Feed(now(), cluster=cluster)
        self._requests: set[anyio.CancelScope] = set()
        self.hears = hears
        self._durable = Attachments(blobs, settings.limits, hears=hears)
        self._temporary = Attachments(blobs, settings.limits, temporary=True, hears=hears)
        self.contents = MessageContents(self.attachments, blobs, settings.limits)
        self.editing = Editing(stores, now=now, publish=self.feed.publish)
        self.titles = TitleGenerator(
            stores,
            generate,
            usable,
            publish=self.feed.publish,
            has_waiting_requests=has_waiting_requests,
            can_write=_title_writer(settings.runs.titles),
        )
        self.compaction = Compaction(
            stores,
            generate,
            usable,
            self.attachments,
            count=count,
            toolbox=toolbox,
            defaults=self.defaults,
            publish=self.feed.publish,
        )
        self.retention = Retention(stores, blobs, uploads, responses_ms=settings.responses.keep_ms)
        self.daily_backups = DailyBackups(stores.durable.database, settings.backups, now=now, clock=clock)
        self._titles_by_model = settings.runs.titles != "first"
        self._operator_options = _operator_options(settings)
        self.runs = self._run_service(settings, generate, resolve, models, watched)

    def _run_service(
        self,
        settings: Settings,
        generate: Generate,
        resolve: Callable[[str], ModelCard],
        models: ModelAccess | None,
        watched: Watch,
    ) -> RunService:
        from duologue.conversations.runs.service import RunService

        return RunService(
            self.stores,
            RunDependencies(
                generate=generate,
                resolve=resolve,
                attachments=self.attachments,
                now=self.now,
                clock=self.clock,
                new_id=lambda: uuid.uuid4().hex,
                defaults=self.defaults,
                toolbox=self.toolbox,
                count=self.count,
                models=models,
                make_room=self.compaction.make_room,
                publish=self.feed.publish,
                watched=watched,
                on_end=self._on_end,
            ),
            settings.runs,
            cluster=self.cluster,
        )

    def attachments(self, conversation: str) -> Attachments:
        """Those of a conversation: a temporary conversation has its files in memory."""
        return self._temporary if self.stores.is_temporary(conversation) else self._durable

    async def defaults(self, user: str) -> GenerationOptions:
        """The generation options in a user's settings, over those of the operator. Invalid options that an older page may have
        left there are ignored."""
        options = (await self.stores.durable.settings.get(user)).get("options")
        if not isinstance(options, dict):
            return self._operator_options
        try:
            return inherited(api.read(api.OptionsBody, options).options(), self._operator_options)
        except BadRequest:
            return self._operator_options

    async def keep(self, user: str, data: bytes, name: str, mime: str) -> Content:
        """Store a file that a tool server gave outside of any conversation."""
        return await self._durable.keep(user, data, name, mime)

    def _on_end(self, user: str, run: Run) -> None:
        if self._titles_by_model and run.outcome == "done":
            self.titles.enqueue(user, run.conversation)

    @contextmanager
    def until_closed(self) -> Iterator[None]:
        """Work of a request that may take minutes: it ends when the server shuts down. Raises Unavailable then."""
        with anyio.CancelScope() as scope:
            self._requests.add(scope)
            try:
                yield
            finally:
                self._requests.discard(scope)
        if scope.cancelled_caught:
            raise Unavailable("The server is shutting down. Send the request again when it is back.")

    async def close(self) -> None:
        """End every stream, every long request and every run, with its text stored: the server shuts down. Idempotent."""
        self.feed.close()
        for scope in tuple(self._requests):
            scope.cancel()
        await self.runs.close()


def _title_writer(titles: str) -> Callable[[ModelCard], bool]:
    """Which models write titles by themselves. Not the bundled one, which is too small, nor the scripted engine, whose replies are fixed."""
    return lambda card: titles == "model" or not (card.bundled or card.engine == "scripted")


def _or_default(resolve: Callable[[str], ModelCard]) -> Callable[[str], ModelCard]:
    """`resolve`, with the default for a model that is not loaded: for calls, titles and the room in the context."""

    def usable(name: str) -> ModelCard:
        try:
            return resolve(name)
        except ModelNotFound:
            return resolve("")

    return usable


def _operator_options(settings: Settings) -> GenerationOptions:
    """The generation options in `ui.defaults.options`. Raises StartFailed when they are invalid."""
    try:
        return api.read(api.OptionsBody, settings.ui.defaults.overrides().get("options", {})).options()
    except BadRequest as problem:
        where = "ui.defaults.options"
        raise StartFailed(f"{where}: {problem.message}", param=f"{where}.{problem.param or ''}") from None


async def _files(
    settings: Settings, stores: Stores, now: Callable[[], int]
) -> tuple[Blobs, StorageQuota, Spool, PartialUploads]:
    """The files of users, how much of them each may have, uploads that are kept only while they are read, and those that arrive in
    pieces. What an earlier server left of both is removed or found."""
    from duologue.conversations.files.blobs import Blobs
    from duologue.conversations.files.partial_uploads import PartialUploads
    from duologue.conversations.files.quota import StorageQuota
    from duologue.conversations.files.spool import Spool
    from duologue.conversations.files.upload_pieces import FolderPieces, SharedPieces
    from duologue.storage.opening import UPLOADS, blob_store, file_storage, upload_store

    storage = file_storage(settings.storage, settings.data)
    await storage.check()
    limits = settings.limits
    durable, temporary = stores.durable.blobs, stores.temporary.blobs
    quota = StorageQuota(
        durable,
        temporary,
        limit=round(limits.storage_gb * 10**9),
        temporary_limit=limits.temporary_mb * 10**6,
    )
    largest = limits.blob_mb * MEGABYTE
    blobs = Blobs(
        blob_store(storage),
        durable,
        limit=largest,
        now=now,
        temporary=temporary,
        quota=quota,
    )
    pieces = (
        SharedPieces(upload_store(storage)) if storage.is_shared else FolderPieces(settings.data / UPLOADS)
    )
    uploads = PartialUploads(pieces, blobs, quota, limit=largest, now=now)
    spool = Spool(settings.data / "incoming")
    await spool.sweep()
    await uploads.load()
    return blobs, quota, spool, uploads


async def _zone(stores: Stores, user: str) -> str:
    """The time zone in a user's settings, "" without one."""
    name = (await stores.durable.settings.get(user)).get("zone")
    return name if isinstance(name, str) else ""


@asynccontextmanager
async def opened(
    settings: Settings,
    *,
    generate: Generate,
    resolve: Callable[[str], ModelCard],
    count: Count | None = None,
    models: ModelAccess | None = None,
    has_waiting_requests: Callable[[], bool] = lambda: False,
    model_ready: Callable[[], Awaitable[None]] | None = None,
    hears: Callable[[], bool] = lambda: False,
    watched: Watch = lambda user, end: nullcontext(),
    join: Join = lambda database: nullcontext(alone()),
    now: Callable[[], int] = milliseconds,
    clock: Callable[[], float] = time.monotonic,
) -> AsyncIterator[Service]:
    """The service over the data folder and database of the settings, for as long as the block lasts.

    `generate` runs a model turn, `resolve` finds a model's card by name, `count` counts the tokens of a prompt, `models` loads models,
    `has_waiting_requests` says whether requests wait for a model, `model_ready` returns when tool servers may be connected, `hears`
    says whether `generate` writes down sound for models that take none, `watched` ends the runs of users who are disabled, and `join` makes
    this server one of the gateways of its database. Raises StartFailed when the database cannot be opened.
    """
    from duologue.store.stores import Stores
    from duologue.tools.builtin.clock import local_zone_name
    from duologue.tools.mcp.registry import load
    from duologue.tools.toolbox import Toolbox

    async with AsyncExitStack() as stack:
        stores = await stack.enter_async_context(Stores.opened(settings.database_url, settings.data, now=now))
        cluster = await stack.enter_async_context(join(stores.durable.database))

        async def search(user: str, query: str, limit: int) -> list[Hit]:
            return await stores.durable.search.find(user, query, limit=limit)

        blobs, quota, spool, uploads = await _files(settings, stores, now)

        async def begin() -> None:
            if model_ready is not None:
                await model_ready()
            # Importing the SDK takes most of a second, so it happens on a thread.
            await disk_io(load)

        toolbox = Toolbox(
            settings,
            stores.durable.mcp,
            now=now,
            search=search,
            zone=partial(_zone, stores),
            home=local_zone_name(),
            begin=begin,
        )
        service = Service(
            settings,
            stores,
            blobs,
            spool,
            uploads,
            toolbox,
            generate=generate,
            resolve=resolve,
            count=count,
            models=models,
            has_waiting_requests=has_waiting_requests,
            now=now,
            clock=clock,
            quota=quota,
            hears=hears,
            watched=watched,
            cluster=cluster,
        )
        await stack.enter_async_context(toolbox.running())
        async with anyio.create_task_group() as tasks:
            for work in (service.titles, service.retention, service.daily_backups):
                tasks.start_soon(work.run)
            try:
                async with service.runs.serving():
                    yield service
            finally:
                service.feed.close()
                tasks.cancel_scope.cancel()
