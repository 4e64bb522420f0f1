"""The models of a running server: what is available, the loader, what is remembered, the downloads, and the events about all of them.

`app` makes one. Owns which changes of the pool become events, and when a start repeats the loads that are remembered.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing, suppress
from typing import TYPE_CHECKING

import anyio
import anyio.abc
import msgspec
from fastapi import APIRouter

from duologue.config import Settings
from duologue.errors import Problem
from duologue.gateway.auth.keys import Keys
from duologue.gateway.models import api_routes, router_routes, v1_routes
from duologue.gateway.models.api_routes import READ_AGAIN, ModelEvent
from duologue.gateway.models.available import AvailableModels
from duologue.gateway.models.chat_models import ChatModels
from duologue.gateway.models.download_journal import FILE, DownloadJournal
from duologue.gateway.models.download_work import hub_download
from duologue.gateway.models.downloads import Download, Downloads
from duologue.gateway.models.loader import Loader, LoadRequest, ProbeHardware, repeated
from duologue.gateway.models.registry import ModelRegistry
from duologue.gateway.models.remembered import RememberedModels
from duologue.gateway.models.requested.idle_unload import IdleUnload
from duologue.gateway.models.requested.inline_loads import InlineLoads
from duologue.gateway.models.requested.load_rules import may_load
from duologue.gateway.models.requested_models import RequestedModels
from duologue.gateway.scheduling.pool import Pool
from duologue.gateway.workers.load_specs import ListCards
from duologue.http.event_log import EventLog, EventNumbers
from duologue.models.fit import Hardware
from duologue.notifier import Notifier
from duologue.values.events import STOPPING
from duologue.wire.worker_protocol import LoadSpec

if TYPE_CHECKING:
    from duologue.store.remembered_loads import RememberedLoad, RememberedLoads

log = logging.getLogger(__name__)

UNKNOWN = Hardware(cores=1, memory=2**62, disk=2**62)
"""The hardware if it is not probed: nothing is refused for lack of memory or disk."""


class ModelService:
    """Everything about models that may change while the server runs. `probe_hardware` measures this machine; without it nothing is
    refused for lack of memory. `list_cards` lists its graphics cards. `may_load` says whether a user may load models; `on_change` is called when models have come, gone or
    changed their state."""

    def __init__(
        self,
        settings: Settings,
        configured: Sequence[LoadSpec],
        pool: Pool,
        models: ModelRegistry,
        probe_hardware: ProbeHardware | None = None,
        *,
        may_load: Callable[[str], bool] = lambda user: True,
        on_change: Callable[[], None] = lambda: None,
        list_cards: ListCards = tuple,
    ) -> None:
        self._pool = pool
        self._models = models
        self._probe_hardware = probe_hardware
        self._on_change = on_change
        self._configured = [one.model or one.worker for one in configured]
        self._pool_notifier = Notifier()
        self._coming: list[RememberedLoad] = []
        self._remembering = anyio.Event()
        self.available = AvailableModels(settings, configured)
        self.remembered = RememberedModels(pool.prefer)
        loading = settings.loading
        self._by_request = loading.by_request
        self._answer_s = loading.answer_s
        self.loader = Loader(
            pool, self.available, probe_hardware, self.remembered, list_cards, grace=loading.drain_s
        )
        self.for_requests = InlineLoads(self.loader, pool, limit=loading.waiting, patience=loading.room_s)
        self.loader.give_way = self.for_requests.give_way
        self.resting = self.loader.resting
        self._idle = IdleUnload(
            pool,
            self.resting,
            limit=loading.idle_unload_s,
            limits={
                name: one.idle_unload_s
                for name, one in settings.models.items()
                if one.idle_unload_s is not None
            },
            asked=self.for_requests.last_asked,
            is_busy=lambda: self.for_requests.are_any or bool(self._coming),
        )
        self.for_chats = ChatModels(self, models, may_load)
        self.events: EventLog[ModelEvent] = EventLog(
            EventNumbers(time.time_ns() // 1_000_000), reset=READ_AGAIN
        )
        folder = self.available.folder
        self.downloads = Downloads(
            hub_download(
                folder, lambda: UNKNOWN if probe_hardware is None else probe_hardware(folder, ())[0]
            ),
            use=self.use,
            journal=DownloadJournal(settings.data / FILE),
            on_change=self._publish_download,
            on_complete=lambda: self.events.publish({"type": "here"}),
        )
        self._states: list[tuple[object, ...]] = []
        """The workers, the default model's first."""
        self._progress: dict[str, float] = {}

    def routes(self) -> tuple[APIRouter, ...]:
        """`/v1/model`, `/models/load` and the like, and `/api/models`."""
        return (
            v1_routes.router(self.loader, self.available, self._models, self.remembered),
            router_routes.router(self.loader, self.events.read),
            api_routes.router(
                self._pool,
                self.available.folder,
                self.downloads,
                self.events,
                self._probe_hardware,
                loader=self.loader,
                remembered=self.remembered,
                models=self._models,
            ),
        )

    def requested_by(self, keys: Keys) -> RequestedModels:
        """What resolves the models that requests name. `keys` knows the users, for who may have one loaded."""

        def may(user: str) -> bool:
            account = keys.account(user)
            name = account.name if account else ""
            return may_load(self._by_request, user=user, name=name, is_admin=keys.is_admin(user))

        return RequestedModels(self._models, self.available.all, self.for_requests, may, self._answer_s)

    def publish_changes(self) -> None:
        """Something changed in the pool: publish what readers of the events need to know."""
        self.loader.pool_changed()
        self._pool_notifier.notify()
        workers = self._pool.workers.values()
        states: list[tuple[object, ...]] = [
            (status.worker, status.state, status.detail, status.models, status.warning, status.draining)
            for status in workers
        ]
        progress = {status.worker: status.progress for status in workers if status.progress is not None}
        if states != self._states:
            self._states = states
            self.events.publish({"type": "loaded"})
            self._on_change()
        for worker, share in progress.items():
            if share != self._progress.get(worker):
                self.events.publish({"type": "loading", "worker": worker, "progress": share})
        self._progress = progress

    # ---- what is remembered

    @property
    def coming(self) -> list[str]:
        """The models that this start is still to load, by name, the default first if it is one of them."""
        return list(dict.fromkeys(load.name for load in self._coming))

    async def remember(self, store: RememberedLoads) -> None:
        """From now on remember loads in this database. Raises Unavailable."""
        await self.remembered.open(store, self._configured)
        self._coming = self.remembered.to_repeat()
        self._remembering.set()

    async def repeat_loads(self) -> None:
        """Load what is remembered, one after another, once the models of the settings are loaded or have failed."""
        while any(
            not status.added and status.state not in ("ready", "failed")
            for status in self._pool.workers.values()
        ):
            await self._pool_notifier.wait()
        while self._coming:
            load = self._coming[0]
            try:
                await self._repeat(load)
            except Problem as problem:
                log.warning("%s, which is remembered, was not loaded: %s", load.name, problem.message)
                if problem.code == STOPPING.code:
                    return
            self._coming.remove(load)
            self._pool_notifier.notify()
            self._on_change()

    async def _repeat(self, load: RememberedLoad) -> None:
        if not self.remembered.is_idle(load.id):
            return  # an admin loaded or forgot it meanwhile
        try:
            running = await self.loader.join(repeated(load))
        except Problem as problem:
            if self.remembered.is_idle(load.id):
                await self.remembered.failed(load.id, problem)
            raise
        # It is a row of the loaded models now, with its own progress.
        await running.done()

    async def use(self, name: str, user: str, progress: Callable[[float | None], None]) -> None:
        """Load a model, unless it is loaded, and make it the default. Raises Problem. When cancelled, it ends the load."""
        # A download may be complete before the database is open.
        await self._remembering.wait()
        try:
            load = await self.loader.join(LoadRequest(name, default=True, user=user))
        except Problem as problem:
            if problem.code != "model_loaded":
                raise
        else:
            try:
                async with aclosing(load.steps()) as steps:
                    async for step in steps:
                        if step.problem is not None:
                            raise step.problem
                        progress(step.progress)
            except anyio.get_cancelled_exc_class():
                with anyio.CancelScope(shield=True), suppress(Problem):
                    await self.loader.unload(worker=load.worker)
                raise
        await self.remembered.choose_default(name, user)

    async def changed(self) -> None:
        """Return when a model has come, gone or changed its state."""
        await self._pool_notifier.wait()

    async def run(self, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED) -> None:
        """Run loads and downloads until cancelled."""
        async with anyio.create_task_group() as tasks:
            await tasks.start(self.loader.run)
            await tasks.start(self.downloads.run)
            await tasks.start(self.for_requests.run)
            tasks.start_soon(self._idle.run)
            task_status.started()

    def close(self) -> None:
        """Accept nothing new and end what is running: the server shuts down."""
        self.downloads.close()
        self.for_requests.close()
        self.loader.close()
        self.events.close()

    def _publish_download(self, download: Download) -> None:
        self.events.publish({"type": "download", "download": msgspec.to_builtins(download)})
