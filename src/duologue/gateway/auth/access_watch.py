"""Ends the work of users who have no access any more: disabled ones, and those without a valid key.

Sockets and streams end by themselves (`middleware`); this is for what goes on without a connection. One rule for all of it: what runs is
stopped as if its user had stopped it, what is complete is kept, and nothing further begins. Run by `gateway/accounts.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from typing import Protocol

import anyio

from duologue.errors import Problem
from duologue.gateway.auth.keys import Keys

INTERVAL_S = 1.0
"""The database is asked so often while users have work, and not at all while they have none."""

log = logging.getLogger(__name__)


class BackgroundWork(Protocol):
    """Work that goes on without a connection."""

    def working_users(self) -> Collection[str]:
        """The users who have some now."""
        ...

    async def stop_work(self, user: str) -> None:
        """End all work of this user, and keep what is complete."""
        ...


async def watch_access(keys: Keys, work: Sequence[BackgroundWork], *, interval: float = INTERVAL_S) -> None:
    """End the work of users without access, until cancelled."""
    while True:
        await anyio.sleep(interval)
        await end_work(keys, work)


async def end_work(keys: Keys, work: Sequence[BackgroundWork]) -> None:
    """End the work of users who have no access at this moment."""
    if not any(kind.working_users() for kind in work):
        return
    await keys.refresh()
    for kind in work:
        for user in [user for user in kind.working_users() if keys.role(user) is None]:
            log.info("the work of %s is stopped: they are disabled or have no valid key", user)
            try:
                await kind.stop_work(user)
            except Problem as problem:
                log.warning("the work of %s could not be stopped yet: %s", user, problem.message)
