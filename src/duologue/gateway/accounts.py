"""Puts together what belongs to accounts: keys, logins, their routes, the audit log, and the end of work without access. Called by `app`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import anyio
import anyio.abc
from fastapi import APIRouter
from starlette.middleware import Middleware

from duologue.config import Settings
from duologue.gateway.audit import audit_routes
from duologue.gateway.audit.admin_requests import AdminRequests
from duologue.gateway.audit.audit_log import AuditLog
from duologue.gateway.auth import key_routes, login_routes, middleware, sessions
from duologue.gateway.auth.access_watch import BackgroundWork, watch_access
from duologue.gateway.auth.guessing import GuessGuard
from duologue.gateway.auth.keys import Keys, read_key, wall_clock

if TYPE_CHECKING:
    from duologue.conversations.runs.service import RunService
    from duologue.store.database import Database


class RunWork:
    """The replies of the page as work that goes on without a connection. What is pending behind one that is stopped waits for its user."""

    def __init__(self, runs: RunService) -> None:
        self._runs = runs

    def working_users(self) -> set[str]:
        return {run.user for run in self._runs.active}

    async def stop_work(self, user: str) -> None:
        for run in self._runs.active:
            if run.user == user:
                run.stop()


class Accounts:
    """`audit` is where other parts record what they do."""

    def __init__(self, settings: Settings) -> None:
        remote = not all(middleware.is_loopback(host) for host in settings.compat.hosts(settings.host))
        key = settings.key.get_secret_value() if settings.key else None
        self.default_limits = settings.limits.key.applied()
        self.keys = Keys(read_key(key, settings.key_file), always=remote)
        self.guessing = GuessGuard()
        self.logins = sessions.LoginSessions(self.keys)
        self.cookie = middleware.cookie_name(settings.port)
        self.audit = AuditLog(settings.audit, wall_clock)

    def recording(self) -> Middleware:
        """The middleware that records the acts of admins; it goes behind the authentication."""
        return Middleware(AdminRequests, self.audit)

    def routes(self) -> tuple[APIRouter, ...]:
        """The routes of signing in, of keys and users, and of the audit log."""
        signing_in = sessions.router(
            self.keys, self.logins, cookie=self.cookie, now=wall_clock, guessing=self.guessing
        )
        logins = login_routes.router(self.keys, self.logins, cookie=self.cookie)
        return (
            signing_in,
            logins,
            key_routes.router(self.keys, self.default_limits),
            audit_routes.router(self.audit),
        )

    async def run(
        self,
        database: Database,
        work: Sequence[BackgroundWork],
        *,
        task_status: anyio.abc.TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        """Accept the keys of this database, record to it, and end the work of users without access, until cancelled."""
        from duologue.store.accounts.audit_rows import AuditRows
        from duologue.store.users import Users

        await self.keys.use(Users(database, wall_clock))
        async with anyio.create_task_group() as tasks:
            await tasks.start(self.audit.run, AuditRows(database))
            tasks.start_soon(watch_access, self.keys, work)
            task_status.started()
