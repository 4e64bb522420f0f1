"""Usage of all keys: counted in memory, written every few seconds, read by day.

Puts the parts of this package together; `app` makes one. What was counted in the seconds since it was last written is lost when the process
is killed, and nothing when it stops.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

import anyio
import anyio.abc
from fastapi import APIRouter
from starlette.middleware import Middleware

from duologue.config import Settings
from duologue.errors import BadRequest, Problem, Unavailable
from duologue.gateway.auth.keys import Keys
from duologue.gateway.usage.limit_headers import LimitHeaders
from duologue.gateway.usage.limit_lookup import LimitLookup
from duologue.gateway.usage.metered_generate import MeteredGenerate
from duologue.gateway.usage.usage_meter import UsageMeter
from duologue.store.cluster.work_turns import EVERY_TURN, WorkTurns
from duologue.values.generate import Generate
from duologue.values.requests import ModelCard
from duologue.values.usage.usage_counts import UsageRow, day_of, days_before

if TYPE_CHECKING:
    from duologue.store.cluster.cluster_link import ClusterLink
    from duologue.store.database import Database
    from duologue.store.usage.usage_rows import UsageColumn, UsageRows

log = logging.getLogger(__name__)

FLUSH_S = 5.0
"""Seconds between two writes."""
SHARED_FLUSH_S = 2.0
"""The same where other gateways count by the rows."""
ROUND_S = 3600.0
"""Seconds between two deletions of old rows."""
MOST_DAYS = 3660


class UsageService:
    def __init__(self, settings: Settings, keys: Keys, meter: UsageMeter | None = None) -> None:
        self.keep_days = settings.usage.keep_days
        self.defaults = settings.limits.key.applied()
        self.meter = meter or UsageMeter(LimitLookup(keys, self.defaults, settings.all_aliases))
        self._rows: UsageRows | None = None
        self._outage = False
        self._turns: WorkTurns = EVERY_TURN

    def generate(self, generate: Generate, resolve: Callable[[str], ModelCard]) -> Generate:
        """`generate`, counted and limited by key; `resolve` finds a model's card by name."""
        return MeteredGenerate(generate, resolve, self.meter)

    def headers(self) -> Middleware:
        """Adds what is left of a key's limits to answers."""
        return Middleware(LimitHeaders, self.meter)

    def routes(self) -> APIRouter:
        from duologue.gateway.usage import usage_routes

        return usage_routes.router(self)

    @property
    def lookup(self) -> LimitLookup:
        return self.meter.lookup

    @property
    def today(self) -> str:
        """The present day (UTC)."""
        return day_of(self.meter.now().unix)

    def share(
        self, database: Database, link: ClusterLink, gateways: Callable[[], int], turns: WorkTurns
    ) -> None:
        """Hold the limits together with the other gateways of this database; `gateways`: how many are living. Without effect where there can be no others.
        Before `run`."""
        if not link.shared:
            return
        from duologue.gateway.usage.shared.shared_limits import SharedLimits
        from duologue.store.usage.limit_part_rows import LimitPartRows

        self._turns = turns
        self.meter.shared = SharedLimits(
            LimitPartRows(database),
            link,
            self.meter.limiter,
            limits=self.lookup.limits,
            unwritten=self.meter.unwritten,
            gateways=gateways,
            now=self.meter.now,
        )

    async def run(
        self, rows: UsageRows, *, task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED
    ) -> None:
        """Write what is counted, until cancelled. First the tokens of today are read, which limits count."""
        self._rows = rows
        now = self.meter.now()
        for key, tokens in (await rows.tokens_of(self.today)).items():
            self.meter.limiter.restore(key, tokens, now)
        async with anyio.create_task_group() as tasks:
            if self.meter.shared is not None:
                await tasks.start(self.meter.shared.run)
            task_status.started()
            await self._keep(rows, FLUSH_S if self.meter.shared is None else SHARED_FLUSH_S)

    async def _keep(self, rows: UsageRows, flush_s: float) -> None:
        cleaned = float("-inf")
        while True:
            if anyio.current_time() - cleaned >= ROUND_S:
                cleaned = anyio.current_time()
                await self._forget_old(rows)
            await anyio.sleep(flush_s)
            await self.flush()
            self.meter.limiter.forget_idle(self.meter.now())

    async def flush(self) -> None:
        """Write what was counted since the last time. Counts that cannot be written now are kept for the next time."""
        if self._rows is None:
            return
        taken = self.meter.counter.take()
        try:
            await self._rows.add(taken)
            self.meter.written(taken)
            self._outage = False
        except Problem as problem:
            self.meter.counter.put_back(taken)
            if not self._outage:
                log.warning("usage could not be written and is kept in memory: %s", problem.message)
            self._outage = True
        except Exception:
            # A bug in here must not end the server.
            log.exception("usage could not be written")

    async def close(self) -> None:
        """Write what was counted, and give the other gateways what this one had of the limits: the server stops."""
        await self.flush()
        if self.meter.shared is not None:
            await self.meter.shared.give_back()

    async def totals(
        self, first: str, last: str, by: Collection[UsageColumn], user: str | None = None
    ) -> list[UsageRow]:
        """What was used on these days, up to this moment, by these columns. Raises BadRequest, Unavailable."""
        from duologue.store.usage.usage_rows import MOST_READ

        if self._rows is None:
            raise Unavailable("The server is still starting; try again in a moment.")
        if first > last:
            raise BadRequest("from must not be later than to.", param="from")
        if first < days_before(last, MOST_DAYS):
            raise BadRequest(f"from and to may be {MOST_DAYS:,} days apart at most.", param="from")
        await self.flush()
        rows = await self._rows.totals(first, last, by, user)
        if len(rows) >= MOST_READ:
            raise BadRequest(
                f"There are more than {MOST_READ:,} rows. Ask for fewer days, or group by less.",
                param="group",
            )
        return rows

    async def _forget_old(self, rows: UsageRows) -> None:
        if not self.keep_days:
            return
        try:
            if not await self._turns.mine("usage", ROUND_S):
                return
            await rows.forget(days_before(self.today, self.keep_days))
        except Problem as problem:
            log.warning("old usage was not deleted: %s", problem.message)
