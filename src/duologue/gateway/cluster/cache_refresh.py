"""Keeps a gateway's copies of database rows up to date when another gateway changes them.

Made by `gateway/sharing.py`. A notice triggers a reload; one reload serves all notices that came before it began.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable

import anyio

from duologue.errors import Problem
from duologue.store.cluster.notices import Notices
from duologue.values.cluster.notices import CacheChanged, CachedRows

log = logging.getLogger(__name__)

EVERY_S = 30.0
"""Seconds between two reloads without a notice. A notice is lost when a gateway dies before it sends it, and a pooler passes none on."""
RETRY_S = 1.0
"""Seconds until a reload that failed is tried again."""


class CacheRefresh:
    def __init__(self, notices: Notices) -> None:
        self._notices = notices
        self._stale: dict[str, anyio.Event] = {}
        notices.on(CacheChanged, lambda notice: self._mark(notice.rows))
        notices.when_blind(self._mark_all)

    def changed(self, rows: CachedRows) -> None:
        """This gateway has stored a change of these rows: tell the others."""
        self._notices.post(CacheChanged(rows))

    async def keep_fresh(self, rows: CachedRows, reload: Callable[[], Awaitable[None]]) -> None:
        """Call `reload` now, because changes may have been missed, and whenever these rows may have changed. Never returns."""
        self._stale[rows] = anyio.Event()
        self._mark(rows)
        while True:
            with anyio.move_on_after(EVERY_S):
                await self._stale[rows].wait()
            # Replaced before the rows are read, so that a change during the read sets the new event.
            self._stale[rows] = anyio.Event()
            try:
                await reload()
            except Problem as problem:
                log.warning("changes by other gateways could not be read (%s): %s", rows, problem.message)
                await anyio.sleep(RETRY_S)
                self._mark(rows)
            except Exception:
                # One row that cannot be used must not end the gateway.
                log.exception("changes by other gateways could not be used (%s)", rows)

    def _mark_all(self) -> None:
        for stale in self._stale.values():
            stale.set()

    def _mark(self, rows: str) -> None:
        if (stale := self._stale.get(rows)) is not None:
            stale.set()
