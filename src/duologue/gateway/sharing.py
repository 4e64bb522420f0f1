"""Puts together what several gateways of one database share besides runs: limits, work that is done once, and forwarded requests.

Made by `app`; `begin` is called once the database is open and this gateway has joined the others. With SQLite it does nothing.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Literal

import anyio.abc
from starlette.middleware import Middleware

from duologue.config import Settings
from duologue.gateway.auth.guessing import GuessGuard
from duologue.gateway.auth.rate_limit import Guess
from duologue.gateway.cluster.cache_refresh import CacheRefresh
from duologue.gateway.cluster.call_forwarding import CallForwarding
from duologue.gateway.cluster.files_elsewhere import FilesElsewhere
from duologue.gateway.cluster.forwarding import Forwarding, HopReader, Neighbours
from duologue.gateway.cluster.held_things import mark_of
from duologue.gateway.cluster.membership import Membership
from duologue.gateway.scheduling.shared_service import SharedService
from duologue.gateway.tuning.shared_templates import SharedTemplates
from duologue.store.cluster.notices import Notices
from duologue.values.cluster.notices import WrongKey

if TYPE_CHECKING:
    from duologue.conversations.service import Service
    from duologue.gateway.app import Gateway


class Sharing:
    def __init__(self, settings: Settings, membership: Membership) -> None:
        self._membership = membership
        self.can_share = settings.database_url is not None
        self.mark = mark_of(membership.id) if self.can_share else ""
        """The beginning of ids of things that are in this gateway's memory."""
        self.neighbours = Neighbours()
        self.calls = CallForwarding(self.neighbours)
        self._caches: CacheRefresh | None = None
        self.templates: SharedTemplates | None = None
        """The chat templates that admins choose; `model_routes` makes it."""

    def around(self, authentication: Middleware) -> list[Middleware]:
        """The authentication between what reads where a request comes from, and what passes it on."""
        if not self.can_share:
            return [authentication]
        return [
            Middleware(HopReader, self.neighbours),
            authentication,
            Middleware(Forwarding, self.neighbours),
        ]

    async def begin(self, gateway: Gateway, service: Service, tasks: anyio.abc.TaskGroup) -> None:
        """Share with the other gateways of the database from now on. Raises Unavailable."""
        link, membership = self._membership.link, self._membership
        if not link.shared:
            return
        from duologue.gateway.batches.batch_claims import SharedClaims
        from duologue.store.cluster.claim_rows import ClaimRows
        from duologue.store.cluster.shared_secret import shared_secret
        from duologue.store.cluster.work_turns import WorkTurns

        database, stores = service.stores.durable.database, service.stores
        claims = ClaimRows(database, membership.id)
        turns = WorkTurns(claims)
        stores.claims = claims
        service.retention.turns = gateway.accounts.audit.turns = turns
        gateway.usage.share(database, link, lambda: len(membership.living), turns)
        gateway.batches.claims = SharedClaims(database, claims, turns)
        gateway.responses.share(self.mark, self._left)
        gateway.keys.is_shared = True
        share_guesses(gateway.guessing, link.notices)
        self._caches = CacheRefresh(link.notices)
        gateway.apps.setting.on_stored = partial(self._caches.changed, "modes")
        gateway.model_service.remembered.on_stored = partial(self._caches.changed, "default_model")
        stores.durable.mcp.on_stored = partial(self._caches.changed, "tool_servers")
        stores.durable.upstreams.on_stored = partial(self._caches.changed, "connected_servers")
        drains = gateway.life.worker_drains
        drains.setting.use(stores.durable.server_settings)
        drains.setting.on_stored = partial(self._caches.changed, "drained_workers")
        gateway.joins.admitted = drains.joined
        if self.templates is not None:
            self.templates.setting.use(stores.durable.server_settings)
            self.templates.setting.on_stored = partial(self._caches.changed, "chat_templates")
        service.uploads.mark = gateway.clips.mark = self.mark
        service.blobs.elsewhere = FilesElsewhere(self.neighbours)
        for pool in gateway.pools():
            pool.mark_tickets(self.mark)
            kind: Literal["models", "voice"] = "models" if pool is gateway.pool else "voice"
            service_of = SharedService(pool.scheduler, link.notices, kind, lambda: len(membership.living) > 1)
            tasks.start_soon(service_of.run)
        neighbours = self.neighbours
        neighbours.secret = await shared_secret(database)
        neighbours.living, neighbours.changed = lambda: membership.living, membership.changed
        neighbours.owner = claims.owner
        neighbours.has_temporary = stores.is_temporary
        neighbours.gateway = membership.id

    def follow_changes(self, gateway: Gateway, tasks: anyio.abc.TaskGroup) -> None:
        """Read again from now on what other gateways change. Called once everything has read what is stored."""
        if (caches := self._caches) is None:
            return
        tasks.start_soon(caches.keep_fresh, "modes", gateway.apps.reload)
        tasks.start_soon(caches.keep_fresh, "connected_servers", gateway.upstreams.reload)
        tasks.start_soon(caches.keep_fresh, "default_model", gateway.model_service.remembered.reload)
        tasks.start_soon(caches.keep_fresh, "drained_workers", gateway.life.worker_drains.reload)
        if self.templates is not None:
            tasks.start_soon(caches.keep_fresh, "chat_templates", self.templates.reload)
        toolbox = None if gateway.service is None else gateway.service.toolbox
        if toolbox is not None:
            tasks.start_soon(caches.keep_fresh, "tool_servers", toolbox.registry.reload)

    async def _left(self, responses: Collection[str]) -> Collection[str]:
        """Those whose gateway is dead. The gateways are read now: of one that joined after the last look, which may be long ago where this process was
        suspended, the responses would be ended while it writes them. Raises Unavailable."""
        living = {mark_of(entry.id) for entry in await self._membership.living_now()}
        return [id for id in responses if mark_of(id.removeprefix("resp_")) not in living]


def share_guesses(guessing: GuessGuard, notices: Notices) -> None:
    """Count wrong keys at all gateways together, so that guessing gets no more tries than at one."""

    def tell(guess: Guess) -> None:
        notices.post(WrongKey(guess.group, guess.key.hex(), guess.prefix.hex()))

    def hear(notice: WrongKey) -> None:
        with suppress(ValueError):
            guessing.heard(Guess(notice.group, bytes.fromhex(notice.key), bytes.fromhex(notice.prefix)))

    guessing.tell = tell
    notices.on(WrongKey, hear)
